/* SPDX-License-Identifier: BSD-2-Clause */
/* Which holes a request gets. Nothing here changes anything. */
#include "arith.h"
#include "segment_int.h"

static bool power_of_two(uint64_t v)
{
    return v != 0 && (v & (v - 1u)) == 0;
}

int polx_seg_ask(const struct pol_segments *s,
                 const struct pol_segment_request *request,
                 struct polx_seg_ask *out)
{
    uint64_t align = request->align_pages == 0 ? 1 : request->align_pages;
    uint32_t known = POL_SEGMENT_STRICT_NODE | POL_SEGMENT_ONE_NODE;
    bool any = request->node == POL_SEGMENT_ANY_NODE;

    if (request->reserved != 0 || (request->flags & ~known) != 0 ||
        !power_of_two(align)) {
        return POL_ERR_INVALID;
    }
    if (any && (request->flags & POL_SEGMENT_STRICT_NODE) != 0) {
        return POL_ERR_INVALID;
    }
    if (request->pages == 0 || request->pages > POL_SEGMENT_MAX_PAGES ||
        align > POL_SEGMENT_MAX_PAGES ||
        request->max_segments > POL_SEGMENT_MAX_COUNT ||
        (!any && request->node >= s->nodes_n)) {
        return POL_ERR_RANGE;
    }
    out->pages = request->pages;
    out->align = align;
    out->max = request->max_segments == 0 ? POL_SEGMENT_DEFAULT
                                          : request->max_segments;
    out->node = request->node;
    out->flags = request->flags;
    out->from_top = request->lifetime_ms != 0 &&
                    request->lifetime_ms <= POL_SEGMENT_SHORT_MS;
    return POL_OK;
}

static uint64_t first_aligned(const struct polx_extent *hole, uint64_t align)
{
    return (hole->start + align - 1u) & ~(align - 1u);
}

/* How many pages from the first aligned one on. */
static uint64_t usable(const struct polx_extent *hole, uint64_t align)
{
    return polx_sat_sub(hole->start + hole->pages, first_aligned(hole, align));
}

static void cut_from(const struct polx_extent *hole, uint32_t x, uint64_t pages,
                     const struct polx_seg_ask *ask, struct polx_cut *cut)
{
    uint64_t end = hole->start + hole->pages;

    cut->hole = x;
    cut->pages = pages;
    cut->start = ask->from_top ? (end - pages) & ~(ask->align - 1u)
                               : first_aligned(hole, ask->align);
}

/* Is this hole part of the plan already? */
static bool planned(const struct polx_seg_plan *plan, uint32_t x)
{
    for (uint32_t i = 0; i < plan->count; i++) {
        if (plan->cut[i].hole == x) {
            return true;
        }
    }
    return false;
}

/*
 * The best hole of a node for so many pages in one piece. Holes in the plan
 * are larger than any that is not, and too small for what remained then; a
 * piece that is smaller may meet them again where alignment left their ends.
 */
static uint32_t best_hole(const struct pol_segments *s, uint32_t node,
                          uint64_t pages, uint64_t align,
                          const struct polx_seg_plan *plan)
{
    const struct polx_extent *e = s->ext;
    uint32_t x = polx_bins_at_least(s, node, pages);
    uint32_t first = x;

    for (uint32_t i = 0; x != POLX_NONE && i < POL_SEGMENT_ALIGN_TRIES; i++) {
        if (usable(&e[x], align) >= pages && !planned(plan, x)) {
            return x;
        }
        x = e[x].ring_next;
        if (x == first) {
            x = polx_bins_at_least(s, node, e[x].pages + 1u);
            first = x;
        }
    }
    if (x == POLX_NONE) {
        return POLX_NONE;
    }
    x = polx_bins_at_least(s, node, pages + align - 1u);
    return x != POLX_NONE && !planned(plan, x) ? x : POLX_NONE;
}

/* The hole in a ring that is not in the plan yet. */
static uint32_t unplanned(const struct pol_segments *s, uint32_t head,
                          const struct polx_seg_plan *plan)
{
    uint32_t x = head;

    while (planned(plan, x)) {
        x = s->ext[x].ring_next;
        if (x == head) {
            return POLX_NONE;
        }
    }
    return x;
}

/* The longest hole of a node, those in the plan and those without an aligned
 * piece left aside. */
static uint32_t longest_hole(const struct pol_segments *s, uint32_t node,
                             uint64_t align, const struct polx_seg_plan *plan)
{
    uint64_t most = POL_SEGMENT_MAX_PAGES;

    for (uint32_t i = 0; i < POL_SEGMENT_ALIGN_TRIES + plan->count; i++) {
        uint32_t head = polx_bins_at_most(s, node, most);
        uint32_t x;

        if (head == POLX_NONE || s->ext[head].pages < align) {
            return POLX_NONE;
        }
        x = unplanned(s, head, plan);
        if (x != POLX_NONE && usable(&s->ext[x], align) >= align) {
            return x;
        }
        most = s->ext[head].pages - 1u;
        if (most == 0) {
            return POLX_NONE;
        }
    }
    return POLX_NONE;
}

/* The best among the nodes from first to last: one that fits with the least
 * waste, or the longest. */
static uint32_t over_nodes(const struct pol_segments *s, uint32_t first,
                           uint32_t last, uint64_t pages, uint64_t align,
                           const struct polx_seg_plan *plan)
{
    uint32_t best = POLX_NONE;

    for (uint32_t n = first; n <= last; n++) {
        uint32_t x = pages != 0 ? best_hole(s, n, pages, align, plan)
                                : longest_hole(s, n, align, plan);

        if (x == POLX_NONE) {
            continue;
        }
        if (best == POLX_NONE ||
            (pages != 0 ? s->ext[x].pages < s->ext[best].pages
                        : s->ext[x].pages > s->ext[best].pages)) {
            best = x;
        }
    }
    return best;
}

/* Longest holes first, until what remains fits in one: no other choice needs
 * fewer. */
static int plan_in(const struct pol_segments *s, const struct polx_seg_ask *ask,
                   uint32_t first, uint32_t last, struct polx_seg_plan *plan)
{
    uint64_t left = ask->pages;

    plan->count = 0;
    while (plan->count < ask->max) {
        uint32_t x = over_nodes(s, first, last, left, ask->align, plan);
        uint64_t pages = left;

        if (x == POLX_NONE) {
            x = over_nodes(s, first, last, 0, ask->align, plan);
            if (x == POLX_NONE) {
                break;
            }
            /* Whole aligned blocks, so that the next piece's guest address is
             * aligned as well. */
            pages = usable(&s->ext[x], ask->align) & ~(ask->align - 1u);
            pages = polx_min(pages, left);
        }
        cut_from(&s->ext[x], x, pages, ask, &plan->cut[plan->count++]);
        left -= pages;
        if (left == 0) {
            return POL_OK;
        }
    }
    return POL_ERR_MEMORY_SHORT;
}

static uint64_t waste(const struct pol_segments *s,
                      const struct polx_seg_plan *plan)
{
    const struct polx_cut *cut = &plan->cut[plan->count - 1u];

    return s->ext[cut->hole].pages - cut->pages;
}

/* The single node that needs fewest segments, then wastes least. */
static int plan_one_node(const struct pol_segments *s,
                         const struct polx_seg_ask *ask,
                         struct polx_seg_plan *plan)
{
    struct polx_seg_plan other;
    int rc = POL_ERR_MEMORY_SHORT;

    for (uint32_t n = 0; n < s->nodes_n; n++) {
        if (s->nodes[n].free < ask->pages ||
            plan_in(s, ask, n, n, &other) != POL_OK) {
            continue;
        }
        if (rc != POL_OK || other.count < plan->count ||
            (other.count == plan->count && waste(s, &other) < waste(s, plan))) {
            *plan = other;
            rc = POL_OK;
        }
    }
    return rc;
}

int polx_seg_plan(const struct pol_segments *s, const struct polx_seg_ask *ask,
                  struct polx_seg_plan *plan)
{
    bool any = ask->node == POL_SEGMENT_ANY_NODE;
    int rc = POL_ERR_MEMORY_SHORT;

    if (!any || s->nodes_n == 1) {
        uint32_t node = any ? 0 : ask->node;

        if (s->nodes[node].free >= ask->pages) {
            rc = plan_in(s, ask, node, node, plan);
        }
        if (rc == POL_OK || (ask->flags & POL_SEGMENT_STRICT_NODE) != 0 ||
            s->nodes_n == 1) {
            return rc;
        }
    }
    rc = plan_one_node(s, ask, plan);
    if (rc == POL_OK || (ask->flags & POL_SEGMENT_ONE_NODE) != 0) {
        return rc;
    }
    return plan_in(s, ask, 0, s->nodes_n - 1u, plan);
}
