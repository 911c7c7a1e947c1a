/* SPDX-License-Identifier: BSD-2-Clause */
/* Extents and their neighbours: cutting, joining, moving a border. */
#include "check.h"
#include "segment_int.h"

uint32_t polx_ext_new(struct pol_segments *s)
{
    uint32_t x = s->spare;

    POLX_ASSERT(s->left > 0);
    s->left--;
    if (x != POLX_NONE) {
        s->spare = s->ext[x].next;
        return x;
    }
    return s->fresh++;
}

void polx_ext_drop(struct pol_segments *s, uint32_t x)
{
    s->ext[x].state = POLX_EXT_UNUSED;
    s->ext[x].next = s->spare;
    s->spare = x;
    s->left++;
}

bool polx_ext_is_free(const struct pol_segments *s, uint32_t x)
{
    return x != POLX_NONE && (s->ext[x].state == POLX_EXT_FREE ||
                              s->ext[x].state == POLX_EXT_TWIN);
}

/* A new extent behind x that takes the last pages of it. */
static uint32_t split(struct pol_segments *s, uint32_t x, uint64_t pages)
{
    struct polx_extent *e = s->ext;
    uint32_t y = polx_ext_new(s);

    e[x].pages -= pages;
    e[y].start = e[x].start + e[x].pages;
    e[y].pages = pages;
    e[y].node = e[x].node;
    e[y].prev = x;
    e[y].next = e[x].next;
    if (e[y].next != POLX_NONE) {
        e[e[y].next].prev = y;
    }
    e[x].next = y;
    return y;
}

/* Let x, in no bin, take in the extent behind it, in no bin either. */
static void absorb_next(struct pol_segments *s, uint32_t x)
{
    struct polx_extent *e = s->ext;
    uint32_t y = e[x].next;

    e[x].pages += e[y].pages;
    e[x].next = e[y].next;
    if (e[x].next != POLX_NONE) {
        e[e[x].next].prev = x;
    }
    polx_ext_drop(s, y);
}

uint32_t polx_ext_cost(const struct pol_segments *s, const struct polx_cut *cut)
{
    const struct polx_extent *hole = &s->ext[cut->hole];
    uint32_t below = cut->start != hole->start;
    uint32_t above = cut->start + cut->pages != hole->start + hole->pages;

    return below + above;
}

uint32_t polx_ext_use(struct pol_segments *s, const struct polx_cut *cut,
                      uint64_t owner)
{
    struct polx_extent *e = s->ext;
    uint32_t x = cut->hole;
    uint64_t below = cut->start - e[x].start;
    uint64_t above = e[x].pages - below - cut->pages;

    polx_bins_remove(s, x);
    if (above > 0) {
        polx_bins_add(s, split(s, x, above));
    }
    if (below > 0) {
        uint32_t y = split(s, x, cut->pages);

        polx_bins_add(s, x);
        x = y;
    }
    e[x].state = POLX_EXT_USED;
    e[x].u.owner = owner;
    s->nodes[e[x].node].free -= cut->pages;
    s->nodes[e[x].node].used_extents++;
    return x;
}

void polx_ext_free(struct pol_segments *s, uint32_t x)
{
    struct polx_extent *e = s->ext;
    uint32_t prev = e[x].prev;

    /* Both at once: each is likely to be far from the caches. */
    __builtin_prefetch(&e[prev]);
    __builtin_prefetch(&e[e[x].next]);
    s->nodes[e[x].node].used_extents--;
    s->nodes[e[x].node].free += e[x].pages;
    if (polx_ext_is_free(s, e[x].next)) {
        polx_bins_remove(s, e[x].next);
        absorb_next(s, x);
    }
    if (polx_ext_is_free(s, prev)) {
        polx_bins_remove(s, prev);
        absorb_next(s, prev);
        x = prev;
    }
    polx_bins_add(s, x);
}

void polx_ext_grow(struct pol_segments *s, uint32_t x, uint64_t by)
{
    struct polx_extent *e = s->ext;
    uint32_t y = e[x].next;

    polx_bins_remove(s, y);
    s->nodes[e[x].node].free -= by;
    if (e[y].pages == by) {
        absorb_next(s, x);
        return;
    }
    e[x].pages += by;
    e[y].start += by;
    e[y].pages -= by;
    polx_bins_add(s, y);
}

void polx_ext_shrink(struct pol_segments *s, uint32_t x, uint64_t by)
{
    struct polx_extent *e = s->ext;
    uint32_t y = e[x].next;

    s->nodes[e[x].node].free += by;
    if (!polx_ext_is_free(s, y)) {
        polx_bins_add(s, split(s, x, by));
        return;
    }
    polx_bins_remove(s, y);
    e[x].pages -= by;
    e[y].start -= by;
    e[y].pages += by;
    polx_bins_add(s, y);
}
