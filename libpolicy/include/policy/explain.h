/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file explain.h
 * Why a VM has what it has: every decision with the figures behind it.
 */
#ifndef POLICY_EXPLAIN_H
#define POLICY_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"
#include "policy/plan.h"
#include "policy/types.h"
#include "policy/working_set.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A decision and its figures. */
struct pol_explanation {
    struct pol_vm_status status; /**< target, bounds, reason, action */
    struct pol_ws ws;            /**< active memory and its evidence */
    uint64_t vm;
    uint64_t size_pages;
    uint64_t reservation_pages;
    uint64_t limit_pages; /**< POL_NO_LIMIT: none */
    uint64_t shares;
    uint64_t excess_pages;  /**< consumed above target, or 0 */
    uint64_t lacking_pages; /**< consumed below target, or 0 */
    uint64_t balloon_pages;
    uint64_t balloon_max_pages;
    uint64_t rho_q32;   /**< adjusted shares per page (ESX02 5.2) times
                               2^32, saturated */
    uint32_t rho_rank;  /**< 1: the VM memory is taken from first */
    uint32_t rho_count; /**< among so many VMs */
    uint32_t tax_bp;
    uint32_t state;       /**< enum pol_state */
    uint32_t retry_in_ms; /**< stuck: until its balloon is tried again */
    uint32_t reserved_0;
};

/**
 * Explain the last plan's decision on a VM. Looks at every VM once, for the
 * rank.
 * @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_INVALID (no plan yet)
 */
POL_MUST_USE int pol_explain(const struct pol_ctx *ctx, uint64_t vm,
                             struct pol_explanation *out);

/**
 * Say an explanation in one English sentence, such as
 * "balloon set to leave 81,920 pages because: over its target while memory is
 * short (state soft; excess 3,120 pages over target 78,800; adjusted
 * shares-per-page 0.31, lowest of 14; 20,000 pages active (sampled 4 s ago))".
 * @param text  receives at most cap bytes with the terminating NUL; 512 are
 *              always enough
 * @return POL_OK, POL_ERR_BUFFER
 */
POL_MUST_USE int pol_explain_text(const struct pol_explanation *explanation,
                                  char *text, size_t cap);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_EXPLAIN_H */
