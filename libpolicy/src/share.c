/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of page sharing: its block, its VMs and its figures. */
#include "share_int.h"

#include <string.h>

#define ALIGNMENT     64u
#define MAX_RUN_PAGES (UINT32_C(1) << 20)

/** Where each array begins in the block. */
struct layout {
    uint64_t entries, buckets, page_key, page_entry, vms, vm_ids, turns, bytes;
    uint64_t page_slots;
};

void pol_share_config_init(struct pol_share_config *config, uint32_t max_vms,
                           uint64_t guest_pages)
{
    uint32_t n = (uint32_t)polx_max(2, polx_min(guest_pages, POL_SHARE_MAX));

    memset(config, 0, sizeof(*config));
    config->size = sizeof(*config);
    config->max_vms = max_vms;
    config->max_entries = n / 2 > 2 ? n / 2 : 2;
    config->max_pages = n;
    config->order = POL_SHARE_RANDOM;
    config->run_pages = 256;
    config->seed = 1;
}

int pol_share_config_check(const struct pol_share_config *config,
                           const char **field)
{
    const struct {
        const char *name;
        uint32_t value, min, max;
    } rows[] = {
        { "max_vms", config->max_vms, 1, POL_MAX_VMS },
        { "max_entries", config->max_entries, 2, POL_SHARE_MAX },
        { "max_pages", config->max_pages, 2, POL_SHARE_MAX },
        { "order", config->order, 0, POL_SHARE_ORDERS - 1 },
        { "run_pages", config->run_pages, 1, MAX_RUN_PAGES },
        { "zeroed", config->zeroed, 0, 1 },
    };
    const char *wrong = NULL;
    size_t i;
    int rc = POL_OK;

    if (config->size != sizeof(*config)) {
        wrong = "size";
        rc = POL_ERR_VERSION;
    }
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]) && rc == POL_OK; i++) {
        if (rows[i].value < rows[i].min || rows[i].value > rows[i].max) {
            wrong = rows[i].name;
            rc = POL_ERR_RANGE;
        }
    }
    if (field != NULL) {
        *field = wrong;
    }
    return rc;
}

static uint64_t place(uint64_t *at, uint64_t bytes)
{
    uint64_t here = *at;

    *at = (here + bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return here;
}

static void lay_out(const struct pol_share_config *config, struct layout *l)
{
    uint64_t entries = config->max_entries;
    uint64_t vms = config->max_vms;
    uint64_t at = 0;

    l->page_slots = (uint64_t)config->max_pages * 4 / 3 + 1;
    place(&at, sizeof(struct pol_share));
    l->entries = place(&at, entries * sizeof(struct polx_entry));
    l->buckets = place(&at, entries * sizeof(uint32_t));
    l->page_key = place(&at, l->page_slots * sizeof(uint64_t));
    l->page_entry = place(&at, l->page_slots * sizeof(uint32_t));
    l->vms = place(&at, vms * sizeof(struct polx_share_vm));
    l->turns = place(&at, vms * sizeof(uint32_t));
    l->vm_ids = place(&at, polx_idmap_size(config->max_vms));
    l->bytes = at;
}

int pol_share_size(const struct pol_share_config *config, size_t *bytes)
{
    struct layout l;
    int rc = pol_share_config_check(config, NULL);

    if (rc != POL_OK) {
        return rc;
    }
    lay_out(config, &l);
    if (l.bytes > SIZE_MAX) {
        return POL_ERR_NOMEM;
    }
    *bytes = (size_t)l.bytes;
    return POL_OK;
}

/* Only what is looked at before it is written: entries and keys are not. */
static void clear(struct pol_share *t, const struct pol_share_config *config)
{
    if (config->zeroed) {
        return;
    }
    memset(t->buckets, 0, (size_t)config->max_entries * sizeof(*t->buckets));
    memset(t->page_entry, 0, (size_t)t->page_slots * sizeof(*t->page_entry));
    memset(t->vms, 0, (size_t)config->max_vms * sizeof(*t->vms));
}

int pol_share_init(void *block, size_t bytes,
                   const struct pol_share_config *config,
                   struct pol_share **out)
{
    struct pol_share *t = block;
    uint8_t *base = block;
    struct layout l;
    size_t need;
    int rc = pol_share_size(config, &need);

    if (rc != POL_OK) {
        return rc;
    }
    if (block == NULL || (uintptr_t)block % ALIGNMENT != 0) {
        return POL_ERR_INVALID;
    }
    if (bytes < need) {
        return POL_ERR_NOMEM;
    }
    lay_out(config, &l);
    memset(t, 0, sizeof(*t));
    t->config = *config;
    t->entries = (struct polx_entry *)(void *)(base + l.entries);
    t->buckets = (uint32_t *)(void *)(base + l.buckets);
    t->page_key = (uint64_t *)(void *)(base + l.page_key);
    t->page_entry = (uint32_t *)(void *)(base + l.page_entry);
    t->page_slots = l.page_slots;
    t->vms = (struct polx_share_vm *)(void *)(base + l.vms);
    t->turns = (uint32_t *)(void *)(base + l.turns);
    t->accounted = true;
    t->turn = UINT32_MAX; /* nobody's yet */
    clear(t, config);
    polx_idmap_init(&t->vm_ids, (uint32_t *)(void *)(base + l.vm_ids),
                    config->max_vms, &t->vms[0].id, sizeof(t->vms[0]));
    *out = t;
    return POL_OK;
}

/* ---- VMs --------------------------------------------------------------- */

uint32_t polx_share_slot(const struct pol_share *t, uint64_t vm)
{
    return polx_idmap_find(&t->vm_ids, vm);
}

int pol_share_vm_add(struct pol_share *t, uint64_t id, uint32_t domain,
                     uint64_t size_pages)
{
    struct polx_share_vm *vm;
    uint32_t slot;

    if (size_pages == 0 || size_pages > POL_SHARE_MAX_GFN) {
        return POL_ERR_RANGE;
    }
    if (polx_share_slot(t, id) != UINT32_MAX) {
        return POL_ERR_EXISTS;
    }
    if (t->vm_count == t->config.max_vms) {
        return POL_ERR_NOMEM;
    }
    for (slot = t->vm_low; t->vms[slot].used;) {
        slot++;
    }
    t->vm_low = slot + 1u;
    vm = &t->vms[slot];
    memset(vm, 0, sizeof(*vm));
    vm->id = id;
    vm->domain = domain;
    vm->size_pages = size_pages;
    vm->used = 1;
    t->vm_count++;
    t->vm_high = slot >= t->vm_high ? slot + 1u : t->vm_high;
    t->all_pages += size_pages;
    polx_idmap_add(&t->vm_ids, slot);
    polx_turn_add(t, slot);
    return POL_OK;
}

int pol_share_vm_remove(struct pol_share *t, uint64_t id)
{
    uint32_t slot = polx_share_slot(t, id);
    struct polx_share_vm *vm;
    uint32_t i;

    if (slot == UINT32_MAX) {
        return POL_ERR_NOTFOUND;
    }
    vm = &t->vms[slot];
    if (vm->shared_pages != 0) {
        return POL_ERR_BUSY;
    }
    for (i = 0; i < t->fresh && vm->hints != 0; i++) {
        struct polx_entry *e = &t->entries[i];

        if (polx_is_hint(e) && polx_key_slot(polx_get64(e->who)) == slot) {
            polx_entry_drop(t, e);
        }
    }
    polx_turn_remove(t, slot);
    polx_idmap_remove(&t->vm_ids, slot);
    t->all_pages -= vm->size_pages;
    t->vm_count--;
    t->vm_low = slot < t->vm_low ? slot : t->vm_low;
    memset(vm, 0, sizeof(*vm));
    return POL_OK;
}

/* ---- Figures ----------------------------------------------------------- */

int pol_share_vm_get(const struct pol_share *t, uint64_t id,
                     struct pol_share_vm_info *out)
{
    uint32_t slot = polx_share_slot(t, id);
    const struct polx_share_vm *vm;

    if (slot == UINT32_MAX) {
        return POL_ERR_NOTFOUND;
    }
    vm = &t->vms[slot];
    memset(out, 0, sizeof(*out));
    out->shared_pages = vm->shared_pages;
    out->consumed_pages = vm->consumed_pages;
    out->hints = vm->hints;
    out->size_pages = vm->size_pages;
    out->domain = vm->domain;
    return POL_OK;
}

void pol_share_stats(const struct pol_share *t, struct pol_share_stats *out)
{
    *out = t->stats;
    out->saved_pages = out->shared_pages - out->shared_frames;
}
