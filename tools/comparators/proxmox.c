/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Proxmox VE: automatic ballooning by pvestatd.
 *
 * Read: Proxmox VE wiki, "Dynamic Memory Management"; the administrators'
 * guide, chapter on QEMU memory; the expectations of pve-manager's own
 * balloon test and what pvestatd logs. From these:
 *
 * - Every 10 s: goal = 80 % of host memory less what is in use. Goals within
 *   10 MiB are left alone.
 * - VMs take part that have a working driver and a minimum below their
 *   maximum.
 * - Growing goes first to VMs short of memory (free at most a quarter of the
 *   minimum); only if none of these can move, to all. Shrinking goes first to
 *   those that are not short, in the same manner.
 * - What VMs have above their minima, plus the goal, is divided by shares;
 *   each VM moves towards the result, between minimum and maximum, by at most
 *   100 MiB. What such limits leave over is divided again among the others.
 */
#include "comparator_int.h"

enum group {
    SHORT = 1,
    COMFORTABLE = 2,
    ALL = 3
};

static enum group group_of(const struct cmp_vm *vm)
{
    /* No statistics: short, as far as anybody knows. */
    return vm->guest_free_pages > vm->min_pages / 4 &&
                   vm->actual_pages >= vm->min_pages
               ? COMFORTABLE
               : SHORT;
}

static bool takes_part(const struct cmp_vm *vm, enum group group)
{
    return vm->can_balloon && vm->min_pages < vm->max_pages &&
           (group_of(vm) & group) != 0 && !vm->work_done;
}

/* Where a VM goes in this round, from actual_pages towards `desired`. */
static uint64_t step(const struct cmp_vm *vm, uint64_t desired, uint64_t most,
                     bool grow)
{
    if (desired > vm->actual_pages) {
        return grow ? cmp_least(desired, vm->actual_pages + most)
                    : vm->actual_pages;
    }
    return cmp_most(desired, cmp_minus(vm->actual_pages, most));
}

/* One division of `rest` among the group; returns what is left of it.
 * *moved: anything changed. */
static int64_t divide(struct comparator *cmp, enum group group, int64_t rest,
                      bool grow, bool *moved)
{
    uint64_t most = cmp_mib(cmp, 100);
    uint64_t shares = 0;
    int64_t above = rest;

    *moved = false;
    for (size_t i = 0; i < cmp->vms_n; i++) {
        const struct cmp_vm *vm = &cmp->vms[i];

        if (takes_part(vm, group)) {
            shares += vm->shares;
            above += (int64_t)vm->work_pages - (int64_t)vm->min_pages;
        }
    }
    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];
        uint64_t desired, to;

        if (!takes_part(vm, group)) {
            continue;
        }
        desired =
            vm->min_pages +
            (above > 0 ? cmp_part((uint64_t)above, vm->shares, shares) : 0);
        desired = cmp_between(vm->min_pages, desired, vm->max_pages);
        to = step(vm, desired, most, grow);
        if (to == vm->actual_pages) {
            vm->work_done = true; /* at its goal: not asked again */
            continue;
        }
        if (to != vm->work_pages) {
            rest -= (int64_t)to - (int64_t)vm->work_pages;
            vm->work_pages = to;
            *moved = true;
        }
    }
    return rest;
}

/* Returns what is left of `goal` after all that the group could do. */
static int64_t change(struct comparator *cmp, enum group group, int64_t goal)
{
    int64_t rest = goal;
    bool moved = true;

    for (size_t i = 0; i < cmp->vms_n; i++) {
        cmp->vms[i].work_done = false;
    }
    /* Bounded: a round that moves nothing is the last, and no goal needs
     * more than one for each VM that reaches a limit. */
    for (size_t round = 0; moved && rest != 0 && round <= cmp->vms_n + 1;
         round++) {
        rest = divide(cmp, group, rest, goal > 0, &moved);
    }
    return rest;
}

void cmp_proxmox(struct comparator *cmp)
{
    int64_t used = (int64_t)(cmp->total_pages - cmp->free_pages);
    int64_t goal = (int64_t)cmp_part(cmp->total_pages, 8000, 10000) - used;
    int64_t small = (int64_t)cmp_mib(cmp, 10);
    enum group first = goal > 0 ? SHORT : COMFORTABLE;
    int64_t rest;

    if (goal <= small && goal >= -small) {
        return;
    }
    for (size_t i = 0; i < cmp->vms_n; i++) {
        cmp->vms[i].work_pages = cmp->vms[i].actual_pages;
    }
    rest = change(cmp, first, goal);
    if (goal > 0 ? rest >= goal : rest <= goal) {
        (void)change(cmp, ALL, rest);
    }
    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];

        if (vm->work_pages != vm->actual_pages) {
            vm->want_pages = vm->work_pages;
        }
    }
}
