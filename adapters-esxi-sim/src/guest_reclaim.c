/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a guest does when it runs short: evict in LRU order, file cache before
 * anonymous memory unless the cache is the busier of the two; kill the
 * program when nothing is left to evict.
 */
#include "guest_access.h"

/* The cache goes first unless its oldest page was used that much later than
 * the oldest anonymous one: a minute. */
#define CACHE_LEAD_EPOCHS 12

/* Cache that is left alone while there is something else: the programs' own
 * text, mostly. */
static uint64_t cache_floor(const struct sim_vm *vm)
{
    return vm->cfg.size_pages / 128;
}

static bool cache_is_older(const struct sim_vm *vm)
{
    uint16_t now = vm->epoch;
    uint16_t file = (uint16_t)(now - vm->pages[vm->file.tail].epoch);
    uint16_t anon = (uint16_t)(now - vm->pages[vm->anon.tail].epoch);

    return file + CACHE_LEAD_EPOCHS >= anon;
}

static void charge_write(struct sim_vm *vm)
{
    charge_disk(vm->host, vm->host->base.write_ns);
    charge_guest(vm, vm->host->cost.write_ns);
    vm->psi_ns += vm->host->cost.write_ns;
}

/* To write a page out the guest's disk must read it: if the host has swapped
 * it, it comes in only to leave (ESX02 3.1). No touch by the program, so
 * neither samples nor the working set see it. */
static enum touch_result ready_for_write(struct sim_vm *vm, uint32_t gfn)
{
    if (page_is_backed(&vm->pages[gfn])) {
        return TOUCH_OK;
    }
    if (simx_host_fault(vm, gfn, false) != TOUCH_OK) {
        return TOUCH_STALL;
    }
    vm->double_paging++;
    return TOUCH_OK;
}

static enum touch_result evict_file(struct sim_vm *vm)
{
    uint32_t gfn = vm->file.tail;
    struct page *p = &vm->pages[gfn];

    if (p->gflags & GP_DIRTY) {
        if (ready_for_write(vm, gfn) != TOUCH_OK) {
            return TOUCH_STALL;
        }
        charge_write(vm);
        vm->file_dirty--;
    }
    lru_remove(vm, &vm->file, gfn);
    vm->file_map[p->rmap] = 0;
    simx_guest_push_free(vm, gfn);
    return TOUCH_OK;
}

static enum touch_result evict_anon(struct sim_vm *vm)
{
    uint32_t gfn = vm->anon.tail;
    struct page *p = &vm->pages[gfn];

    if (ready_for_write(vm, gfn) != TOUCH_OK) {
        return TOUCH_STALL;
    }
    charge_write(vm);
    lru_remove(vm, &vm->anon, gfn);
    vm->anon_map[p->rmap] = MAP_SWAPPED;
    vm->gswap_used++;
    vm->gswap_out++;
    simx_guest_push_free(vm, gfn);
    return TOUCH_OK;
}

enum touch_result simx_guest_reclaim(struct sim_vm *vm, uint64_t n,
                                     uint64_t *freed)
{
    for (*freed = 0; *freed < n; (*freed)++) {
        bool anon = vm->anon.n > 0 && vm->gswap_used < vm->cfg.guest_swap_pages;
        bool file = vm->file.n > (anon ? cache_floor(vm) : 0);
        enum touch_result r;

        if (!anon && !file) {
            break;
        }
        if (file && (!anon || cache_is_older(vm))) {
            r = evict_file(vm);
        } else {
            r = evict_anon(vm);
        }
        if (r != TOUCH_OK) {
            return r;
        }
    }
    return TOUCH_OK;
}

/* The program is the largest object there is. */
void simx_guest_oom_kill(struct sim_vm *vm)
{
    vm->oom_kills++;
    simx_guest_free_anon(vm, 0);
    simx_workload_stop(vm);
}
