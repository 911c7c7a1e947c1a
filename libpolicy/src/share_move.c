/* SPDX-License-Identifier: BSD-2-Clause */
/* Moving a table of page sharing to another block. */
#include "share_int.h"

#include <string.h>

static bool fits(const struct pol_share *from,
                 const struct pol_share_config *config)
{
    return config->max_entries >= from->fresh &&
           config->max_pages >= from->stats.shared_pages &&
           config->max_vms >= from->vm_high;
}

static void copy_vms(struct pol_share *t, const struct pol_share *from)
{
    uint32_t slot;

    memcpy(t->vms, from->vms, (size_t)from->vm_high * sizeof(*t->vms));
    memcpy(t->turns, from->turns, (size_t)from->turns_n * sizeof(*t->turns));
    t->vm_low = from->vm_low;
    t->vm_high = from->vm_high;
    t->vm_count = from->vm_count;
    for (slot = 0; slot < from->vm_high; slot++) {
        t->vms[slot].sweep = 0;
        if (t->vms[slot].used) {
            polx_idmap_add(&t->vm_ids, slot);
        }
    }
}

static void copy_scanner(struct pol_share *t, const struct pol_share *from)
{
    t->turns_n = from->turns_n;
    t->turn = from->turn;
    t->run_left = from->run_left;
    t->clock_set = from->clock_set;
    t->random = from->random;
    t->budget = from->budget;
    t->carry = from->carry;
    t->tick_ms = from->tick_ms;
    t->all_pages = from->all_pages;
}

int pol_share_move(const struct pol_share *from, void *block, size_t bytes,
                   const struct pol_share_config *config,
                   struct pol_share **out)
{
    struct pol_share *t;
    int rc = pol_share_config_check(config, NULL);

    if (rc == POL_OK && !fits(from, config)) {
        rc = POL_ERR_RANGE;
    }
    if (rc == POL_OK) {
        rc = pol_share_init(block, bytes, config, &t);
    }
    if (rc != POL_OK) {
        return rc;
    }
    t->stats = from->stats;
    t->era = from->era;
    t->accounted = from->accounted;
    copy_vms(t, from);
    copy_scanner(t, from);
    polx_entries_copy(t, from);
    polx_pages_copy(t, from);
    *out = t;
    return POL_OK;
}
