/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L

#include "seg_replay.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"

#define NOWHERE UINT32_MAX

struct host {
    void *memory;
    uint64_t used_pages;
    uint32_t changes; /* how often it has changed, counted from 1 */
};

/* What a host's score for one size was, and when. */
struct known {
    uint64_t score;
    uint32_t changes; /* of the host then; 0: never asked */
    uint32_t segments;
};

/* Sizes are few, and few hosts change between two requests: scores are asked
 * for again only where something happened. */
#define SIZES 64u

struct known_size {
    uint64_t pages; /* 0: empty */
    struct known *hosts;
};

/* A VM while it has memory. */
struct guest {
    struct seg_held held;
    uint32_t host;
    size_t patch; /* its first in the picture */
};

struct replay {
    const struct seg_trace *trace;
    const struct seg_setup *setup;
    const struct seg_model *model;
    struct seg_result *out;
    struct host *hosts;
    struct guest *guests;
    struct known_size sizes[SIZES];
    uint64_t now_ms;
    uint64_t used_pages;     /* on all hosts */
    uint32_t hosts_used;     /* now */
    double used_sum, of_sum; /* over time */
    uint64_t alloc_ns, free_ns, frees;
    uint64_t split;
    uint64_t clock_ns;
};

uint64_t seg_now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* What looking at the clock twice costs at least. */
static uint64_t clock_cost(void)
{
    uint64_t least = UINT64_MAX;

    for (int i = 0; i < 1000; i++) {
        uint64_t from = seg_now_ns();
        uint64_t ns = seg_now_ns() - from;

        least = ns < least ? ns : least;
    }
    return least;
}

const char *seg_rule_name(enum seg_rule rule)
{
    static const char *const names[SEG_RULES] = { "first-fit", "best-fit",
                                                  "segment-aware" };

    return names[rule];
}

static bool has_room(const struct replay *r, uint32_t i, uint64_t pages)
{
    return pages <= r->setup->cap_pages &&
           r->hosts[i].used_pages <= r->setup->cap_pages - pages;
}

/* By free pages alone: the first host, or the fullest. */
static uint32_t choose_by_pages(const struct replay *r, uint64_t pages,
                                bool fullest)
{
    uint32_t best = NOWHERE;

    for (uint32_t i = 0; i < r->setup->hosts; i++) {
        if (!has_room(r, i, pages)) {
            continue;
        }
        if (!fullest) {
            return i;
        }
        if (best == NOWHERE ||
            r->hosts[i].used_pages > r->hosts[best].used_pages) {
            best = i;
        }
    }
    return best;
}

/* May another VM be split, and the share of those that are not stay above
 * the goal? A model that splits nearly all is not held to it. */
static bool may_split(const struct replay *r)
{
    return !r->model->whole ||
           (r->split + 1) * 10000 <=
               (r->out->placed + 1) * (10000 - (uint64_t)r->setup->goal_bp);
}

/* The scores of a size; a size that shares its place takes it over. */
static struct known *scores_of(struct replay *r, uint64_t pages)
{
    uint64_t mixed = pages * UINT64_C(0x9e3779b97f4a7c15);
    struct known_size *size = &r->sizes[mixed >> 58];

    if (size->hosts == NULL) {
        size->hosts = must_alloc(r->setup->hosts, sizeof *size->hosts);
    }
    if (size->pages != pages) {
        memset(size->hosts, 0, r->setup->hosts * sizeof *size->hosts);
        size->pages = pages;
    }
    return size->hosts;
}

static void ask(const struct replay *r, const struct seg_want *want, uint32_t i,
                struct known *known)
{
    struct pol_segment_fit fit = { .segments = 0 };

    if (!has_room(r, i, want->pages) ||
        !r->model->fit(r->hosts[i].memory, want, &fit)) {
        fit.segments = 0;
    }
    known->score = pol_segment_fit_score(&fit);
    known->segments = fit.segments;
    known->changes = r->hosts[i].changes;
}

static uint32_t choose_by_score(struct replay *r, const struct seg_want *want)
{
    struct known *known = scores_of(r, want->pages);
    uint64_t least = UINT64_MAX;
    uint32_t best = NOWHERE;

    for (uint32_t i = 0; i < r->setup->hosts; i++) {
        if (known[i].changes != r->hosts[i].changes) {
            ask(r, want, i, &known[i]);
        }
        if (known[i].score < least) {
            least = known[i].score;
            best = i;
        }
    }
    if (best != NOWHERE && known[best].segments > 1 && !may_split(r)) {
        return NOWHERE;
    }
    return best;
}

static uint32_t choose(struct replay *r, const struct seg_want *want)
{
    if (r->out->rule == SEG_AWARE) {
        return choose_by_score(r, want);
    }
    return choose_by_pages(r, want->pages, r->out->rule == SEG_BEST_FIT);
}

/* Add up what was used since the last event, while requests come in. */
static void pass_time(struct replay *r, uint64_t now_ms)
{
    uint64_t last_ms = r->trace->vms[r->trace->n - 1].start_ms;
    uint64_t to_ms = now_ms < last_ms ? now_ms : last_ms;

    if (to_ms > r->now_ms) {
        double ms = (double)(to_ms - r->now_ms);

        r->used_sum += ms * (double)r->used_pages;
        r->of_sum += ms * (double)r->hosts_used * (double)r->setup->host_pages;
    }
    r->now_ms = now_ms;
}

static void count_used(struct replay *r, uint32_t i, uint64_t pages, bool more)
{
    struct host *host = &r->hosts[i];

    host->changes++;
    if (more) {
        r->hosts_used += host->used_pages == 0;
        host->used_pages += pages;
        r->used_pages += pages;
    } else {
        host->used_pages -= pages;
        r->used_pages -= pages;
        r->hosts_used -= host->used_pages == 0;
    }
    if (r->hosts_used > r->out->hosts_used) {
        r->out->hosts_used = r->hosts_used;
    }
}

static void draw(struct replay *r, size_t vm)
{
    struct seg_result *out = r->out;
    struct guest *guest = &r->guests[vm];
    struct pol_segment ranges[256];
    uint32_t n = r->model->ranges(&guest->held, ranges, 256);

    guest->patch = out->patches_n;
    for (uint32_t i = 0; i < n; i++) {
        if (out->patches_n == out->patches_capacity) {
            out->patches_capacity =
                out->patches_capacity == 0 ? 1024 : 2 * out->patches_capacity;
            out->patches = must_grow(out->patches, out->patches_capacity,
                                     sizeof *out->patches);
        }
        out->patches[out->patches_n++] =
            (struct seg_patch){ r->now_ms, UINT64_MAX, ranges[i].start_page,
                                ranges[i].pages, vm };
    }
}

static void end_drawing(struct replay *r, size_t vm)
{
    struct seg_result *out = r->out;

    for (size_t i = r->guests[vm].patch;
         i < out->patches_n && out->patches[i].vm == vm; i++) {
        out->patches[i].to_ms = r->now_ms;
    }
}

static bool is_drawn(const struct replay *r, size_t vm)
{
    return r->setup->pictures && r->guests[vm].host == r->setup->picture_host;
}

static void count_segments(struct replay *r, uint32_t n)
{
    struct seg_result *out = r->out;

    out->placed++;
    out->segments += n;
    out->counts[n < SEG_COUNTS ? n : SEG_COUNTS - 1]++;
    out->most = n > out->most ? n : out->most;
    r->split += n > 1;
}

static void start_vm(struct replay *r, size_t i)
{
    const struct seg_vm *vm = &r->trace->vms[i];
    struct guest *guest = &r->guests[i];
    bool stays = vm->stop_ms == UINT64_MAX;
    struct seg_want want = {
        .owner = i + 1,
        .pages = vm->pages,
        .max_segments = r->out->rule == SEG_AWARE ? r->setup->max_segments
                                                  : POL_SEGMENT_MAX_COUNT,
    };
    uint64_t from_ns;
    bool done;

    if (r->setup->lifetimes) {
        want.lifetime_ms = stays ? UINT64_MAX : vm->stop_ms - vm->start_ms + 1;
    }
    r->out->asked_pages += vm->pages;
    guest->host = choose(r, &want);
    if (guest->host != NOWHERE) {
        r->model->prepare(&guest->held, vm->pages);
        from_ns = seg_now_ns();
        done =
            r->model->alloc(r->hosts[guest->host].memory, &want, &guest->held);
        r->alloc_ns += seg_now_ns() - from_ns - r->clock_ns;
        if (done) {
            count_used(r, guest->host, vm->pages, true);
            count_segments(r, r->model->segments(&guest->held));
            if (is_drawn(r, i)) {
                draw(r, i);
            }
            return;
        }
        seg_held_clear(&guest->held);
        guest->host = NOWHERE;
    }
    r->out->refused++;
    r->out->refused_pages += vm->pages;
}

static void stop_vm(struct replay *r, size_t i)
{
    struct guest *guest = &r->guests[i];
    uint64_t from_ns;

    if (guest->host == NOWHERE) {
        return;
    }
    from_ns = seg_now_ns();
    r->model->free(r->hosts[guest->host].memory, i + 1, &guest->held);
    r->free_ns += seg_now_ns() - from_ns - r->clock_ns;
    r->frees++;
    count_used(r, guest->host, r->trace->vms[i].pages, false);
    if (is_drawn(r, i)) {
        end_drawing(r, i);
    }
    seg_held_clear(&guest->held);
    guest->host = NOWHERE;
}

/* All events in order of time; at the same time stopping comes first. */
static void run(struct replay *r, seg_progress *progress, void *user)
{
    const struct seg_trace *trace = r->trace;
    size_t at = 0;

    for (size_t i = 0; i < trace->n; i++) {
        uint64_t now_ms = trace->vms[i].start_ms;

        while (at < trace->stops_n &&
               trace->vms[trace->stops[at]].stop_ms <= now_ms &&
               trace->stops[at] < i) {
            pass_time(r, trace->vms[trace->stops[at]].stop_ms);
            stop_vm(r, trace->stops[at++]);
        }
        pass_time(r, now_ms);
        start_vm(r, i);
        if (progress != NULL && i % 4096 == 0) {
            progress(user, (uint32_t)(100 * i / trace->n));
        }
    }
}

static void finish(struct replay *r)
{
    struct seg_result *out = r->out;

    out->utilisation = r->of_sum > 0 ? r->used_sum / r->of_sum : 0;
    out->alloc_ns =
        out->placed > 0 ? (double)r->alloc_ns / (double)out->placed : 0;
    out->free_ns = r->frees > 0 ? (double)r->free_ns / (double)r->frees : 0;
    for (size_t i = 0; i < r->trace->n; i++) {
        seg_held_clear(&r->guests[i].held);
    }
    for (uint32_t i = 0; i < r->setup->hosts; i++) {
        r->model->destroy(r->hosts[i].memory);
    }
    for (uint32_t i = 0; i < SIZES; i++) {
        free(r->sizes[i].hosts);
    }
    free(r->guests);
    free(r->hosts);
}

void seg_replay(const struct seg_trace *trace, const struct seg_setup *setup,
                const struct seg_model *model, enum seg_rule rule,
                struct seg_result *out, seg_progress *progress, void *user)
{
    struct replay r = { .trace = trace,
                        .setup = setup,
                        .model = model,
                        .out = out,
                        .clock_ns = clock_cost() };
    uint64_t from_ns = seg_now_ns();

    memset(out, 0, sizeof *out);
    out->model = model;
    out->rule = rule;
    r.hosts = must_alloc(setup->hosts, sizeof *r.hosts);
    r.guests = must_alloc(trace->n, sizeof *r.guests);
    for (uint32_t i = 0; i < setup->hosts; i++) {
        r.hosts[i].memory = model->create(setup->host_pages);
        r.hosts[i].changes = 1;
    }
    run(&r, progress, user);
    finish(&r);
    out->seconds = (double)(seg_now_ns() - from_ns) / 1e9;
}

void seg_result_clear(struct seg_result *result)
{
    free(result->patches);
}

double seg_share(const struct seg_result *result, uint32_t at_most)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i <= at_most && i < SEG_COUNTS; i++) {
        n += result->counts[i];
    }
    return result->placed > 0 ? (double)n / (double)result->placed : 0;
}

uint32_t seg_quantile(const struct seg_result *result, double share)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < SEG_COUNTS; i++) {
        n += result->counts[i];
        if ((double)n >= share * (double)result->placed) {
            return i;
        }
    }
    return SEG_COUNTS - 1;
}
