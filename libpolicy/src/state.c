/* SPDX-License-Identifier: BSD-2-Clause */
/* Thresholds in pages, and the state that an amount of free memory leads to. */
#include "internal.h"
#include "state_table.h"

void polx_levels_compute(struct pol_ctx *ctx)
{
    const struct pol_thresholds *t = &ctx->config.thresholds;
    struct polx_levels *l = &ctx->levels;
    uint64_t base = ctx->host.total_pages;

    if (t->base == POL_MINFREE_SLIDING) {
        base = pol_minfree_sliding(base, ctx->config.page_bytes);
    }
    l->high = polx_min(polx_bp(base, t->high_bp), ctx->host.total_pages);
    l->clear = polx_min(polx_bp(base, t->clear_bp), l->high);
    l->soft = polx_min(polx_bp(base, t->soft_bp), l->clear);
    l->hard = polx_min(polx_bp(base, t->hard_bp), l->soft);
    l->low = polx_min(polx_bp(base, t->low_bp), l->hard);
    l->margin = polx_bp(base, t->margin_bp);
}

/* How many of the cuts are at or below the amount of free memory. */
static uint32_t level_of(const uint64_t *cuts, uint32_t n, uint64_t free_pages)
{
    uint32_t level = 0;

    while (level < n && free_pages >= cuts[level]) {
        level++;
    }
    return level;
}

uint32_t polx_state_next(const struct polx_levels *l, uint32_t state,
                         uint64_t free_pages)
{
    uint64_t m = l->margin;

    /* A margin wider than the gap above a threshold ends at the next one, so
     * that cuts stay in order. */
    if (l->clear > l->soft) {
        uint64_t cuts[POLX_LEVELS_CLEAR - 1] = {
            l->low,
            l->hard,
            polx_min(l->hard + m, l->soft),
            l->soft,
            polx_min(l->soft + m, l->clear),
            l->clear,
            polx_min(l->clear + m, l->high),
            l->high + m,
        };

        return polx_next_clear[state][level_of(cuts, POLX_LEVELS_CLEAR - 1,
                                               free_pages)];
    } else {
        uint64_t cuts[POLX_LEVELS_PLAIN - 1] = {
            l->low,
            l->hard,
            polx_min(l->hard + m, l->soft),
            l->soft,
            polx_min(l->soft + m, l->high),
            l->high + m,
        };

        return polx_next_plain[state][level_of(cuts, POLX_LEVELS_PLAIN - 1,
                                               free_pages)];
    }
}
