/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file config.h
 * Making a context: how big it may grow and how the policy is tuned.
 *
 * The library never allocates. pol_ctx_size() says how many bytes a context
 * needs, the caller provides one block of that size, and nothing more is
 * needed for the life of the context.
 *
 * Threads: a context is not locked; calls on one context must not overlap.
 * Different contexts are independent. Nothing blocks, and no call calls back
 * into the caller except pol_host_step() through its ops table.
 */
#ifndef POLICY_CONFIG_H
#define POLICY_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"
#include "policy/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the free-memory thresholds are a fraction of. */
enum pol_minfree_base {
    /** The host's memory (ESX02 6.3). */
    POL_MINFREE_TOTAL = 0,
    /** A sliding minimum: 6 % of the first 4 GiB, 4 % of the next 8, 2 % of
     *  the next 16 and 1 % of the rest (later ESX releases). */
    POL_MINFREE_SLIDING = 1
};

/** Ready-made sets of thresholds. */
enum pol_preset {
    POL_PRESET_ESX4 = 0,    /**< 6/4/2/1 % of memory, no state clear */
    POL_PRESET_SLIDING = 1, /**< sliding minfree, 100/64/32/16 % of it */
    /** Sliding minfree, 400/100/64/32/16 %: state clear below 100 %; in state
     *  hard the balloon stops and only swapping goes on. */
    POL_PRESET_SLIDING6 = 2
};
#define POL_PRESETS 3

/**
 * Free-memory thresholds in basis points of the base; each at most 100000,
 * and low <= hard <= soft <= clear <= high.
 */
struct pol_thresholds {
    uint32_t base;      /**< enum pol_minfree_base */
    uint32_t high_bp;   /**< at or above: nothing is short */
    uint32_t clear_bp;  /**< below: state clear; equal to soft_bp: no clear */
    uint32_t soft_bp;   /**< below: state soft */
    uint32_t hard_bp;   /**< below: state hard */
    uint32_t low_bp;    /**< below: state low */
    uint32_t margin_bp; /**< how far above the higher threshold free memory
                             must be before a state is left upwards */
    uint32_t hard_stops_balloon; /**< 0 or 1: no balloon moves in hard, low */
};

/** Everything that tunes a context. Fill with pol_config_init() first. */
struct pol_config {
    size_t size; /**< sizeof(struct pol_config) in the caller's build */

    /* Capacity. */
    uint32_t max_vms;    /**< 1..POL_MAX_VMS */
    uint32_t max_groups; /**< 0..POL_MAX_GROUPS, without the root */
    uint32_t max_holds;  /**< 0..POL_MAX_HOLDS */
    uint32_t page_bytes; /**< power of two, 4096..2^30 */
    uint64_t seed;       /**< seed of the choice of sampled pages */

    /* Targets. */
    uint32_t idle_tax_bp;        /**< 0..POL_MAX_TAX_BP (ESX02 5.2: 75 %) */
    uint32_t headroom_bp;        /**< room above consumed memory that a VM
                                      with untouched memory is given, of
                                      what it consumes: 0..10000 */
    uint64_t host_reserve_pages; /**< the host's own floor */

    /* Working sets (ESX02 5.3). */
    uint32_t sample_period_ms; /**< of VM time, 1..3600000 (30 s) */
    uint32_t sample_pages;     /**< pages per period, 1..1000 (100) */
    uint32_t slow_gain_bp;     /**< weight of a new period in the slow moving
                                    average, 1..10000 */
    uint32_t fast_gain_bp;     /**< the same for the fast one */
    uint32_t fresh_ms;         /**< statistics younger than this count in
                                    full, 0..3600000 */
    uint32_t stale_ms;         /**< older than this: as if there were none;
                                    fresh_ms..86400000 */

    /* States. */
    struct pol_thresholds thresholds;

    /* Reclaim. */
    uint32_t balloon_cap_bp;    /**< most of a VM's size a balloon may take,
                                     0..10000 (6500: ESX 4's maximum) */
    uint32_t balloon_step_bp;   /**< most of a VM's size a balloon moves in a
                                     second, 1..10000 */
    uint32_t swap_step_bp;      /**< the same for swapping out */
    uint32_t dead_band_bp;      /**< changes below this part of a VM's size
                                     wait until the target has settled,
                                     0..10000 */
    uint32_t stuck_ms;          /**< no progress for so long: stuck */
    uint32_t retry_ms;          /**< a stuck balloon is tried again after
                                     this, doubled every time ... */
    uint32_t retry_max_ms;      /**< ... up to this; >= retry_ms */
    uint32_t promise_ms;        /**< how long memory given to a VM counts as
                                     taken although it is not touched yet */
    uint32_t block_max_ms;      /**< longest a VM stays blocked when that
                                     frees nothing */
    uint32_t share_scan_ms;     /**< time for one full scan for equal pages
                                     (ESX09 5.2: 60 minutes) ... */
    uint32_t share_scan_min_ms; /**< ... and under pressure (10 minutes) */

    /* Distress: rates a guest reports, pages per second; stall in bp. */
    uint32_t distress_swap_in;  /**< 0: not used */
    uint32_t distress_faults;   /**< major faults per second; 0: not used */
    uint32_t distress_stall_bp; /**< time stalled on memory; 0: not used */
    uint32_t distress_ms;       /**< how long distress is believed after it
                                       was last seen */

    /* Admission (ESX02 6.2). */
    uint32_t admission_needs_swap; /**< 0 or 1: swap space must cover size
                                        less reservation of every VM */
    uint32_t reserved_0;           /**< must be 0 */
};

/**
 * Fill *config with defaults for preset esx4 and the given capacity.
 * Cannot fail; ranges are checked by pol_config_check().
 */
void pol_config_init(struct pol_config *config, uint32_t max_vms,
                     uint32_t max_groups);

/**
 * Replace config->thresholds by a preset.
 * @param preset  enum pol_preset
 * @return POL_OK, POL_ERR_INVALID
 */
POL_MUST_USE int pol_config_preset(struct pol_config *config, int preset);

/**
 * Check every field.
 * @param field  when not NULL, receives the name of the first wrong field or
 *               NULL; static storage.
 * @return POL_OK, POL_ERR_VERSION (size), POL_ERR_RANGE
 */
POL_MUST_USE int pol_config_check(const struct pol_config *config,
                                  const char **field);

/**
 * How many bytes a context for this configuration needs.
 * At most 512 bytes per VM beyond a fixed part and the groups and holds.
 * @return POL_OK or what pol_config_check() says
 */
POL_MUST_USE int pol_ctx_size(const struct pol_config *config, size_t *bytes);

/**
 * Make a context in the caller's memory.
 * @param block  aligned to 64 bytes; stays the caller's and must outlive the
 *               context; there is nothing to free but this block
 * @param bytes  its size, at least what pol_ctx_size() says
 * @param out    the context, inside the block
 * @return POL_OK, POL_ERR_NOMEM (too small), POL_ERR_INVALID (alignment), or
 *         what pol_config_check() says
 */
POL_MUST_USE int pol_ctx_init(void *block, size_t bytes,
                              const struct pol_config *config,
                              struct pol_ctx **out);

/**
 * Change the tuning of a living context. Capacity, page_bytes and seed must
 * be as they were. Takes effect with the next plan.
 * @return POL_OK, POL_ERR_INVALID (a capacity differs), or what
 *         pol_config_check() says
 */
POL_MUST_USE int pol_ctx_tune(struct pol_ctx *ctx,
                              const struct pol_config *config);

/** The configuration in force; borrowed until the context ends. */
const struct pol_config *pol_ctx_config(const struct pol_ctx *ctx);

/**
 * Sliding minimum of free memory for a host of so many pages
 * (enum pol_minfree_base, POL_MINFREE_SLIDING).
 */
uint64_t pol_minfree_sliding(uint64_t total_pages, uint32_t page_bytes);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_CONFIG_H */
