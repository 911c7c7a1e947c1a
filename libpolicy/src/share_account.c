/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who bears which part of a shared frame: 1/n for each of the n pages on it,
 * in whole pages that add up to the frames there are.
 */
#include "share_int.h"

#define PAGE_UNITS (UINT64_C(1) << 32)

/* Each page's part, rounded down. @return all of them; 2^31 frames at most,
 * so that 64 bits are enough */
static uint64_t add_parts(struct pol_share *t)
{
    uint64_t i, sum = 0;

    for (i = 0; i < t->page_slots; i++) {
        uint32_t number = t->page_entry[i];
        uint64_t part;

        if (number == POLX_SHARE_NONE) {
            continue;
        }
        part = PAGE_UNITS / t->entries[number - 1u].pages;
        t->vms[polx_key_slot(t->page_key[i])].units += part;
        sum += part;
    }
    return sum;
}

void pol_share_account(struct pol_share *t)
{
    struct polx_share_vm *last = NULL;
    uint64_t sum, carry = PAGE_UNITS / 2; /* to the nearest page */
    uint32_t slot;

    if (t->accounted) {
        return;
    }
    for (slot = 0; slot < t->vm_high; slot++) {
        t->vms[slot].units = 0;
        if (t->vms[slot].shared_pages != 0) {
            last = &t->vms[slot];
        }
    }
    sum = add_parts(t);
    if (last != NULL) {
        last->units += t->stats.shared_frames * PAGE_UNITS - sum;
    }
    for (slot = 0; slot < t->vm_high; slot++) {
        carry += t->vms[slot].units;
        t->vms[slot].consumed_pages = carry / PAGE_UNITS;
        carry %= PAGE_UNITS;
    }
    POLX_ASSERT(carry == PAGE_UNITS / 2);
    t->accounted = true;
}
