/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file segment.h
 * Giving VMs few, large pieces of host memory.
 *
 * A segment is a contiguous range of host pages. A VM that has one to three
 * of them can be mapped with as many base and limit registers, or with a few
 * giant mappings, instead of page tables (CMP). This part of the library
 * decides which range a VM gets; it never touches the memory itself.
 *
 * Memory: everything is in one block of the caller's, which it may move
 * nowhere and frees when done: 64 bytes per extent, about 6 KiB per NUMA node
 * and 6 KiB besides. An extent is a used range, or a free one between two
 * used ones.
 *
 * Time: every call takes time bounded by the number of bits of a page number,
 * for each segment handed over and each node considered; neither the size of
 * a VM nor the number of extents matters but for the processor's caches.
 * pol_segments_init() and pol_segments_add() cost the same whatever they add;
 * saving, loading, checking and visiting look at every extent.
 *
 * Rules: best fit, so that large holes stay whole; the lower end of the hole
 * for what is to stay, the upper end for what is known to go soon. Nothing is
 * rounded: every free page can be given out. Used segments are never moved.
 * SEGMENTS.md says how this was chosen.
 *
 * Threads: none of its own and no locks; a caller that has several calls one
 * at a time for the same struct pol_segments. Calls that take it as const may
 * run at the same time.
 *
 * Errors: a failed call has changed nothing.
 */
#ifndef POLICY_SEGMENT_H
#define POLICY_SEGMENT_H

#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"
#include "policy/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Page numbers are below this. */
#define POL_SEGMENT_MAX_PAGES (UINT64_C(1) << 40)
/** Most NUMA nodes, extents and ranges of memory. */
#define POL_SEGMENT_MAX_NODES   64u
#define POL_SEGMENT_MAX_EXTENTS (UINT32_C(1) << 28)
#define POL_SEGMENT_MAX_RANGES  256u
/** Most segments of one allocation, and how many unless asked otherwise. */
#define POL_SEGMENT_MAX_COUNT 64u
#define POL_SEGMENT_DEFAULT   3u
/** "Whichever node suits best." */
#define POL_SEGMENT_ANY_NODE UINT32_MAX
/** Lifetimes up to here count as short. */
#define POL_SEGMENT_SHORT_MS UINT64_C(3600000)
/** Alignments of 4 KiB pages that let a host use its larger pages. */
#define POL_SEGMENT_ALIGN_2M UINT64_C(512)
#define POL_SEGMENT_ALIGN_1G UINT64_C(262144)

/** The memory of one host and who has which part of it. Opaque. */
struct pol_segments;

/** A contiguous range of host pages, used by somebody. The caller keeps it
 *  as it is, and gives it back to free or resize; nothing is believed that is
 *  not so. After pol_segments_load() handles are others: visit to learn them.
 */
struct pol_segment {
    uint64_t start_page;
    uint64_t pages;
    uint32_t node;
    uint32_t handle; /**< the library's own, by which it finds the segment */
};

/** Flags of a request. */
#define POL_SEGMENT_STRICT_NODE 1u /**< the named node or none */
#define POL_SEGMENT_ONE_NODE    2u /**< any node, but all on the same */

/** What is asked for. Zero what is not wanted. */
struct pol_segment_request {
    uint64_t owner;        /**< any number; freeing asks for it again */
    uint64_t pages;        /**< 1..POL_SEGMENT_MAX_PAGES */
    uint64_t align_pages;  /**< of each segment's start: a power of two up to
                                POL_SEGMENT_MAX_PAGES; 0: 1 */
    uint64_t lifetime_ms;  /**< how long it is expected to stay; 0: unknown */
    uint32_t max_segments; /**< 1..POL_SEGMENT_MAX_COUNT; 0: the default */
    uint32_t node;         /**< preferred node, or POL_SEGMENT_ANY_NODE */
    uint32_t flags;        /**< POL_SEGMENT_*_NODE */
    uint32_t reserved;     /**< 0 */
};

/** How a request would be met, found without allocating. */
struct pol_segment_fit {
    uint32_t segments;    /**< how many it would get */
    uint32_t node;        /**< of the first one */
    uint64_t waste_pages; /**< what would be left of the hole that the last
                               segment is cut from */
    uint64_t free_pages;  /**< on all nodes, now */
};

/** Figures of a node, or of all. */
struct pol_segment_stats {
    uint64_t total_pages;
    uint64_t free_pages;
    uint64_t used_pages;         /**< total - free */
    uint64_t largest_free_pages; /**< the largest hole */
    uint32_t free_extents;
    uint32_t used_extents;
    uint32_t extents_left; /**< how many more there is room for; the same for
                                every node */
    uint32_t reserved;
};

/**
 * How many bytes pol_segments_init() wants.
 * @param nodes    1..POL_SEGMENT_MAX_NODES
 * @param extents  free and used together, 1..POL_SEGMENT_MAX_EXTENTS; n VMs of
 *                 up to k segments need at most 2 * n * k + ranges
 * @return 0 when one is out of range
 */
size_t pol_segments_size(uint32_t nodes, uint32_t extents);

/**
 * Make an empty host in a block of the caller's.
 * @param block  aligned for uint64_t; it must stay until the last call
 * @return POL_OK, POL_ERR_RANGE, POL_ERR_INVALID (NULL or misaligned),
 *         POL_ERR_NOMEM (block smaller than pol_segments_size())
 */
POL_MUST_USE int pol_segments_init(void *block, size_t bytes, uint32_t nodes,
                                   uint32_t extents, struct pol_segments **out);

/**
 * Add memory to a node, all of it free. Ranges that touch stay apart.
 * @return POL_OK, POL_ERR_RANGE (no such node; zero pages, or beyond the last
 *         page number), POL_ERR_EXISTS (overlaps memory already there),
 *         POL_ERR_NOMEM (ranges or extents exhausted)
 */
POL_MUST_USE int pol_segments_add(struct pol_segments *s, uint32_t node,
                                  uint64_t start_page, uint64_t pages);

/**
 * Allocate. As few segments as there can be without alignment; with it, one
 * where one hole is found, else large ones first. The preferred node comes
 * first as long as it can hold everything in max_segments; then the node
 * that needs fewest; then several nodes together, unless the flags say no.
 * With an alignment, pages at either end of a hole that are not aligned stay
 * free; a hole that fits only thanks to where it lies is found among the
 * POL_SEGMENT_ALIGN_TRIES smallest that are large enough, or not at all.
 * @param out    at least max_segments of them; filled up to *count
 * @param count  how many segments it became
 * @return POL_OK; POL_ERR_INVALID (alignment no power of two, unknown flags,
 *         reserved not 0); POL_ERR_RANGE; POL_ERR_MEMORY_SHORT (not so many
 *         free pages in so few segments); POL_ERR_NOMEM (extents exhausted)
 */
POL_MUST_USE int pol_segments_alloc(struct pol_segments *s,
                                    const struct pol_segment_request *request,
                                    struct pol_segment *out, uint32_t *count);
#define POL_SEGMENT_ALIGN_TRIES 32u

/**
 * How would pol_segments_alloc() meet a request now? Changes nothing.
 * @return as pol_segments_alloc(), extents left aside
 */
POL_MUST_USE int pol_segments_fit(const struct pol_segments *s,
                                  const struct pol_segment_request *request,
                                  struct pol_segment_fit *out);

/**
 * For choosing among hosts: the smaller, the better; the first of equals.
 * Fewest segments; then the hole that is used up most nearly, so that large
 * holes anywhere, and empty hosts, are broken last; for split requests the
 * fullest host.
 * @return below UINT64_MAX, which stands for "does not fit"
 */
uint64_t pol_segment_fit_score(const struct pol_segment_fit *fit);

/**
 * Free whole segments, all of them or none.
 * @return POL_OK; POL_ERR_NOTFOUND (no used segment begins there: free
 *         already, never allocated, or listed twice); POL_ERR_MISMATCH (it
 *         has another length); POL_ERR_OWNER; POL_ERR_RANGE (count 0)
 */
POL_MUST_USE int pol_segments_free(struct pol_segments *s, uint64_t owner,
                                   const struct pol_segment *list,
                                   uint32_t count);

/**
 * Make a segment longer or shorter, its start staying where it is.
 * @param segment  its length becomes new_pages
 * @return POL_OK; what pol_segments_free() returns; POL_ERR_RANGE (new_pages 0
 *         or too large); POL_ERR_MEMORY_SHORT (what follows it is not free to
 *         that length); POL_ERR_NOMEM (extents exhausted)
 */
POL_MUST_USE int pol_segments_resize(struct pol_segments *s, uint64_t owner,
                                     struct pol_segment *segment,
                                     uint64_t new_pages);

/**
 * Give pages of a VM back, whole segments where that can be, smallest first;
 * the rest is cut from the end of the smallest one that remains.
 * @param list   the VM's segments; what it keeps moves to the front, in order
 * @param count  how many there are, and how many are left
 * @param pages  1..all of them
 * @return as pol_segments_free() and pol_segments_resize()
 */
POL_MUST_USE int pol_segments_release(struct pol_segments *s, uint64_t owner,
                                      struct pol_segment *list, uint32_t *count,
                                      uint64_t pages);

/**
 * Figures of a node, or of all together.
 * @param node  or POL_SEGMENT_ANY_NODE
 * @return POL_OK, POL_ERR_RANGE
 */
POL_MUST_USE int pol_segments_stats(const struct pol_segments *s, uint32_t node,
                                    struct pol_segment_stats *out);

/** One extent, shown to a visitor. */
struct pol_segment_extent {
    struct pol_segment range;
    uint64_t owner; /**< 0 when free */
    uint32_t used;  /**< 1 or 0 */
    uint32_t reserved;
};

/** Called per extent; POL_OK to go on, else visiting stops with that. */
typedef int pol_segment_visitor(void *user,
                                const struct pol_segment_extent *extent);

/** Show all extents: range by range as added, each in order of address. */
POL_MUST_USE int pol_segments_visit(const struct pol_segments *s,
                                    pol_segment_visitor *visitor, void *user);

/**
 * Write everything down, the same bytes on every platform: "POLSEGMT", the
 * version, then varints, at the end a CRC-32. Which of several holes of equal
 * length was freed last is not kept.
 */
void pol_segments_save(const struct pol_segments *s, pol_trace_sink *sink,
                       void *user);

/**
 * Make a host from what pol_segments_save() wrote.
 * @param block    as for pol_segments_init(); undefined after an error
 * @param extents  room for at least those in the snapshot
 * @param nodes    at least those in the snapshot
 * @return what pol_segments_init() returns; POL_ERR_TRUNCATED;
 *         POL_ERR_CORRUPT (checksum, or contradicts itself); POL_ERR_VERSION;
 *         POL_ERR_NOMEM (more extents than there is room for); *out is set on
 *         success only
 */
POL_MUST_USE int pol_segments_load(void *block, size_t bytes, uint32_t nodes,
                                   uint32_t extents, const uint8_t *snapshot,
                                   size_t snapshot_bytes,
                                   struct pol_segments **out);

/** Does everything fit together? Looks at every extent, for tests and after
 *  doubt. @return POL_OK, POL_ERR_CORRUPT */
POL_MUST_USE int pol_segments_check(const struct pol_segments *s);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_SEGMENT_H */
