/* SPDX-License-Identifier: BSD-2-Clause */
#include "summary.h"

#include "text.h"

static const char *const headers[] = { "parameter", "value" };

static void row_bp(struct table *table, const char *name, uint32_t bp)
{
    char a[TEXT_MAX];

    table_cell(table, "%s", name);
    table_cell(table, "%s", text_bp(a, bp));
}

static void row_ms(struct table *table, const char *name, uint64_t ms)
{
    char a[TEXT_MAX];

    table_cell(table, "%s", name);
    table_cell(table, "%s", text_span(a, ms));
}

static void row_count(struct table *table, const char *name, uint64_t count)
{
    char a[TEXT_MAX];

    table_cell(table, "%s", name);
    table_cell(table, "%s", text_count(a, count));
}

static void threshold_rows(struct table *table,
                           const struct pol_thresholds *thresholds)
{
    table_cell(table, "thresholds are parts of");
    table_cell(table, "%s",
               thresholds->base == POL_MINFREE_SLIDING
                   ? "the sliding minimum of free memory"
                   : "host memory");
    row_bp(table, "high from", thresholds->high_bp);
    if (thresholds->clear_bp != thresholds->soft_bp) {
        row_bp(table, "clear below", thresholds->clear_bp);
    }
    row_bp(table, "soft below", thresholds->soft_bp);
    row_bp(table, "hard below", thresholds->hard_bp);
    row_bp(table, "low below", thresholds->low_bp);
    row_bp(table, "margin on the way up", thresholds->margin_bp);
}

static void reclaim_rows(struct table *table, const struct pol_config *config)
{
    row_bp(table, "balloon takes at most, of a VM's size",
           config->balloon_cap_bp);
    row_bp(table, "balloon moves at most, a second", config->balloon_step_bp);
    row_bp(table, "swapping moves at most, a second", config->swap_step_bp);
    row_bp(table, "changes too small to move", config->dead_band_bp);
    row_ms(table, "balloon without progress is stuck after", config->stuck_ms);
    row_ms(table, "and tried again after", config->retry_ms);
    row_ms(table, "a VM is blocked at most for", config->block_max_ms);
}

struct table *summary_policy(const struct pol_config *config)
{
    struct table *table = table_new(headers, 2, 3);

    row_bp(table, "idle-memory tax", config->idle_tax_bp);
    row_bp(table, "room to grow above consumed memory", config->headroom_bp);
    row_ms(table, "sampling period", config->sample_period_ms);
    row_count(table, "pages sampled in a period", config->sample_pages);
    row_bp(table, "weight of a period, slow average", config->slow_gain_bp);
    row_bp(table, "weight of a period, fast average", config->fast_gain_bp);
    threshold_rows(table, &config->thresholds);
    reclaim_rows(table, config);
    table_cell(table, "admission needs swap space");
    table_cell(table, "%s", config->admission_needs_swap != 0 ? "yes" : "no");
    return table;
}
