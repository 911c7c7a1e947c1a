/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must hold in every run of every small scenario: it gets to its end, no
 * frame is lost, no guest kills a program, the same seed gives the same run,
 * and the policy's recorded trace replays to the same plans.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "expect.h"
#include "policy-esxi-sim/sim_run.h"

static const char *const names[] = {
    "two-vm-idle-tax",
    "role-swap",
    "stuck-balloon",
    "start-storm",
    "no-driver",
    "limit-on-idle-host",
    "hold",
    "nested-groups",
    "guest-statistics-garbage",
    "host-memory-loss",
    "foreign-target",
};

struct buffer {
    uint8_t *bytes;
    size_t n, cap;
};

static void keep(void *user, const uint8_t *bytes, size_t n)
{
    struct buffer *b = user;

    if (b->n + n > b->cap) {
        b->cap = (b->n + n) * 2;
        b->bytes = realloc(b->bytes, b->cap);
        MUST(b->bytes == NULL ? POL_ERR_NOMEM : POL_OK);
    }
    memcpy(b->bytes + b->n, bytes, n);
    b->n += n;
}

static struct sim_scenario *load(const char *name)
{
    char path[1024];
    struct sim_scenario *scenario = NULL;
    struct sim_error err;

    snprintf(path, sizeof(path), "%s/examples/scenarios/%s.yaml",
             POL_SOURCE_DIR, name);
    if (sim_scenario_load(path, &scenario, &err) != POL_OK) {
        fprintf(stderr, "%s\n", err.text);
    }
    MUST(scenario == NULL ? POL_ERR_INVALID : POL_OK);
    return scenario;
}

/* Run to the end. @return a digest of the host at the end */
static uint64_t run_all(const struct sim_scenario *scenario, const char *name,
                        struct buffer *trace, struct sim_run_totals *totals)
{
    struct sim_run *run = NULL;
    struct sim_error err;
    const char *why = "";
    uint64_t digest;

    MUST(sim_run_new(scenario, &run, &err));
    MUST(sim_run_record(run, keep, trace));
    while (!sim_run_done(run)) {
        int rc = sim_run_step(run);

        if (rc != POL_OK && rc != POL_ERR_HOST) {
            EXPECT(name, rc, POL_OK);
            break;
        }
        if (sim_run_now_ms(run) % 300000 == 0) {
            EXPECT(name, sim_host_check(sim_run_engine(run), &why), POL_OK);
        }
    }
    sim_run_totals(run, totals);
    digest = sim_host_digest(sim_run_engine(run));
    sim_run_free(run);
    return digest;
}

static void replay(const char *name, const struct pol_config *config,
                   const struct buffer *trace)
{
    struct pol_replay_result result;
    size_t cap = pol_replay_bound(config);
    struct pol_action *actions = calloc(cap, sizeof(*actions));
    size_t bytes = 0;
    void *block;

    MUST(pol_replay_size(config, &bytes));
    bytes = (bytes + 63) / 64 * 64;
    block = aligned_alloc(64, bytes);
    MUST(block == NULL || actions == NULL ? POL_ERR_NOMEM : POL_OK);
    EXPECT(name,
           pol_trace_replay(trace->bytes, trace->n, NULL, block, bytes, actions,
                            cap, NULL, NULL, &result),
           POL_OK);
    EXPECT(name, result.mismatches, 0);
    free(actions);
    free(block);
}

static void check_scenario(const char *name)
{
    struct sim_scenario *scenario = load(name);
    struct sim_run_totals first, second;
    struct buffer trace = { NULL, 0, 0 };
    struct buffer again = { NULL, 0, 0 };
    uint64_t digest = run_all(scenario, name, &trace, &first);

    EXPECT(name, first.oom_kills, 0);
    EXPECT(name, first.refused, 0);
    EXPECT(name, first.deaths, 0);
    EXPECT_TRUE(name, first.started > 0);
    EXPECT_TRUE(name, run_all(scenario, name, &again, &second) == digest);
    EXPECT_TRUE(name, memcmp(&first, &second, sizeof(first)) == 0);
    EXPECT_TRUE(name, trace.n == again.n &&
                          memcmp(trace.bytes, again.bytes, trace.n) == 0);
    replay(name, &scenario->config, &trace);
    printf("  %-26s seed %llu, %llu ticks, trace of %zu bytes\n", name,
           (unsigned long long)scenario->seed, (unsigned long long)first.ticks,
           trace.n);
    free(trace.bytes);
    free(again.bytes);
    sim_scenario_free(scenario);
}

/* Under sanitizers, which are slow, every third one must do. */
static void test_all(void)
{
    for (size_t i = 0; i<ROWS(names); i += POL_TEST_DIVISOR> 1 ? 3 : 1) {
        check_scenario(names[i]);
    }
}

/* The first minutes of the long one, which is run in full elsewhere. */
static void test_azure(void)
{
    struct sim_scenario *scenario = load("azure-day");
    struct sim_run_totals totals;
    struct buffer trace = { NULL, 0, 0 };
    struct sim_error err;

    MUST(sim_scenario_set(
        scenario, POL_TEST_DIVISOR > 1 ? "duration=90min" : "duration=2h",
        &err));
    (void)run_all(scenario, "azure-day", &trace, &totals);
    EXPECT("azure-day", totals.oom_kills, 0);
    EXPECT_TRUE("overcommitted", totals.peak_overcommit_bp > 14000);
    EXPECT_TRUE("many VMs", totals.peak_vms > 80);
    replay("azure-day", &scenario->config, &trace);
    free(trace.bytes);
    sim_scenario_free(scenario);
}

static const struct test_case cases[] = {
    { "small scenarios: to the end, twice the same, replayed", test_all },
    { "two hours of Azure requests", test_azure },
};

EXPECT_MAIN("runs", cases)
