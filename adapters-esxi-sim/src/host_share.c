/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Content-based page sharing (ESX02 4): libpolicy's table says what to do with
 * a page, this file is the host that does it. Nothing else in the engine uses
 * the core.
 *
 * A page's content is a number, and its hash follows from it, so that equal
 * hashes are equal contents here. Private content is unlike any other by
 * definition: the scanner passes such pages by, and they leave no hint.
 *
 * VMs are known to the table by their slots, and are all in one domain, as on
 * the hosts that are simulated.
 */
#include <string.h>

#include "big_alloc.h"
#include "engine_int.h"
#include "policy/share.h"

#define DOMAIN      0u
#define FIRST_PAGES 1024u
#define FIRST_VMS   16u
#define ALIGNMENT   64u
/* The table is looked at for room once in so many scanned pages. */
#define LOOK_EVERY 64u

/* ---- The table's memory ------------------------------------------------- */

/* Make a table, or move the present one to a block that fits `config`. */
static int place_table(struct sim_host *host,
                       const struct pol_share_config *config)
{
    struct pol_share *table = NULL;
    size_t bytes;
    char *block;
    char *start;
    int rc = pol_share_size(config, &bytes);

    if (rc != POL_OK) {
        return rc;
    }
    block = simx_big_alloc(bytes + ALIGNMENT, 1);
    if (block == NULL) {
        return POL_ERR_NOMEM;
    }
    start = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
    if (host->share == NULL) {
        rc = pol_share_init(start, bytes, config, &table);
    } else {
        rc = pol_share_move(host->share, start, bytes, config, &table);
    }
    if (rc != POL_OK) {
        simx_big_free(block, bytes + ALIGNMENT, 1);
        return rc;
    }
    simx_host_share_close(host);
    host->share = table;
    host->share_cfg = *config;
    host->share_block = block;
    host->share_bytes = bytes + ALIGNMENT;
    return POL_OK;
}

int simx_host_share_open(struct sim_host *host)
{
    struct pol_share_config config;
    int rc;

    pol_share_config_init(&config, FIRST_VMS, FIRST_PAGES);
    config.max_entries = FIRST_PAGES;
    config.seed = host->cfg.seed;
    config.zeroed = 1;
    rc = place_table(host, &config);
    return rc == POL_OK ? pol_share_tick(host->share, 0, 0, NULL) : rc;
}

void simx_host_share_close(struct sim_host *host)
{
    simx_big_free(host->share_block, host->share_bytes, 1);
    host->share_block = NULL;
    host->share = NULL;
}

int simx_host_share_add(struct sim_vm *vm)
{
    struct sim_host *host = vm->host;
    struct pol_share_config config = host->share_cfg;

    if (host->vms_n >= config.max_vms) {
        int rc;

        config.max_vms *= 2;
        rc = place_table(host, &config);
        if (rc != POL_OK) {
            return rc;
        }
    }
    return pol_share_vm_add(host->share, vm->slot, DOMAIN, vm->cfg.size_pages);
}

void simx_host_share_remove(struct sim_vm *vm)
{
    /* A dead VM has been removed before. */
    int rc = pol_share_vm_remove(vm->host->share, vm->slot);

    (void)rc;
}

static uint32_t twice(uint32_t n)
{
    return n < POL_SHARE_MAX / 2 ? 2 * n : POL_SHARE_MAX;
}

/* A page takes an entry or two places at most. If the table cannot grow, it
 * makes do with what it has. */
static void look_for_room(struct sim_host *host)
{
    struct pol_share_config config = host->share_cfg;
    struct pol_share_stats s;
    int rc;

    pol_share_stats(host->share, &s);
    if (config.max_pages - s.shared_pages < 2 * LOOK_EVERY) {
        config.max_pages = twice(config.max_pages);
    }
    if (config.max_entries - s.hints - s.shared_frames < LOOK_EVERY &&
        config.max_entries < host->cfg.total_pages) {
        config.max_entries = twice(config.max_entries);
    }
    if (memcmp(&config, &host->share_cfg, sizeof(config)) != 0) {
        rc = place_table(host, &config);
        (void)rc;
    }
    host->share_look = LOOK_EVERY;
}

/* ---- Counting ----------------------------------------------------------- */

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

/* ---- Pages join and leave frames ---------------------------------------- */

bool simx_host_share_is_last(const struct sim_vm *vm, uint32_t gfn)
{
    return vm->host->frame[vm->pages[gfn].frame] == 1;
}

/* The table knows the page: its flag says so. */
uint32_t simx_host_share_leave(struct sim_vm *vm, uint32_t gfn, bool write)
{
    struct sim_host *host = vm->host;
    struct page *p = &vm->pages[gfn];
    struct pol_share_left left = { FRAME_NONE, 0 };
    int rc = write ? pol_share_break(host->share, vm->slot, gfn, &left)
                   : pol_share_forget(host->share, vm->slot, gfn, &left);

    (void)rc;
    count_ref(vm, p->content, false);
    p->hflags &= (uint8_t)~HF_SHARED;
    p->frame = FRAME_NONE;
    if (left.pages != 0) {
        host->frame[left.frame]--;
        return FRAME_NONE;
    }
    count_frame(vm, p->content, false);
    return (uint32_t)left.frame;
}

/* The only user of a shared frame has it for itself again: the hypervisor
 * can swap such a page. */
static void back_to_private(struct sim_vm *vm, uint32_t gfn)
{
    struct page *p = &vm->pages[gfn];

    count_ref(vm, p->content, false);
    count_frame(vm, p->content, false);
    p->hflags &= (uint8_t)~HF_SHARED;
    host_private_add(vm, gfn);
}

/* A private page is on a shared frame from now on, perhaps its own. */
static void join(struct sim_vm *vm, uint32_t gfn, uint32_t frame)
{
    struct sim_host *host = vm->host;
    struct page *p = &vm->pages[gfn];

    host_private_sub(vm, gfn);
    if (p->frame != frame) {
        simx_host_frame_put(host, p->frame);
        p->frame = frame;
        host->frame[frame]++;
        host->merged++;
    }
    p->hflags |= HF_SHARED;
    count_ref(vm, p->content, true);
}

/* ---- Scanning ------------------------------------------------------------ */

static uint64_t hash_of(uint32_t content)
{
    uint64_t h = (content + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);

    return h ^ h >> 32;
}

static void merge(struct sim_vm *vm, uint32_t gfn,
                  const struct pol_share_verdict *v)
{
    struct sim_host *host = vm->host;
    struct page *p = &vm->pages[gfn];
    struct sim_vm *other = NULL;
    uint32_t compared = POL_SHARE_EQUAL;
    uint32_t frame = (uint32_t)v->frame;
    uint32_t what;

    if (v->what == POL_SHARE_COMPARE_PAGE) {
        const struct page *q;

        other = host->slots[v->other_vm];
        q = &other->pages[v->other_gfn];
        frame = q->frame;
        if (!page_is_backed(q) || q->content != p->content) {
            compared = POL_SHARE_CHANGED;
        }
    }
    if (pol_share_confirm(host->share, v, compared, frame, &what) != POL_OK ||
        what != POL_SHARE_MERGED) {
        return;
    }
    if (other != NULL) {
        count_frame(vm, p->content, true);
        join(other, (uint32_t)v->other_gfn, frame);
    }
    join(vm, gfn, frame);
    host->scan_ns += host->cfg.costs.share_merge_ns;
    host->slice_cpu_ns += host->cfg.costs.share_merge_ns;
}

static void scan_page(struct sim_vm *vm, uint32_t gfn)
{
    struct sim_host *host = vm->host;
    const struct page *p = &vm->pages[gfn];
    struct pol_share_verdict v;

    if (!page_is_backed(p) || p->content == CONTENT_PRIVATE) {
        return;
    }
    if (host->share_look-- == 0) {
        look_for_room(host);
    }
    if (pol_share_scan(host->share, vm->slot, gfn, hash_of(p->content), &v) !=
        POL_OK) {
        return;
    }
    switch (v.what) {
    case POL_SHARE_PRIVATE:
        back_to_private(vm, gfn);
        break;
    case POL_SHARE_COMPARE_PAGE:
    case POL_SHARE_COMPARE_FRAME:
        merge(vm, gfn, &v);
        break;
    default:
        break;
    }
}

void simx_host_share_scan(struct sim_host *host)
{
    uint64_t slot;
    uint64_t gfn;

    if (pol_share_tick(host->share, host->now_ms, host->cfg.share_pages_per_s,
                       NULL) != POL_OK) {
        return;
    }
    while (pol_share_next(host->share, &slot, &gfn) == POL_OK) {
        scan_page(host->slots[slot], (uint32_t)gfn);
        host->scanned++;
        host->scan_ns += host->cfg.costs.share_scan_ns;
        host->slice_cpu_ns += host->cfg.costs.share_scan_ns;
    }
}
