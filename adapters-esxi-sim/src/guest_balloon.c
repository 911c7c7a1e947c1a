/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The balloon driver: takes pages from the guest's allocator, like any other
 * kernel module, and tells the hypervisor, which takes the frames behind them.
 */
#include "guest_access.h"

enum sim_driver simx_guest_driver(const struct sim_vm *vm)
{
    if (!vm->cfg.driver || vm->fault[SIM_FAULT_DRIVER_ABSENT] != 0) {
        return SIM_DRIVER_ABSENT;
    }
    if (!vm->booted) {
        return SIM_DRIVER_BOOTING;
    }
    return vm->fault[SIM_FAULT_BALLOON_STUCK] != 0 ? SIM_DRIVER_STUCK
                                                   : SIM_DRIVER_PRESENT;
}

uint64_t simx_guest_balloon_deflate(struct sim_vm *vm, uint64_t n)
{
    uint64_t done = 0;

    while (done < n && vm->balloon > 0) {
        uint32_t gfn = vm->balloon_head;

        vm->balloon_head = vm->pages[gfn].next;
        vm->balloon--;
        simx_guest_push_free(vm, gfn);
        done++;
    }
    return done;
}

/* Inflating makes the guest reclaim, but never makes it kill: when nothing
 * can be evicted the driver waits. It also waits when the guest has no time:
 * reclaim is charged to the guest. */
static void inflate(struct sim_vm *vm, uint64_t n)
{
    int64_t enough = -(int64_t)1000000000;

    while (n-- > 0 && vm->budget_ns > enough) {
        uint32_t gfn;

        if (simx_guest_free(vm) <= vm->low_pages) {
            uint64_t freed;

            if (simx_guest_reclaim(vm, vm->batch_pages, &freed) != TOUCH_OK ||
                freed == 0) {
                return;
            }
        }
        gfn = simx_guest_pop_free(vm);
        if (gfn == NIL) {
            return;
        }
        simx_host_release(vm, gfn);
        vm->pages[gfn].gflags = GP_BALLOON;
        vm->pages[gfn].next = vm->balloon_head;
        vm->balloon_head = gfn;
        vm->balloon++;
    }
}

void simx_guest_balloon_run(struct sim_vm *vm, uint64_t ms)
{
    uint64_t slow = vm->fault[SIM_FAULT_BALLOON_SLOW];
    uint64_t rate = vm->cfg.balloon_pages_per_s;
    uint64_t n;

    if (vm->fault[SIM_FAULT_FOREIGN_TARGET] != 0) {
        vm->balloon_target = vm->fault[SIM_FAULT_FOREIGN_TARGET] - 1;
    }
    if (simx_guest_driver(vm) != SIM_DRIVER_PRESENT ||
        vm->life != SIM_LIFE_RUNNING || vm->balloon == vm->balloon_target) {
        vm->balloon_carry = 0;
        return;
    }
    /* In thousandths of a page, so that slow drivers get there as well. */
    n = rate * ms;
    if (slow != 0) {
        n = n / 10000 * slow + n % 10000 * slow / 10000;
    }
    n += vm->balloon_carry;
    vm->balloon_carry = n % 1000;
    n /= 1000;
    if (vm->balloon < vm->balloon_target) {
        uint64_t left = vm->balloon_target - vm->balloon;

        inflate(vm, n < left ? n : left);
    } else {
        uint64_t left = vm->balloon - vm->balloon_target;

        (void)simx_guest_balloon_deflate(vm, n < left ? n : left);
    }
}
