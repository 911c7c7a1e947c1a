/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Page sharing against a byte-exact model: VMs with real, small pages write,
 * unmap, reboot, come and go while their pages are scanned with a hash of
 * four bits, so that most comparisons find unequal pages, and comparisons are
 * reported late. After every step: what a guest reads through the table's
 * mapping is what it wrote; no frame is in use twice, lost or freed twice;
 * counts are exact; no frame is in two domains; what VMs consume adds up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "model_host.h"
#include "share_int.h"

#ifndef POL_TEST_DIVISOR
#define POL_TEST_DIVISOR 1
#endif
#define HISTORIES 400u
#define STEPS     1500u
#define VMS       5u
#define SIZE      24u /* pages of a VM */
#define BYTES     16u
#define FRAMES    (VMS * SIZE + 1u)
#define LATE      6u /* comparisons under way at most */
#define NO_FRAME  UINT32_MAX

struct guest {
    int alive;
    uint64_t id;
    uint32_t domain;
    uint32_t size;
    uint32_t frame[SIZE];       /* a private page's; NO_FRAME: none */
    uint32_t version[SIZE];     /* of its content */
    uint8_t mapped[SIZE];       /* in memory at all */
    uint8_t truth[SIZE][BYTES]; /* what the guest has written */
};

/* A comparison made, not reported yet. */
struct late {
    struct pol_share_verdict v;
    uint32_t compared;
    uint32_t own, other;  /* frames that were compared */
    uint32_t own_version; /* both pages are write-protected: the host knows
                             when they change */
    uint32_t other_version;
};

struct world {
    struct pol_share *table;
    void *block;
    struct guest vm[VMS];
    uint8_t memory[FRAMES][BYTES];
    uint8_t used[FRAMES];
    struct late late[LATE];
    uint32_t late_n;
    uint64_t random;
    uint64_t now_ms;
    uint64_t digest;
    uint64_t merged, collisions;
};

static const char *doing;
static uint64_t history_seed;

static void check_at(int line, int ok, const char *what)
{
    if (!ok) {
        printf("FAILED line %d, seed %" PRIu64 ", after %s: %s\n", line,
               history_seed, doing, what);
        exit(1);
    }
}
#define CHECK(condition) check_at(__LINE__, condition, #condition)

static uint32_t below(struct world *w, uint32_t n)
{
    return (uint32_t)model_below(&w->random, n);
}

static void note(struct world *w, uint64_t value)
{
    w->digest = polx_spread(w->digest ^ value);
}

/* ---- The host's frames -------------------------------------------------- */

static uint32_t frame_take(struct world *w)
{
    uint32_t f = 0;

    while (w->used[f]) {
        f++;
    }
    CHECK(f < FRAMES);
    w->used[f] = 1;
    return f;
}

static void frame_free(struct world *w, uint64_t f)
{
    CHECK(f < FRAMES && w->used[f]);
    w->used[f] = 0;
    memset(w->memory[f], 0xdd, BYTES);
}

static struct guest *guest_of(struct world *w, uint64_t id)
{
    uint32_t i;

    for (i = 0; i < VMS; i++) {
        if (w->vm[i].alive && w->vm[i].id == id) {
            return &w->vm[i];
        }
    }
    return NULL;
}

/* The frame a page is on: the table's if it is shared, else its own. */
static uint32_t backing(const struct world *w, const struct guest *g,
                        uint32_t gfn)
{
    uint64_t frame;

    if (pol_share_find(w->table, g->id, gfn, &frame) == POL_OK) {
        return (uint32_t)frame;
    }
    return g->frame[gfn];
}

/* Few bits: unequal pages have equal hashes all the time. */
static uint64_t hash_of(const uint8_t *bytes)
{
    uint64_t h = 0;
    uint32_t i;

    for (i = 0; i < BYTES; i++) {
        h += bytes[i];
    }
    return h & 15u;
}

/* ---- Steps -------------------------------------------------------------- */

static void unmap(struct world *w, struct guest *g, uint32_t gfn)
{
    struct pol_share_left left;

    if (!g->mapped[gfn]) {
        return;
    }
    if (g->frame[gfn] == NO_FRAME) {
        MUST(pol_share_forget(w->table, g->id, gfn, &left));
        if (left.pages == 0) {
            frame_free(w, left.frame);
        }
    } else {
        CHECK(pol_share_forget(w->table, g->id, gfn, &left) ==
              POL_ERR_NOTFOUND);
        frame_free(w, g->frame[gfn]);
    }
    g->frame[gfn] = NO_FRAME;
    g->mapped[gfn] = 0;
    g->version[gfn]++;
}

static void write_page(struct world *w, struct guest *g, uint32_t gfn)
{
    struct pol_share_left left;
    uint32_t at = below(w, BYTES);

    if (!g->mapped[gfn]) {
        g->frame[gfn] = frame_take(w);
        g->mapped[gfn] = 1;
        memset(w->memory[g->frame[gfn]], 0, BYTES);
        memset(g->truth[gfn], 0, BYTES);
    }
    if (g->frame[gfn] == NO_FRAME) {
        MUST(pol_share_break(w->table, g->id, gfn, &left));
        g->frame[gfn] = (uint32_t)left.frame;
        if (left.pages != 0) {
            g->frame[gfn] = frame_take(w);
            memcpy(w->memory[g->frame[gfn]], w->memory[left.frame], BYTES);
        }
        note(w, left.pages);
    }
    /* Few contents, so that pages become equal again. */
    g->truth[gfn][at] = (uint8_t)(below(w, 3) * 8);
    if (below(w, 2)) {
        memset(g->truth[gfn], (int)below(w, 3), BYTES);
    }
    memcpy(w->memory[g->frame[gfn]], g->truth[gfn], BYTES);
    g->version[gfn]++;
}

/* Look at what the verdict asks to be looked at. */
static struct late compare(struct world *w, struct pol_share_verdict v)
{
    struct guest *g = guest_of(w, v.vm);
    struct guest *o = guest_of(w, v.other_vm);
    uint32_t gfn = (uint32_t)v.other_gfn;
    struct late l = { .v = v, .other = (uint32_t)v.frame };

    l.own = backing(w, g, (uint32_t)v.gfn);
    l.own_version = g->version[v.gfn];
    if (v.what == POL_SHARE_COMPARE_PAGE) {
        CHECK(o != NULL && o->domain == g->domain);
        l.other_version = o->version[gfn];
        l.other = o->mapped[gfn] ? backing(w, o, gfn) : NO_FRAME;
        if (l.other == NO_FRAME || hash_of(w->memory[l.other]) != v.hash) {
            l.compared = POL_SHARE_CHANGED;
            return l;
        }
    }
    l.compared = memcmp(w->memory[l.own], w->memory[l.other], BYTES) == 0
                     ? POL_SHARE_EQUAL
                     : POL_SHARE_UNEQUAL;
    return l;
}

static void report(struct world *w, const struct late *l)
{
    const struct pol_share_verdict *v = &l->v;
    struct guest *g = guest_of(w, v->vm);
    struct guest *o = guest_of(w, v->other_vm);
    uint32_t own = l->own, other = l->other, compared = l->compared, what = 99;
    int rc;

    if (g == NULL || v->gfn >= g->size ||
        g->version[v->gfn] != l->own_version) {
        return; /* nothing to confirm */
    }
    if (v->what == POL_SHARE_COMPARE_PAGE &&
        (o == NULL || v->other_gfn >= o->size ||
         o->version[v->other_gfn] != l->other_version)) {
        compared = POL_SHARE_CHANGED;
    }
    rc = pol_share_confirm(w->table, v, compared, other, &what);
    note(w, what);
    if (v->what == POL_SHARE_COMPARE_PAGE &&
        (o == NULL || v->other_gfn >= o->size)) {
        CHECK(rc == (o == NULL ? POL_ERR_NOTFOUND : POL_ERR_RANGE));
        return;
    }
    CHECK(rc == POL_OK);
    CHECK(what != POL_SHARE_MERGED || compared == POL_SHARE_EQUAL);
    CHECK(what != POL_SHARE_HINTED || compared == POL_SHARE_CHANGED);
    if (what == POL_SHARE_MERGED) {
        CHECK(g->frame[v->gfn] == own);
        frame_free(w, own);
        g->frame[v->gfn] = NO_FRAME;
        if (v->what == POL_SHARE_COMPARE_PAGE) {
            CHECK(o->frame[v->other_gfn] == other);
            o->frame[v->other_gfn] = NO_FRAME;
        }
    }
}

static void report_one(struct world *w)
{
    uint32_t i;

    if (w->late_n != 0) {
        i = below(w, w->late_n);
        struct late l = w->late[i];

        w->late[i] = w->late[--w->late_n];
        report(w, &l);
    }
}

static void scan(struct world *w, struct guest *g, uint32_t gfn)
{
    struct pol_share_verdict v;
    uint32_t frame = backing(w, g, gfn);

    if (!g->mapped[gfn]) {
        return;
    }
    MUST(pol_share_scan(w->table, g->id, gfn, hash_of(w->memory[frame]), &v));
    note(w, v.what);
    note(w, v.other_vm << 32 | v.other_gfn);
    if (v.what == POL_SHARE_PRIVATE) {
        CHECK(v.frame == frame && g->frame[gfn] == NO_FRAME);
        g->frame[gfn] = frame;
    }
    if (v.what != POL_SHARE_COMPARE_PAGE && v.what != POL_SHARE_COMPARE_FRAME) {
        return;
    }
    if (w->late_n == LATE) {
        report_one(w);
    }
    w->late[w->late_n++] = compare(w, v);
    if (below(w, 4) != 0) {
        report(w, &w->late[--w->late_n]);
    }
}

static void scan_some(struct world *w)
{
    uint64_t id, gfn, budget, n = 0;

    w->now_ms += below(w, 2000);
    MUST(pol_share_tick(w->table, w->now_ms, 20, &budget));
    while (pol_share_next(w->table, &id, &gfn) == POL_OK) {
        CHECK(guest_of(w, id) != NULL && gfn < guest_of(w, id)->size);
        note(w, id << 32 | gfn);
        scan(w, guest_of(w, id), (uint32_t)gfn);
        n++;
    }
    CHECK(n == budget);
}

/* Everything of a VM goes at once. */
static void reset(struct world *w, struct guest *g)
{
    uint64_t frames[3];
    size_t i, n;
    uint32_t gfn;

    do {
        MUST(pol_share_forget_vm(w->table, g->id, frames, ROWS(frames), &n));
        for (i = 0; i < n; i++) {
            frame_free(w, frames[i]);
        }
    } while (n == ROWS(frames));
    for (gfn = 0; gfn < g->size; gfn++) {
        if (g->frame[gfn] != NO_FRAME) {
            frame_free(w, g->frame[gfn]);
        }
        g->frame[gfn] = NO_FRAME;
        g->mapped[gfn] = 0;
        g->version[gfn]++;
    }
}

static void come_or_go(struct world *w, struct guest *g)
{
    uint32_t gfn;

    if (!g->alive) {
        memset(g->frame, 0xff, sizeof(g->frame));
        g->alive = 1;
        for (gfn = 0; gfn < SIZE; gfn++) {
            g->version[gfn]++;
        }
        g->domain = below(w, 3) == 0;
        g->size = 1 + below(w, SIZE);
        MUST(pol_share_vm_add(w->table, g->id, g->domain, g->size));
        return;
    }
    reset(w, g);
    MUST(pol_share_vm_remove(w->table, g->id));
    g->alive = 0;
}

/* The table moves to another block, larger or just as large as it must be. */
static void move(struct world *w)
{
    struct pol_share_config config = w->table->config;
    struct pol_share *moved;
    size_t bytes;
    void *block;

    config.max_entries =
        w->table->fresh > 2 ? w->table->fresh : config.max_entries;
    config.max_entries += below(w, 2) * below(w, 20);
    config.max_pages += below(w, 2) * below(w, 20);
    config.seed = model_random(&w->random);
    MUST(pol_share_size(&config, &bytes));
    bytes = (bytes + 63) / 64 * 64;
    block = aligned_alloc(64, bytes);
    CHECK(block != NULL);
    memset(block, 0x5a, bytes);
    MUST(pol_share_move(w->table, block, bytes, &config, &moved));
    CHECK(polx_share_is_valid(w->table) && polx_share_is_valid(moved));
    free(w->block);
    w->block = block;
    w->table = moved;
}

/* ---- What must hold ----------------------------------------------------- */

static void check_contents(const struct world *w, uint32_t users[FRAMES],
                           uint32_t shared[FRAMES], uint32_t domain[FRAMES])
{
    uint32_t i, gfn, f;
    uint64_t frame;

    for (i = 0; i < VMS; i++) {
        const struct guest *g = &w->vm[i];

        for (gfn = 0; gfn < g->size && g->alive; gfn++) {
            int is_shared =
                pol_share_find(w->table, g->id, gfn, &frame) == POL_OK;

            CHECK(is_shared == (g->mapped[gfn] && g->frame[gfn] == NO_FRAME));
            if (!g->mapped[gfn]) {
                continue;
            }
            f = backing(w, g, gfn);
            CHECK(f < FRAMES && w->used[f]);
            CHECK(memcmp(w->memory[f], g->truth[gfn], BYTES) == 0);
            CHECK(users[f] == 0 || (shared[f] && is_shared));
            CHECK(users[f] == 0 || domain[f] == g->domain);
            domain[f] = g->domain;
            shared[f] = (uint32_t)is_shared;
            users[f]++;
        }
    }
}

/* Fractions of a frame in units that all counts up to 6 divide; for more, the
 * error is below one unit per page. */
static void check_consumed(const struct world *w, const uint32_t users[FRAMES],
                           uint64_t frames)
{
    uint64_t unit = UINT64_C(720720), sum = 0, frame;
    struct pol_share_vm_info info;
    uint32_t i, gfn;

    pol_share_account(w->table);
    for (i = 0; i < VMS; i++) {
        const struct guest *g = &w->vm[i];
        uint64_t exact = 0, pages = 0;

        if (!g->alive) {
            continue;
        }
        for (gfn = 0; gfn < g->size; gfn++) {
            if (pol_share_find(w->table, g->id, gfn, &frame) == POL_OK) {
                exact += unit / users[frame];
                pages++;
            }
        }
        MUST(pol_share_vm_get(w->table, g->id, &info));
        CHECK(info.shared_pages == pages);
        CHECK((info.consumed_pages + 1) * unit + 1 >= exact);
        CHECK(info.consumed_pages * unit <= exact + pages + unit + 1);
        sum += info.consumed_pages;
    }
    CHECK(sum == frames);
}

static void check_world(const struct world *w)
{
    uint32_t users[FRAMES] = { 0 }, shared[FRAMES] = { 0 };
    uint32_t domain[FRAMES] = { 0 };
    uint64_t frames = 0, pages = 0;
    struct pol_share_stats stats;
    uint32_t f;

    check_contents(w, users, shared, domain);
    for (f = 0; f < FRAMES; f++) {
        CHECK((users[f] != 0) == (w->used[f] != 0));
        frames += shared[f];
        pages += shared[f] ? users[f] : 0;
    }
    pol_share_stats(w->table, &stats);
    CHECK(stats.shared_frames == frames && stats.shared_pages == pages);
    CHECK(stats.saved_pages == pages - frames);
    check_consumed(w, users, frames);
    CHECK(polx_share_is_valid(w->table));
}

/* ---- Histories ---------------------------------------------------------- */

static void step(struct world *w)
{
    struct guest *g = &w->vm[below(w, VMS)];
    uint32_t kind = below(w, 100);
    uint32_t gfn = g->alive ? below(w, g->size) : 0;

    if (kind < 2 || !g->alive) {
        doing = "come_or_go";
        come_or_go(w, g);
    } else if (kind < 3) {
        doing = "reset";
        reset(w, g);
    } else if (kind < 8) {
        doing = "unmap";
        unmap(w, g, gfn);
    } else if (kind < 45) {
        doing = "write";
        write_page(w, g, gfn);
    } else if (kind < 60) {
        doing = "report";
        report_one(w);
    } else if (kind < 61) {
        doing = "move";
        move(w);
    } else if (kind < 70) {
        doing = "ticks";
        scan_some(w);
    } else {
        doing = "scan";
        scan(w, g, gfn);
    }
}

/* Tables from far too small to ample. */
static void open_world(struct world *w, uint64_t seed)
{
    struct pol_share_config config;
    size_t bytes;
    uint32_t i;

    memset(w, 0, sizeof(*w));
    w->random = seed;
    pol_share_config_init(&config, VMS, VMS * SIZE);
    config.seed = model_random(&w->random);
    config.order = below(w, POL_SHARE_ORDERS);
    config.run_pages = 1 + below(w, 8);
    if (below(w, 2)) {
        config.max_entries = 2 + below(w, 12);
    }
    if (below(w, 2)) {
        config.max_pages = 2 + below(w, 30);
    }
    MUST(pol_share_size(&config, &bytes));
    bytes = (bytes + 63) / 64 * 64;
    w->block = aligned_alloc(64, bytes);
    CHECK(w->block != NULL);
    memset(w->block, 0xa5, bytes);
    MUST(pol_share_init(w->block, bytes, &config, &w->table));
    for (i = 0; i < VMS; i++) {
        w->vm[i].id = UINT64_C(1) << (i * 13);
    }
}

static uint64_t run_history(uint64_t seed, uint64_t *merged,
                            uint64_t *collisions, uint64_t *evicted)
{
    struct world *w = malloc(sizeof(*w));
    struct pol_share_stats stats;
    uint64_t digest;
    uint32_t i;

    if (w == NULL) {
        exit(1);
    }
    history_seed = seed;
    doing = "opening";
    open_world(w, seed);
    for (i = 0; i < STEPS; i++) {
        step(w);
        check_world(w);
    }
    pol_share_stats(w->table, &stats);
    *merged += stats.merged;
    *collisions += stats.collisions;
    *evicted += stats.evicted + stats.full;
    note(w, stats.scanned);
    note(w, stats.stale);
    digest = w->digest;
    free(w->block);
    free(w);
    return digest;
}

int main(void)
{
    uint64_t first = 20020405, merged = 0, collisions = 0, evicted = 0;
    uint32_t i, n = HISTORIES / POL_TEST_DIVISOR;

    printf("seed %" PRIu64 ", %u histories of %u steps\n", first, n, STEPS);
    for (i = 0; i < n; i++) {
        uint64_t again = 0;
        uint64_t digest =
            run_history(first + i, &merged, &collisions, &evicted);

        if (i % 8 == 0 &&
            run_history(first + i, &again, &again, &again) != digest) {
            printf("FAILED: seed %" PRIu64 " runs differently twice\n",
                   first + i);
            return 1;
        }
    }
    printf("contents, counts, domains and consumption held: %" PRIu64
           " pages merged, %" PRIu64 " collisions, %" PRIu64
           " times no room or a hint evicted\n",
           merged, collisions, evicted);
    return merged == 0 || collisions == 0 || evicted == 0;
}
