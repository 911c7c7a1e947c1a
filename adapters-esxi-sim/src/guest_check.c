/* SPDX-License-Identifier: BSD-2-Clause */
#include "guest_access.h"
#include "guest_check.h"

/* Follow an LRU list both by its links and by the map it stands for. */
static bool lru_is_valid(const struct sim_vm *vm, const struct lru *lru,
                         enum guest_page_state state, const uint32_t *map,
                         uint64_t cap)
{
    uint32_t before = NIL;
    uint32_t gfn = lru->head;
    uint64_t n = 0;

    while (gfn != NIL && n <= lru->n) {
        const struct page *p = &vm->pages[gfn];

        if (page_state(p) != state || p->prev != before || p->rmap >= cap ||
            map[p->rmap] != (MAP_PRESENT | gfn)) {
            return false;
        }
        before = gfn;
        gfn = p->next;
        n++;
    }
    return n == lru->n && lru->tail == before;
}

static bool stack_is_valid(const struct sim_vm *vm, uint32_t head, uint64_t n,
                           enum guest_page_state state)
{
    while (head != NIL && n > 0) {
        const struct page *p = &vm->pages[head];

        if (page_state(p) != state ||
            (state == GP_BALLOON && p->frame != FRAME_NONE)) {
            return false;
        }
        head = p->next;
        n--;
    }
    return head == NIL && n == 0;
}

static uint64_t count_map(const uint32_t *map, uint64_t cap, uint32_t flag)
{
    uint64_t n = 0;
    uint64_t i;

    for (i = 0; i < cap; i++) {
        n += (map[i] & flag) != 0;
    }
    return n;
}

/* Every page is in one state, as often as the lists say. */
static const char *check_states(const struct sim_vm *vm)
{
    uint64_t n[8] = { 0 };
    uint64_t dirty = 0;
    uint64_t gfn;

    for (gfn = 0; gfn < vm->cfg.size_pages; gfn++) {
        const struct page *p = &vm->pages[gfn];

        n[p->gflags & GP_STATE]++;
        dirty += (p->gflags & GP_DIRTY) != 0;
        if (gfn >= vm->fresh && page_state(p) != GP_FRESH) {
            return "a guest page that was never allocated is in use";
        }
    }
    if (n[GP_FRESH] != vm->cfg.size_pages - vm->fresh ||
        n[GP_FREE] != vm->free_n || n[GP_ANON] != vm->anon.n ||
        n[GP_FILE] != vm->file.n || n[GP_BALLOON] != vm->balloon) {
        return "states of guest pages";
    }
    return dirty == vm->file_dirty ? NULL : "dirty pages of a guest";
}

static const char *check_counts(const struct sim_vm *vm)
{
    uint64_t touched[TOUCH_EPOCHS] = { 0 };
    uint64_t gfn;
    uint32_t i;
    uint64_t blocks = 0;
    uint64_t b;

    for (gfn = 0; gfn < vm->cfg.size_pages; gfn++) {
        const struct page *p = &vm->pages[gfn];

        if ((uint16_t)(vm->epoch - p->epoch) < TOUCH_EPOCHS) {
            touched[p->epoch % TOUCH_EPOCHS]++;
        }
    }
    for (i = 0; i < TOUCH_EPOCHS; i++) {
        if (touched[i] != vm->touched[i]) {
            return "touched pages of a guest";
        }
    }
    for (b = 0; b <= vm->cfg.size_pages >> BLOCK_SHIFT; b++) {
        blocks += vm->block[b];
    }
    return blocks == vm->private_pages ? NULL : "blocks of private pages";
}

const char *simx_guest_check(const struct sim_vm *vm)
{
    const char *bad = check_states(vm);

    if (bad != NULL) {
        return bad;
    }
    if (!stack_is_valid(vm, vm->free_head, vm->free_n, GP_FREE)) {
        return "free list of a guest";
    }
    if (!stack_is_valid(vm, vm->balloon_head, vm->balloon, GP_BALLOON)) {
        return "balloon of a guest";
    }
    if (!lru_is_valid(vm, &vm->anon, GP_ANON, vm->anon_map, vm->anon_cap) ||
        count_map(vm->anon_map, vm->anon_cap, MAP_PRESENT) != vm->anon.n) {
        return "anonymous memory of a guest";
    }
    if (!lru_is_valid(vm, &vm->file, GP_FILE, vm->file_map, vm->file_cap) ||
        count_map(vm->file_map, vm->file_cap, MAP_PRESENT) != vm->file.n) {
        return "file cache of a guest";
    }
    if (count_map(vm->anon_map, vm->anon_cap, MAP_SWAPPED) != vm->gswap_used ||
        vm->gswap_used > vm->cfg.guest_swap_pages) {
        return "swap device of a guest";
    }
    return check_counts(vm);
}
