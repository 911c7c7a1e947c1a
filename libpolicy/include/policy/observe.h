/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file observe.h
 * Telling the library what is the case.
 *
 * Before each plan the caller reports the host and, when anything is known
 * about them, the VMs. A VM that is not reported keeps its last figures.
 *
 * Trust: what the hypervisor measures (size, granted, consumed, swapped) is
 * checked for ranges and refused by an error. What the *guest* says
 * (everything under "guest") is never an error: a value that cannot be true is
 * noted, and the VM is treated as one without statistics.
 */
#ifndef POLICY_OBSERVE_H
#define POLICY_OBSERVE_H

#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"
#include "policy/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The host now. All amounts 0..POL_MAX_PAGES. */
struct pol_host_obs {
    size_t size;               /**< sizeof(struct pol_host_obs) */
    uint64_t now_ms;           /**< never runs backwards */
    uint64_t total_pages;      /**< memory of the host; > 0 */
    uint64_t free_pages;       /**< free or free at once; <= total */
    uint64_t swap_total_pages; /**< space for swapped pages */
    uint64_t swap_free_pages;  /**< <= swap_total_pages */
    uint32_t caps;             /**< enum pol_cap */
    uint32_t reserved_0;       /**< must be 0 */
};

/** Report the host. @return POL_OK, POL_ERR_VERSION, POL_ERR_RANGE,
 *  POL_ERR_CLOCK */
POL_MUST_USE int pol_observe_host(struct pol_ctx *ctx,
                                  const struct pol_host_obs *obs);

/** Which fields of struct pol_vm_obs are known. Bits of `valid`. */
enum pol_vm_obs_valid {
    POL_OBS_CONSUMED = 1u << 0,
    POL_OBS_GRANTED = 1u << 1,
    POL_OBS_ACTUAL = 1u << 2,
    POL_OBS_SWAPPED = 1u << 3,
    POL_OBS_TARGET = 1u << 4, /**< target_seen_pages */
    POL_OBS_OVERHEAD = 1u << 5,
    POL_OBS_MEASURED = 1u << 6, /**< measured_active_pages */
    POL_OBS_GUEST_FREE = 1u << 7,
    POL_OBS_GUEST_AVAILABLE = 1u << 8,
    POL_OBS_GUEST_TOTAL = 1u << 9,
    POL_OBS_GUEST_FLOOR = 1u << 10,
    POL_OBS_GUEST_SWAP_IN = 1u << 11,
    POL_OBS_GUEST_FAULTS = 1u << 12,
    POL_OBS_GUEST_STALL = 1u << 13
};
#define POL_OBS_ALL 0x3fffu

/** A VM now. Fields whose bit is not in `valid` are ignored. */
struct pol_vm_obs {
    size_t size;        /**< sizeof(struct pol_vm_obs) */
    uint32_t valid;     /**< enum pol_vm_obs_valid */
    uint8_t lifecycle;  /**< enum pol_lifecycle; always read */
    uint8_t driver;     /**< enum pol_driver; always read */
    uint8_t blocked;    /**< 0 or 1: blocked by us now; always read */
    uint8_t reserved_0; /**< must be 0 */

    /* Measured by the hypervisor. Pages, 0..POL_MAX_PAGES. */
    uint64_t consumed_pages;    /**< host memory backing the VM, a page shared
                                  by n counting 1/n (ESX09 4) */
    uint64_t granted_pages;     /**< guest pages backed, shared ones in full;
                                  unknown: taken as consumed */
    uint64_t actual_pages;      /**< configured size less balloon; unknown: no
                                  balloon */
    uint64_t swapped_pages;     /**< of the VM, swapped out by the host */
    uint64_t target_seen_pages; /**< the balloon target the hypervisor has on
                                     record, whoever set it */
    uint64_t overhead_pages;    /**< the hypervisor's own memory for the VM;
                                  replaces the parameter */
    uint64_t measured_active_pages; /**< working set measured on the host
                                         side, e.g. by an access scan;
                                         sampling has its own calls */
    uint32_t measured_age_ms;       /**< how old that is */

    /* Said by the guest: untrusted. */
    uint32_t guest_age_ms;          /**< how old all of this is */
    uint64_t guest_free_pages;      /**< unused at all */
    uint64_t guest_available_pages; /**< to be had without swapping */
    uint64_t guest_total_pages;     /**< what the guest thinks it has */
    uint64_t guest_floor_pages;     /**< cannot run with less, e.g. has no
                                         swap device */
    uint64_t guest_swap_in_pages;   /**< counter, any origin */
    uint64_t guest_faults;          /**< major faults, counter, any origin */
    uint32_t guest_stall_bp;        /**< time stalled on memory lately */
    uint32_t reserved_1;            /**< must be 0 */
};

/** Report a VM. Uses the time of the last pol_observe_host().
 *  @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_VERSION, POL_ERR_RANGE */
POL_MUST_USE int pol_observe_vm(struct pol_ctx *ctx, uint64_t vm,
                                const struct pol_vm_obs *obs);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_OBSERVE_H */
