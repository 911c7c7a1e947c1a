/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file working_set.h
 * Estimating how much of its memory a VM really uses (ESX02 5.3).
 *
 * In every period of VM time the host watches a few pages, chosen at random,
 * and counts how many are touched: touched / watched is the part of the VM's
 * memory in use. The library chooses the pages and keeps the averages; the
 * host watches. Without sampling, other evidence given with pol_observe_vm()
 * is used; without any, all of a VM's memory is taken to be active.
 */
#ifndef POLICY_WORKING_SET_H
#define POLICY_WORKING_SET_H

#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"
#include "policy/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Is it time to choose new pages for this VM? True before the first period
 * when the running one has lasted sample_period_ms of VM time, and when the
 * VM's time has begun anew.
 * @return 1 or 0, or POL_ERR_NOTFOUND
 */
POL_MUST_USE int pol_ws_due(const struct pol_ctx *ctx, uint64_t vm,
                            uint64_t vm_time_ms);

/**
 * Begin a period: choose pages to watch. A running period is closed with what
 * was last reported.
 * @param vm_time_ms  how long the VM has run, in its own time: it stands
 *                    still while the VM is paused or blocked, and begins
 *                    anew when the VM does
 * @param pages       receives guest page numbers below the VM's configured
 *                    size; may repeat when the VM is small
 * @param cap         room in `pages`; at least config.sample_pages
 * @param n           how many were chosen
 * @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_BUFFER
 */
POL_MUST_USE int pol_ws_begin(struct pol_ctx *ctx, uint64_t vm,
                              uint64_t vm_time_ms, uint64_t *pages, size_t cap,
                              size_t *n);

/**
 * Report how many of the watched pages have been touched so far. May be
 * called as often as wanted: growth shows before the period ends.
 * @param touched  0..the number chosen; never falls within a period
 * @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_INVALID (no period is running),
 *         POL_ERR_RANGE
 */
POL_MUST_USE int pol_ws_report(struct pol_ctx *ctx, uint64_t vm,
                               uint32_t touched);

/** Where the figure for active memory comes from. */
enum pol_evidence {
    POL_EVIDENCE_NONE = 0,     /**< nothing usable: all assumed active */
    POL_EVIDENCE_SAMPLED = 1,  /**< sampling of this header */
    POL_EVIDENCE_MEASURED = 2, /**< pol_vm_obs.measured_active_pages */
    POL_EVIDENCE_GUEST = 3     /**< what the guest says it uses */
};

/** An estimate and what it is made of. */
struct pol_ws {
    uint64_t active_pages; /**< the figure used for targets */
    uint32_t slow_bp;      /**< slow moving average, part of the size */
    uint32_t fast_bp;      /**< fast moving average */
    uint32_t running_bp;   /**< fast one with the running period */
    uint32_t evidence;     /**< enum pol_evidence */
    uint32_t age_ms;       /**< of that evidence */
    uint32_t distress;     /**< 1: the guest is short of memory and counts
                                  for more than this */
};

/** Read an estimate. @return POL_OK, POL_ERR_NOTFOUND */
POL_MUST_USE int pol_ws_get(const struct pol_ctx *ctx, uint64_t vm,
                            struct pol_ws *out);

/** Lower-case name of a kind of evidence; "?" for other values. */
const char *pol_evidence_name(int evidence);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_WORKING_SET_H */
