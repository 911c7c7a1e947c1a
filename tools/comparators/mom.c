/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * MOM, oVirt's Memory Overcommitment Manager: its balloon policy.
 *
 * Read: oVirt's pages "MoM policy explained" and "Memory balloon"; the
 * constants and the description of methods in MOM's doc/balloon.rules and the
 * intervals in its sample configurations. From these:
 *
 * - Samples every 5 s, averages of the last 10 of them, decisions every 10 s.
 * - Pressure when less than 20 % of host memory is free, critical at 5 %.
 * - Under pressure every guest shrinks, by at most 5 % of what it has, to no
 *   less than its minimum and what it uses plus some free memory: 20 % of
 *   what it has, scaled down with the host's own free memory; when critical,
 *   the host's free percentage less 5: guests are made to swap.
 * - Otherwise every guest grows, by 5 %, at least to what it uses plus 20 %,
 *   up to its maximum.
 * - Changes of a quarter of a percent or less are left alone.
 * - Used is what the guest has less what is unused: caches count as used.
 *   Guests without statistics are left alone.
 */
#include "comparator_int.h"

#define DECIDE_MS   10000u
#define PRESSURE_BP 2000
#define CRITICAL_BP 500
#define FREE_BP     2000 /* of a guest's memory */
#define STEP_BP     500
#define SMALL_BP    25

static void sample(struct comparator *cmp)
{
    cmp->free_history[cmp->free_samples++ % CMP_HISTORY] = cmp->free_pages;
    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];

        if (!vm->has_stats) {
            vm->samples = 0;
            continue;
        }
        vm->actual_sum[vm->samples % CMP_HISTORY] = vm->actual_pages;
        vm->free_sum[vm->samples % CMP_HISTORY] = vm->guest_free_pages;
        vm->samples++;
    }
}

static uint64_t average(const uint64_t *history, unsigned samples)
{
    uint64_t n = cmp_least(samples, CMP_HISTORY);
    uint64_t sum = 0;

    for (uint64_t i = 0; i < n; i++) {
        sum += history[i]; /* 10 times 2^52 at most */
    }
    return n == 0 ? 0 : sum / n;
}

static uint64_t used(const struct cmp_vm *vm)
{
    return cmp_minus(average(vm->actual_sum, vm->samples),
                     average(vm->free_sum, vm->samples));
}

static bool is_big(const struct cmp_vm *vm, uint64_t to)
{
    uint64_t by =
        cmp_minus(to, vm->actual_pages) + cmp_minus(vm->actual_pages, to);

    return by > cmp_part(vm->actual_pages, SMALL_BP, 10000);
}

static void shrink(struct cmp_vm *vm, int64_t host_free_bp)
{
    uint64_t floor = used(vm);
    uint64_t to = cmp_part(vm->actual_pages, 10000 - STEP_BP, 10000);

    if (host_free_bp <= CRITICAL_BP) {
        floor = cmp_minus(
            floor, cmp_part(vm->actual_pages,
                            (uint64_t)(CRITICAL_BP - host_free_bp), 10000));
    } else {
        floor +=
            cmp_part(vm->actual_pages,
                     (uint64_t)host_free_bp * FREE_BP / PRESSURE_BP, 10000);
    }
    to = cmp_most(to, cmp_most(floor, vm->min_pages));
    if (to <= vm->actual_pages && is_big(vm, to)) {
        vm->want_pages = to;
    }
}

static void grow(struct cmp_vm *vm)
{
    uint64_t floor = used(vm) + cmp_part(vm->actual_pages, FREE_BP, 10000);
    uint64_t to = cmp_part(vm->actual_pages, 10000 + STEP_BP, 10000);

    if (vm->actual_pages >= vm->max_pages) {
        return;
    }
    to = cmp_most(to, cmp_most(floor, vm->min_pages));
    to = cmp_least(to, vm->max_pages);
    if (is_big(vm, to)) {
        vm->want_pages = to;
    }
}

void cmp_mom(struct comparator *cmp)
{
    uint64_t free_now;
    int64_t bp;

    sample(cmp);
    if (cmp->started && cmp->now_ms < cmp->next_sample_ms) {
        return; /* a sample only */
    }
    cmp->next_sample_ms = cmp->now_ms + DECIDE_MS;
    free_now = average(cmp->free_history, cmp->free_samples);
    bp = (int64_t)cmp_part(free_now, 10000, cmp->total_pages);
    for (size_t i = 0; i < cmp->vms_n; i++) {
        struct cmp_vm *vm = &cmp->vms[i];

        if (!vm->can_balloon || vm->samples == 0) {
            continue;
        }
        if (bp < PRESSURE_BP) {
            shrink(vm, bp);
        } else {
            grow(vm);
        }
    }
}
