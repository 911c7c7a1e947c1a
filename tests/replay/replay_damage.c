/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces that are cut short, damaged or not what they say: every one is
 * noticed. And what a replay asks of its caller.
 */
#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "trace_record.h"

#define SEED  UINT64_C(0xda)
#define STEPS 12u

static struct history history;
static struct history_counts counts;
static struct trace_buffer trace; /* a small one, for all tests */
static _Alignas(64) uint8_t block[HISTORY_BLOCK];
static struct pol_action actions[HISTORY_ACTIONS];

static int replay(const uint8_t *bytes, size_t n,
                  const struct pol_config *config,
                  struct pol_replay_result *result)
{
    return pol_trace_replay(bytes, n, config, block, sizeof(block), actions,
                            HISTORY_ACTIONS, NULL, NULL, result);
}

/* Where the record begins that has byte `at`, or `at` itself is a beginning;
 * the header begins at 0. */
static size_t beginning_of(size_t at)
{
    struct polx_reader r = { trace.bytes, trace.used, 0 };
    struct pol_config config;
    struct polx_frame frame;
    size_t begin = 0;

    CU_ASSERT(polx_header_read(&r, &config) == POL_OK);
    while (r.at <= at) {
        begin = r.at;
        if (polx_left(&r) == 0 || polx_frame_read(&r, &frame) != POL_OK) {
            break;
        }
    }
    return begin;
}

static void every_prefix_is_noticed(void)
{
    size_t n, whole = 0;

    for (n = 0; n < trace.used; n++) {
        /* A copy of the exact size: reading beyond it is caught. */
        uint8_t *copy = malloc(n + 1);
        struct pol_trace_info info;
        struct pol_replay_result result;
        size_t begin = beginning_of(n);
        int rc = begin == n && n > 0 ? POL_OK : POL_ERR_TRUNCATED;

        CU_ASSERT_FATAL(copy != NULL);
        memcpy(copy, trace.bytes, n);
        CU_ASSERT(pol_trace_scan(copy, n, &info) == rc);
        CU_ASSERT(info.bad_offset == begin);
        CU_ASSERT(replay(copy, n, NULL, &result) == rc);
        CU_ASSERT(result.bad_offset == begin);
        CU_ASSERT(result.records == info.records);
        CU_ASSERT(result.mismatches == 0);
        whole += rc == POL_OK;
        free(copy);
    }
    printf("\n    %zu prefixes, %zu of them whole ", n, whole);
    CU_ASSERT(whole > 10);
}

static void every_flipped_bit_is_noticed(void)
{
    size_t bit, bits = trace.used * 8;

    for (bit = 0; bit < bits; bit++) {
        struct pol_trace_info info;
        struct pol_replay_result result;
        size_t begin = beginning_of(bit / 8);
        int scanned, replayed;

        trace.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        scanned = pol_trace_scan(trace.bytes, trace.used, &info);
        replayed = replay(trace.bytes, trace.used, NULL, &result);
        trace.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CU_ASSERT(scanned != POL_OK && replayed == scanned);
        CU_ASSERT(info.bad_offset == begin && result.bad_offset == begin);
    }
    printf("\n    %zu flipped bits ", bits);
}

/* Copies the trace, leaving out or changing its last plan. */
static void copy_without_last_plan(struct trace_buffer *to, bool change,
                                   struct pol_action action)
{
    struct polx_reader r = { trace.bytes, trace.used, 0 };
    struct pol_trace_info info;
    struct polx_frame frame;
    struct pol_config config;
    uint64_t plans = 0;

    CU_ASSERT(pol_trace_scan(trace.bytes, trace.used, &info) == POL_OK);
    CU_ASSERT(polx_header_read(&r, &config) == POL_OK);
    trace_buffer_sink(to, trace.bytes, r.at);
    while (polx_left(&r) > 0) {
        CU_ASSERT_FATAL(polx_frame_read(&r, &frame) == POL_OK);
        if (frame.type != POLX_REC_PLAN || ++plans < info.plans) {
            trace_buffer_sink(to, frame.bytes, frame.size);
        } else if (change) {
            polx_plan_write(trace_buffer_sink, to, &action, 1);
        }
    }
}

static void another_plan_is_a_mismatch(void)
{
    struct pol_action strange = { 12345, 6, POL_ACT_BALLOON, POL_WHY_NONE };
    struct trace_buffer changed = { 0 };
    struct pol_replay_result whole, result;

    CU_ASSERT(replay(trace.bytes, trace.used, NULL, &whole) == POL_OK);
    copy_without_last_plan(&changed, true, strange);
    CU_ASSERT(replay(changed.bytes, changed.used, NULL, &result) ==
              POL_ERR_MISMATCH);
    CU_ASSERT(result.mismatches == 1);
    CU_ASSERT(result.plans == whole.plans && result.records == whole.records);
    CU_ASSERT(result.bad_offset == changed.used);
    trace_buffer_free(&changed);
}

/* An impossible call behind a right checksum. */
static void impossible_calls_are_damage(void)
{
    struct polx_call call = { .id = 99 };
    struct trace_buffer longer = { 0 };
    struct pol_replay_result result;
    struct pol_trace_info info;
    size_t begin;

    trace_buffer_sink(&longer, trace.bytes, trace.used);
    begin = longer.used;
    polx_record_write(trace_buffer_sink, &longer, POLX_REC_VM_REMOVE, &call);
    CU_ASSERT(pol_trace_scan(longer.bytes, longer.used, &info) == POL_OK);
    CU_ASSERT(replay(longer.bytes, longer.used, NULL, &result) ==
              POL_ERR_CORRUPT);
    CU_ASSERT(result.bad_offset == begin);
    /* Of another policy it may be the answer. */
    CU_ASSERT(replay(longer.bytes, longer.used, &info.config, &result) ==
              POL_OK);
    CU_ASSERT(result.skipped == 1 && result.bad_offset == longer.used);
    trace_buffer_free(&longer);
}

static int stop_at_third(void *user, const struct pol_ctx *ctx,
                         const struct pol_action *planned, size_t n)
{
    unsigned *plans = user;

    (void)ctx;
    (void)planned;
    (void)n;
    return ++*plans == 3 ? 77 : POL_OK;
}

static void caller_can_stop(void)
{
    struct pol_replay_result result;
    unsigned plans = 0;

    CU_ASSERT(pol_trace_replay(trace.bytes, trace.used, NULL, block,
                               sizeof(block), actions, HISTORY_ACTIONS,
                               stop_at_third, &plans, &result) == 77);
    CU_ASSERT(plans == 3 && result.plans == 3);
    CU_ASSERT(trace.bytes[result.bad_offset] == POLX_REC_PLAN);
}

static void caller_must_give_room(void)
{
    struct pol_trace_info info;
    struct pol_replay_result result;
    size_t bytes = 0, bound;

    CU_ASSERT(pol_trace_scan(trace.bytes, trace.used, &info) == POL_OK);
    CU_ASSERT(pol_replay_size(&info.config, &bytes) == POL_OK);
    bound = pol_replay_bound(&info.config);
    CU_ASSERT_FATAL(bytes <= sizeof(block) && bound <= HISTORY_ACTIONS);
    CU_ASSERT(pol_trace_replay(trace.bytes, trace.used, NULL, block, bytes,
                               actions, bound, NULL, NULL, &result) == POL_OK);
    CU_ASSERT(pol_trace_replay(trace.bytes, trace.used, NULL, block, bytes - 1,
                               actions, bound, NULL, NULL,
                               &result) == POL_ERR_NOMEM);
    CU_ASSERT(pol_trace_replay(trace.bytes, trace.used, NULL, block, bytes,
                               actions, bound - 1, NULL, NULL,
                               &result) == POL_ERR_BUFFER);
    CU_ASSERT(pol_trace_replay(trace.bytes, trace.used, NULL, block + 8,
                               sizeof(block) - 8, actions, bound, NULL, NULL,
                               &result) == POL_ERR_INVALID);
    info.config.max_vms = 0;
    CU_ASSERT(pol_replay_size(&info.config, &bytes) == POL_ERR_RANGE);
}

static void other_policy_must_fit(void)
{
    static const struct {
        const char *what;
        size_t offset;
        int change;
        int rc;
    } table[] = {
        { "same", offsetof(struct pol_config, max_vms), 0, POL_OK },
        { "more VMs", offsetof(struct pol_config, max_vms), 1, POL_OK },
        { "fewer VMs", offsetof(struct pol_config, max_vms), -1,
          POL_ERR_INVALID },
        { "more groups", offsetof(struct pol_config, max_groups), 1, POL_OK },
        { "fewer groups", offsetof(struct pol_config, max_groups), -1,
          POL_ERR_INVALID },
        { "fewer holds", offsetof(struct pol_config, max_holds), -1,
          POL_ERR_INVALID },
        { "larger pages", offsetof(struct pol_config, page_bytes), 4096,
          POL_ERR_INVALID },
        { "more samples", offsetof(struct pol_config, sample_pages), 1,
          POL_OK },
        { "longer fresh", offsetof(struct pol_config, stale_ms), -300000,
          POL_ERR_RANGE },
    };
    struct pol_trace_info info;
    size_t i;

    CU_ASSERT(pol_trace_scan(trace.bytes, trace.used, &info) == POL_OK);
    for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct pol_config config = info.config;
        struct pol_replay_result result;
        uint32_t value;
        int rc;

        memcpy(&value, (uint8_t *)&config + table[i].offset, sizeof(value));
        value += (uint32_t)table[i].change;
        memcpy((uint8_t *)&config + table[i].offset, &value, sizeof(value));
        rc = replay(trace.bytes, trace.used, &config, &result);
        if (rc != table[i].rc) {
            printf("\n    %s: %s ", table[i].what, pol_error_name(rc));
        }
        CU_ASSERT(rc == table[i].rc);
    }
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        { "every prefix is noticed", every_prefix_is_noticed },
        { "every flipped bit is noticed", every_flipped_bit_is_noticed },
        { "another plan is a mismatch", another_plan_is_a_mismatch },
        { "impossible calls are damage", impossible_calls_are_damage },
        { "caller can stop", caller_can_stop },
        { "caller must give room", caller_must_give_room },
        { "other policy must fit", other_policy_must_fit },
    };
    CU_pSuite suite;
    unsigned failures;
    size_t i;

    if (history_run(&history, &counts, SEED, STEPS, &trace) != POL_OK ||
        CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    printf("seed 0x%llx, a trace of %zu bytes with %llu plans\n",
           (unsigned long long)SEED, trace.used,
           (unsigned long long)counts.ok[CALL_PLAN]);
    suite = CU_add_suite("damaged traces", NULL, NULL);
    for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        CU_add_test(suite, tests[i].name, tests[i].run);
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    trace_buffer_free(&trace);
    return failures != 0;
}
