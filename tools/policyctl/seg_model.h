/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file seg_model.h
 * Ways to divide the memory of one host into VMs: the library's, and two
 * others to compare it with. A host has one node; pages are 4 KiB.
 */
#ifndef POLICYCTL_SEG_MODEL_H
#define POLICYCTL_SEG_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/segment.h"

#define SEG_PAGES_PER_MIB UINT64_C(256)

/** What a VM has: its pieces in the order of its own memory. */
struct seg_held {
    struct pol_segment few[POL_SEGMENT_DEFAULT];
    uint32_t *blocks;           /**< buddy: first 2 MiB block | order << 27 */
    struct pol_segment *pieces; /**< the others: `few`, or a block of its own */
    uint32_t pieces_n;          /**< of either kind */
};

struct seg_want {
    uint64_t owner, pages, lifetime_ms;
    uint32_t max_segments;
};

struct seg_model {
    const char *name;
    bool whole; /**< tries to give VMs one range at all */
    /** A host of so many pages, all free. */
    void *(*create)(uint64_t pages);
    void (*destroy)(void *host);
    /** What the request would get. @return false: not even in max_segments */
    bool (*fit)(const void *host, const struct seg_want *want,
                struct pol_segment_fit *out);
    /** What has to be at hand before alloc(): not part of its time. */
    void (*prepare)(struct seg_held *held, uint64_t pages);
    bool (*alloc)(void *host, const struct seg_want *want,
                  struct seg_held *held);
    /** `held` is cleared by seg_held_clear(). */
    void (*free)(void *host, uint64_t owner, const struct seg_held *held);
    /** How many contiguous ranges that is. */
    uint32_t (*segments)(const struct seg_held *held);
    /** The ranges, in order of address, `most` at most. @return how many */
    uint32_t (*ranges)(const struct seg_held *held, struct pol_segment *out,
                       uint32_t most);
    /** Write what the hardware or hypervisor is told: 24 bytes per mapping.
     *  @return how many mappings */
    uint32_t (*describe)(const struct seg_held *held, uint64_t *out);
};

extern const struct seg_model seg_model_policy;
extern const struct seg_model seg_model_buddy;
extern const struct seg_model seg_model_best;

void seg_held_clear(struct seg_held *held);

/** For models whose VMs have `pieces`. */
void seg_no_prepare(struct seg_held *held, uint64_t pages);
uint32_t seg_pieces_n(const struct seg_held *held);
uint32_t seg_pieces_ranges(const struct seg_held *held, struct pol_segment *out,
                           uint32_t most);
uint32_t seg_pieces_describe(const struct seg_held *held, uint64_t *out);
/** Keep n pieces that were made elsewhere. */
void seg_pieces_keep(struct seg_held *held, const struct pol_segment *list,
                     uint32_t n);

#endif /* POLICYCTL_SEG_MODEL_H */
