/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * qmemman, the memory manager of Qubes OS.
 *
 * Read: Qubes OS documentation, "qmemman, Qubes memory manager"; the defaults
 * in qmemman's configuration; qubes-issues #3265, #9627, #9669. From these:
 *
 * - Preferred memory of a VM: 1.3 times what it uses without caches, between
 *   200 MiB and its maximum. Used includes the guest's swap there; through
 *   these ops it is not known. A guest that swaps has nothing available, so
 *   that it is preferred to have 1.3 times what it has.
 * - Enough for everybody's preference: all that is left is divided in
 *   proportion to preferences; what maxima leave over, in equal parts.
 * - Not enough: VMs with more than they prefer (by at least 10 MiB) are donors
 *   and shrink to it; what is free is divided among the others in proportion
 *   to preferences.
 * - 50 MiB stay free. Memory is given only as far as it is free by then.
 * - Nothing is done for less than 150 MiB in all, unless a VM below its
 *   preference would get more than 15 MiB, or too little is free.
 * - A VM that starts is served at once: donors give in proportion to what
 *   they have to spare, asked for 5 % more than needed.
 * - VMs without statistics keep what they have; so do those that were to give
 *   memory and did not move, until they have, or need more.
 */
#include "comparator_int.h"

#define FACTOR_BP  13000
#define OVERASK_BP 10500
/* Each division is followed by a little less, for rounding: 0.999. */
#define NEARLY_BP 9990
#define STUCK_MS  3000u

static uint64_t preferred(const struct comparator *cmp, const struct cmp_vm *vm)
{
    uint64_t used = cmp_minus(vm->actual_pages, vm->guest_avail_pages);
    uint64_t want = cmp_least(cmp_part(used, FACTOR_BP, 10000), vm->max_pages);

    return cmp_least(cmp_most(want, cmp_mib(cmp, 200)), vm->max_pages);
}

/* What it has, or may take at any time. */
static uint64_t assigned(const struct cmp_vm *vm)
{
    return cmp_most(vm->actual_pages, vm->target_pages);
}

static bool takes_part(const struct cmp_vm *vm)
{
    return vm->can_balloon && vm->has_stats && !vm->stuck;
}

static void watch(struct comparator *cmp)
{
    uint64_t margin = cmp_mib(cmp, 25);

    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];
        bool behind = vm->actual_pages > vm->target_pages + margin;

        if (vm->is_new || !behind || vm->actual_pages < vm->last_actual) {
            vm->moved_ms = cmp->now_ms;
        }
        vm->last_actual = vm->actual_pages;
        if (!behind || vm->actual_pages < preferred(cmp, vm)) {
            vm->stuck = false;
        } else if (cmp->now_ms - vm->moved_ms >= STUCK_MS) {
            vm->stuck = true;
        }
    }
}

/* There is enough: work_pages in proportion to preferences. */
static void divide_plenty(struct comparator *cmp, uint64_t spare,
                          uint64_t preferred_sum)
{
    uint64_t left = 0;
    size_t open = 0;

    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];
        uint64_t pref = preferred(cmp, vm);
        uint64_t to;

        if (!takes_part(vm)) {
            continue;
        }
        to = pref + cmp_part(spare, pref, preferred_sum);
        to = cmp_part(to, NEARLY_BP, 10000);
        left += cmp_minus(to, vm->max_pages);
        vm->work_pages = cmp_least(to, vm->max_pages);
        open += vm->work_pages < vm->max_pages;
    }
    for (size_t round = 0; left > 0 && open > 0 && round <= cmp->vms_n;
         round++) {
        uint64_t each = cmp_part(left / open, NEARLY_BP, 10000);

        left = 0;
        open = 0;
        for (size_t i = 0; i < cmp->vms_n; i++) {
            struct cmp_vm *vm = &cmp->vms[i];

            if (!takes_part(vm) || vm->work_pages == vm->max_pages) {
                continue;
            }
            left += cmp_minus(vm->work_pages + each, vm->max_pages);
            vm->work_pages = cmp_least(vm->work_pages + each, vm->max_pages);
            open += vm->work_pages < vm->max_pages;
        }
    }
}

/* There is not: donors to what they prefer, the rest to the others. */
static void divide_shortage(struct comparator *cmp, int64_t spare)
{
    uint64_t least = cmp_mib(cmp, 10);
    uint64_t acceptors = 0;

    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];
        uint64_t pref = preferred(cmp, vm);

        if (!takes_part(vm)) {
            continue;
        }
        if (assigned(vm) >= pref + least) {
            spare += (int64_t)(assigned(vm) - pref);
            vm->work_pages = pref;
        } else if (assigned(vm) < pref) {
            acceptors += pref;
        }
    }
    for (size_t i = 0; i < cmp->vms_n && spare > 0; i++) {
        struct cmp_vm *vm = &cmp->vms[i];
        uint64_t pref = preferred(cmp, vm);

        if (takes_part(vm) && assigned(vm) < pref) {
            uint64_t to =
                assigned(vm) + cmp_part((uint64_t)spare, pref, acceptors);

            vm->work_pages =
                cmp_least(cmp_part(to, NEARLY_BP, 10000), vm->max_pages);
            vm->work_pages = cmp_most(vm->work_pages, assigned(vm));
        }
    }
}

/* Free `need` pages for a VM that starts. False: donors have too little. */
static bool make_room(struct comparator *cmp, uint64_t need)
{
    uint64_t spare = 0;

    for (size_t i = 0; i < cmp->vms_n; i++) {
        const struct cmp_vm *vm = &cmp->vms[i];

        spare +=
            takes_part(vm) ? cmp_minus(assigned(vm), preferred(cmp, vm)) : 0;
    }
    if (spare < need) {
        return false;
    }
    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];

        if (takes_part(vm)) {
            uint64_t own = cmp_minus(assigned(vm), preferred(cmp, vm));
            uint64_t give =
                cmp_part(cmp_part(own, need, spare), OVERASK_BP, 10000);

            vm->want_pages = cmp_minus(assigned(vm), cmp_least(give, own));
        }
    }
    return true;
}

static bool is_significant(const struct comparator *cmp, int64_t free_pages)
{
    int64_t keep = (int64_t)cmp_mib(cmp, 50);
    int64_t off = free_pages > keep ? free_pages - keep : keep - free_pages;
    uint64_t sum = (uint64_t)off;

    if (free_pages + (int64_t)cmp_mib(cmp, 15) < keep) {
        return true;
    }
    for (size_t i = 0; i < cmp->vms_n; i++) {
        const struct cmp_vm *vm = &cmp->vms[i];
        uint64_t up = cmp_minus(vm->work_pages, vm->target_pages);

        if (!takes_part(vm)) {
            continue;
        }
        if (vm->target_pages < preferred(cmp, vm) && up > cmp_mib(cmp, 15)) {
            return true;
        }
        sum += up + cmp_minus(vm->target_pages, vm->work_pages);
    }
    return sum > cmp_mib(cmp, 150);
}

/* Donors at once; others as far as memory is free already. */
static void set_wanted(struct comparator *cmp, int64_t free_pages)
{
    int64_t ready = free_pages - (int64_t)cmp_mib(cmp, 45);

    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];

        if (!takes_part(vm)) {
            continue;
        }
        if (vm->work_pages < assigned(vm)) {
            vm->want_pages = vm->work_pages;
        } else if (ready > 0) {
            uint64_t up =
                cmp_least(vm->work_pages - assigned(vm), (uint64_t)ready);

            vm->want_pages = assigned(vm) + up;
            ready -= (int64_t)up;
        }
    }
}

void cmp_qmemman(struct comparator *cmp)
{
    int64_t free_pages = cmp_free_unpromised(cmp);
    int64_t spare = free_pages - (int64_t)cmp_mib(cmp, 50);
    uint64_t sum = 0;
    int64_t left = spare;

    watch(cmp);
    if (cmp->changed && spare < 0 && make_room(cmp, (uint64_t)-spare)) {
        return;
    }
    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];

        vm->work_pages = assigned(vm);
        if (takes_part(vm)) {
            sum += preferred(cmp, vm);
            left += (int64_t)assigned(vm) - (int64_t)preferred(cmp, vm);
        }
    }
    if (left > 0) {
        divide_plenty(cmp, (uint64_t)left, sum);
    } else {
        divide_shortage(cmp, spare);
    }
    if (is_significant(cmp, free_pages)) {
        set_wanted(cmp, free_pages);
    }
}
