/* SPDX-License-Identifier: BSD-2-Clause */
/* Defaults, presets and checks of the configuration. */
#include "internal.h"

#include <string.h>

static const struct pol_thresholds presets[POL_PRESETS] = {
    /* ESX02 6.3 */
    [POL_PRESET_ESX4] = { .base = POL_MINFREE_TOTAL,
                          .high_bp = 600,
                          .clear_bp = 400,
                          .soft_bp = 400,
                          .hard_bp = 200,
                          .low_bp = 100,
                          .margin_bp = 25 },
    /* ESXi 5: high 100 %, soft 64 %, hard 32 %, low 16 % of minfree */
    [POL_PRESET_SLIDING] = { .base = POL_MINFREE_SLIDING,
                             .high_bp = 10000,
                             .clear_bp = 6400,
                             .soft_bp = 6400,
                             .hard_bp = 3200,
                             .low_bp = 1600,
                             .margin_bp = 400 },
    /* ESXi 6: high 400 %, clear 100 %, soft 64 %, hard 32 %, low 16 % */
    [POL_PRESET_SLIDING6] = { .base = POL_MINFREE_SLIDING,
                              .high_bp = 40000,
                              .clear_bp = 10000,
                              .soft_bp = 6400,
                              .hard_bp = 3200,
                              .low_bp = 1600,
                              .margin_bp = 400,
                              .hard_stops_balloon = 1 },
};

void pol_config_init(struct pol_config *config, uint32_t max_vms,
                     uint32_t max_groups)
{
    memset(config, 0, sizeof(*config));
    config->size = sizeof(*config);
    config->max_vms = max_vms;
    config->max_groups = max_groups;
    config->max_holds = 64;
    config->page_bytes = 4096;
    config->seed = 1;
    config->idle_tax_bp = 7500;
    config->headroom_bp = 1250;
    config->sample_period_ms = 30000;
    config->sample_pages = 100;
    config->slow_gain_bp = 2000;
    config->fast_gain_bp = 6000;
    config->fresh_ms = 60000;
    config->stale_ms = 300000;
    config->thresholds = presets[POL_PRESET_ESX4];
    config->balloon_cap_bp = 6500;
    config->balloon_step_bp = 500;
    config->swap_step_bp = 500;
    config->dead_band_bp = 100;
    config->stuck_ms = 20000;
    config->retry_ms = 60000;
    config->retry_max_ms = 960000;
    config->promise_ms = 20000;
    config->block_max_ms = 10000;
    config->share_scan_ms = 3600000;
    config->share_scan_min_ms = 600000;
    config->distress_swap_in = 64;
    config->distress_faults = 64;
    config->distress_stall_bp = 1000;
    config->distress_ms = 30000;
    config->admission_needs_swap = 1;
}

int pol_config_preset(struct pol_config *config, int preset)
{
    if (preset < 0 || preset >= POL_PRESETS) {
        return POL_ERR_INVALID;
    }
    config->thresholds = presets[preset];
    return POL_OK;
}

/** A field of 32 bits and its range. */
struct range {
    const char *name;
    size_t offset;
    uint32_t min;
    uint32_t max;
};

#define RANGE(field, lo, hi)                                                   \
    {                                                                          \
#field, offsetof(struct pol_config, field), lo, hi                     \
    }

static const struct range ranges[] = {
    RANGE(max_vms, 1, POL_MAX_VMS),
    RANGE(max_groups, 0, POL_MAX_GROUPS),
    RANGE(max_holds, 0, POL_MAX_HOLDS),
    RANGE(page_bytes, 4096, 1u << 30),
    RANGE(idle_tax_bp, 0, POL_MAX_TAX_BP),
    RANGE(headroom_bp, 0, 10000),
    RANGE(sample_period_ms, 1, 3600000),
    RANGE(sample_pages, 1, 1000),
    RANGE(slow_gain_bp, 1, 10000),
    RANGE(fast_gain_bp, 1, 10000),
    RANGE(fresh_ms, 0, 3600000),
    RANGE(stale_ms, 0, 86400000),
    RANGE(thresholds.base, 0, POL_MINFREE_SLIDING),
    RANGE(thresholds.high_bp, 0, 100000),
    RANGE(thresholds.clear_bp, 0, 100000),
    RANGE(thresholds.soft_bp, 0, 100000),
    RANGE(thresholds.hard_bp, 0, 100000),
    RANGE(thresholds.low_bp, 0, 100000),
    RANGE(thresholds.margin_bp, 0, 100000),
    RANGE(thresholds.hard_stops_balloon, 0, 1),
    RANGE(balloon_cap_bp, 0, 10000),
    RANGE(balloon_step_bp, 1, 10000),
    RANGE(swap_step_bp, 1, 10000),
    RANGE(dead_band_bp, 0, 10000),
    RANGE(stuck_ms, 1, 86400000),
    RANGE(retry_ms, 1, 86400000),
    RANGE(retry_max_ms, 1, 86400000),
    RANGE(promise_ms, 0, 86400000),
    RANGE(block_max_ms, 1, 86400000),
    RANGE(share_scan_ms, 1, 2000000000),
    RANGE(share_scan_min_ms, 1, 2000000000),
    RANGE(distress_swap_in, 0, UINT32_MAX),
    RANGE(distress_faults, 0, UINT32_MAX),
    RANGE(distress_stall_bp, 0, 10000),
    RANGE(distress_ms, 0, 86400000),
    RANGE(admission_needs_swap, 0, 1),
    RANGE(reserved_0, 0, 0),
};

/* The first field that contradicts another one, or NULL. */
static const char *contradiction(const struct pol_config *c)
{
    const struct pol_thresholds *t = &c->thresholds;

    if ((c->page_bytes & (c->page_bytes - 1u)) != 0) {
        return "page_bytes";
    }
    if (c->host_reserve_pages > POL_MAX_PAGES) {
        return "host_reserve_pages";
    }
    if (c->stale_ms < c->fresh_ms) {
        return "stale_ms";
    }
    if (t->low_bp > t->hard_bp) {
        return "thresholds.low_bp";
    }
    if (t->hard_bp > t->soft_bp) {
        return "thresholds.hard_bp";
    }
    if (t->soft_bp > t->clear_bp) {
        return "thresholds.soft_bp";
    }
    if (t->clear_bp > t->high_bp) {
        return "thresholds.clear_bp";
    }
    if (c->retry_max_ms < c->retry_ms) {
        return "retry_max_ms";
    }
    if (c->share_scan_min_ms > c->share_scan_ms) {
        return "share_scan_min_ms";
    }
    return NULL;
}

int pol_config_check(const struct pol_config *config, const char **field)
{
    const char *wrong = NULL;
    size_t i;

    if (field != NULL) {
        *field = NULL;
    }
    if (config->size != sizeof(*config)) {
        if (field != NULL) {
            *field = "size";
        }
        return POL_ERR_VERSION;
    }
    for (i = 0; i < sizeof(ranges) / sizeof(ranges[0]) && wrong == NULL; i++) {
        uint32_t value;

        memcpy(&value, (const uint8_t *)config + ranges[i].offset,
               sizeof(value));
        if (value < ranges[i].min || value > ranges[i].max) {
            wrong = ranges[i].name;
        }
    }
    if (wrong == NULL) {
        wrong = contradiction(config);
    }
    if (field != NULL) {
        *field = wrong;
    }
    return wrong == NULL ? POL_OK : POL_ERR_RANGE;
}

uint64_t pol_minfree_sliding(uint64_t total_pages, uint32_t page_bytes)
{
    static const struct {
        uint64_t gib;
        uint64_t bp;
    } slices[] = { { 4, 600 }, { 8, 400 }, { 16, 200 } };
    uint64_t gib_pages = (UINT64_C(1) << 30) / page_bytes;
    uint64_t left = total_pages;
    uint64_t sum = 0; /* pages times 10000: at most 2^52 * 600 */
    size_t i;

    for (i = 0; i < sizeof(slices) / sizeof(slices[0]); i++) {
        uint64_t slice = polx_min(left, slices[i].gib * gib_pages);

        sum += slice * slices[i].bp;
        left -= slice;
    }
    return (sum + left * 100u) / 10000u;
}
