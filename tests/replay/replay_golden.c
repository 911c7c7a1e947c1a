/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A scripted run of a small host, whose trace and plans are committed in
 * golden/: a change of the format or of any decision is noticed here.
 *
 * When such a change is wanted, say why in the commit and write both anew:
 *   replay_golden --write tests/replay/golden
 * A trace of an older format version is never rewritten but kept, under a name
 * with its version, for as long as it can be read.
 */
#include <CUnit/Basic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "policy/policy.h"
#include "trace_buffer.h"

#define FOLDER POL_SOURCE_DIR "/tests/replay/golden"
#define TRACE  "/small-host.trace"
#define PLANS  "/small-host.plans.txt"

#define VMS     4u
#define GROUPS  2u
#define HOLDS   2u
#define ROUNDS  40u
#define TICK_MS 5000u
#define ACTIONS 64u

static _Alignas(64) uint8_t block[48 * 1024];
static struct pol_action actions[ACTIONS];
static unsigned refused; /* scripted calls that failed: none may */

static void must(int rc)
{
    refused += rc != POL_OK;
}

static void print(struct trace_buffer *text, const char *format, ...)
{
    char line[256];
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    trace_buffer_sink(text, (const uint8_t *)line, (size_t)n);
}

/* --- the script ------------------------------------------------------- */

struct guest {
    uint64_t size;
    uint64_t used; /* what it works with, from the start */
    uint64_t used_later;
    uint64_t actual;
    uint64_t asked;
    uint64_t swapped;
    uint32_t driver;
};

/* In pages of 4 KiB: a host of 1 GiB, guests of 2 GiB together. */
static const uint64_t total = 262144;
static const struct guest guests_at_start[VMS] = {
    { 131072, 120000, 30000, 131072, 131072, 0, POL_DRIVER_PRESENT },
    { 131072, 30000, 120000, 131072, 131072, 0, POL_DRIVER_PRESENT },
    { 131072, 20000, 40000, 131072, 131072, 0, POL_DRIVER_PRESENT },
    { 131072, 60000, 60000, 131072, 131072, 0, POL_DRIVER_ABSENT },
};

static uint64_t consumed(const struct guest *g, uint32_t round)
{
    uint64_t touched = 40000 + (uint64_t)round * 1500;
    uint64_t most = g->actual < touched ? g->actual : touched;

    return most > g->swapped ? most - g->swapped : 0;
}

static uint64_t working(const struct guest *g, uint32_t round)
{
    return round < ROUNDS / 2 ? g->used : g->used_later;
}

static void add_all(struct pol_ctx *ctx)
{
    struct pol_group_params group;
    uint64_t vm;

    pol_group_params_init(&group);
    must(pol_group_add(ctx, 1, &group));
    group.parent = 1;
    group.shares = 500;
    must(pol_group_add(ctx, 2, &group));
    for (vm = 1; vm <= VMS; vm++) {
        struct pol_vm_params p;

        pol_vm_params_init(&p, guests_at_start[vm - 1].size);
        p.group = vm == 4 ? POL_ROOT_GROUP : 1;
        p.reservation_pages = 16384;
        p.overhead_pages = 1000;
        p.shares = 1000 * vm;
        must(pol_vm_add(ctx, vm, &p));
    }
}

static void observe_host(struct pol_ctx *ctx, const struct guest *guests,
                         uint32_t round)
{
    struct pol_host_obs obs = { .size = sizeof(obs) };
    uint64_t used = 8000 + VMS * 1000;
    uint64_t swapped = 0;
    uint32_t i;

    for (i = 0; i < VMS; i++) {
        used += consumed(&guests[i], round);
        swapped += guests[i].swapped;
    }
    obs.now_ms = (uint64_t)round * TICK_MS;
    obs.total_pages = total;
    obs.free_pages = used < total ? total - used : 0;
    obs.swap_total_pages = total;
    obs.swap_free_pages = total - swapped;
    obs.caps = POL_CAPS_ALL;
    must(pol_observe_host(ctx, &obs));
}

static void observe_vm(struct pol_ctx *ctx, struct guest *g, uint64_t vm,
                       uint32_t round)
{
    struct pol_vm_obs obs = { .size = sizeof(obs) };

    g->actual = (g->actual + g->asked) / 2;
    obs.valid =
        POL_OBS_CONSUMED | POL_OBS_ACTUAL | POL_OBS_SWAPPED | POL_OBS_TARGET;
    obs.lifecycle = POL_LIFE_RUNNING;
    obs.driver = (uint8_t)g->driver;
    obs.consumed_pages = consumed(g, round);
    obs.actual_pages = g->actual;
    obs.swapped_pages = g->swapped;
    obs.target_seen_pages = g->asked;
    if (vm == 2) {
        uint64_t work = working(g, round);

        obs.valid |= POL_OBS_GUEST_AVAILABLE | POL_OBS_GUEST_TOTAL;
        obs.guest_total_pages = g->actual;
        obs.guest_available_pages = g->actual > work ? g->actual - work : 0;
    }
    must(pol_observe_vm(ctx, vm, &obs));
}

static void sample_vm(struct pol_ctx *ctx, const struct guest *g, uint64_t vm,
                      uint32_t round)
{
    uint64_t pages[100];
    uint64_t time_ms = (uint64_t)round * TICK_MS;
    uint64_t work = working(g, round);
    size_t n;

    if (pol_ws_due(ctx, vm, time_ms) > 0) {
        must(pol_ws_begin(ctx, vm, time_ms, pages, 100, &n));
    }
    if (round % 6 == 5) {
        must(pol_ws_report(ctx, vm, (uint32_t)(work * 100 / g->size)));
    }
}

static void administer(struct pol_ctx *ctx, struct guest *guests,
                       uint32_t round)
{
    struct pol_config config = *pol_ctx_config(ctx);
    struct pol_group_params group;
    struct pol_vm_params vm;
    uint64_t later = (uint64_t)(round + 4) * TICK_MS;

    switch (round) {
    case 8:
        must(pol_hold_add(ctx, 7, 1, 4096, later, 0));
        break;
    case 10:
        must(pol_hold_release(ctx, 7, 1));
        must(pol_hold_add(ctx, 8, 1, 2048, later, POL_HOLD_URGENT));
        must(pol_hold_take(ctx, 8, 1, 4));
        break;
    case 12:
        must(pol_vm_get(ctx, 3, &vm));
        vm.limit_pages = 50000;
        must(pol_vm_set(ctx, 3, &vm));
        break;
    case 15:
        config.idle_tax_bp = 5000;
        must(pol_ctx_tune(ctx, &config));
        break;
    case 20:
        must(pol_group_get(ctx, 2, &group));
        group.shares = 900;
        must(pol_group_set(ctx, 2, &group));
        break;
    case 24:
        must(pol_group_remove(ctx, 2));
        must(pol_vm_release(ctx, 1));
        break;
    case 35:
        must(pol_vm_remove(ctx, 4));
        guests[3].actual = 0;
        break;
    default:
        break;
    }
}

static void act(struct pol_ctx *ctx, struct guest *guests, uint32_t round,
                size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        const struct pol_action *a = &actions[i];
        struct guest *g =
            a->vm >= 1 && a->vm <= VMS ? &guests[a->vm - 1] : NULL;
        int error = POL_OK;

        if (a->kind == POL_ACT_NOTE) {
            continue;
        }
        if (a->kind == POL_ACT_BALLOON && round == 6) {
            error = POL_ERR_HOST; /* one round in which nothing works */
        } else if (a->kind == POL_ACT_BALLOON) {
            g->asked = a->pages;
        } else if (a->kind == POL_ACT_SWAP_OUT) {
            g->swapped += a->pages;
        } else if (a->kind == POL_ACT_SWAP_IN) {
            g->swapped -= g->swapped < a->pages ? g->swapped : a->pages;
        }
        must(pol_report(ctx, a, error == POL_OK ? a->pages : 0, error));
    }
}

static void run_script(struct trace_buffer *trace)
{
    struct guest guests[VMS];
    struct pol_config config;
    struct pol_ctx *ctx;
    uint32_t round;

    memcpy(guests, guests_at_start, sizeof(guests));
    pol_config_init(&config, VMS, GROUPS);
    config.max_holds = HOLDS;
    must(pol_ctx_init(block, sizeof(block), &config, &ctx));
    must(pol_trace_start(ctx, trace_buffer_sink, trace));
    add_all(ctx);
    for (round = 0; round < ROUNDS; round++) {
        uint64_t vm, vms;
        size_t n = 0;

        observe_host(ctx, guests, round);
        administer(ctx, guests, round);
        vms = pol_vm_count(ctx);
        for (vm = 1; vm <= vms; vm++) {
            observe_vm(ctx, &guests[vm - 1], vm, round);
            sample_vm(ctx, &guests[vm - 1], vm, round);
        }
        must(pol_plan(ctx, actions, ACTIONS, &n));
        act(ctx, guests, round, n);
    }
}

/* --- the plans as text ------------------------------------------------ */

struct plans {
    struct trace_buffer text;
    unsigned n;
};

static int print_plan(void *user, const struct pol_ctx *ctx,
                      const struct pol_action *planned, size_t n)
{
    struct plans *plans = user;
    struct pol_host_status host;
    size_t i;
    int rc = pol_host_get(ctx, &host);

    if (rc == POL_OK) {
        print(&plans->text, "plan %u: state %s, free %llu, available %llu\n",
              plans->n++, pol_state_name((int)host.state),
              (unsigned long long)host.free_pages,
              (unsigned long long)host.available_pages);
    }
    for (i = 0; i < n; i++) {
        print(&plans->text, "    vm %llu %s %llu because %s\n",
              (unsigned long long)planned[i].vm,
              pol_action_name((int)planned[i].kind),
              (unsigned long long)planned[i].pages,
              pol_reason_name((int)planned[i].reason));
    }
    return rc;
}

static int replay(const struct trace_buffer *trace, struct plans *plans,
                  struct pol_replay_result *result)
{
    return pol_trace_replay(trace->bytes, trace->used, NULL, block,
                            sizeof(block), actions, ACTIONS, print_plan, plans,
                            result);
}

/* --- tests ------------------------------------------------------------ */

static bool same(const char *what, const struct trace_buffer *now,
                 const struct trace_buffer *golden)
{
    size_t i = 0, line = 1;

    while (i < now->used && i < golden->used &&
           now->bytes[i] == golden->bytes[i]) {
        line += now->bytes[i++] == '\n';
    }
    if (i == now->used && i == golden->used) {
        return true;
    }
    printf("\n    %s: differs at byte %zu (line %zu, if text)\n", what, i,
           line);
    return false;
}

static void golden_trace_replays(void)
{
    struct trace_buffer golden = { 0 }, text = { 0 };
    struct plans plans = { 0 };
    struct pol_replay_result result;

    CU_ASSERT_FATAL(trace_buffer_read(&golden, FOLDER TRACE) == 0);
    CU_ASSERT_FATAL(trace_buffer_read(&text, FOLDER PLANS) == 0);
    CU_ASSERT(replay(&golden, &plans, &result) == POL_OK);
    CU_ASSERT(result.mismatches == 0);
    CU_ASSERT(result.plans == ROUNDS);
    CU_ASSERT(same("plans", &plans.text, &text));
    printf("\n    %llu records, %llu plans in %zu bytes\n",
           (unsigned long long)result.records, (unsigned long long)result.plans,
           golden.used);
    trace_buffer_free(&golden);
    trace_buffer_free(&text);
    trace_buffer_free(&plans.text);
}

static void script_gives_golden_trace(void)
{
    struct trace_buffer golden = { 0 }, now = { 0 };

    CU_ASSERT_FATAL(trace_buffer_read(&golden, FOLDER TRACE) == 0);
    refused = 0;
    run_script(&now);
    CU_ASSERT(refused == 0);
    CU_ASSERT(same("trace", &now, &golden));
    trace_buffer_free(&golden);
    trace_buffer_free(&now);
}

static int write_golden(const char *folder)
{
    struct trace_buffer trace = { 0 };
    struct plans plans = { 0 };
    struct pol_replay_result result;
    char path[4096];
    int rc;

    run_script(&trace);
    rc = replay(&trace, &plans, &result);
    if (rc != POL_OK || refused != 0) {
        printf("script: %s, %u calls refused\n", pol_strerror(rc), refused);
        return 1;
    }
    snprintf(path, sizeof(path), "%s" TRACE, folder);
    rc |= trace_buffer_write(&trace, path);
    snprintf(path, sizeof(path), "%s" PLANS, folder);
    rc |= trace_buffer_write(&plans.text, path);
    printf("%zu bytes of trace, %zu of text written to %s\n", trace.used,
           plans.text.used, folder);
    trace_buffer_free(&trace);
    trace_buffer_free(&plans.text);
    return rc != 0;
}

int main(int argc, char **argv)
{
    CU_pSuite suite;
    unsigned failures;

    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        return write_golden(argv[2]);
    }
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    suite = CU_add_suite("replay of the golden trace", NULL, NULL);
    CU_add_test(suite, "replays to the same plans", golden_trace_replays);
    CU_add_test(suite, "the script still gives it", script_gives_golden_trace);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
