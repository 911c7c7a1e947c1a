/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Booting: the kernel settles in the lowest pages; guests that clear all of
 * their memory then touch the rest. Both spread over the boot time.
 */
#include "guest_access.h"

static enum touch_result boot_page(struct sim_vm *vm, uint32_t gfn)
{
    struct page *p = &vm->pages[gfn];
    enum touch_result r = touch(vm, gfn, true, true);

    if (r != TOUCH_OK) {
        return r;
    }
    charge_guest(vm, vm->host->cost.zero_ns);
    if (gfn >= vm->cfg.kernel_pages) {
        p->content = CONTENT_ZERO;
        return TOUCH_OK;
    }
    p->gflags = GP_KERNEL;
    p->rmap = gfn;
    vm->fresh = gfn + 1;
    if (vm->cfg.image != 0 && gfn < vm->cfg.kernel_image_pages) {
        p->content = vm->cfg.image << 24 | (KERNEL_CONTENT + gfn);
    }
    return TOUCH_OK;
}

void simx_guest_boot_run(struct sim_vm *vm, uint64_t ms)
{
    uint64_t all =
        vm->cfg.touch_all_at_boot ? vm->cfg.size_pages : vm->cfg.kernel_pages;
    uint64_t goal = all;

    vm->boot_left_ms -= ms < vm->boot_left_ms ? ms : vm->boot_left_ms;
    if (vm->cfg.boot_ms != 0) {
        goal = all - all * vm->boot_left_ms / vm->cfg.boot_ms;
    }
    while (vm->boot_done < goal && vm->budget_ns > 0) {
        if (boot_page(vm, (uint32_t)vm->boot_done) != TOUCH_OK) {
            return;
        }
        vm->boot_done++;
    }
    if (vm->boot_left_ms == 0 && vm->boot_done == all) {
        vm->booted = true;
        if (vm->life == SIM_LIFE_REBOOTING) {
            vm->life = SIM_LIFE_RUNNING;
        }
        vm->program_start_ms = vm->host->now_ms;
        simx_workload_stop(vm);
        vm->restart_ms = 0;
    }
}
