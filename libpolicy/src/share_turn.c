/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which page is scanned next. A pass hands out every page of every VM once;
 * VMs with pages left in it stand in an array, from which one leaves when it
 * has had all of its pages, so that choosing the next one never searches.
 */
#include "share_int.h"

static uint64_t draw(struct pol_share *t, uint64_t n)
{
    t->random++;
    return polx_mulhi(polx_spread(t->random ^ polx_spread(t->config.seed)), n);
}

void polx_turn_add(struct pol_share *t, uint32_t slot)
{
    struct polx_share_vm *vm = &t->vms[slot];

    vm->done = 0;
    vm->start_gfn =
        t->config.order == POL_SHARE_RANDOM ? draw(t, vm->size_pages) : 0;
    t->turns[t->turns_n++] = slot;
    vm->turn = t->turns_n;
}

void polx_turn_remove(struct pol_share *t, uint32_t slot)
{
    uint32_t hole = t->vms[slot].turn;
    uint32_t last;

    if (hole == 0) {
        return;
    }
    last = t->turns[--t->turns_n];
    t->turns[hole - 1u] = last;
    t->vms[last].turn = hole;
    t->vms[slot].turn = 0;
    if (t->turn == hole - 1u) {
        t->turn--; /* the one moved here is next; below 0 is before all */
        t->run_left = 0;
    }
}

/* Everybody takes part again. */
static void begin_pass(struct pol_share *t)
{
    uint32_t slot;

    t->turn = UINT32_MAX;
    t->run_left = 0;
    for (slot = 0; slot < t->vm_high; slot++) {
        if (t->vms[slot].used) {
            polx_turn_add(t, slot);
        }
    }
}

/* Somebody else's turn. */
static void change_turn(struct pol_share *t)
{
    if (t->config.order == POL_SHARE_RANDOM) {
        t->turn = (uint32_t)draw(t, t->turns_n);
    } else if (++t->turn >= t->turns_n) {
        t->turn = 0;
    }
    t->run_left = t->config.run_pages;
}

int pol_share_next(struct pol_share *t, uint64_t *id, uint64_t *gfn)
{
    struct polx_share_vm *vm;
    uint32_t slot;

    if (t->budget == 0 || t->vm_count == 0) {
        return POL_ERR_NOTFOUND;
    }
    if (t->turns_n == 0) {
        begin_pass(t);
    }
    if (t->run_left == 0 || t->turn >= t->turns_n) {
        change_turn(t);
    }
    slot = t->turns[t->turn];
    vm = &t->vms[slot];
    *id = vm->id;
    *gfn = vm->start_gfn + vm->done;
    if (*gfn >= vm->size_pages) {
        *gfn -= vm->size_pages;
    }
    t->budget--;
    t->run_left--;
    if (++vm->done == vm->size_pages) {
        polx_turn_remove(t, slot);
        t->stats.passes += t->turns_n == 0;
    }
    return POL_OK;
}

int pol_share_tick(struct pol_share *t, uint64_t now_ms, uint64_t pages_per_s,
                   uint64_t *budget)
{
    uint64_t ms = now_ms - t->tick_ms;

    if (t->clock_set && now_ms < t->tick_ms) {
        return POL_ERR_CLOCK;
    }
    if (pages_per_s > POL_MAX_PAGES) {
        return POL_ERR_RANGE;
    }
    t->budget = 0;
    if (t->clock_set) {
        t->budget = polx_min(
            polx_div(polx_mul(pages_per_s, ms) + t->carry, 1000, &t->carry),
            t->all_pages);
    }
    t->clock_set = 1;
    t->tick_ms = now_ms;
    if (budget != NULL) {
        *budget = t->budget;
    }
    return POL_OK;
}
