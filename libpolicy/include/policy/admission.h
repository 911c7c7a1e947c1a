/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file admission.h
 * May a VM start, and keeping memory free for one that will.
 */
#ifndef POLICY_ADMISSION_H
#define POLICY_ADMISSION_H

#include <stdint.h>

#include "policy/error.h"
#include "policy/types.h"
#include "policy/vm.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The figures behind an answer of pol_admit(). Pages. */
struct pol_admission {
    uint64_t needed_pages;      /**< reservation and overhead */
    uint64_t unreserved_pages;  /**< what there was to cover it */
    uint64_t swap_needed_pages; /**< by all VMs together with this one */
    uint64_t swap_total_pages;
    uint64_t free_now_pages;    /**< free at once, holds and promises off */
    uint64_t reclaimable_pages; /**< what VMs have above their reservations */
};

/**
 * May a VM with these parameters start? Nothing is changed (ESX02 6.2):
 * unreserved memory must cover its reservation and overhead, its group's
 * limits must leave room for the reservation, and, when the configuration
 * says so, swap space must cover size less reservation of all VMs. A hold
 * counts against everybody, also against the VM it is meant for: ask first,
 * then hold.
 * @param out  may be NULL; filled also when the answer is no
 * @return POL_OK: yes. POL_ERR_MEMORY_SHORT, POL_ERR_SWAP_SHORT,
 *         POL_ERR_GROUP_SHORT: no. POL_ERR_NOTFOUND (group),
 *         POL_ERR_INVALID (host never observed), or what
 *         pol_vm_params_check() says
 */
POL_MUST_USE int pol_admit(const struct pol_ctx *ctx,
                           const struct pol_vm_params *params,
                           struct pol_admission *out);

/** Flags of a hold. */
enum pol_hold_flag {
    POL_HOLD_URGENT = 1u << 0 /**< may also be served by swapping */
};

/**
 * Keep memory free for a VM that will start: "free so much, hold it for id,
 * hand it over or time out". Also changes a hold of the same id and owner.
 * @param hold         caller's identifier
 * @param owner        whoever may change, take or release it; the host's
 *                     administrator can always use pol_hold_release() with
 *                     the owner that pol_hold_next() shows
 * @param pages        1..POL_MAX_PAGES
 * @param deadline_ms  on the clock of pol_host_obs.now_ms; when it passes,
 *                     the hold ends and a note says so
 * @param flags        enum pol_hold_flag
 * @return POL_OK, POL_ERR_RANGE, POL_ERR_NOMEM (max_holds), POL_ERR_OWNER,
 *         POL_ERR_BUSY (already handed over), POL_ERR_CLOCK (deadline has
 *         passed), POL_ERR_MEMORY_SHORT (even
 *         with everything above the reservations taken, it would not fit),
 *         POL_ERR_INVALID (host never observed)
 */
POL_MUST_USE int pol_hold_add(struct pol_ctx *ctx, uint64_t hold,
                              uint64_t owner, uint64_t pages,
                              uint64_t deadline_ms, uint32_t flags);

/** A hold and how far it is. */
struct pol_hold {
    uint64_t hold;
    uint64_t owner;
    uint64_t pages;
    uint64_t ready_pages; /**< of it really free now; ready when == pages */
    uint64_t deadline_ms;
    uint64_t vm; /**< the VM it was handed to */
    uint32_t flags;
    uint32_t taken; /**< 1: handed to `vm`, which is filling it */
};

/** Read a hold. @return POL_OK, POL_ERR_NOTFOUND */
POL_MUST_USE int pol_hold_get(const struct pol_ctx *ctx, uint64_t hold,
                              struct pol_hold *out);

/** Walk all holds, as pol_vm_next(). */
POL_MUST_USE int pol_hold_next(const struct pol_ctx *ctx, uint32_t *cursor,
                               struct pol_hold *out);

/**
 * Hand a hold over to a VM that is being built (already added). While it
 * fills, the larger of hold and VM counts, never both: the hold is as good as
 * a reservation. It ends when the VM consumes that much, is removed, or the
 * deadline passes.
 * @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_OWNER, POL_ERR_BUSY (taken)
 */
POL_MUST_USE int pol_hold_take(struct pol_ctx *ctx, uint64_t hold,
                               uint64_t owner, uint64_t vm);

/** End a hold. @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_OWNER */
POL_MUST_USE int pol_hold_release(struct pol_ctx *ctx, uint64_t hold,
                                  uint64_t owner);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_ADMISSION_H */
