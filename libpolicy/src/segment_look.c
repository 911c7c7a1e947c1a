/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments: the calls that only look. */
#include "arith.h"
#include "policy/segment.h"
#include "segment_int.h"

int pol_segments_fit(const struct pol_segments *s,
                     const struct pol_segment_request *request,
                     struct pol_segment_fit *out)
{
    struct polx_seg_plan plan;
    struct polx_seg_ask ask;
    const struct polx_cut *last;
    int rc = polx_seg_ask(s, request, &ask);

    if (rc != POL_OK) {
        return rc;
    }
    rc = polx_seg_plan(s, &ask, &plan);
    if (rc != POL_OK) {
        return rc;
    }
    last = &plan.cut[plan.count - 1u];
    out->segments = plan.count;
    out->node = s->ext[plan.cut[0].hole].node;
    out->waste_pages = s->ext[last->hole].pages - last->pages;
    out->free_pages = 0;
    for (uint32_t n = 0; n < s->nodes_n; n++) {
        out->free_pages += s->nodes[n].free;
    }
    return POL_OK;
}

uint64_t pol_segment_fit_score(const struct pol_segment_fit *fit)
{
    uint64_t pages = fit->segments == 1 ? fit->waste_pages : fit->free_pages;

    if (fit->segments == 0 || fit->segments > POL_SEGMENT_MAX_COUNT) {
        return UINT64_MAX;
    }
    /* All nodes together have at most MAX_PAGES: ranges do not overlap. */
    return (uint64_t)fit->segments << 48 |
           polx_min(pages, POL_SEGMENT_MAX_PAGES);
}

static void add_stats(const struct pol_segments *s, uint32_t node,
                      struct pol_segment_stats *out)
{
    const struct polx_seg_node *n = &s->nodes[node];
    uint32_t longest = polx_bins_at_most(s, node, POL_SEGMENT_MAX_PAGES);

    out->total_pages += n->total;
    out->free_pages += n->free;
    out->used_pages += n->total - n->free;
    out->free_extents += n->free_extents;
    out->used_extents += n->used_extents;
    if (longest != POLX_NONE) {
        out->largest_free_pages =
            polx_max(out->largest_free_pages, s->ext[longest].pages);
    }
}

int pol_segments_stats(const struct pol_segments *s, uint32_t node,
                       struct pol_segment_stats *out)
{
    struct pol_segment_stats stats = { .extents_left = s->left };

    if (node != POL_SEGMENT_ANY_NODE && node >= s->nodes_n) {
        return POL_ERR_RANGE;
    }
    for (uint32_t n = 0; n < s->nodes_n; n++) {
        if (node == POL_SEGMENT_ANY_NODE || node == n) {
            add_stats(s, n, &stats);
        }
    }
    *out = stats;
    return POL_OK;
}

int pol_segments_visit(const struct pol_segments *s,
                       pol_segment_visitor *visitor, void *user)
{
    for (uint32_t i = 0; i < s->ranges_n; i++) {
        uint32_t x = s->ranges[i].first;

        while (x != POLX_NONE) {
            const struct polx_extent *e = &s->ext[x];
            bool used = !polx_ext_is_free(s, x);
            struct pol_segment_extent extent = {
                .range = { e->start, e->pages, e->node, used ? x : POLX_NONE },
                .owner = used ? e->u.owner : 0,
                .used = used,
            };
            int rc = visitor(user, &extent);

            if (rc != POL_OK) {
                return rc;
            }
            x = e->next;
        }
    }
    return POL_OK;
}

/* What checking one range adds up. */
struct sums {
    uint64_t free[POL_SEGMENT_MAX_NODES];
    uint32_t free_extents[POL_SEGMENT_MAX_NODES];
    uint32_t used_extents[POL_SEGMENT_MAX_NODES];
    uint32_t extents;
};

static bool extent_is_valid(const struct pol_segments *s, uint32_t x)
{
    const struct polx_extent *e = &s->ext[x];

    if (polx_ext_is_free(s, x)) {
        return polx_bins_at_least(s, e->node, e->pages) != POLX_NONE &&
               !polx_ext_is_free(s, e->next);
    }
    return e->state == POLX_EXT_USED;
}

static bool range_is_valid(const struct pol_segments *s,
                           const struct polx_range *range, struct sums *sums)
{
    uint64_t at = range->start;
    uint32_t prev = POLX_NONE;

    for (uint32_t x = range->first; x != POLX_NONE; x = s->ext[x].next) {
        const struct polx_extent *e = &s->ext[x];

        if (++sums->extents > s->extents_n || e->start != at || e->pages == 0 ||
            e->prev != prev || e->node != range->node ||
            !extent_is_valid(s, x)) {
            return false;
        }
        if (polx_ext_is_free(s, x)) {
            sums->free[e->node] += e->pages;
            sums->free_extents[e->node]++;
        } else {
            sums->used_extents[e->node]++;
        }
        at += e->pages;
        prev = x;
    }
    return at == range->start + range->pages;
}

int pol_segments_check(const struct pol_segments *s)
{
    struct sums sums = { .extents = 0 };

    for (uint32_t i = 0; i < s->ranges_n; i++) {
        if (!range_is_valid(s, &s->ranges[i], &sums)) {
            return POL_ERR_CORRUPT;
        }
    }
    for (uint32_t n = 0; n < s->nodes_n; n++) {
        if (sums.free[n] != s->nodes[n].free ||
            sums.free_extents[n] != s->nodes[n].free_extents ||
            sums.used_extents[n] != s->nodes[n].used_extents) {
            return POL_ERR_CORRUPT;
        }
    }
    return sums.extents + s->left == s->extents_n ? POL_OK : POL_ERR_CORRUPT;
}
