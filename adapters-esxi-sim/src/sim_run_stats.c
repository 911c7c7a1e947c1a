/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be read of a run. */
#include <string.h>

#include "sim_run_int.h"

#define NS_PER_MS UINT64_C(1000000)

/* part of whole in basis points, 0..10000, for any whole. */
static uint32_t part_bp(uint64_t part, uint64_t whole)
{
    if (part == 0 || whole == 0) {
        return 0;
    }
    if (part >= whole) {
        return 10000;
    }
    return part > UINT64_MAX / 10000 ? (uint32_t)(part / (whole / 10000))
                                     : (uint32_t)(part * 10000 / whole);
}

static void take_engine(const struct sim_vm_stats *stats, uint32_t threads,
                        struct sim_run_vm *out)
{
    uint64_t lost = stats->spent_ns > stats->ideal_ns
                        ? stats->spent_ns - stats->ideal_ns
                        : 0;

    lost /= threads;
    out->active_pages = stats->true_active_pages;
    out->shared_pages = stats->shared_pages;
    out->consumed_pages = stats->consumed_pages;
    out->granted_pages = stats->granted_pages;
    out->overhead_pages = stats->overhead_pages;
    out->balloon_pages = stats->balloon_pages;
    out->swapped_pages = stats->swapped_pages;
    out->swap_in_pages = stats->swap_in_pages;
    out->swap_out_pages = stats->swap_out_pages;
    out->guest_swapped_pages = stats->guest_swapped_pages;
    out->guest_swap_in_pages = stats->guest_swap_in_pages;
    out->guest_swap_out_pages = stats->guest_swap_out_pages;
    out->accesses = stats->work_done;
    out->accesses_wanted = stats->work_wanted;
    out->accesses_shed = stats->work_shed;
    out->spent_ns = stats->spent_ns;
    out->stall_ms = lost / NS_PER_MS;
    out->run_ms = stats->run_ms;
    out->oom_kills = stats->oom_kills;
    out->slowdown_bp = part_bp(lost / NS_PER_MS, stats->run_ms);
    out->driver = sim_driver_of(stats);
    out->blocked = stats->blocked;
}

void sim_run_figures(struct sim_run *run, const struct sim_record *record,
                     struct sim_run_vm *out)
{
    const struct sim_slot *slot =
        sim_adapter_slot(&run->adapter, record->last.vm);
    struct pol_vm_status status;
    struct sim_vm_stats stats;

    memset(out, 0, sizeof(*out));
    out->vm = record->last.vm;
    out->name = record->name;
    out->group = record->spec->group;
    out->size_pages = record->size_pages;
    out->start_ms = record->start_ms;
    out->stop_ms = SIM_NONE;
    out->moved_down_pages = record->moved_down_pages;
    out->moved_up_pages = record->moved_up_pages;
    sim_vm_stats(record->vm, &stats);
    take_engine(&stats, sim_vm_config_get(record->vm)->threads, out);
    out->lifecycle = sim_lifecycle_of(&stats, slot != NULL && slot->pinned);
    if (pol_vm_status(run->ctx, out->vm, &status) == POL_OK) {
        out->target_pages = status.target_pages;
        out->estimate_pages = status.active_pages;
        out->reason = status.reason;
        out->stuck = status.stuck;
    }
}

void sim_run_add_up(struct sim_run_totals *totals, const struct sim_run_vm *vm)
{
    totals->oom_kills += vm->oom_kills;
    totals->guest_swap_in_pages += vm->guest_swap_in_pages;
    totals->guest_swap_out_pages += vm->guest_swap_out_pages;
    totals->accesses += vm->accesses;
    totals->stall_ms += vm->stall_ms;
    totals->run_ms += vm->run_ms;
}

void sim_run_count_tick(struct sim_run *run)
{
    struct sim_run_totals *totals = &run->totals;
    uint64_t memory = run->scenario->host.memory_pages;
    uint32_t overcommit;
    struct pol_host_status status;
    struct sim_host_stats host;

    totals->ticks++;
    sim_host_stats(run->engine, &host);
    if (host.free_pages < totals->min_free_pages) {
        totals->min_free_pages = host.free_pages;
    }
    overcommit = (uint32_t)(run->configured_pages * 10000 / memory);
    if (overcommit > totals->peak_overcommit_bp) {
        totals->peak_overcommit_bp = overcommit;
    }
    if (run->live_n > totals->peak_vms) {
        totals->peak_vms = run->live_n;
    }
    if (pol_host_get(run->ctx, &status) == POL_OK &&
        status.state < POL_STATES) {
        totals->state_ms[status.state] += run->scenario->tick_ms;
        totals->state_changes +=
            totals->ticks > 1 && (int)status.state != run->last_state;
        run->last_state = (int)status.state;
    }
}

void sim_run_host(struct sim_run *run, struct sim_run_host *out)
{
    struct sim_host_stats host;

    memset(out, 0, sizeof(*out));
    if (pol_host_get(run->ctx, &out->policy) != POL_OK) {
        memset(&out->policy, 0, sizeof(out->policy));
    }
    sim_host_stats(run->engine, &host);
    out->total_pages = host.total_pages;
    out->free_pages = host.free_pages;
    out->swap_used_pages = host.swap_total_pages - host.swap_free_pages;
    out->configured_pages = run->configured_pages;
    out->shared_pages = host.shared_pages;
    out->vms = run->live_n;
    for (size_t i = 0; i < run->live_n; i++) {
        struct sim_run_vm vm;

        sim_run_figures(run, sim_run_record_of(run, run->live[i]), &vm);
        out->consumed_pages += vm.consumed_pages;
        out->active_pages += vm.active_pages;
        out->balloon_pages += vm.balloon_pages;
        out->swapped_pages += vm.swapped_pages;
    }
}

size_t sim_run_vm_count(const struct sim_run *run)
{
    return run->live_n;
}

int sim_run_vm_at(struct sim_run *run, size_t i, struct sim_run_vm *out)
{
    if (i >= run->live_n) {
        return POL_ERR_NOTFOUND;
    }
    sim_run_figures(run, sim_run_record_of(run, run->live[i]), out);
    return POL_OK;
}

size_t sim_run_vm_ever(const struct sim_run *run)
{
    return run->records_n;
}

int sim_run_vm(struct sim_run *run, uint64_t vm, struct sim_run_vm *out)
{
    struct sim_record *record = sim_run_record_of(run, vm);

    if (record == NULL) {
        return POL_ERR_NOTFOUND;
    }
    if (record->vm == NULL) {
        *out = record->last;
    } else {
        sim_run_figures(run, record, out);
    }
    return POL_OK;
}

const char *sim_run_vm_name(const struct sim_run *run, uint64_t vm)
{
    const struct sim_record *record = sim_run_record_of(run, vm);

    return record == NULL ? NULL : record->name;
}

uint64_t sim_run_vm_find(const struct sim_run *run, const char *name)
{
    for (size_t i = run->records_n; i-- > 0;) {
        if (strcmp(run->records[i]->name, name) == 0) {
            return i + 1;
        }
    }
    return 0;
}

const char *sim_run_group_name(const struct sim_run *run, uint64_t group)
{
    if (group == 0) {
        return "";
    }
    return group > run->scenario->groups_n
               ? NULL
               : run->scenario->groups[group - 1].name;
}

void sim_run_totals(struct sim_run *run, struct sim_run_totals *out)
{
    struct sim_host_stats host;

    *out = run->totals; /* with those that have gone */
    for (size_t i = 0; i < run->live_n; i++) {
        struct sim_run_vm vm;

        sim_run_figures(run, sim_run_record_of(run, run->live[i]), &vm);
        sim_run_add_up(out, &vm);
    }
    sim_host_stats(run->engine, &host);
    out->swap_in_pages = host.swap_in_pages;
    out->swap_out_pages = host.swap_out_pages;
    out->slowdown_bp = part_bp(out->stall_ms, out->run_ms);
    if (out->ticks == 0) {
        out->min_free_pages = host.free_pages;
    }
}
