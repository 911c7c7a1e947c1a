/* SPDX-License-Identifier: BSD-2-Clause */
/* Free extents by length: bins of digital trees. See segment_int.h. */
#include <string.h>

#include "check.h"
#include "segment_int.h"

/* The bits of a length below those that choose the bin. */
static uint32_t low_bits(uint64_t pages)
{
    uint32_t top = 63u - (uint32_t)__builtin_clzll(pages);

    return top > POLX_BIN_BITS ? top - POLX_BIN_BITS : 0;
}

/* Bins in order of length; below 2^POLX_BIN_BITS one for each length. */
static uint32_t bin_of(uint64_t pages)
{
    uint32_t low = low_bits(pages);

    return (low << POLX_BIN_BITS) + (uint32_t)(pages >> low);
}

/* Which way to go at a step, two bits each, an odd one at last. */
static uint32_t branch(uint64_t pages, uint32_t *bits)
{
    uint32_t step = *bits >= 2u ? 2u : *bits;

    *bits -= step;
    return (uint32_t)(pages >> *bits) & ((1u << step) - 1u);
}

static void mark(struct polx_seg_node *node, uint32_t bin, uint32_t root)
{
    uint64_t bit = UINT64_C(1) << (bin % 64u);

    node->root[bin] = root;
    if (root != POLX_NONE) {
        node->occupied[bin / 64u] |= bit;
    } else {
        node->occupied[bin / 64u] &= ~bit;
    }
    bit = UINT64_C(1) << (bin / 64u);
    if (node->occupied[bin / 64u] != 0) {
        node->words |= bit;
    } else {
        node->words &= ~bit;
    }
}

static void join_ring(struct pol_segments *s, uint32_t head, uint32_t x)
{
    struct polx_extent *e = s->ext;

    e[x].state = POLX_EXT_TWIN;
    e[x].ring_prev = head;
    e[x].ring_next = e[head].ring_next;
    e[e[head].ring_next].ring_prev = x;
    e[head].ring_next = x;
}

static void make_leaf(struct polx_extent *e, uint32_t x, uint32_t parent)
{
    e[x].state = POLX_EXT_FREE;
    memset(e[x].u.child, 0, sizeof(e[x].u.child));
    e[x].parent = parent;
    e[x].ring_next = x;
    e[x].ring_prev = x;
}

void polx_bins_add(struct pol_segments *s, uint32_t x)
{
    struct polx_extent *e = s->ext;
    struct polx_seg_node *node = &s->nodes[e[x].node];
    uint64_t pages = e[x].pages;
    uint32_t bin = bin_of(pages);
    uint32_t bits = low_bits(pages);
    uint32_t at = node->root[bin];

    node->free_extents++;
    if (at == POLX_NONE) {
        make_leaf(e, x, POLX_NONE);
        mark(node, bin, x);
        return;
    }
    while (e[at].pages != pages) {
        uint32_t *child;

        POLX_ASSERT(bits > 0);
        child = &e[at].u.child[branch(pages, &bits)];
        if (*child == POLX_NONE) {
            *child = x;
            make_leaf(e, x, at);
            return;
        }
        at = *child;
    }
    join_ring(s, at, x);
}

/* Where an extent's parent has it. */
static uint32_t *place_of(struct polx_extent *e, uint32_t x)
{
    uint32_t *child = e[e[x].parent].u.child;

    while (*child != x) {
        child++;
    }
    return child;
}

/* Put one extent, or none, where another one was in its tree. */
static void replace(struct pol_segments *s, uint32_t old, uint32_t x)
{
    struct polx_extent *e = s->ext;
    uint32_t parent = e[old].parent;

    if (parent == POLX_NONE) {
        mark(&s->nodes[e[old].node], bin_of(e[old].pages), x);
    } else {
        *place_of(e, old) = x;
    }
    if (x == POLX_NONE) {
        return;
    }
    e[x].parent = parent;
    for (int i = 0; i < 4; i++) {
        e[x].u.child[i] = e[old].u.child[i];
        if (e[x].u.child[i] != POLX_NONE) {
            e[e[x].u.child[i]].parent = x;
        }
    }
}

/* The first thing below an extent, from the low (side 0) or high side. */
static uint32_t below(const struct polx_extent *e, uint32_t x, uint32_t side)
{
    const uint32_t *child = e[x].u.child;

    if (side == 0) {
        return child[0] != POLX_NONE   ? child[0]
               : child[1] != POLX_NONE ? child[1]
               : child[2] != POLX_NONE ? child[2]
                                       : child[3];
    }
    return child[3] != POLX_NONE   ? child[3]
           : child[2] != POLX_NONE ? child[2]
           : child[1] != POLX_NONE ? child[1]
                                   : child[0];
}

/* The child next to the way taken, on the side that is looked for. */
static uint32_t beside(const struct polx_extent *e, uint32_t x, uint32_t way,
                       uint32_t side)
{
    while (way != (side == 0 ? 3u : 0u)) {
        way = side == 0 ? way + 1u : way - 1u;
        if (e[x].u.child[way] != POLX_NONE) {
            return e[x].u.child[way];
        }
    }
    return POLX_NONE;
}

/* Any leaf below an extent: its length shares the prefix of every place on
 * the way, so that it may stand at any of them. */
static uint32_t take_leaf(struct polx_extent *e, uint32_t x)
{
    uint32_t leaf = x;
    uint32_t down;

    while ((down = below(e, leaf, 1)) != POLX_NONE) {
        leaf = down;
    }
    if (leaf == x) {
        return POLX_NONE;
    }
    *place_of(e, leaf) = POLX_NONE;
    return leaf;
}

void polx_bins_remove(struct pol_segments *s, uint32_t x)
{
    struct polx_extent *e = s->ext;
    uint32_t twin = e[x].ring_next;

    s->nodes[e[x].node].free_extents--;
    if (twin == x) {
        replace(s, x, take_leaf(e, x));
        return;
    }
    e[e[x].ring_prev].ring_next = twin;
    e[twin].ring_prev = e[x].ring_prev;
    if (e[x].state == POLX_EXT_FREE) {
        e[twin].state = POLX_EXT_FREE;
        replace(s, x, twin);
    }
}

/* The least (side 0) or greatest (side 1) of a tree is met when always going
 * to that side where there is something. */
static uint32_t outermost(const struct pol_segments *s, uint32_t at,
                          uint32_t side)
{
    const struct polx_extent *e = s->ext;
    uint32_t best = at;

    while (at != POLX_NONE) {
        if (side == 0 ? e[at].pages < e[best].pages
                      : e[at].pages > e[best].pages) {
            best = at;
        }
        at = below(e, at, side);
    }
    return best;
}

static bool nearer(const struct pol_segments *s, uint32_t x, uint32_t best,
                   uint64_t pages, uint32_t side)
{
    uint64_t length = s->ext[x].pages;

    if (side == 0 ? length < pages : length > pages) {
        return false;
    }
    return best == POLX_NONE || (side == 0 ? length < s->ext[best].pages
                                           : length > s->ext[best].pages);
}

/* The nearest length not below (side 0) or not above (side 1) in the bin that
 * this length belongs to: on the way to it, or outermost in the last subtree
 * on the good side of the way. */
static uint32_t within_bin(const struct pol_segments *s, uint32_t at,
                           uint64_t pages, uint32_t side)
{
    const struct polx_extent *e = s->ext;
    uint32_t bits = low_bits(pages);
    uint32_t best = POLX_NONE;
    uint32_t aside = POLX_NONE;

    while (at != POLX_NONE) {
        uint32_t way, next;

        if (nearer(s, at, best, pages, side)) {
            best = at;
            if (e[at].pages == pages) {
                return best;
            }
        }
        if (bits == 0) {
            break;
        }
        way = branch(pages, &bits);
        next = beside(e, at, way, side);
        if (next != POLX_NONE) {
            aside = next;
        }
        at = e[at].u.child[way];
    }
    if (aside != POLX_NONE) {
        aside = outermost(s, aside, side);
        if (nearer(s, aside, best, pages, side)) {
            best = aside;
        }
    }
    return best;
}

static uint32_t bin_above(const struct polx_seg_node *node, uint32_t bin)
{
    uint32_t word = bin / 64u;
    uint64_t above = UINT64_MAX << (bin % 64u) << 1;
    uint64_t bits = node->occupied[word] & above;

    if (bits == 0) {
        uint64_t words = node->words & (UINT64_MAX << word << 1);

        if (words == 0) {
            return POLX_BINS;
        }
        word = (uint32_t)__builtin_ctzll(words);
        bits = node->occupied[word];
    }
    return word * 64u + (uint32_t)__builtin_ctzll(bits);
}

static uint32_t bin_below(const struct polx_seg_node *node, uint32_t bin)
{
    uint32_t word = bin / 64u;
    uint64_t bits =
        node->occupied[word] & ((UINT64_C(1) << (bin % 64u)) - UINT64_C(1));

    if (bits == 0) {
        uint64_t words = node->words & ((UINT64_C(1) << word) - UINT64_C(1));

        if (words == 0) {
            return POLX_BINS;
        }
        word = 63u - (uint32_t)__builtin_clzll(words);
        bits = node->occupied[word];
    }
    return word * 64u + 63u - (uint32_t)__builtin_clzll(bits);
}

uint32_t polx_bins_at_least(const struct pol_segments *s, uint32_t node,
                            uint64_t pages)
{
    const struct polx_seg_node *n = &s->nodes[node];
    uint32_t bin = bin_of(pages);
    uint32_t found = within_bin(s, n->root[bin], pages, 0);

    if (found != POLX_NONE) {
        return found;
    }
    bin = bin_above(n, bin);
    return bin == POLX_BINS ? POLX_NONE : outermost(s, n->root[bin], 0);
}

uint32_t polx_bins_at_most(const struct pol_segments *s, uint32_t node,
                           uint64_t pages)
{
    const struct polx_seg_node *n = &s->nodes[node];
    uint32_t bin = bin_of(pages);
    uint32_t found = within_bin(s, n->root[bin], pages, 1);

    if (found != POLX_NONE) {
        return found;
    }
    bin = bin_below(n, bin);
    return bin == POLX_BINS ? POLX_NONE : outermost(s, n->root[bin], 1);
}
