/* SPDX-License-Identifier: BSD-2-Clause */
/* ESX09 figure 9, and KT09: page sharing, and a host that fills up. */
#include "exp.h"

#include <string.h>

/* ---- What sharing costs ------------------------------------------------- */

/* Throughput of a VM with the scanner set like that; NULL: off. */
static int sharing_run(const struct experiment *experiment, const char *scan,
                       double *per_s)
{
    struct sim_scenario *scenario = exp_load(experiment);
    struct sim_error error = { "" };
    struct exp_measure measure = { 0 };
    int status = STATUS_OK;

    if (scenario == NULL) {
        return STATUS_FAILED;
    }
    scenario->host.sharing = scan != NULL;
    if (scan != NULL && sim_scenario_set(scenario, scan, &error) != POL_OK) {
        status = fail(STATUS_FAILED, "%s", error.text);
    }
    if (status == STATUS_OK) {
        status = exp_measure(scenario, 600000, &measure);
    }
    sim_scenario_free(scenario);
    *per_s = measure.per_s;
    return status;
}

int exp_page_sharing(const struct experiment *experiment, bool quick,
                     struct exp_result *result)
{
    double off = 0;
    double normal = 0;
    double fastest = 0;
    int status = sharing_run(experiment, NULL, &off);

    (void)quick;
    if (status == STATUS_OK) {
        status = sharing_run(experiment, "policy.share_scan=60min", &normal);
    }
    if (status == STATUS_OK) {
        status = sharing_run(experiment, "policy.share_scan=10min", &fastest);
    }
    if (status != STATUS_OK) {
        return status;
    }
    normal = 100 - 100 * normal / off;
    fastest = 100 - 100 * fastest / off;
    exp_point(result, "page sharing", false, 60, normal);
    exp_point(result, "page sharing", false, 10, fastest);
    exp_check(result, normal < 0.5, EXP_SHAPE,
              must_copy("throughput lost, a scan in 60 minutes (default)"),
              "nothing", must_format("%.2f %%", normal),
              "scanning takes too much time");
    exp_check(result, fastest < 1, EXP_SHAPE,
              must_copy("throughput lost, a scan in 10 minutes (fastest)"),
              "less than 1 %", must_format("%.2f %%", fastest),
              "scanning takes too much time");
    return STATUS_OK;
}

/* ---- A host that fills up ----------------------------------------------- */

#define VMS_MAX 20
/** Just before memory is asked for the next VM. */
#define EARLIER_MS UINT64_C(360000)

/** The host once the n-th VM has settled. MiB. */
struct filled {
    uint64_t vms;
    double saved; /**< by sharing: guest pages backed less frames used */
    double balloon;
    double swapped;
};

struct filling {
    struct filled at[VMS_MAX + 1]; /**< by number of VMs asked for */
    size_t refused_at;             /**< 0: never */
    size_t asked;
};

static void look(struct sim_run *run, struct filled *out)
{
    double mib = sim_run_scenario(run)->host.page_bytes / 1048576.0;
    struct sim_run_vm vm;

    memset(out, 0, sizeof(*out));
    for (size_t i = 0; i < sim_run_vm_count(run); i++) {
        if (sim_run_vm_at(run, i, &vm) == POL_OK) {
            out->vms++;
            out->saved += mib * (double)(vm.granted_pages - vm.consumed_pages);
            out->swapped += mib * (double)vm.swapped_pages;
            out->balloon += mib * (double)vm.balloon_pages;
        }
    }
}

static int fill_host(const struct experiment *experiment, uint64_t gib,
                     size_t most, struct filling *out)
{
    struct sim_scenario *scenario = exp_load(experiment);
    struct sim_run *run;
    int status = STATUS_OK;

    memset(out, 0, sizeof(*out));
    if (scenario == NULL) {
        return STATUS_FAILED;
    }
    scenario->host.memory_pages = (gib << 30) / scenario->host.page_bytes;
    run = exp_start(scenario);
    for (size_t n = 1; run != NULL && status == STATUS_OK && n <= most; n++) {
        status =
            exp_run_to(run, n * scenario->vms[0].start_every_ms - EARLIER_MS);
        look(run, &out->at[n]);
        out->asked = n;
        if (out->at[n].vms < n && out->refused_at == 0) {
            out->refused_at = n;
        }
    }
    status = run == NULL ? STATUS_FAILED : status;
    sim_run_free(run);
    sim_scenario_free(scenario);
    return status;
}

static void add_filling(struct exp_result *result, const char *const *names,
                        const struct filling *f)
{
    for (size_t n = 1; n <= f->asked; n++) {
        exp_point(result, names[0], false, (double)n, f->at[n].saved);
        exp_point(result, names[1], false, (double)n, f->at[n].balloon);
        exp_point(result, names[2], false, (double)n, f->at[n].swapped);
    }
}

/* The first number of VMs with more than a few MiB. */
static size_t first(const struct filling *f,
                    double (*what)(const struct filled *))
{
    for (size_t n = 1; n <= f->asked; n++) {
        if (what(&f->at[n]) > 4) {
            return n;
        }
    }
    return f->asked + 1;
}

static double saved_of(const struct filled *f)
{
    return f->saved;
}

static double balloon_of(const struct filled *f)
{
    return f->balloon;
}

static double swapped_of(const struct filled *f)
{
    return f->swapped;
}

static void check_small(struct exp_result *result, const struct filling *f)
{
    size_t sharing = first(f, saved_of);
    size_t balloon = first(f, balloon_of);
    size_t swap = first(f, swapped_of);

    exp_check(result, f->at[1].balloon + f->at[1].swapped < 1, EXP_SHAPE,
              must_copy("2 GiB: one VM needs no reclaiming"), "yes",
              must_format("%.0f MiB balloon, %.0f MiB swapped",
                          f->at[1].balloon, f->at[1].swapped),
              "memory is taken from it");
    exp_check(result, sharing < balloon && balloon < swap && swap <= f->asked,
              EXP_ORDERING,
              must_copy("2 GiB: sharing, then balloon, then swap come in as "
                        "VMs are added"),
              "yes",
              must_format("with %zu, %zu and %zu VMs", sharing, balloon, swap),
              "they come in another order");
    exp_check(result, f->refused_at == 11, EXP_CLIFF,
              must_copy("2 GiB: the VM that is refused"), "the 11th",
              f->refused_at == 0 ? must_copy("none")
                                 : must_format("number %zu", f->refused_at),
              "admission has other figures to go by");
}

int exp_memory_upgrade(const struct experiment *experiment, bool quick,
                       struct exp_result *result)
{
    static const char *const small[] = { "2 GiB: saved by sharing",
                                         "2 GiB: balloon", "2 GiB: swapped" };
    static const char *const large[] = { "32 GiB: saved by sharing",
                                         "32 GiB: balloon", "32 GiB: swapped" };
    struct filling f;
    const struct filled *end;
    int status = fill_host(experiment, 2, 11, &f);

    (void)quick;
    if (status == STATUS_OK) {
        add_filling(result, small, &f);
        check_small(result, &f);
        status = fill_host(experiment, 32, VMS_MAX, &f);
    }
    if (status == STATUS_OK) {
        add_filling(result, large, &f);
        end = &f.at[VMS_MAX];
        exp_check(result,
                  end->vms == VMS_MAX && end->saved > 4 &&
                      end->balloon + end->swapped < 1,
                  EXP_SHAPE, must_copy("32 GiB: only sharing with 20 VMs"),
                  "yes",
                  must_format("%.0f MiB saved, %.0f MiB balloon, %.0f MiB "
                              "swapped",
                              end->saved, end->balloon, end->swapped),
                  "more than sharing is needed");
    }
    return status;
}
