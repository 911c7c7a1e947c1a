/* SPDX-License-Identifier: BSD-2-Clause */
/* Running the scenarios of experiments. */
#include "exp.h"

#include <string.h>

struct sim_scenario *exp_load(const struct experiment *experiment)
{
    const struct asset *text = experiment->scenario;
    struct sim_scenario *scenario = NULL;
    struct sim_error error = { "" };

    if (sim_scenario_parse(text->begin, (size_t)(text->end - text->begin),
                           experiment->name, &scenario, &error) != POL_OK) {
        fail(STATUS_FAILED, "%s", error.text);
        return NULL;
    }
    return scenario;
}

struct sim_run *exp_start(const struct sim_scenario *scenario)
{
    struct sim_run *run = NULL;
    struct sim_error error = { "" };

    if (sim_run_new(scenario, &run, &error) != POL_OK) {
        fail(STATUS_FAILED, "%s", error.text);
        return NULL;
    }
    return run;
}

int exp_run_to(struct sim_run *run, uint64_t until_ms)
{
    while (!sim_run_done(run) && sim_run_now_ms(run) < until_ms) {
        int result = sim_run_step(run);

        if (result != POL_OK) {
            return fail(STATUS_FAILED, "after %llu ms: %s",
                        (unsigned long long)sim_run_now_ms(run),
                        pol_strerror(result));
        }
    }
    return STATUS_OK;
}

static void compare(const struct sim_run_vm *before,
                    const struct sim_run_vm *after, double seconds,
                    struct exp_measure *out)
{
    double done = (double)(after->accesses - before->accesses);
    double wanted = (double)(after->accesses_wanted - before->accesses_wanted);
    double shed = (double)(after->accesses_shed - before->accesses_shed);

    out->per_s = done / seconds;
    out->ms_per_access =
        done > 0 ? (double)(after->spent_ns - before->spent_ns) / done / 1e6
                 : 0;
    out->shed = wanted > 0 ? 100 * shed / wanted : 0;
    out->swap_in_per_s =
        (double)(after->swap_in_pages - before->swap_in_pages) / seconds;
}

int exp_measure(const struct sim_scenario *scenario, uint64_t from_ms,
                struct exp_measure *out)
{
    struct sim_run *run = exp_start(scenario);
    struct sim_run_vm before;
    struct sim_run_vm after;
    int status;

    memset(out, 0, sizeof(*out));
    if (run == NULL) {
        return STATUS_FAILED;
    }
    status = exp_run_to(run, from_ms);
    if (status == STATUS_OK && sim_run_vm(run, 1, &before) != POL_OK) {
        status = fail(STATUS_FAILED, "%s: no VM has started", scenario->name);
    }
    if (status == STATUS_OK) {
        status = exp_run_to(run, scenario->duration_ms);
    }
    if (status == STATUS_OK && sim_run_vm(run, 1, &after) == POL_OK) {
        compare(&before, &after,
                (double)(scenario->duration_ms - from_ms) / 1000, out);
    }
    sim_run_free(run);
    return status;
}
