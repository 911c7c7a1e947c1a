/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections host and policy. */
#include <stddef.h>
#include <string.h>

#include "scenario_parts.h"

#define MAX32 UINT64_C(0xffffffff)

#define HOST(key, kind, member, min, max, required)                            \
    {                                                                          \
        key, kind, offsetof(struct sim_host_spec, member), min, max, required, \
            NULL                                                               \
    }

static const struct sim_field host_fields[] = {
    HOST("page_size", SIM_F_BYTES, page_bytes, 4096, 2097152, false),
    HOST("memory", SIM_F_PAGES, memory_pages, 64, SIM_MAX_PAGES, true),
    HOST("reserve", SIM_F_PAGES, reserve_pages, 0, SIM_MAX_PAGES, false),
    HOST("swap", SIM_F_PAGES, swap_pages, 0, SIM_MAX_PAGES, false),
    HOST("overhead_per_vm", SIM_F_PAGES, overhead_pages, 0, SIM_MAX_PAGES,
         false),
    HOST("overhead_of_size", SIM_F_PERCENT, overhead_bp, 0, 10000, false),
    HOST("slice", SIM_F_TIME, slice_ms, 1, 60000, false),
    HOST("cpus", SIM_F_U32, cpus, 1, 4096, false),
    HOST("access_ns", SIM_F_U32, cpu_ns, 1, 1000000000, false),
    HOST("disk_seek_ns", SIM_F_U32, disk_seek_ns, 0, 1000000000, false),
    HOST("sharing", SIM_F_BOOL, sharing, 0, 0, false),
};

/* Page size comes before all sizes, wherever it is written. */
static int read_page_size(struct sim_reading *rd, const struct sim_node *map,
                          struct sim_host_spec *host)
{
    const struct sim_node *node;
    int rc = sim_expect_kind(rd, map, SIM_NODE_MAP, "");

    if (rc != POL_OK) {
        return rc;
    }
    node = sim_yaml_member(map, "page_size");
    if (node != NULL) {
        rc = sim_field_read(rd, node, &host_fields[0], host);
        if (rc != POL_OK) {
            return rc;
        }
        if ((host->page_bytes & (host->page_bytes - 1u)) != 0) {
            return sim_reading_fail(rd, node->line, "page_size",
                                    "is no power of two (accepted: 4KiB to "
                                    "2MiB)");
        }
    }
    rd->page_bytes = host->page_bytes;
    return POL_OK;
}

int sim_host_section(struct sim_reading *rd, const struct sim_node *map,
                     struct sim_scenario *scenario)
{
    struct sim_host_spec *host = &scenario->host;
    struct sim_costs costs;
    int rc;

    sim_costs_init(&costs);
    memset(host, 0, sizeof(*host));
    host->page_bytes = 4096;
    host->swap_pages = SIM_NONE;
    host->overhead_pages = SIM_NONE;
    host->slice_ms = 1000;
    host->cpus = 8;
    host->cpu_ns = costs.cpu_ns;
    host->disk_seek_ns = costs.disk_seek_ns;
    host->sharing = true;
    sim_reading_enter(rd, "host", SIZE_MAX);
    rc = read_page_size(rd, map, host);
    if (rc == POL_OK) {
        rc =
            sim_fields_read(rd, map, host_fields, SIM_COUNT(host_fields), host);
    }
    if (rc != POL_OK) {
        return rc;
    }
    if (host->reserve_pages >= host->memory_pages) {
        return sim_reading_fail(rd, map->line, "reserve",
                                "leaves no memory for VMs (accepted: less "
                                "than memory)");
    }
    if (host->swap_pages == SIM_NONE) {
        uint64_t twice = host->memory_pages * 2;

        host->swap_pages = twice < SIM_MAX_PAGES ? twice : SIM_MAX_PAGES;
    }
    if (host->overhead_pages == SIM_NONE) {
        /* 16 MiB and 1 %: between the figures ESX gives for small VMs. */
        host->overhead_pages =
            ((16u << 20) + host->page_bytes - 1u) / host->page_bytes;
        host->overhead_bp = sim_yaml_member(map, "overhead_of_size") != NULL
                                ? host->overhead_bp
                                : 100;
    }
    return POL_OK;
}

static const char *const preset_words[] = { "esx4", "sliding", "sliding6",
                                            NULL };
static const char *const minfree_words[] = { "total", "sliding", NULL };

#define POLICY(key, kind, member, min, max)                                    \
    {                                                                          \
        key, kind, offsetof(struct pol_config, member), min, max, false, NULL  \
    }

static const struct sim_field policy_fields[] = {
    { "preset", SIM_F_OTHER, 0, 0, 0, false, preset_words },
    { "minfree", SIM_F_WORD, offsetof(struct pol_config, thresholds.base), 0, 0,
      false, minfree_words },
    POLICY("high", SIM_F_PERCENT, thresholds.high_bp, 0, 100000),
    POLICY("clear", SIM_F_PERCENT, thresholds.clear_bp, 0, 100000),
    POLICY("soft", SIM_F_PERCENT, thresholds.soft_bp, 0, 100000),
    POLICY("hard", SIM_F_PERCENT, thresholds.hard_bp, 0, 100000),
    POLICY("low", SIM_F_PERCENT, thresholds.low_bp, 0, 100000),
    POLICY("hysteresis", SIM_F_PERCENT, thresholds.margin_bp, 0, 100000),
    POLICY("hard_stops_balloon", SIM_F_FLAG, thresholds.hard_stops_balloon, 0,
           0),
    POLICY("idle_tax", SIM_F_PERCENT, idle_tax_bp, 0, POL_MAX_TAX_BP),
    POLICY("headroom", SIM_F_PERCENT, headroom_bp, 0, 10000),
    POLICY("sampling_period", SIM_F_TIME32, sample_period_ms, 1, 3600000),
    POLICY("sample_pages", SIM_F_U32, sample_pages, 1, 1000),
    POLICY("slow_gain", SIM_F_PERCENT, slow_gain_bp, 1, 10000),
    POLICY("fast_gain", SIM_F_PERCENT, fast_gain_bp, 1, 10000),
    POLICY("fresh", SIM_F_TIME32, fresh_ms, 0, 3600000),
    POLICY("stale", SIM_F_TIME32, stale_ms, 0, 86400000),
    POLICY("balloon_cap", SIM_F_PERCENT, balloon_cap_bp, 0, 10000),
    POLICY("balloon_step", SIM_F_PERCENT, balloon_step_bp, 1, 10000),
    POLICY("swap_step", SIM_F_PERCENT, swap_step_bp, 1, 10000),
    POLICY("dead_band", SIM_F_PERCENT, dead_band_bp, 0, 10000),
    POLICY("stuck_after", SIM_F_TIME32, stuck_ms, 1, 86400000),
    POLICY("retry_after", SIM_F_TIME32, retry_ms, 1, 86400000),
    POLICY("retry_max", SIM_F_TIME32, retry_max_ms, 1, 86400000),
    POLICY("promise", SIM_F_TIME32, promise_ms, 0, 86400000),
    POLICY("block_max", SIM_F_TIME32, block_max_ms, 1, 86400000),
    POLICY("share_scan", SIM_F_TIME32, share_scan_ms, 1, 2000000000),
    POLICY("share_scan_fastest", SIM_F_TIME32, share_scan_min_ms, 1,
           2000000000),
    POLICY("distress_swap_in", SIM_F_U32, distress_swap_in, 0, MAX32),
    POLICY("distress_faults", SIM_F_U32, distress_faults, 0, MAX32),
    POLICY("distress_stall", SIM_F_PERCENT, distress_stall_bp, 0, 10000),
    POLICY("distress_memory", SIM_F_TIME32, distress_ms, 0, 86400000),
    POLICY("admission_needs_swap", SIM_F_FLAG, admission_needs_swap, 0, 0),
};

/* A preset replaces all thresholds, so it comes before all of them. */
static int read_preset(struct sim_reading *rd, const struct sim_node *map,
                       struct pol_config *config)
{
    const struct sim_node *node = sim_yaml_member(map, "preset");
    struct sim_field field = policy_fields[0];
    int preset = 0;
    int rc;

    if (node == NULL) {
        return POL_OK;
    }
    field.kind = SIM_F_WORD;
    rc = sim_field_read(rd, node, &field, &preset);
    return rc != POL_OK ? rc : pol_config_preset(config, preset);
}

int sim_policy_section(struct sim_reading *rd, const struct sim_node *map,
                       struct pol_config *config)
{
    struct pol_config c = *config;
    const char *field = NULL;
    bool no_clear;
    int rc;

    sim_reading_enter(rd, "policy", SIZE_MAX);
    rc = sim_expect_kind(rd, map, SIM_NODE_MAP, "");
    if (rc == POL_OK) {
        rc = read_preset(rd, map, &c);
    }
    no_clear = c.thresholds.clear_bp == c.thresholds.soft_bp;
    if (rc == POL_OK) {
        rc = sim_fields_read(rd, map, policy_fields, SIM_COUNT(policy_fields),
                             &c);
    }
    if (rc != POL_OK) {
        return rc;
    }
    if (no_clear && sim_yaml_member(map, "clear") == NULL) {
        c.thresholds.clear_bp = c.thresholds.soft_bp;
    }
    if (pol_config_check(&c, &field) != POL_OK) {
        return sim_reading_fail(rd, map->line, "",
                                "contradicts itself in %s (accepted: low <= "
                                "hard <= soft <= clear <= high, fresh <= "
                                "stale, retry_after <= retry_max)",
                                field != NULL ? field : "?");
    }
    *config = c;
    return POL_OK;
}
