/* SPDX-License-Identifier: BSD-2-Clause */
/* ESX02 figures 6 and 7: estimates of working sets, and the tax on what is
 * idle. */
#include "exp.h"

/* ---- Working sets ------------------------------------------------------- */

static double mib_of(const struct sim_run *run, uint64_t pages)
{
    return (double)pages * sim_run_scenario(run)->host.page_bytes / 1048576.0;
}

/** Estimate and truth of the first VM at a time, MiB. */
struct sample {
    double estimate;
    double truth;
};

static int sample_at(struct sim_run *run, uint64_t ms, struct sample *out)
{
    int status = exp_run_to(run, ms);
    struct sim_run_vm vm;

    if (status == STATUS_OK && sim_run_vm(run, 1, &vm) == POL_OK) {
        out->estimate = mib_of(run, vm.estimate_pages);
        out->truth = mib_of(run, vm.active_pages);
    }
    return status;
}

#define EVERY_MS UINT64_C(15000)
#define SAMPLES  241 /* an hour */

static double estimate_at(const struct sample *samples, double minutes)
{
    return samples[(size_t)(minutes * 60000 / (double)EVERY_MS)].estimate;
}

/* Phases as in the scenario: 20, 100, 200, 60, 10 MiB at 0, 10, 20, 30 and 45
 * minutes; kernel pages come on top. */
static void check_estimates(struct exp_result *result,
                            const struct sample *samples)
{
    double grown = estimate_at(samples, 21);
    double fallen = estimate_at(samples, 31);
    double settled = estimate_at(samples, 29.75);

    exp_check(result, fabs(settled - 208) < 21, EXP_SHAPE,
              must_copy("the estimate settles at what is used: 208 MiB"), "yes",
              must_format("%.0f MiB", settled), "it settles elsewhere");
    exp_check(result, grown > 0.8 * 208, EXP_SHAPE,
              must_copy("growth from 108 to 208 MiB shows within a minute"),
              "at once", must_format("%.0f MiB after a minute", grown),
              "growth is seen late");
    exp_check(result, fallen > 100, EXP_SHAPE,
              must_copy("decline from 208 to 68 MiB shows slowly"), "slowly",
              must_format("%.0f MiB after a minute", fallen),
              "the estimate falls at once");
    exp_check(
        result, estimate_at(samples, 40) < 82, EXP_SHAPE,
        must_copy("decline from 208 to 68 MiB shows in the end"), "yes",
        must_format("%.0f MiB after 10 minutes", estimate_at(samples, 40)),
        "the estimate stays high");
}

int exp_working_set(const struct experiment *experiment, bool quick,
                    struct exp_result *result)
{
    struct sim_scenario *scenario = exp_load(experiment);
    struct sim_run *run = scenario != NULL ? exp_start(scenario) : NULL;
    struct sample samples[SAMPLES] = { { 0, 0 } };
    int status = run != NULL ? STATUS_OK : STATUS_FAILED;

    (void)quick;
    for (size_t i = 1; i < SAMPLES && status == STATUS_OK; i++) {
        status = sample_at(run, i * EVERY_MS, &samples[i]);
        exp_point(result, "really used", false, (double)i / 4,
                  samples[i].truth);
        exp_point(result, "estimate", false, (double)i / 4,
                  samples[i].estimate);
    }
    if (status == STATUS_OK) {
        check_estimates(result, samples);
    }
    sim_run_free(run);
    sim_scenario_free(scenario);
    return status;
}

/* ---- The tax ------------------------------------------------------------ */

/** Targets of the two VMs, and how fast the busy one is. */
struct division {
    double idle;
    double busy;
    double speed;
};

/* Run to a time and see how memory was divided and what was done since the
 * last time. */
static int divided_at(struct sim_run *run, uint64_t ms, uint64_t *done,
                      struct division *out)
{
    uint64_t before = sim_run_now_ms(run);
    int status = exp_run_to(run, ms);
    struct sim_run_vm idle;
    struct sim_run_vm busy;

    if (status != STATUS_OK || sim_run_vm(run, 1, &idle) != POL_OK ||
        sim_run_vm(run, 2, &busy) != POL_OK) {
        return STATUS_FAILED;
    }
    out->idle = mib_of(run, idle.target_pages);
    out->busy = mib_of(run, busy.target_pages);
    out->speed = 1000.0 * (double)(busy.accesses - *done) /
                 (double)(sim_run_now_ms(run) - before);
    *done = busy.accesses;
    return STATUS_OK;
}

static void check_tax(struct exp_result *result, const struct division *before,
                      const struct division *after)
{
    static const char source[] = "worked out by the formula of ESX02 5.2";

    exp_amount(result, must_copy("idle VM, tax 0"), "MiB", 180, before->idle,
               source);
    exp_amount(result, must_copy("busy VM, tax 0"), "MiB", 180, before->busy,
               source);
    exp_amount(result, must_copy("idle VM, tax 75 %"), "MiB", 104, after->idle,
               source);
    exp_amount(result, must_copy("busy VM, tax 75 %"), "MiB", 256, after->busy,
               source);
    exp_check(result, after->speed > before->speed, EXP_ORDERING,
              must_copy("the busy VM gains by the tax"), "yes",
              must_format("%.0f accesses a second after %.0f", after->speed,
                          before->speed),
              "it is as slow as before");
}

int exp_idle_tax(const struct experiment *experiment, bool quick,
                 struct exp_result *result)
{
    struct sim_scenario *scenario = exp_load(experiment);
    struct sim_run *run = scenario != NULL ? exp_start(scenario) : NULL;
    struct division d = { 0, 0, 0 };
    struct division before = d;
    uint64_t done = 0;
    int status = run != NULL ? STATUS_OK : STATUS_FAILED;

    (void)quick;
    for (size_t i = 1; i <= 60 && status == STATUS_OK; i++) {
        status = divided_at(run, i * 60000, &done, &d);
        exp_point(result, "idle VM", false, (double)i, d.idle);
        exp_point(result, "busy VM", false, (double)i, d.busy);
        before = i == 29 ? d : before;
    }
    if (status == STATUS_OK) {
        check_tax(result, &before, &d);
    }
    sim_run_free(run);
    sim_scenario_free(scenario);
    return status;
}
