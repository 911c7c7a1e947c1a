/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file plan.h
 * From observations to actions.
 *
 * The loop of every host:
 *   pol_observe_host(); pol_observe_vm() for each VM; pol_plan();
 *   carry out the actions; pol_report() for each that was tried.
 * pol_host_step() in host_ops.h does this for an adapter.
 *
 * A plan is a pure function of all calls made before it.
 */
#ifndef POLICY_PLAN_H
#define POLICY_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"
#include "policy/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One thing to do, and why. */
struct pol_action {
    uint64_t vm;     /**< 0 where kind or reason are about the host; in notes
                          about a hold, the hold */
    uint64_t pages;  /**< see enum pol_action_kind; for notes, a figure */
    uint32_t kind;   /**< enum pol_action_kind */
    uint32_t reason; /**< enum pol_reason */
};

/** How many actions a plan can have at most now. */
size_t pol_plan_bound(const struct pol_ctx *ctx);

/**
 * Decide. Recomputes all targets and the state and says what to do, shrinking
 * VMs before growing others: carry actions out in the order given.
 * @param actions  room for pol_plan_bound() actions
 * @param n        how many there are
 * @return POL_OK, POL_ERR_BUFFER, POL_ERR_INVALID (host never observed)
 */
POL_MUST_USE int pol_plan(struct pol_ctx *ctx, struct pol_action *actions,
                          size_t cap, size_t *n);

/**
 * Say how an action went. Actions that are never reported count as done.
 * @param done_pages  for BALLOON the target now on record; for swapping the
 *                    pages really moved; else ignored
 * @param error       POL_OK; POL_ERR_UNSUPPORTED when it was not tried on
 *                    purpose; anything else, such as POL_ERR_HOST, when it
 *                    failed, which is counted. What is not done is planned
 *                    again
 * @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_RANGE
 */
POL_MUST_USE int pol_report(struct pol_ctx *ctx,
                            const struct pol_action *action,
                            uint64_t done_pages, int error);

/** The host: the last plan's figures; free is the latest observed. Pages. */
struct pol_host_status {
    uint64_t now_ms; /**< when it saw it */
    uint64_t total_pages;
    uint64_t free_pages;
    uint64_t promised_pages;  /**< given to VMs but not taken yet */
    uint64_t held_pages;      /**< kept for holds */
    uint64_t host_used_pages; /**< neither free nor a VM's */
    uint64_t overhead_pages;
    uint64_t available_pages; /**< what VMs share by their targets */
    uint64_t consumed_pages;  /**< by all VMs */
    uint64_t reserved_pages;  /**< sum of reservations */
    uint64_t high_pages;      /**< thresholds in force */
    uint64_t clear_pages;
    uint64_t soft_pages;
    uint64_t hard_pages;
    uint64_t low_pages;
    uint64_t aim_pages;             /**< free memory that targets aim at */
    uint64_t plans;                 /**< how many so far */
    uint64_t failures;              /**< actions the host could not carry out */
    uint32_t state;                 /**< enum pol_state */
    uint32_t short_of_reservations; /**< 1: not all can be met */
};

/** Read it. @return POL_OK, POL_ERR_INVALID (no plan yet) */
POL_MUST_USE int pol_host_get(const struct pol_ctx *ctx,
                              struct pol_host_status *out);

/** A VM: what the last plan decided, and the latest observations. Pages. */
struct pol_vm_status {
    uint64_t target_pages; /**< host memory it should have now */
    uint64_t min_pages;    /**< bounds its target was computed with */
    uint64_t max_pages;
    uint64_t active_pages;
    uint64_t consumed_pages;
    uint64_t granted_pages;
    uint64_t actual_pages; /**< configured size less balloon */
    uint64_t asked_pages;  /**< what its balloon was last asked for */
    uint64_t swapped_pages;
    uint64_t promised_pages;
    uint32_t reason; /**< enum pol_reason of the last decision */
    uint32_t action; /**< enum pol_action_kind, 0: none */
    uint64_t action_pages;
    uint32_t failures; /**< actions that failed */
    uint8_t lifecycle;
    uint8_t driver;
    uint8_t stuck; /**< 1: its balloon makes no progress */
    uint8_t blocked;
    uint8_t foreign; /**< 1: somebody else set its target */
    uint8_t distress;
    uint8_t reserved_0[2];
};

/** Read it. @return POL_OK, POL_ERR_NOTFOUND */
POL_MUST_USE int pol_vm_status(const struct pol_ctx *ctx, uint64_t vm,
                               struct pol_vm_status *out);

/**
 * A VM's target after changed parameters, without making a plan: as the last
 * plan's targets, except that the page a VM may get by rounding is not handed
 * out: what a plan gives is this or one page more. Costs far less than a plan.
 * @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_INVALID (no plan yet)
 */
POL_MUST_USE int pol_vm_target(struct pol_ctx *ctx, uint64_t vm,
                               uint64_t *pages);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_PLAN_H */
