/* SPDX-License-Identifier: BSD-2-Clause */
/* Fault injection: what goes wrong on real hosts, on request. */
#include "engine_int.h"

#define SLOW_MAX_BP 10000000u

const char *sim_fault_name(enum sim_fault fault)
{
    static const char *const names[SIM_FAULTS] = {
        "balloon-stuck", "balloon-slow", "driver-absent",  "stats-frozen",
        "stats-missing", "stats-absurd", "foreign-target", "die",
        "slow-disk",     "memory-loss"
    };

    return (unsigned)fault < SIM_FAULTS ? names[fault] : NULL;
}

bool sim_fault_is_of_host(enum sim_fault fault)
{
    return fault == SIM_FAULT_SLOW_DISK || fault == SIM_FAULT_MEMORY_LOSS;
}

static int set_on_host(struct sim_host *host, enum sim_fault fault,
                       uint64_t value)
{
    if (fault == SIM_FAULT_SLOW_DISK) {
        if (value > SLOW_MAX_BP || (value != 0 && value < 100)) {
            return POL_ERR_RANGE;
        }
        host->slow_disk_bp = value != 0 ? value : 10000;
        simx_host_cost_derive(host);
        return POL_OK;
    }
    if (value > host->cfg.total_pages - host->cfg.reserved_pages) {
        return POL_ERR_RANGE;
    }
    host->lost_target = value;
    simx_host_collect_lost(host);
    return POL_OK;
}

static bool value_is_valid(const struct sim_vm *vm, enum sim_fault fault,
                           uint64_t value)
{
    switch (fault) {
    case SIM_FAULT_BALLOON_STUCK:
    case SIM_FAULT_DRIVER_ABSENT:
    case SIM_FAULT_STATS_FROZEN:
    case SIM_FAULT_STATS_MISSING:
        return value <= 1;
    case SIM_FAULT_BALLOON_SLOW:
        return value <= 10000;
    case SIM_FAULT_STATS_ABSURD:
        return value <= 3;
    case SIM_FAULT_FOREIGN_TARGET:
        return value <= vm->cfg.balloon_max_pages + 1;
    case SIM_FAULT_DIE:
        return value > 0 && value <= UINT32_MAX;
    case SIM_FAULT_SLOW_DISK:
    case SIM_FAULT_MEMORY_LOSS:
        break;
    }
    return false;
}

int sim_fault_set(struct sim_host *host, struct sim_vm *vm,
                  enum sim_fault fault, uint64_t value)
{
    if ((unsigned)fault >= SIM_FAULTS) {
        return POL_ERR_RANGE;
    }
    if (sim_fault_is_of_host(fault) != (vm == NULL) ||
        (vm != NULL && vm->host != host)) {
        return POL_ERR_INVALID;
    }
    if (vm == NULL) {
        return set_on_host(host, fault, value);
    }
    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    if (!value_is_valid(vm, fault, value)) {
        return POL_ERR_RANGE;
    }
    vm->fault[fault] = value;
    if (fault == SIM_FAULT_DIE) {
        vm->die_ms = host->now_ms + value;
    } else if (fault == SIM_FAULT_DRIVER_ABSENT && value != 0) {
        (void)simx_guest_balloon_deflate(vm, UINT64_MAX);
        vm->balloon_target = 0;
    }
    return POL_OK;
}
