/* SPDX-License-Identifier: BSD-2-Clause */
/* Scenarios in which something goes wrong: what the policy makes of it. */
#include <stdio.h>
#include <string.h>

#include "expect.h"
#include "policy-esxi-sim/sim_run.h"

#define MINUTE UINT64_C(60000)

static struct sim_scenario *scenario;
static struct sim_run *run;

/* What was seen since the scenario began. */
static struct {
    uint64_t stuck_notes;
    uint64_t bad_statistics_notes;
    uint64_t hold_ready_notes;
    uint64_t holds_taken;
    uint64_t balloons_of_driverless;
    uint64_t tenants_swapped;
} seen;

static void watch(void *user, struct sim_run *from,
                  const struct sim_notice *notice)
{
    const struct pol_action *a = notice->action;

    (void)user;
    (void)from;
    if (a == NULL) {
        seen.holds_taken += notice->kind == SIM_NOTICE_EVENT &&
                            notice->error == POL_OK &&
                            strcmp(notice->text, "hold taken") == 0;
        return;
    }
    seen.stuck_notes += a->reason == POL_WHY_STUCK && a->kind == POL_ACT_NOTE;
    seen.bad_statistics_notes += a->reason == POL_WHY_BAD_STATISTICS;
    seen.hold_ready_notes += a->reason == POL_WHY_HOLD_READY;
    if (notice->vm_name != NULL && a->kind == POL_ACT_BALLOON &&
        (strcmp(notice->vm_name, "driverless") == 0 ||
         strcmp(notice->vm_name, "forbidden") == 0)) {
        seen.balloons_of_driverless++;
    }
    seen.tenants_swapped += a->kind == POL_ACT_SWAP_OUT &&
                            notice->vm_name != NULL &&
                            strncmp(notice->vm_name, "tenant-", 7) == 0;
}

static void begin(const char *name)
{
    char path[1024];
    struct sim_error err;

    memset(&seen, 0, sizeof(seen));
    snprintf(path, sizeof(path), "%s/examples/scenarios/%s.yaml",
             POL_SOURCE_DIR, name);
    MUST(sim_scenario_load(path, &scenario, &err));
    MUST(sim_run_new(scenario, &run, &err));
    sim_run_observe(run, watch, NULL);
}

static void end(void)
{
    sim_run_free(run);
    sim_scenario_free(scenario);
}

/* Also through times when the host cannot be read. */
static void run_to(uint64_t ms)
{
    while (sim_run_now_ms(run) < ms) {
        int rc = sim_run_step(run);

        MUST(rc == POL_ERR_HOST ? POL_OK : rc);
    }
}

static struct sim_run_vm vm(const char *name)
{
    struct sim_run_vm out;

    MUST(sim_run_vm(run, sim_run_vm_find(run, name), &out));
    return out;
}

static void test_limit(void)
{
    begin("limit-on-idle-host");
    run_to(5 * MINUTE);
    EXPECT("before", vm("limited").balloon_pages, 0);
    run_to(9 * MINUTE);
    EXPECT_TRUE("under its limit", vm("limited").consumed_pages <= 131072);
    EXPECT_TRUE("by balloon", vm("limited").balloon_pages > 0);
    EXPECT("not by swapping", vm("limited").swap_out_pages, 0);
    EXPECT("the other one is left alone", vm("free").balloon_pages, 0);
    run_to(14 * MINUTE);
    EXPECT("given back", vm("limited").balloon_pages, 0);
    end();
}

static void test_no_driver(void)
{
    begin("no-driver");
    run_to(20 * MINUTE);
    EXPECT("never asked", seen.balloons_of_driverless, 0);
    EXPECT_TRUE("swapped instead", vm("driverless").swap_out_pages > 0);
    EXPECT_TRUE("swapped instead", vm("forbidden").swap_out_pages > 0);
    end();
}

static void test_stuck(void)
{
    begin("stuck-balloon");
    run_to(19 * MINUTE);
    EXPECT_TRUE("noticed", seen.stuck_notes > 0);
    EXPECT_TRUE("known", vm("stuck").stuck != 0);
    EXPECT_TRUE("others make up for it",
                vm("well").balloon_pages > vm("stuck").balloon_pages);
    end();
}

static void test_garbage(void)
{
    struct sim_run_totals totals;

    begin("guest-statistics-garbage");
    run_to(20 * MINUTE);
    sim_run_totals(run, &totals);
    EXPECT_TRUE("noted", seen.bad_statistics_notes > 0);
    EXPECT("nobody killed", totals.oom_kills, 0);
    EXPECT("no failures", totals.failures, 0);
    end();
}

static void test_memory_loss(void)
{
    struct sim_run_host host;

    begin("host-memory-loss");
    run_to(14 * MINUTE);
    sim_run_host(run, &host);
    EXPECT("lost", host.total_pages, 262144);
    EXPECT_TRUE("recovered from it", host.free_pages >= host.policy.soft_pages);
    for (int i = 1; i <= 3; i++) {
        char name[16];

        snprintf(name, sizeof(name), "guest-%d", i);
        EXPECT_TRUE(name, vm(name).target_pages >= 52428);
    }
    run_to(25 * MINUTE);
    sim_run_host(run, &host);
    EXPECT("back", host.total_pages, 393216);
    end();
}

static void test_hold(void)
{
    struct sim_run_host host;

    begin("hold");
    run_to(8 * MINUTE - 1000);
    sim_run_host(run, &host);
    EXPECT("kept", host.policy.held_pages, 167936);
    EXPECT_TRUE("free", host.free_pages >= 167936);
    EXPECT_TRUE("told", seen.hold_ready_notes > 0);
    run_to(15 * MINUTE);
    EXPECT_TRUE("came", sim_run_vm_find(run, "guest-of-honour") != 0);
    EXPECT("handed over", seen.holds_taken, 1);
    EXPECT("nobody swapped for it", seen.tenants_swapped, 0);
    end();
}

static void test_groups(void)
{
    uint64_t production = 0;
    uint64_t laboratory;

    begin("nested-groups");
    run_to(14 * MINUTE);
    for (int i = 1; i <= 4; i++) {
        char name[16];

        snprintf(name, sizeof(name), "red-%d", i);
        production += vm(name).target_pages;
    }
    EXPECT_TRUE("teams alike",
                production <= vm("blue-1").target_pages * 2 + 8 &&
                    production + 8 >= vm("blue-1").target_pages * 2);
    production += vm("blue-1").target_pages + vm("blue-2").target_pages;
    laboratory = vm("lab-1").target_pages + vm("lab-2").target_pages;
    printf("  production %llu, laboratory %llu pages\n",
           (unsigned long long)production, (unsigned long long)laboratory);
    EXPECT_TRUE("three to one", production <= 3 * laboratory + 16 &&
                                    production + 16 >= 3 * laboratory);
    end();
}

static const struct test_case cases[] = {
    { "a limit on an idle host balloons, and is taken back", test_limit },
    { "no driver: swapped, never ballooned", test_no_driver },
    { "a stuck balloon is noticed, others make up for it", test_stuck },
    { "guests that talk nonsense harm nobody", test_garbage },
    { "lost memory: reservations hold, and it recovers", test_memory_loss },
    { "memory held for a VM is there when it comes", test_hold },
    { "groups get what their shares say", test_groups },
};

EXPECT_MAIN("faults", cases)
