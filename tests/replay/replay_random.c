/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random histories are recorded and replayed: every plan comes out the same,
 * byte by byte, and recording the replay gives the same trace again.
 * Usage: replay_random [SEED [HISTORIES]]
 *        replay_random --seeds FOLDER   writes small traces for the fuzzer
 */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "history.h"
#include "internal.h"
#include "trace_record.h"
#include "trace_replay.h"

#ifndef POL_TEST_DIVISOR
#define POL_TEST_DIVISOR 1
#endif

static uint64_t seed = UINT64_C(0x7ace);
static uint64_t histories = 100000 / POL_TEST_DIVISOR;

static struct history history;
static struct history_counts counts;
static _Alignas(64) uint8_t block[HISTORY_BLOCK];
static struct pol_action actions[HISTORY_ACTIONS];

static uint64_t recorded_calls(const struct history_counts *c)
{
    uint64_t sum = 0;
    int i;

    for (i = 0; i < HISTORY_CALLS; i++) {
        sum += c->ok[i];
    }
    return sum;
}

/* As pol_trace_replay(), but the context it makes records as well. */
static int replay_recording(const struct trace_buffer *trace,
                            struct trace_buffer *again)
{
    static uint64_t pages[POLX_SAMPLE_MAX];
    struct pol_replay_result result = { 0 };
    struct polx_replay replay = {
        .reader = { trace->bytes, trace->used, 0 },
        .pages = pages,
        .actions = actions,
        .cap = HISTORY_ACTIONS,
        .out = &result,
    };
    struct pol_config config;
    int rc = polx_header_read(&replay.reader, &config);

    if (rc == POL_OK) {
        rc = pol_ctx_init(block, sizeof(block), &config, &replay.ctx);
    }
    if (rc == POL_OK) {
        rc = pol_trace_start(replay.ctx, trace_buffer_sink, again);
    }
    return rc == POL_OK ? polx_replay_run(&replay) : rc;
}

/* Another policy on the same calls must get through them all; only holds may
 * be refused. Its own number of sampled pages must not matter. */
static bool what_if(const struct trace_buffer *trace, uint64_t records,
                    bool holds, uint64_t *mismatches)
{
    struct pol_replay_result result;
    struct pol_config config;
    int rc;

    pol_config_init(&config, HISTORY_MAX_VMS + 1, HISTORY_MAX_GROUPS + 1);
    config.max_holds = HISTORY_MAX_HOLDS;
    config.idle_tax_bp = 2500;
    config.host_reserve_pages = 5000;
    config.sample_pages = 1;
    rc = pol_trace_replay(trace->bytes, trace->used, &config, block,
                          sizeof(block), actions, HISTORY_ACTIONS, NULL, NULL,
                          &result);
    *mismatches += result.mismatches;
    return rc == POL_OK && result.records == records &&
           (holds || result.skipped == 0);
}

static const char *failure; /* which step of one_history() failed */

#define STEP(condition)                                                        \
    do {                                                                       \
        if (!(condition)) {                                                    \
            failure = #condition;                                              \
            return false;                                                      \
        }                                                                      \
    } while (0)

static bool one_history(uint64_t history_seed, struct trace_buffer *trace,
                        struct trace_buffer *again, uint64_t *mismatches)
{
    uint64_t calls = recorded_calls(&counts);
    uint64_t plans = counts.ok[CALL_PLAN];
    uint64_t holds = counts.ok[CALL_HOLD_ADD];
    struct pol_trace_info info;
    struct pol_replay_result result;
    uint32_t steps = 20 + (uint32_t)(history_seed % 60);

    trace->used = again->used = 0;
    STEP(history_run(&history, &counts, history_seed, steps, trace) == POL_OK);
    STEP(polx_ctx_is_valid(history.ctx));
    calls = recorded_calls(&counts) - calls;
    plans = counts.ok[CALL_PLAN] - plans;
    STEP(pol_trace_scan(trace->bytes, trace->used, &info) == POL_OK);
    STEP(info.records == calls && info.plans == plans);
    STEP(info.bad_offset == trace->used);
    STEP(pol_trace_replay(trace->bytes, trace->used, NULL, block, sizeof(block),
                          actions, HISTORY_ACTIONS, NULL, NULL,
                          &result) == POL_OK);
    STEP(result.records == calls && result.plans == plans);
    STEP(result.mismatches == 0 && result.skipped == 0);
    STEP(result.bad_offset == trace->used);
    STEP(replay_recording(trace, again) == POL_OK);
    STEP(again->used == trace->used);
    STEP(memcmp(again->bytes, trace->bytes, trace->used) == 0);
    STEP(what_if(trace, calls, holds < counts.ok[CALL_HOLD_ADD], mismatches));
    return true;
}

static void print_counts(void)
{
    int i;

    for (i = 0; i < HISTORY_CALLS; i++) {
        printf("    %-14s %9llu ok %9llu refused\n", history_call_names[i],
               (unsigned long long)counts.ok[i],
               (unsigned long long)counts.failed[i]);
    }
    for (i = 1; i < POL_ACTION_KINDS; i++) {
        printf("    %-14s %9llu planned\n", pol_action_name(i),
               (unsigned long long)counts.actions[i]);
    }
}

static void replays_are_identical(void)
{
    struct trace_buffer trace = { 0 }, again = { 0 };
    uint64_t i, bytes = 0, mismatches = 0;
    bool good = true;

    printf("\n    seed 0x%llx, %llu histories\n", (unsigned long long)seed,
           (unsigned long long)histories);
    for (i = 0; good && i < histories; i++) {
        good = one_history(seed + i, &trace, &again, &mismatches);
        bytes += trace.used;
        if (!good) {
            printf("    seed 0x%llx: not so: %s\n",
                   (unsigned long long)(seed + i), failure);
        }
    }
    CU_ASSERT(good);
    printf("    %llu calls in %llu bytes of traces\n",
           (unsigned long long)recorded_calls(&counts),
           (unsigned long long)bytes);
    printf("    another policy made %llu other plans\n",
           (unsigned long long)mismatches);
    CU_ASSERT(mismatches > 0);
    trace_buffer_free(&trace);
    trace_buffer_free(&again);
}

/* Otherwise the test above would have tested less than it says. */
static void histories_covered_everything(void)
{
    int i;

    if (histories < 1000) {
        printf("\n    too few histories to say");
        return;
    }
    print_counts();
    for (i = 0; i < HISTORY_CALLS; i++) {
        CU_ASSERT(counts.ok[i] > 0);
        CU_ASSERT(counts.failed[i] > 0);
    }
    for (i = 1; i < POL_ACTION_KINDS; i++) {
        CU_ASSERT(counts.actions[i] > 0);
    }
    for (i = 0; i < POL_STATES; i++) {
        CU_ASSERT(counts.states[i] > 0);
    }
}

static int write_seeds(const char *folder)
{
    static const uint32_t steps[] = { 0, 5, 20, 60, 60 };
    int rc = 0;
    size_t i;

    for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct trace_buffer trace = { 0 };
        char path[4096];

        snprintf(path, sizeof(path), "%s/random-%zu.trace", folder, i);
        rc |= history_run(&history, &counts, i, steps[i], &trace);
        rc |= trace_buffer_write(&trace, path);
        trace_buffer_free(&trace);
    }
    return rc != 0;
}

int main(int argc, char **argv)
{
    CU_pSuite suite;
    unsigned failures;

    if (argc == 3 && strcmp(argv[1], "--seeds") == 0) {
        return write_seeds(argv[2]);
    }
    if (argc > 1) {
        seed = strtoull(argv[1], NULL, 0);
    }
    if (argc > 2) {
        histories = strtoull(argv[2], NULL, 0);
    }
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    suite = CU_add_suite("replay of random histories", NULL, NULL);
    CU_add_test(suite, "every replay is identical", replays_are_identical);
    CU_add_test(suite, "every call, action and state occurred",
                histories_covered_everything);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
