/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * squeezed, the balloon daemon of XenServer's toolstack (xapi).
 *
 * Read: the xapi project's "Squeezed: design", "architecture" and "overview"
 * pages, and the daemon's log lines in its public issues. From these:
 *
 * - All memory is handed out but 9 MiB: each VM gets its dynamic-min plus one
 *   and the same part (gamma) of its range up to dynamic-max.
 * - Two phases: while any VM has to give, only those are set; the others are
 *   given memory when all of them have.
 * - A balloon counts as having arrived within 4 KiB of its target, and VMs
 *   are expected to free that much twice less than they should.
 * - A VM that is to move and has not for 5 s is inactive: the others are
 *   balanced without it. That is forgotten when a new balance begins.
 * - The host is looked at every 10 s, and at once when a VM comes or goes;
 *   while targets are being approached, every second.
 *
 * What guests use plays no part.
 */
#include "comparator_int.h"

#define CHECK_MS 10000u
#define STUCK_MS 5000u

static uint64_t inaccuracy(const struct comparator *cmp)
{
    return cmp_most(4096 / cmp->config.page_bytes, 1);
}

static bool arrived(const struct comparator *cmp, const struct cmp_vm *vm,
                    uint64_t target)
{
    return cmp_minus(vm->actual_pages, target) +
               cmp_minus(target, vm->actual_pages) <=
           inaccuracy(cmp);
}

static bool is_active(const struct cmp_vm *vm)
{
    return vm->can_balloon && !vm->stuck;
}

static void begin(struct comparator *cmp)
{
    cmp->settling = true;
    for (size_t i = 0; i < cmp->vms_n; i++) {
        cmp->vms[i].stuck = false;
        cmp->vms[i].moved_ms = cmp->now_ms;
        cmp->vms[i].last_actual = cmp->vms[i].actual_pages;
    }
}

static void watch(struct comparator *cmp)
{
    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];
        bool down = vm->actual_pages > vm->target_pages;
        bool moved = down ? vm->actual_pages < vm->last_actual
                          : vm->actual_pages > vm->last_actual;

        if (vm->is_new || (moved && !vm->stuck)) {
            vm->moved_ms = cmp->now_ms;
        }
        vm->last_actual = vm->actual_pages;
        if (!arrived(cmp, vm, vm->target_pages) &&
            cmp->now_ms - vm->moved_ms > STUCK_MS) {
            vm->stuck = true;
        }
    }
}

/* The same part of everybody's range; work_pages are the new targets. */
static void divide(struct comparator *cmp)
{
    int64_t surplus = cmp_free_unpromised(cmp) - (int64_t)cmp_mib(cmp, 9);
    uint64_t range = 0;

    for (size_t i = 0; i < cmp->vms_n; i++) {
        const struct cmp_vm *vm = &cmp->vms[i];

        if (is_active(vm)) {
            /* What it was promised and has not reached stays its own. */
            surplus +=
                (int64_t)cmp_minus(cmp_most(vm->actual_pages, vm->target_pages),
                                   vm->min_pages + 2 * inaccuracy(cmp));
            range += vm->max_pages - vm->min_pages;
        }
    }
    if (surplus < 0) {
        surplus = 0;
    }
    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];
        uint64_t own = vm->max_pages - vm->min_pages;

        vm->work_pages =
            vm->min_pages +
            cmp_least(own, cmp_part((uint64_t)surplus, own, range));
    }
}

void cmp_squeezed(struct comparator *cmp)
{
    bool freeing = false;
    bool busy = false;

    if (!cmp->settling) {
        if (cmp->started && cmp->now_ms < cmp->next_sample_ms &&
            !cmp->changed) {
            return;
        }
        cmp->next_sample_ms = cmp->now_ms + CHECK_MS;
        begin(cmp);
    }
    watch(cmp);
    divide(cmp);
    for (size_t i = 0; i < cmp->vms_n; i++) {
        const struct cmp_vm *vm = &cmp->vms[i];

        freeing |= is_active(vm) && vm->work_pages < vm->actual_pages &&
                   !arrived(cmp, vm, vm->work_pages);
    }
    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];
        bool gives = vm->work_pages < vm->actual_pages &&
                     !arrived(cmp, vm, vm->work_pages);

        if (is_active(vm) && gives == freeing) {
            vm->want_pages = vm->work_pages;
        }
        busy |= is_active(vm) && (!arrived(cmp, vm, vm->target_pages) ||
                                  vm->want_pages != vm->target_pages);
    }
    cmp->settling = busy;
}
