/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be done to a VM from outside. */
#include <stdlib.h>

#include "engine_int.h"

int sim_vm_set_balloon(struct sim_vm *vm, uint64_t balloon_pages,
                       uint64_t *on_record)
{
    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    if (simx_guest_driver(vm) == SIM_DRIVER_ABSENT) {
        return POL_ERR_UNSUPPORTED;
    }
    if (vm->fault[SIM_FAULT_FOREIGN_TARGET] == 0) {
        uint64_t max = vm->cfg.balloon_max_pages;

        vm->balloon_target = balloon_pages < max ? balloon_pages : max;
    }
    if (on_record != NULL) {
        *on_record = vm->balloon_target;
    }
    return POL_OK;
}

/* How many pages the swap disk still has time for, at most n. */
static uint64_t take_tokens(const struct sim_host *host, uint64_t n,
                            uint64_t each_ns)
{
    uint64_t room = host->swap_tokens_ns / each_ns;

    return n < room ? n : room;
}

int sim_vm_swap_out(struct sim_vm *vm, uint64_t pages, uint64_t *done)
{
    struct sim_host *host = vm->host;
    uint64_t each = host->base.write_ns;

    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    *done = simx_host_swap_out(vm, take_tokens(host, pages, each));
    host->swap_tokens_ns -= *done * each;
    charge_disk(host, *done * each);
    return POL_OK;
}

static uint64_t room_below_cap(const struct sim_vm *vm)
{
    uint64_t have;

    if (vm->hard_cap == UINT64_MAX) {
        return UINT64_MAX;
    }
    have = simx_host_consumed(vm);
    return have < vm->hard_cap ? vm->hard_cap - have : 0;
}

int sim_vm_swap_in(struct sim_vm *vm, uint64_t pages, uint64_t *done)
{
    struct sim_host *host = vm->host;
    uint64_t each = host->base.read_rand_ns;
    uint64_t n = take_tokens(host, pages, each);
    uint64_t room = room_below_cap(vm);

    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    n = n < room ? n : room;
    *done = 0;
    while (*done < n && vm->swapped > 0) {
        if (vm->swap_cursor >= vm->cfg.size_pages) {
            vm->swap_cursor = 0;
        }
        if (vm->pages[vm->swap_cursor].frame == FRAME_SWAPPED) {
            if (!simx_host_swap_in_page(vm, vm->swap_cursor)) {
                break;
            }
            (*done)++;
        }
        vm->swap_cursor++;
    }
    host->swap_tokens_ns -= *done * each;
    return POL_OK;
}

int sim_vm_set_blocked(struct sim_vm *vm, bool blocked)
{
    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    vm->blocked = blocked;
    return POL_OK;
}

int sim_vm_set_hard_cap(struct sim_vm *vm, uint64_t pages)
{
    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    vm->hard_cap = pages;
    simx_host_enforce_cap(vm);
    return POL_OK;
}

int sim_vm_pause(struct sim_vm *vm)
{
    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    if (vm->life != SIM_LIFE_RUNNING && vm->life != SIM_LIFE_REBOOTING) {
        return POL_ERR_INVALID;
    }
    vm->life_before_pause = vm->life;
    vm->life = SIM_LIFE_PAUSED;
    return POL_OK;
}

int sim_vm_resume(struct sim_vm *vm)
{
    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    if (vm->life != SIM_LIFE_PAUSED) {
        return POL_ERR_INVALID;
    }
    vm->life = vm->life_before_pause;
    return POL_OK;
}

int sim_vm_reset(struct sim_vm *vm)
{
    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    simx_guest_reset(vm);
    simx_workload_stop(vm);
    vm->report.valid = 0;
    vm->life = SIM_LIFE_REBOOTING;
    return POL_OK;
}

int sim_vm_shutdown(struct sim_vm *vm, uint64_t in_ms)
{
    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    if (in_ms > UINT32_MAX) {
        return POL_ERR_RANGE;
    }
    vm->life = SIM_LIFE_SHUTTING_DOWN;
    vm->life_ms = vm->host->now_ms + in_ms;
    return POL_OK;
}

int sim_vm_set_overhead(struct sim_vm *vm, uint64_t pages)
{
    struct sim_host *host = vm->host;

    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    if (pages > SIM_MAX_PAGES) {
        return POL_ERR_RANGE;
    }
    if (pages > vm->overhead) {
        if (!simx_host_chain_take(host, &vm->overhead_head,
                                  pages - vm->overhead)) {
            return POL_ERR_MEMORY_SHORT;
        }
    } else {
        simx_host_chain_give(host, &vm->overhead_head, vm->overhead - pages);
    }
    host->overhead = host->overhead - vm->overhead + pages;
    vm->overhead = pages;
    return POL_OK;
}

static void end_sampling(struct sim_vm *vm)
{
    uint32_t i;

    for (i = 0; i < vm->sample_n; i++) {
        vm->pages[vm->sample[i]].hflags &= (uint8_t)~HF_SAMPLED;
    }
    vm->sample_n = 0;
    vm->sample_hits = 0;
}

int sim_vm_sample_begin(struct sim_vm *vm, const uint64_t *gfns, size_t n)
{
    size_t i;

    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    for (i = 0; i < n; i++) {
        if (gfns[i] >= vm->cfg.size_pages) {
            return POL_ERR_RANGE;
        }
    }
    if (n > vm->sample_cap) {
        uint32_t *larger = n > UINT32_MAX / 8
                               ? NULL
                               : realloc(vm->sample, n * sizeof(*larger));

        if (larger == NULL) {
            return POL_ERR_NOMEM;
        }
        vm->sample = larger;
        vm->sample_cap = n;
    }
    end_sampling(vm);
    for (i = 0; i < n; i++) {
        vm->sample[i] = (uint32_t)gfns[i];
        vm->pages[gfns[i]].hflags |= HF_SAMPLED;
    }
    vm->sample_n = (uint32_t)n;
    return POL_OK;
}

uint32_t sim_vm_sample_count(const struct sim_vm *vm)
{
    return vm->sample_hits;
}
