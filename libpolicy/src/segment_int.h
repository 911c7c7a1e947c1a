/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file segment_int.h
 * What the files of the segment allocator share.
 *
 * Extents of a range are a list in order of address; two free ones never
 * touch. Used ones are found by their number, the handle. Free ones are in
 * bins by length, 32 to each power of two; a bin is a digital tree on the
 * remaining bits of the length, two bits a step, holes of equal length a ring
 * beside the tree (tree bins are an idea of Lea's dlmalloc). A walk is thus at
 * most 18 steps long without any balancing, and an extent, which is what a
 * step looks at, one cache line.
 */
#ifndef POLX_SEGMENT_INT_H
#define POLX_SEGMENT_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/segment.h"

#define POLX_LINE 64u

#define POLX_NONE 0u /* no extent: number 0 is not used */

#define POLX_BIN_BITS  5u
#define POLX_BINS      (42u << POLX_BIN_BITS)
#define POLX_BIN_WORDS ((POLX_BINS + 63u) / 64u)

enum {
    POLX_EXT_UNUSED = 0,
    POLX_EXT_FREE, /* in a tree */
    POLX_EXT_TWIN, /* free, in the ring beside one in a tree */
    POLX_EXT_USED,
    POLX_EXT_LEAVING /* used, and checked for being freed */
};

struct polx_extent {
    uint64_t start;
    uint64_t pages;
    union {
        uint64_t owner;    /* used */
        uint32_t child[4]; /* free */
    } u;
    uint32_t parent; /* free, in a tree */
    uint32_t ring_next, ring_prev;
    uint32_t prev, next; /* by address; next: also the list of spare ones */
    uint16_t node;
    uint16_t state;
    uint64_t unused;
};

_Static_assert(sizeof(struct polx_extent) == POLX_LINE, "one cache line");

/* What every call needs comes first, in one or two cache lines. */
struct polx_seg_node {
    uint64_t total, free;
    uint32_t free_extents, used_extents;
    uint64_t words;                    /* of those below that are not 0 */
    uint64_t occupied[POLX_BIN_WORDS]; /* bins with anything in them */
    uint32_t root[POLX_BINS];
};

struct polx_range {
    uint64_t start, pages;
    uint32_t node;
    uint32_t first; /* extent; the lower part of a split keeps its number */
};

/* The block: this, the nodes, the extents, the ranges. */
struct pol_segments {
    struct polx_extent *ext; /* extents_n + 1 of them */
    struct polx_seg_node *nodes;
    uint32_t nodes_n, extents_n, ranges_n;
    uint32_t spare; /* list of extents given back */
    uint32_t fresh; /* those from here on were never used */
    uint32_t left;  /* how many are not in use */
    struct polx_range *ranges;
};

/* A request with its defaults filled in. */
struct polx_seg_ask {
    uint64_t pages, align;
    uint32_t max, node, flags;
    bool from_top;
};

/* A piece of a hole that is going to be used. */
struct polx_cut {
    uint32_t hole;
    uint64_t start, pages;
};

struct polx_seg_plan {
    uint32_t count;
    struct polx_cut cut[POL_SEGMENT_MAX_COUNT];
};

/* segment_bins.c: free extents by length. */
void polx_bins_add(struct pol_segments *s, uint32_t x);
void polx_bins_remove(struct pol_segments *s, uint32_t x);
/* A hole of the least length >= pages. */
uint32_t polx_bins_at_least(const struct pol_segments *s, uint32_t node,
                            uint64_t pages);
/* A hole of the greatest length <= pages. */
uint32_t polx_bins_at_most(const struct pol_segments *s, uint32_t node,
                           uint64_t pages);

/* segment_plan.c: which holes. */
int polx_seg_ask(const struct pol_segments *s,
                 const struct pol_segment_request *request,
                 struct polx_seg_ask *out);
int polx_seg_plan(const struct pol_segments *s, const struct polx_seg_ask *ask,
                  struct polx_seg_plan *plan);

/* segment_extent.c: extents and their neighbours; nothing is checked. */
uint32_t polx_ext_new(struct pol_segments *s);
void polx_ext_drop(struct pol_segments *s, uint32_t x);
bool polx_ext_is_free(const struct pol_segments *s, uint32_t x);
/* How many spare extents cutting needs. */
uint32_t polx_ext_cost(const struct pol_segments *s,
                       const struct polx_cut *cut);
/* @return the extent that is used now */
uint32_t polx_ext_use(struct pol_segments *s, const struct polx_cut *cut,
                      uint64_t owner);
void polx_ext_free(struct pol_segments *s, uint32_t x);
void polx_ext_grow(struct pol_segments *s, uint32_t x, uint64_t by);
void polx_ext_shrink(struct pol_segments *s, uint32_t x, uint64_t by);

#endif /* POLX_SEGMENT_INT_H */
