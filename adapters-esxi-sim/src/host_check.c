/* SPDX-License-Identifier: BSD-2-Clause */
/* Is every frame of the host accounted for? Counted anew from the guests'
 * pages and the chains, then compared with what the engine believes. */
#include <stdlib.h>

#include "guest_check.h"

#define IN_CHAIN UINT32_MAX

struct tally {
    uint32_t *refs;    /* per frame: pages using it, or IN_CHAIN */
    uint32_t *content; /* per frame: of its first page */
    uint64_t swapped;
    uint64_t zero_refs;
    uint64_t image_refs[SIM_MAX_IMAGE + 1];
    uint64_t image_frames[SIM_MAX_IMAGE + 1];
};

/* @return length of the chain, UINT64_MAX if it meets a frame twice */
static uint64_t walk_chain(const struct sim_host *host, struct tally *t,
                           uint32_t head)
{
    uint64_t n = 0;

    for (; head != FRAME_NONE; head = host->frame[head]) {
        if (head >= host->frame_fresh || t->refs[head] != 0) {
            return UINT64_MAX;
        }
        t->refs[head] = IN_CHAIN;
        n++;
    }
    return n;
}

/* Does the sharing table say the same of a page? */
static bool table_agrees(const struct sim_vm *vm, uint32_t gfn)
{
    const struct page *p = &vm->pages[gfn];
    uint64_t frame;

    if (pol_share_find(vm->host->share, vm->slot, gfn, &frame) != POL_OK) {
        return !(p->hflags & HF_SHARED);
    }
    return (p->hflags & HF_SHARED) && p->frame == frame;
}

static const char *count_page(const struct sim_vm *vm, struct tally *t,
                              uint32_t gfn, uint64_t *private_pages)
{
    const struct sim_host *host = vm->host;
    const struct page *p = &vm->pages[gfn];

    if (!simx_vm_is_dead(vm) && !table_agrees(vm, gfn)) {
        return "sharing table and page differ";
    }

    if (!page_is_backed(p)) {
        t->swapped += p->frame == FRAME_SWAPPED;
        return p->hflags & HF_SHARED ? "shared flag without a frame" : NULL;
    }
    if (p->frame >= host->frame_fresh || t->refs[p->frame] == IN_CHAIN) {
        return "page uses a frame that is not in use";
    }
    if (!(p->hflags & HF_SHARED)) {
        if (t->refs[p->frame]++ != 0) {
            return "private frame used twice";
        }
        (*private_pages)++;
        return NULL;
    }
    if (t->refs[p->frame] == 0) {
        t->content[p->frame] = p->content;
    } else if (t->content[p->frame] != p->content) {
        return "unequal pages share a frame";
    }
    if (p->content == CONTENT_ZERO) {
        t->zero_refs++;
    } else if (p->content >> 24 == vm->cfg.image) {
        t->image_refs[vm->cfg.image]++;
        t->image_frames[vm->cfg.image] += t->refs[p->frame] == 0;
    } else {
        return "shared page of private content";
    }
    t->refs[p->frame]++;
    return NULL;
}

static const char *count_vm(const struct sim_vm *vm, struct tally *t)
{
    uint64_t private_pages = 0;
    uint64_t zero = t->zero_refs;
    uint64_t image = t->image_refs[vm->cfg.image];
    uint64_t swapped = t->swapped;
    uint64_t gfn;

    for (gfn = 0; gfn < vm->cfg.size_pages; gfn++) {
        const char *bad = count_page(vm, t, (uint32_t)gfn, &private_pages);

        if (bad != NULL) {
            return bad;
        }
    }
    if (private_pages != vm->private_pages) {
        return "private pages of a VM";
    }
    if (t->zero_refs - zero != vm->zero_refs ||
        t->image_refs[vm->cfg.image] - image != vm->image_refs) {
        return "shared pages of a VM";
    }
    if (t->swapped - swapped != vm->swapped) {
        return "swapped pages of a VM";
    }
    return simx_guest_check(vm);
}

static const char *check_chains(const struct sim_host *host, struct tally *t)
{
    uint64_t fresh = host->frames_n + 1 - (uint64_t)host->frame_fresh;
    uint64_t overhead = 0;
    size_t i;

    if (walk_chain(host, t, host->free_head) + fresh != host->free_n) {
        return "free frames";
    }
    if (walk_chain(host, t, host->reserved_head) != host->cfg.reserved_pages) {
        return "reserved frames";
    }
    if (walk_chain(host, t, host->lost_head) != host->lost) {
        return "lost frames";
    }
    for (i = 0; i < host->vms_n; i++) {
        const struct sim_vm *vm = host->vms[i];

        if (walk_chain(host, t, vm->overhead_head) != vm->overhead) {
            return "overhead frames of a VM";
        }
        overhead += vm->overhead;
    }
    return overhead != host->overhead ? "overhead frames" : NULL;
}

static const char *check_frames(const struct sim_host *host,
                                const struct tally *t)
{
    uint32_t f;
    uint32_t i;

    for (f = 1; f < host->frame_fresh; f++) {
        if (t->refs[f] == 0) {
            return "a frame belongs to nobody";
        }
        if (t->refs[f] != IN_CHAIN && t->refs[f] != host->frame[f]) {
            return "references of a frame";
        }
    }
    if (t->swapped != host->swap_used ||
        host->swap_used > host->cfg.swap_pages) {
        return "swap space";
    }
    if (t->zero_refs != host->zero_refs) {
        return "references of the zero page";
    }
    for (i = 0; i <= SIM_MAX_IMAGE; i++) {
        if (t->image_refs[i] != host->image[i].refs ||
            t->image_frames[i] != host->image[i].frames) {
            return "references of an image";
        }
    }
    return NULL;
}

static const char *check_table(const struct sim_host *host,
                               const struct tally *t)
{
    struct pol_share_stats s;
    uint64_t pages = t->zero_refs;
    uint64_t frames = t->zero_refs != 0;
    uint32_t i;

    for (i = 0; i <= SIM_MAX_IMAGE; i++) {
        pages += t->image_refs[i];
        frames += t->image_frames[i];
    }
    pol_share_stats(host->share, &s);
    return s.shared_pages != pages || s.shared_frames != frames
               ? "sums of the sharing table"
               : NULL;
}

static const char *check_all(const struct sim_host *host, struct tally *t)
{
    const char *bad = check_chains(host, t);
    size_t i;

    for (i = 0; i < host->vms_n && bad == NULL; i++) {
        bad = count_vm(host->vms[i], t);
    }
    if (bad == NULL) {
        bad = check_frames(host, t);
    }
    return bad != NULL ? bad : check_table(host, t);
}

int sim_host_check(const struct sim_host *host, const char **why)
{
    struct tally t = { 0 };
    const char *bad;

    t.refs = calloc((size_t)host->frames_n + 1, sizeof(*t.refs));
    t.content = calloc((size_t)host->frames_n + 1, sizeof(*t.content));
    if (t.refs == NULL || t.content == NULL) {
        free(t.refs);
        free(t.content);
        return POL_ERR_NOMEM;
    }
    bad = check_all(host, &t);
    free(t.refs);
    free(t.content);
    if (bad != NULL && why != NULL) {
        *why = bad;
    }
    return bad == NULL ? POL_OK : POL_ERR_CORRUPT;
}
