/* SPDX-License-Identifier: BSD-2-Clause */
/* The invariants of a table of page sharing, in one place. */
#include "share_int.h"

struct tally {
    uint64_t in_use, hints, frames, pages;
};

/* Every entry that is in use is found where it should be, and its page, if
 * it is a hint, is a page of a VM of its domain. */
static bool entries_are_valid(const struct pol_share *t, struct tally *sum)
{
    uint32_t i, slot;

    for (i = 0; i < t->fresh; i++) {
        const struct polx_entry *e = &t->entries[i];

        if (e->pages == POLX_SHARE_UNUSED) {
            continue;
        }
        sum->in_use++;
        if (polx_entry_find(t, polx_get64(e->hash), e->domain) != e) {
            return false;
        }
        if (!polx_is_hint(e)) {
            sum->frames++;
            sum->pages += e->pages;
            continue;
        }
        sum->hints++;
        slot = polx_key_slot(polx_get64(e->who));
        if (slot >= t->vm_high || !t->vms[slot].used ||
            t->vms[slot].domain != e->domain) {
            return false;
        }
    }
    return true;
}

static bool free_chain_is_valid(const struct pol_share *t, uint64_t in_use)
{
    uint32_t number = t->free_entry;
    uint64_t n = 0;

    while (number != POLX_SHARE_NONE && n <= t->fresh) {
        if (t->entries[number - 1u].pages != POLX_SHARE_UNUSED) {
            return false;
        }
        number = t->entries[number - 1u].chain;
        n++;
    }
    return n + in_use == t->fresh;
}

/* Every page is found where it is, and on a frame of its own domain. */
static bool pages_are_valid(const struct pol_share *t)
{
    uint64_t i, n = 0;

    for (i = 0; i < t->page_slots; i++) {
        const struct polx_entry *e;
        const struct polx_share_vm *vm;

        if (t->page_entry[i] == POLX_SHARE_NONE) {
            continue;
        }
        n++;
        e = &t->entries[t->page_entry[i] - 1u];
        vm = &t->vms[polx_key_slot(t->page_key[i])];
        if (polx_page_find(t, t->page_key[i]) != e || !vm->used ||
            e->domain != vm->domain || polx_is_hint(e) ||
            e->pages == POLX_SHARE_UNUSED ||
            polx_key_gfn(t->page_key[i]) >= vm->size_pages) {
            return false;
        }
    }
    return n == t->stats.shared_pages && n <= t->config.max_pages;
}

static bool vms_are_valid(const struct pol_share *t)
{
    uint64_t hints = 0, pages = 0, all = 0, consumed = 0;
    uint32_t slot, used = 0;

    for (slot = 0; slot < t->vm_high; slot++) {
        const struct polx_share_vm *vm = &t->vms[slot];

        if (!vm->used) {
            continue;
        }
        used++;
        hints += vm->hints;
        pages += vm->shared_pages;
        consumed += vm->consumed_pages;
        all += vm->size_pages;
        if (vm->turn != 0 && t->turns[vm->turn - 1u] != slot) {
            return false;
        }
        if (vm->done > vm->size_pages || polx_share_slot(t, vm->id) != slot) {
            return false;
        }
    }
    return used == t->vm_count && hints == t->stats.hints &&
           pages == t->stats.shared_pages && all == t->all_pages &&
           (!t->accounted || consumed == t->stats.shared_frames);
}

bool polx_share_is_valid(const struct pol_share *t)
{
    struct tally sum = { 0, 0, 0, 0 };

    return entries_are_valid(t, &sum) && sum.hints == t->stats.hints &&
           sum.frames == t->stats.shared_frames &&
           sum.pages == t->stats.shared_pages &&
           free_chain_is_valid(t, sum.in_use) && pages_are_valid(t) &&
           vms_are_valid(t);
}
