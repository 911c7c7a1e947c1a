/* SPDX-License-Identifier: BSD-2-Clause */
/* What the guest says about itself, and the lies it can be made to tell. */
#include "guest_access.h"

#define HUGE_PAGES (UINT64_C(1) << 62)

/* Share of the time spent waiting for memory since the oldest window. */
static uint32_t stall_bp(const struct sim_vm *vm)
{
    const struct window *w = &vm->win[WINDOWS - 1];
    uint64_t ms = vm->host->now_ms - w->at_ms;
    uint64_t bp;

    if (ms == 0) {
        return 0;
    }
    bp = (vm->psi_ns - w->psi_ns) / 100 / ms / vm->cfg.threads;
    return bp > 10000 ? 10000 : (uint32_t)bp;
}

static void lie(struct sim_vm *vm, struct sim_guest_report *r)
{
    switch (vm->fault[SIM_FAULT_STATS_ABSURD]) {
    case 1:
        r->free_pages = r->total_pages * 2 + 1;
        r->available_pages = r->free_pages;
        break;
    case 2:
        r->swap_in_pages = vm->report.swap_in_pages / 2;
        r->swap_out_pages = vm->report.swap_out_pages / 2;
        r->major_faults = vm->report.major_faults / 2;
        break;
    case 3:
        r->total_pages = HUGE_PAGES;
        r->free_pages = HUGE_PAGES;
        r->available_pages = HUGE_PAGES;
        r->swap_in_pages = UINT64_MAX;
        r->swap_out_pages = UINT64_MAX;
        r->major_faults = UINT64_MAX;
        r->stall_bp = UINT32_MAX;
        break;
    default:
        break;
    }
}

void simx_guest_report_run(struct sim_vm *vm)
{
    struct sim_guest_report r = { 0 };
    uint64_t now = vm->host->now_ms;

    if (now < vm->report_ms || vm->fault[SIM_FAULT_STATS_FROZEN] != 0) {
        return;
    }
    vm->report_ms = now + vm->host->cfg.stats_ms;
    r.at_ms = now;
    if (vm->fault[SIM_FAULT_STATS_MISSING] == 0 && vm->cfg.driver &&
        vm->fault[SIM_FAULT_DRIVER_ABSENT] == 0) {
        r.valid = SIM_REP_MEMORY | SIM_REP_COUNTERS | SIM_REP_STALL;
        r.stall_bp = stall_bp(vm);
        r.total_pages = vm->cfg.size_pages - vm->balloon;
        r.free_pages = simx_guest_free(vm);
        r.available_pages = r.free_pages + vm->file.n - vm->file_dirty;
        r.swap_in_pages = vm->gswap_in - vm->boot_gswap_in;
        r.swap_out_pages = vm->gswap_out - vm->boot_gswap_out;
        r.major_faults = vm->major_faults - vm->boot_faults;
        r.oom_kills = vm->oom_kills - vm->boot_kills;
        lie(vm, &r);
    }
    vm->report = r;
}
