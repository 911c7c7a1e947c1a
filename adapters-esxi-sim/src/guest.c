/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The guest's memory manager: which of its pages hold kernel, anonymous
 * memory, cached files or nothing. It sees guest-physical pages only and
 * believes that they are memory.
 */
#include <string.h>

#include "guest_access.h"

/* Dirty file pages are on disk after this, as with Linux's flusher. */
#define FLUSH_MS 30000u

uint64_t simx_guest_free(const struct sim_vm *vm)
{
    return vm->free_n + (vm->cfg.size_pages - vm->fresh);
}

/* Used pages first: an allocator prefers what is warm in the caches. */
uint32_t simx_guest_pop_free(struct sim_vm *vm)
{
    uint32_t gfn = vm->free_head;

    if (gfn != NIL) {
        vm->free_head = vm->pages[gfn].next;
        vm->free_n--;
        return gfn;
    }
    if (vm->fresh < vm->cfg.size_pages) {
        return vm->fresh++;
    }
    return NIL;
}

void simx_guest_push_free(struct sim_vm *vm, uint32_t gfn)
{
    struct page *p = &vm->pages[gfn];

    p->gflags = GP_FREE;
    p->next = vm->free_head;
    vm->free_head = gfn;
    vm->free_n++;
}

void simx_guest_init(struct sim_vm *vm)
{
    uint64_t size = vm->cfg.size_pages;

    vm->low_pages = size / 128 > 1 ? size / 128 : 1;
    vm->batch_pages = size / 256 < 1 ? 1 : size / 256 > 32 ? 32 : size / 256;
    vm->free_head = NIL;
    vm->balloon_head = NIL;
    vm->anon = (struct lru){ NIL, NIL, 0 };
    vm->file = (struct lru){ NIL, NIL, 0 };
    vm->gswap_last = NIL;
    vm->boot_left_ms = vm->cfg.boot_ms;
    vm->boots++;
}

void simx_guest_reset(struct sim_vm *vm)
{
    uint64_t gfn;

    for (gfn = 0; gfn < vm->cfg.size_pages; gfn++) {
        simx_host_release(vm, (uint32_t)gfn);
    }
    memset(vm->pages, 0, vm->cfg.size_pages * sizeof(*vm->pages));
    memset(vm->touched, 0, sizeof(vm->touched));
    if (vm->anon_cap != 0) {
        memset(vm->anon_map, 0, vm->anon_cap * sizeof(*vm->anon_map));
    }
    if (vm->file_cap != 0) {
        memset(vm->file_map, 0, vm->file_cap * sizeof(*vm->file_map));
    }
    vm->sample_hits = 0;
    vm->sample_n = 0;
    vm->fresh = 0;
    vm->free_n = 0;
    vm->balloon = 0;
    vm->balloon_target = 0;
    vm->balloon_carry = 0;
    vm->file_dirty = 0;
    vm->anon_used = 0;
    vm->gswap_used = 0;
    vm->flush_cursor = 0;
    vm->booted = false;
    vm->boot_done = 0;
    vm->boot_gswap_in = vm->gswap_in;
    vm->boot_gswap_out = vm->gswap_out;
    vm->boot_faults = vm->major_faults;
    vm->boot_kills = vm->oom_kills;
    simx_guest_init(vm);
}

enum touch_result simx_guest_alloc(struct sim_vm *vm, uint32_t *gfn)
{
    uint64_t freed;

    if (simx_guest_free(vm) <= vm->low_pages) {
        enum touch_result r = simx_guest_reclaim(vm, vm->batch_pages, &freed);

        if (r != TOUCH_OK && simx_guest_free(vm) == 0) {
            return r;
        }
    }
    *gfn = simx_guest_pop_free(vm);
    if (*gfn != NIL) {
        return TOUCH_OK;
    }
    if (vm->cfg.deflate_on_oom &&
        simx_guest_balloon_deflate(vm, vm->batch_pages) != 0) {
        *gfn = simx_guest_pop_free(vm);
        return TOUCH_OK;
    }
    simx_guest_oom_kill(vm);
    return TOUCH_KILLED;
}

void simx_guest_free_anon(struct sim_vm *vm, uint64_t from)
{
    uint64_t i;

    for (i = from; i < vm->anon_used; i++) {
        uint32_t e = vm->anon_map[i];

        if (e & MAP_PRESENT) {
            lru_remove(vm, &vm->anon, e & MAP_GFN);
            simx_guest_push_free(vm, e & MAP_GFN);
        } else if (e & MAP_SWAPPED) {
            vm->gswap_used--;
        }
        vm->anon_map[i] = 0;
    }
}

static void read_swap(struct sim_vm *vm, uint32_t page)
{
    const struct sim_host *host = vm->host;
    bool next = page == vm->gswap_last + 1;
    uint64_t ns = next ? host->cost.swap_seq_ns : host->cost.read_rand_ns;

    vm->gswap_used--;
    vm->gswap_in++;
    vm->major_faults++;
    vm->gswap_last = page;
    charge_disk(vm->host,
                next ? host->base.swap_seq_ns : host->base.read_rand_ns);
    charge_guest(vm, ns);
    vm->psi_ns += ns;
}

/* New pages are cleared, pages in swap are read; either covers the page. The
 * page is mapped first: should the host stall, the access is tried again. */
enum touch_result simx_guest_fault_anon(struct sim_vm *vm, uint32_t page,
                                        bool write)
{
    struct sim_host *host = vm->host;
    uint32_t gfn;
    struct page *p;
    bool swapped = (vm->anon_map[page] & MAP_SWAPPED) != 0;
    enum touch_result r = simx_guest_alloc(vm, &gfn);

    if (r != TOUCH_OK) {
        return r;
    }
    r = touch(vm, gfn, true, true);
    if (r != TOUCH_OK) {
        simx_guest_push_free(vm, gfn);
        return r;
    }
    charge_guest(vm, host->cfg.costs.fault_ns);
    p = &vm->pages[gfn];
    p->rmap = page;
    p->gflags = GP_ANON;
    lru_push(vm, &vm->anon, gfn);
    vm->anon_map[page] = MAP_PRESENT | gfn;
    if (swapped) {
        read_swap(vm, page);
    } else {
        charge_guest(vm, host->cost.zero_ns);
        if (!write) {
            p->content = CONTENT_ZERO;
        }
    }
    return TOUCH_OK;
}

/* Which pages are zero and which are alike is the same in every guest, and
 * spread all over the memory (multiplying by an odd number permutes). */
uint32_t simx_guest_anon_content(const struct sim_vm *vm, uint32_t page)
{
    uint32_t r = (uint32_t)((uint64_t)(page * 0x9e3779b1u) * 10000u >> 32);

    if (r < vm->cfg.zero_anon_bp) {
        return CONTENT_ZERO;
    }
    if (r < vm->cfg.zero_anon_bp + vm->cfg.image_anon_bp &&
        vm->cfg.image != 0 && page < SIM_IMAGE_PAGES - ANON_CONTENT) {
        return vm->cfg.image << 24 | (ANON_CONTENT + page);
    }
    return CONTENT_PRIVATE;
}

/* Content of a page just read from a file. */
static uint32_t file_content(const struct sim_vm *vm, uint32_t page)
{
    if (vm->cfg.image == 0 || page >= vm->cfg.image_file_pages) {
        return CONTENT_PRIVATE;
    }
    return vm->cfg.image << 24 | (FILE_CONTENT + page);
}

enum touch_result simx_guest_fault_file(struct sim_vm *vm, uint32_t page,
                                        bool write, bool sequential)
{
    struct sim_host *host = vm->host;
    uint32_t gfn;
    struct page *p;
    enum touch_result r = simx_guest_alloc(vm, &gfn);

    if (r != TOUCH_OK) {
        return r;
    }
    r = touch(vm, gfn, true, true);
    if (r != TOUCH_OK) {
        simx_guest_push_free(vm, gfn);
        return r;
    }
    charge_guest(vm, host->cfg.costs.fault_ns);
    p = &vm->pages[gfn];
    p->rmap = page;
    p->gflags = GP_FILE;
    lru_push(vm, &vm->file, gfn);
    vm->file_map[page] = MAP_PRESENT | gfn;
    /* A page that is written whole need not be read. */
    if (!write) {
        p->content = file_content(vm, page);
        if (page < vm->cfg.image_file_pages) {
            vm->major_faults++;
        }
        charge_disk(host, sequential ? host->base.read_seq_ns
                                     : host->base.read_rand_ns);
        charge_guest(vm, sequential ? host->cost.read_seq_ns
                                    : host->cost.read_rand_ns);
    }
    return TOUCH_OK;
}

/* Walk the files once in FLUSH_MS, writing back what is dirty. */
void simx_guest_flush(struct sim_vm *vm, uint64_t ms)
{
    uint64_t n = vm->file_cap * ms / FLUSH_MS + 1;

    for (; n > 0 && vm->file_dirty > 0; n--) {
        uint32_t e;

        if (vm->flush_cursor >= vm->file_cap) {
            vm->flush_cursor = 0;
        }
        e = vm->file_map[vm->flush_cursor++];
        if ((e & MAP_PRESENT) && (vm->pages[e & MAP_GFN].gflags & GP_DIRTY)) {
            vm->pages[e & MAP_GFN].gflags &= (uint8_t)~GP_DIRTY;
            vm->file_dirty--;
            charge_disk(vm->host, vm->host->base.write_ns);
        }
    }
}
