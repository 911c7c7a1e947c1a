/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Content-based page sharing (ESX02 4). The scanner goes round all VMs. A
 * page whose content it has not met leaves a hint; the second one with that
 * content makes both share a frame, once the contents have been compared.
 * Private content is unlike any other by definition and leaves no hint.
 */
#include <stdlib.h>

#include "engine_int.h"

#define FIRST_CAP 1024u

static uint64_t home(const struct sim_host *host, uint32_t content)
{
    uint64_t h = (uint64_t)content * UINT64_C(0x9e3779b97f4a7c15);

    return (h >> 32) & (host->share_cap - 1);
}

/* The content's entry, or the empty one where it belongs. */
static struct share_entry *lookup(const struct sim_host *host, uint32_t content)
{
    uint64_t i = home(host, content);

    while (host->share[i].frame != FRAME_NONE &&
           host->share[i].content != content) {
        i = (i + 1) & (host->share_cap - 1);
    }
    return &host->share[i];
}

const struct share_entry *simx_host_share_find(const struct sim_host *host,
                                               uint32_t content)
{
    const struct share_entry *e;

    if (host->share_cap == 0) {
        return NULL;
    }
    e = lookup(host, content);
    return e->frame != FRAME_NONE ? e : NULL;
}

/* Make room for one more at a load below 3/4. @return whether there is */
static bool grow(struct sim_host *host)
{
    struct share_entry *old = host->share;
    uint64_t old_cap = host->share_cap;
    uint64_t i;

    if (host->share_n * 4 < old_cap * 3) {
        return true;
    }
    host->share_cap = old_cap != 0 ? old_cap * 2 : FIRST_CAP;
    host->share = calloc(host->share_cap, sizeof(*host->share));
    if (host->share == NULL) {
        host->share = old;
        host->share_cap = old_cap;
        return false;
    }
    for (i = 0; i < old_cap; i++) {
        if (old[i].frame != FRAME_NONE) {
            *lookup(host, old[i].content) = old[i];
        }
    }
    free(old);
    return true;
}

/* Remove an entry and close the gap it leaves in its run. */
static void drop(struct sim_host *host, struct share_entry *e)
{
    uint64_t mask = host->share_cap - 1;
    uint64_t gap = (uint64_t)(e - host->share);
    uint64_t i = gap;

    host->share_n--;
    for (;;) {
        uint64_t h;

        i = (i + 1) & mask;
        if (host->share[i].frame == FRAME_NONE) {
            break;
        }
        h = home(host, host->share[i].content);
        /* May move unless its home lies after the gap, cyclically. */
        if (((i - h) & mask) >= ((i - gap) & mask)) {
            host->share[gap] = host->share[i];
            gap = i;
        }
    }
    host->share[gap].frame = FRAME_NONE;
}

/* Count one more (or less) reference to a shared frame. */
static void count_ref(struct sim_vm *vm, uint32_t content, bool add)
{
    uint64_t one = add ? 1 : UINT64_MAX;

    if (content == CONTENT_ZERO) {
        vm->zero_refs += one;
        vm->host->zero_refs += one;
    } else {
        vm->image_refs += one;
        vm->host->image[vm->cfg.image].refs += one;
    }
}

static void count_frame(struct sim_vm *vm, uint32_t content, bool add)
{
    if (content != CONTENT_ZERO) {
        vm->host->image[vm->cfg.image].frames += add ? 1 : UINT64_MAX;
    }
}

void simx_host_unshare(struct sim_vm *vm, uint32_t gfn)
{
    struct sim_host *host = vm->host;
    struct page *p = &vm->pages[gfn];

    count_ref(vm, p->content, false);
    p->hflags &= (uint8_t)~HF_SHARED;
    if (--host->frame[p->frame] == 0) {
        drop(host, lookup(host, p->content));
        count_frame(vm, p->content, false);
        simx_host_frame_put(host, p->frame);
    }
    p->frame = FRAME_NONE;
}

/* The VM and page of a hint, if the page is still as it was. A slot may have
 * been given to another VM, but then frame and content tell. */
static struct sim_vm *hint_vm(struct sim_host *host,
                              const struct share_entry *e)
{
    struct sim_vm *vm = host->slots[e->slot];
    const struct page *p;

    if (vm == NULL || e->gfn >= vm->cfg.size_pages) {
        return NULL;
    }
    p = &vm->pages[e->gfn];
    if (p->frame != e->frame || p->content != e->content ||
        (p->hflags & HF_SHARED)) {
        return NULL;
    }
    return vm;
}

static void set_hint(struct share_entry *e, struct sim_vm *vm, uint32_t gfn)
{
    e->content = vm->pages[gfn].content;
    e->frame = vm->pages[gfn].frame;
    e->slot = vm->slot;
    e->gfn = gfn;
}

/* The only user of a shared frame has it for itself again: the hypervisor
 * can swap such a page. The entry becomes a hint. */
static void back_to_private(struct sim_vm *vm, uint32_t gfn)
{
    struct page *p = &vm->pages[gfn];

    count_ref(vm, p->content, false);
    count_frame(vm, p->content, false);
    p->hflags &= (uint8_t)~HF_SHARED;
    host_private_add(vm, gfn);
    set_hint(lookup(vm->host, p->content), vm, gfn);
}

/* Let a private page use the frame of e, which is shared from now on. */
static void join(struct share_entry *e, struct sim_vm *vm, uint32_t gfn)
{
    struct sim_host *host = vm->host;
    struct page *p = &vm->pages[gfn];

    host_private_sub(vm, gfn);
    if (p->frame != e->frame) {
        simx_host_frame_put(host, p->frame);
        p->frame = e->frame;
        host->frame[e->frame]++;
        host->merged++;
    }
    p->hflags |= HF_SHARED;
    count_ref(vm, p->content, true);
}

static void scan_page(struct sim_vm *vm, uint32_t gfn)
{
    struct sim_host *host = vm->host;
    struct page *p = &vm->pages[gfn];
    struct share_entry *e;
    struct sim_vm *other;

    if (!page_is_backed(p) || p->content == CONTENT_PRIVATE) {
        return;
    }
    if (p->hflags & HF_SHARED) {
        if (host->frame[p->frame] == 1) {
            back_to_private(vm, gfn);
        }
        return;
    }
    if (!grow(host)) {
        return;
    }
    e = lookup(host, p->content);
    if (e->frame == FRAME_NONE) {
        host->share_n++;
        set_hint(e, vm, gfn);
        return;
    }
    if (e->slot != NIL) {
        other = hint_vm(host, e);
        if (other == NULL || (other == vm && e->gfn == gfn)) {
            set_hint(e, vm, gfn);
            return;
        }
        e->slot = NIL;
        count_frame(vm, p->content, true);
        join(e, other, e->gfn);
    }
    join(e, vm, gfn);
    host->scan_ns += host->cfg.costs.share_merge_ns;
    host->slice_cpu_ns += host->cfg.costs.share_merge_ns;
}

void simx_host_share_scan(struct sim_host *host, uint64_t ms)
{
    uint64_t n = host->cfg.share_pages_per_s * ms + host->scan_carry;
    uint64_t passed = 0;

    host->scan_carry = n % 1000;
    n /= 1000;
    /* Stop after all VMs turned out empty or scanned: once round is enough. */
    while (n > 0 && host->vms_n > 0 && passed <= host->vms_n) {
        struct sim_vm *vm;

        if (host->scan_vm >= host->vms_n) {
            host->scan_vm = 0;
        }
        vm = host->vms[host->scan_vm];
        while (n > 0 && host->scan_gfn < vm->cfg.size_pages &&
               vm->life != SIM_LIFE_DEAD) {
            scan_page(vm, host->scan_gfn++);
            host->scanned++;
            host->scan_ns += host->cfg.costs.share_scan_ns;
            host->slice_cpu_ns += host->cfg.costs.share_scan_ns;
            n--;
        }
        if (n > 0) {
            host->scan_gfn = 0;
            host->scan_vm++;
            passed++;
        }
    }
}
