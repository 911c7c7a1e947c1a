/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file share.h
 * Sharing of equal pages between and within VMs (ESX02 4): which page to look
 * at next, what to do with it, who shares which frame, and what each VM
 * consumes of shared frames.
 *
 * The host scans guest pages, hashes their contents and asks; the table
 * answers; the host compares, maps, copies and frees. The table knows
 * contents only by the 64-bit hash the host gives, and never takes equal
 * hashes for equal pages: nothing is shared before the host has compared the
 * two pages in full and said so. A poor hash therefore costs time, never
 * data.
 *
 *   entry   what is known of one content: a hint or a shared frame
 *   hint    one page with that content was seen. It is not write-protected,
 *           so it may have changed since
 *   shared  a frame with that content, mapped read-only ("copy on write")
 *           into any number of guest pages, which are counted
 *
 * A round of scanning:
 *
 *     pol_share_tick(t, now_ms, rate);
 *     while (pol_share_next(t, &vm, &gfn) == POL_OK) {
 *         pol_share_scan(t, vm, gfn, hash_of(vm, gfn), &v);
 *         if (v.what == POL_SHARE_COMPARE_PAGE ||
 *             v.what == POL_SHARE_COMPARE_FRAME) {
 *             ... write-protect both, compare them in full ...
 *             pol_share_confirm(t, &v, result, frame, &what);
 *             if (what == POL_SHARE_MERGED) {
 *                 ... map the page to the frame, free its own ...
 *             }
 *         }
 *     }
 *
 * Domains: pages are shared only between VMs of one security domain, because
 * whether a write is slow tells a guest whether somebody else has the same
 * page. Give VMs that must not learn that from each other different domains.
 *
 * Memory: one block from the caller, nothing else; 32 bytes per entry and 16
 * per guest page on a shared frame, and about 100 per VM. With defaults that
 * is 32 bytes per guest page, all of which can be shared, while half of them
 * can be hints at a time. ESX02 has 16 bytes per entry, but here the table
 * also knows which page is on which frame and to whose account.
 *
 * A table is independent of any struct pol_ctx. Threads: it is not locked;
 * calls on one table must not overlap; different tables are independent.
 * Nothing blocks or calls back. Unless said otherwise a call takes constant
 * time on average.
 */
#ifndef POLICY_SHARE_H
#define POLICY_SHARE_H

#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"
#include "policy/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most entries and most shared guest pages of a table. Fewer pages than
 *  2^32, so that a reference count of 32 bits cannot overflow; ESX02 has 16
 *  bits and a separate table for counts beyond. */
#define POL_SHARE_MAX (UINT32_C(1) << 31)
/** Guest page numbers are below this. */
#define POL_SHARE_MAX_GFN (UINT64_C(1) << 44)

/** A table. Opaque. */
struct pol_share;

/** In which order pol_share_next() goes. Either way every page comes up once
 *  before any comes up again. */
enum pol_share_order {
    /** VMs in turns, `run_pages` each, from page 0 upwards. */
    POL_SHARE_ROUND_ROBIN = 0,
    /** VMs drawn by the seed, from a page drawn by the seed upwards and
     *  around: a guest cannot foresee when its pages are looked at. */
    POL_SHARE_RANDOM = 1
};
#define POL_SHARE_ORDERS 2

/** How big a table may grow and how it scans. */
struct pol_share_config {
    size_t size;          /**< sizeof(struct pol_share_config) in the caller's
                               build */
    uint32_t max_vms;     /**< 1..POL_MAX_VMS */
    uint32_t max_entries; /**< hints and shared frames; 2..POL_SHARE_MAX */
    uint32_t max_pages;   /**< guest pages on shared frames;
                               2..POL_SHARE_MAX */
    uint32_t order;       /**< enum pol_share_order */
    uint32_t run_pages;   /**< pages of one VM before the next one's turn;
                               1..2^20 */
    uint32_t zeroed;      /**< 0 or 1: the block is all zero bytes already,
                               as fresh from a kernel; pol_share_init() then
                               leaves most of it untouched */
    uint64_t seed;        /**< of the order, and of where entries lie: nobody
                               who does not know it can crowd one place */
};

/** What to do with a page. */
enum pol_share_what {
    /** Nothing: it is shared already, or its hint stands, or there is no
     *  room, or (pol_share_confirm()) it was not to be. */
    POL_SHARE_NOTHING = 0,
    /** Remembered as a hint; nothing to do. */
    POL_SHARE_HINTED = 1,
    /** A hint has this hash: write-protect both pages, hash page `other_gfn`
     *  of `other_vm` again, and if the hash is still this one compare the two
     *  pages in full; then pol_share_confirm(). */
    POL_SHARE_COMPARE_PAGE = 2,
    /** A shared frame has this hash: write-protect the page, compare it with
     *  `frame` in full; then pol_share_confirm(). */
    POL_SHARE_COMPARE_FRAME = 3,
    /** It was the only page left on its shared frame. It now is a hint and
     *  the frame its own, which may be made writable, and swapped. */
    POL_SHARE_PRIVATE = 4,
    /** pol_share_confirm() only: the page is on the frame now. Map it there
     *  read-only and free the frame it had; after POL_SHARE_COMPARE_PAGE the
     *  other page stays where it is and must be read-only from now on. */
    POL_SHARE_MERGED = 5
};

/** What the host found. */
enum pol_share_compared {
    /** Every byte is equal, and both are write-protected. */
    POL_SHARE_EQUAL = 0,
    /** Equal hashes, unequal contents. */
    POL_SHARE_UNEQUAL = 1,
    /** The other page has another hash by now, or is not in memory. (If the
     *  scanned page itself has changed, just do not confirm.) */
    POL_SHARE_CHANGED = 2
};

/** Answer of pol_share_scan(); to be handed to pol_share_confirm() as it
 *  is. */
struct pol_share_verdict {
    uint32_t what;       /**< enum pol_share_what */
    uint32_t reserved_0; /**< 0 */
    uint64_t vm;         /**< the page that was scanned */
    uint64_t gfn;
    uint64_t hash;
    uint64_t other_vm; /**< COMPARE_PAGE: the page to compare with */
    uint64_t other_gfn;
    uint64_t frame; /**< COMPARE_FRAME: the frame to compare with;
                             PRIVATE: the frame that is the page's own */
    uint64_t era;   /**< the table's own */
};

/** What remains of a shared frame that a page has left. */
struct pol_share_left {
    uint64_t frame;
    uint64_t pages; /**< others still on it; 0: it is not shared any more */
};

/** Figures of one VM. */
struct pol_share_vm_info {
    uint64_t shared_pages;   /**< its pages on shared frames */
    uint64_t consumed_pages; /**< what it bears of those frames; see
                                  pol_share_account() */
    uint64_t hints;          /**< of its pages */
    uint64_t size_pages;
    uint32_t domain;
    uint32_t reserved_0; /**< 0 */
};

/** Figures of a table. */
struct pol_share_stats {
    uint64_t shared_pages;  /**< guest pages on shared frames */
    uint64_t shared_frames; /**< those frames */
    uint64_t saved_pages;   /**< the difference: frames not needed */
    uint64_t hints;
    /* Counters since the table was made. */
    uint64_t scanned;    /**< calls of pol_share_scan() */
    uint64_t merged;     /**< pages that gave up their frame */
    uint64_t broken;     /**< pages that left one, pol_share_break() */
    uint64_t compared;   /**< comparisons reported */
    uint64_t collisions; /**< of them unequal with equal hashes */
    uint64_t changed;    /**< of them hints that no longer held */
    uint64_t stale;      /**< of them come too late: the table had changed */
    uint64_t evicted;    /**< hints that made room for newer ones */
    uint64_t full;       /**< pages that found no room */
    uint64_t passes;     /**< times pol_share_next() has been through all */
};

/**
 * Fill *config with defaults: random order, runs of 256 pages, seed 1, room
 * for all of `guest_pages` pages to be shared and for half as many entries.
 * Cannot fail; ranges are checked by pol_share_config_check().
 */
void pol_share_config_init(struct pol_share_config *config, uint32_t max_vms,
                           uint64_t guest_pages);

/**
 * Check every field.
 * @param field  when not NULL, receives the name of the first wrong field or
 *               NULL; static storage
 * @return POL_OK, POL_ERR_VERSION (size), POL_ERR_RANGE
 */
POL_MUST_USE int pol_share_config_check(const struct pol_share_config *config,
                                        const char **field);

/**
 * How many bytes a table for this configuration needs.
 * @return POL_OK, POL_ERR_NOMEM (more than can be addressed), or what
 *         pol_share_config_check() says
 */
POL_MUST_USE int pol_share_size(const struct pol_share_config *config,
                                size_t *bytes);

/**
 * Make an empty table in the caller's memory.
 * @param block  aligned to 64 bytes; stays the caller's and must outlive the
 *               table; there is nothing to free but this block
 * @param bytes  its size, at least what pol_share_size() says
 * @return POL_OK, POL_ERR_NOMEM (too small), POL_ERR_INVALID (alignment), or
 *         what pol_share_config_check() says
 */
POL_MUST_USE int pol_share_init(void *block, size_t bytes,
                                const struct pol_share_config *config,
                                struct pol_share **out);

/**
 * Move a table into another block, as a rule a larger one: for more memory or
 * more VMs than were expected. Takes time in proportion to its size.
 * @param from    unchanged; its block may be given back after success
 * @param config  seed and order may differ as well
 * @return POL_OK, POL_ERR_RANGE (a capacity is below what is in use), or what
 *         pol_share_init() says
 */
POL_MUST_USE int pol_share_move(const struct pol_share *from, void *block,
                                size_t bytes,
                                const struct pol_share_config *config,
                                struct pol_share **out);

/**
 * Make a VM known.
 * @param domain      its security domain; any number
 * @param size_pages  its guest pages are 0..size_pages-1;
 *                    1..POL_SHARE_MAX_GFN
 * @return POL_OK, POL_ERR_RANGE, POL_ERR_EXISTS, POL_ERR_NOMEM (max_vms)
 */
POL_MUST_USE int pol_share_vm_add(struct pol_share *table, uint64_t vm,
                                  uint32_t domain, uint64_t size_pages);

/**
 * Forget a VM and its hints. Its pages must have left their shared frames:
 * see pol_share_forget_vm(). Takes time in proportion to max_entries if it
 * has hints.
 * @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_BUSY (pages on shared frames)
 */
POL_MUST_USE int pol_share_vm_remove(struct pol_share *table, uint64_t vm);

/**
 * A page has been read and hashed: what to do with it? (ESX02 4.2)
 *
 * When all entries are in use, an old hint makes room for a new one: a hand
 * goes round the entries and takes the first hint it meets. If the next 64
 * entries are all shared frames, the page leaves no hint this time. The same
 * calls always evict the same hints.
 * @param hash  of the page's content; ignored for a page on a shared frame,
 *              whose content is known
 * @return POL_OK, POL_ERR_NOTFOUND (vm), POL_ERR_RANGE (gfn)
 */
POL_MUST_USE int pol_share_scan(struct pol_share *table, uint64_t vm,
                                uint64_t gfn, uint64_t hash,
                                struct pol_share_verdict *out);

/**
 * Report a comparison that pol_share_scan() asked for. Several may be under
 * way at once; one that the table has overtaken in the meantime (the hint has
 * been evicted, the frame been given up, a page been shared otherwise) is
 * answered with POL_SHARE_NOTHING. Pages that are POL_SHARE_EQUAL become
 * shared; POL_SHARE_UNEQUAL ones never, and count as a collision; if a hint
 * has POL_SHARE_CHANGED, the scanned page takes its place.
 * @param compared  enum pol_share_compared
 * @param frame     POL_SHARE_EQUAL after COMPARE_PAGE: the other page's
 *                  frame, any number of the host's own; otherwise ignored
 * @param what      POL_SHARE_MERGED, POL_SHARE_HINTED or POL_SHARE_NOTHING
 * @return POL_OK, POL_ERR_INVALID (compared, or a verdict that asked for no
 *         comparison), POL_ERR_NOTFOUND (a VM has gone), POL_ERR_RANGE (and
 *         come back smaller)
 */
POL_MUST_USE int pol_share_confirm(struct pol_share *table,
                                   const struct pol_share_verdict *verdict,
                                   uint32_t compared, uint64_t frame,
                                   uint32_t *what);

/**
 * A guest writes to a page on a shared frame. If out->pages is not 0, the
 * host copies the frame to a new one, which the page gets; if it is 0, the
 * page was the last one and keeps the frame, writable from now on.
 * @return POL_OK, POL_ERR_NOTFOUND (vm, or the page is on no shared frame),
 *         POL_ERR_RANGE (gfn)
 */
POL_MUST_USE int pol_share_break(struct pol_share *table, uint64_t vm,
                                 uint64_t gfn, struct pol_share_left *out);

/**
 * A page is being unmapped (ballooned, discarded, swapped). If out->pages is
 * 0, the host frees the frame. Hints need not be forgotten: whoever meets
 * one finds out (POL_SHARE_CHANGED).
 * @return as pol_share_break(); a page on no shared frame needs no forgetting
 */
POL_MUST_USE int pol_share_forget(struct pol_share *table, uint64_t vm,
                                  uint64_t gfn, struct pol_share_left *out);

/**
 * All pages of a VM are being unmapped. Repeat until *n < cap: the frames
 * nobody uses any more are handed out in portions. Takes time in proportion
 * to max_pages, over all portions, if any page of it is shared.
 * @param frames  receives frames to be freed
 * @param cap     room there, at least 1
 * @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_BUFFER (cap is 0)
 */
POL_MUST_USE int pol_share_forget_vm(struct pol_share *table, uint64_t vm,
                                     uint64_t *frames, size_t cap, size_t *n);

/**
 * The shared frame a page is on.
 * @return POL_OK, POL_ERR_NOTFOUND (vm, or on none), POL_ERR_RANGE (gfn)
 */
POL_MUST_USE int pol_share_find(const struct pol_share *table, uint64_t vm,
                                uint64_t gfn, uint64_t *frame);

/**
 * Time has passed: pol_share_next() may give out pages_per_s * (time since
 * the last call) pages, fractions carried on exactly. What the last tick
 * allowed and nobody asked for is lost, and no tick allows more than all
 * pages once. With a rate of (all pages) / (scan time), rounded up, each page
 * comes up once in that time (POL_ACT_SHARE_RATE gives such a rate from
 * share_scan_ms; ESX09 5.2). The first call only sets the clock.
 * @param pages_per_s  at most POL_MAX_PAGES
 * @param budget       pages allowed now; may be NULL
 * @return POL_OK, POL_ERR_CLOCK (time runs backwards), POL_ERR_RANGE
 */
POL_MUST_USE int pol_share_tick(struct pol_share *table, uint64_t now_ms,
                                uint64_t pages_per_s, uint64_t *budget);

/**
 * The next page to scan, in the configured order.
 * @return POL_OK, POL_ERR_NOTFOUND (nothing more until the next tick)
 */
POL_MUST_USE int pol_share_next(struct pol_share *table, uint64_t *vm,
                                uint64_t *gfn);

/**
 * Work out what each VM consumes of shared frames: a frame with n pages on
 * it counts 1/n for each of them. Takes time in proportion to max_pages and
 * max_vms if anything has changed since the last time, else none.
 *
 * The sum over all VMs is exactly the number of shared frames. Fractions are
 * kept in units of 2^-32 page, rounded down, and added up from VM to VM in the
 * order of their places in the table (the last VM with shared pages gets what
 * rounding down has lost); each VM's figure is the difference of two such
 * sums, rounded to the nearest page. So it is at most 1 + shared_pages *
 * 2^-32 pages off its sum of fractions, the last one's at most 1 + 2^-32
 * times all shared pages.
 */
void pol_share_account(struct pol_share *table);

/**
 * Figures of one VM; consumed_pages as of the last pol_share_account().
 * @return POL_OK, POL_ERR_NOTFOUND
 */
POL_MUST_USE int pol_share_vm_get(const struct pol_share *table, uint64_t vm,
                                  struct pol_share_vm_info *out);

void pol_share_stats(const struct pol_share *table,
                     struct pol_share_stats *out);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_SHARE_H */
