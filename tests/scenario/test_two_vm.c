/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The idle-memory tax on two VMs of equal shares (ESX02, figure 7): without
 * it both have the same; with 75 % memory is where it is used, and follows
 * within a few sampling periods when the two change roles.
 */
#include <stdio.h>

#include "expect.h"
#include "policy-esxi-sim/sim_run.h"

#define FILE_NAME POL_SOURCE_DIR "/examples/scenarios/two-vm-idle-tax.yaml"
#define MINUTE    UINT64_C(60000)
#define SWAP_MS   (30 * MINUTE)
#define PERIOD_MS UINT64_C(30000)

/* Both VMs' targets at some time. */
struct pair {
    uint64_t first, second;
};

static struct sim_scenario *load(const char *tax)
{
    struct sim_scenario *scenario = NULL;
    struct sim_error err;

    if (sim_scenario_load(FILE_NAME, &scenario, &err) != POL_OK) {
        fprintf(stderr, "%s\n", err.text);
    }
    MUST(scenario == NULL ? POL_ERR_INVALID : POL_OK);
    MUST(sim_scenario_set(scenario, tax, &err));
    return scenario;
}

static struct pair run_to(struct sim_run *run, uint64_t ms)
{
    struct sim_run_vm first, second;
    struct pair pair;

    while (sim_run_now_ms(run) < ms) {
        MUST(sim_run_step(run));
    }
    MUST(sim_run_vm(run, sim_run_vm_find(run, "first"), &first));
    MUST(sim_run_vm(run, sim_run_vm_find(run, "second"), &second));
    pair.first = first.target_pages;
    pair.second = second.target_pages;
    return pair;
}

static uint64_t apart(struct pair pair)
{
    return pair.first > pair.second ? pair.first - pair.second
                                    : pair.second - pair.first;
}

static void test_no_tax(void)
{
    struct sim_scenario *scenario = load("policy.idle_tax=0%");
    struct sim_run *run = NULL;
    struct sim_error err;
    struct sim_run_totals totals;

    MUST(sim_run_new(scenario, &run, &err));
    for (uint64_t minute = 5; minute <= 60; minute += 5) {
        EXPECT_TRUE("within a page", apart(run_to(run, minute * MINUTE)) <= 1);
    }
    sim_run_totals(run, &totals);
    EXPECT("no kills", totals.oom_kills, 0);
    EXPECT("no failures", totals.failures, 0);
    sim_run_free(run);
    sim_scenario_free(scenario);
}

static void test_tax(void)
{
    struct sim_scenario *scenario = load("policy.idle_tax=75%");
    struct sim_run *run = NULL;
    struct sim_error err;
    struct pair before, after;
    uint64_t crossed = 0;

    MUST(sim_run_new(scenario, &run, &err));
    before = run_to(run, SWAP_MS);
    printf("  before: %llu and %llu pages\n", (unsigned long long)before.first,
           (unsigned long long)before.second);
    EXPECT_TRUE("most to the active", before.first > 19 * before.second / 10);
    for (uint64_t ms = SWAP_MS; crossed == 0 && ms < 60 * MINUTE; ms += 1000) {
        after = run_to(run, ms);
        crossed = after.second > after.first ? ms - SWAP_MS : 0;
    }
    printf("  lead changes %llu s after the roles\n",
           (unsigned long long)crossed / 1000);
    EXPECT_TRUE("a few periods", crossed > 0 && crossed <= 6 * PERIOD_MS);
    after = run_to(run, SWAP_MS + 10 * PERIOD_MS);
    printf("  after:  %llu and %llu pages\n", (unsigned long long)after.first,
           (unsigned long long)after.second);
    EXPECT_TRUE("most to the active", after.second > 19 * after.first / 10);
    sim_run_free(run);
    sim_scenario_free(scenario);
}

static const struct test_case cases[] = {
    { "tax 0: equal to the page, whoever works", test_no_tax },
    { "tax 75 %: memory is where it is used, and follows", test_tax },
};

EXPECT_MAIN("two_vm", cases)
