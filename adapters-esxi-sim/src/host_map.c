/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Guest-physical pages: backing them with frames, and the hypervisor's swap.
 * The hypervisor does not know what a page is good for, so it swaps pages at
 * random (ESX02 4): the victim is any private resident page alike.
 */
#include "engine_int.h"

/* Draws before the victim is looked up instead; either is uniform. */
#define DRAWS 16

/* The k-th private resident page, by the counts per superblock and block. */
static uint32_t nth_private(const struct sim_vm *vm, uint64_t k)
{
    uint32_t s = 0;
    uint32_t b;
    uint32_t gfn;

    while (k >= vm->sblock[s]) {
        k -= vm->sblock[s++];
    }
    b = s << (SBLOCK_SHIFT - BLOCK_SHIFT);
    while (k >= vm->block[b]) {
        k -= vm->block[b++];
    }
    for (gfn = b << BLOCK_SHIFT;; gfn++) {
        const struct page *p = &vm->pages[gfn];

        if (page_is_backed(p) && !(p->hflags & HF_SHARED) && k-- == 0) {
            return gfn;
        }
    }
}

static uint32_t random_private(struct sim_vm *vm)
{
    struct sim_rng *rng = &vm->host->rng;
    int i;

    for (i = 0; i < DRAWS; i++) {
        uint32_t gfn = (uint32_t)sim_rng_below(rng, vm->cfg.size_pages);
        const struct page *p = &vm->pages[gfn];

        if (page_is_backed(p) && !(p->hflags & HF_SHARED)) {
            return gfn;
        }
    }
    return nth_private(vm, sim_rng_below(rng, vm->private_pages));
}

uint64_t simx_host_swap_out(struct sim_vm *vm, uint64_t n)
{
    struct sim_host *host = vm->host;
    uint64_t done = 0;

    while (done < n && vm->private_pages > 0 &&
           host->swap_used < host->cfg.swap_pages) {
        uint32_t gfn = random_private(vm);
        struct page *p = &vm->pages[gfn];

        host_private_sub(vm, gfn);
        simx_host_frame_put(host, p->frame);
        p->frame = FRAME_SWAPPED;
        vm->swapped++;
        host->swap_used++;
        done++;
    }
    vm->swap_out += done;
    host->swap_out += done;
    return done;
}

/* Shares of shared frames. The sum over all VMs is the number of frames but
 * for rounding down, twice per VM. */
uint64_t simx_host_consumed(const struct sim_vm *vm)
{
    const struct sim_host *host = vm->host;
    const struct image_use *use = &host->image[vm->cfg.image];
    uint64_t n = vm->private_pages;

    if (vm->zero_refs != 0) {
        n += vm->zero_refs / host->zero_refs;
    }
    if (vm->image_refs != 0) {
        unsigned __int128 part = use->frames;

        /* Both below 2^30: the product fits 64 bits. */
        n += (uint64_t)part * vm->image_refs / use->refs;
    }
    return n;
}

void simx_host_enforce_cap(struct sim_vm *vm)
{
    uint64_t have;

    if (vm->hard_cap == UINT64_MAX) {
        return;
    }
    have = simx_host_consumed(vm);
    if (have > vm->hard_cap) {
        uint64_t done = simx_host_swap_out(vm, have - vm->hard_cap);

        charge_disk(vm->host, done * vm->host->base.write_ns);
    }
}

static struct sim_vm *largest_vm(struct sim_host *host)
{
    struct sim_vm *best = NULL;
    size_t i;

    for (i = 0; i < host->vms_n; i++) {
        struct sim_vm *vm = host->vms[i];

        if (best == NULL || vm->private_pages > best->private_pages) {
            best = vm;
        }
    }
    return best;
}

/* A frame for vm, pushing out pages where needed: its own when at its cap,
 * the largest VM's when the host has none. 0: not now. */
static uint32_t take_frame(struct sim_vm *vm)
{
    struct sim_host *host = vm->host;
    uint32_t frame;

    if (vm->hard_cap != UINT64_MAX && simx_host_consumed(vm) >= vm->hard_cap) {
        if (simx_host_swap_out(vm, 1) == 0) {
            return FRAME_NONE;
        }
        charge_disk(host, host->base.write_ns);
        charge_host(vm, host->cost.write_ns);
    }
    while ((frame = simx_host_frame_get(host)) == FRAME_NONE) {
        if (simx_host_swap_out(largest_vm(host), 1) == 0) {
            return FRAME_NONE;
        }
        host->emergency_swaps++;
        charge_disk(host, host->base.write_rand_ns);
        charge_host(vm, host->cost.write_rand_ns);
    }
    return frame;
}

static enum touch_result stall(struct sim_vm *vm)
{
    vm->stalls++;
    vm->host->stalls++;
    return TOUCH_STALL;
}

/* Count the page as read back from swap; its frame is set by the caller. */
static void swapped_in(struct sim_vm *vm)
{
    vm->swapped--;
    vm->host->swap_used--;
    vm->swap_in++;
    vm->host->swap_in++;
    charge_disk(vm->host, vm->host->base.read_rand_ns);
}

enum touch_result simx_host_fault(struct sim_vm *vm, uint32_t gfn,
                                  bool overwrite)
{
    struct sim_host *host = vm->host;
    struct page *p = &vm->pages[gfn];
    bool swapped = p->frame == FRAME_SWAPPED;
    bool exchange = swapped && host->lost >= host->lost_target;
    uint32_t frame;

    /* A victim may take the place in swap that this page leaves, so that full
     * swap still turns over; not when its frame would count as lost. */
    host->swap_used -= exchange;
    frame = take_frame(vm);
    host->swap_used += exchange;
    if (frame == FRAME_NONE) {
        return stall(vm);
    }
    charge_host(vm, host->cfg.costs.fault_ns);
    if (swapped) {
        swapped_in(vm);
        charge_host(vm, host->cost.read_rand_ns);
        vm->wasted_reads += overwrite;
    } else {
        charge_host(vm, host->cost.zero_ns);
        p->content = CONTENT_ZERO;
    }
    p->frame = frame;
    host_private_add(vm, gfn);
    return TOUCH_OK;
}

enum touch_result simx_host_cow(struct sim_vm *vm, uint32_t gfn)
{
    struct sim_host *host = vm->host;
    bool last = simx_host_share_is_last(vm, gfn);
    uint32_t frame = last ? vm->pages[gfn].frame : take_frame(vm);

    if (frame == FRAME_NONE) {
        return stall(vm);
    }
    /* The last one keeps the frame as it is. */
    simx_host_share_leave(vm, gfn, true);
    vm->pages[gfn].frame = frame;
    host_private_add(vm, gfn);
    host->cow_breaks++;
    charge_host(vm, host->cfg.costs.fault_ns + (last ? 0 : host->cost.copy_ns));
    return TOUCH_OK;
}

void simx_host_release(struct sim_vm *vm, uint32_t gfn)
{
    struct sim_host *host = vm->host;
    struct page *p = &vm->pages[gfn];

    if (p->frame == FRAME_SWAPPED) {
        vm->swapped--;
        host->swap_used--;
    } else if (p->hflags & HF_SHARED) {
        uint32_t frame = simx_host_share_leave(vm, gfn, false);

        if (frame != FRAME_NONE) {
            simx_host_frame_put(host, frame);
        }
    } else if (p->frame != FRAME_NONE) {
        host_private_sub(vm, gfn);
        simx_host_frame_put(host, p->frame);
    }
    p->frame = FRAME_NONE;
    p->content = CONTENT_ZERO;
}

bool simx_host_swap_in_page(struct sim_vm *vm, uint32_t gfn)
{
    struct page *p = &vm->pages[gfn];
    uint32_t frame = simx_host_frame_get(vm->host);

    if (frame == FRAME_NONE) {
        return false;
    }
    swapped_in(vm);
    p->frame = frame;
    host_private_add(vm, gfn);
    return true;
}
