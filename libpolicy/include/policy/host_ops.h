/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file host_ops.h
 * The seam between the library and a hypervisor.
 *
 * An adapter is one `static const struct pol_host_ops` and a pointer of its
 * own, both given to pol_host_step() explicitly: there is no registry.
 * pol_host_step() observes, plans and acts once. All ops are called on the
 * caller's thread, only inside pol_host_step(), one at a time; they may block,
 * and must not call into the same context. Every op returns POL_OK or a
 * negative code; a failure of an optional op or for a single VM never stops
 * the step: the VM keeps its last figures, and the failure is counted.
 *
 * Embedders with a loop of their own need none of this: see plan.h.
 */
#ifndef POLICY_HOST_OPS_H
#define POLICY_HOST_OPS_H

#include <stddef.h>
#include <stdint.h>

#include "policy/config.h"
#include "policy/error.h"
#include "policy/observe.h"
#include "policy/plan.h"
#include "policy/types.h"
#include "policy/vm.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pol_host_ops {
    size_t size;      /**< sizeof(struct pol_host_ops) in the adapter's build */
    const char *name; /**< "xen", "kvm", "esxi-sim"; static storage */

    /* Required. */

    /** Fill *obs; obs->size is set, and obs->caps has a bit for every
     *  optional op below that is there: clear those that this host, or this
     *  hypervisor build, does not have after all. */
    int (*read_host)(void *host, struct pol_host_obs *obs);

    /** Walk the VMs that exist now: *cursor is 0 at first and the adapter's
     *  to use. Fill *vm and *params (initialised to defaults).
     *  @return POL_OK, or POL_ERR_NOTFOUND at the end */
    int (*next_vm)(void *host, uint64_t *cursor, uint64_t *vm,
                   struct pol_vm_params *params);

    /** Fill *obs; obs->size is set and nothing is valid. POL_ERR_NOTFOUND:
     *  the VM has just gone. */
    int (*read_vm)(void *host, uint64_t vm, struct pol_vm_obs *obs);

    /** Ask the VM's balloon for an actual size; *done is the target now on
     *  record. Must not wait for the guest. */
    int (*set_balloon)(void *host, uint64_t vm, uint64_t actual_pages,
                       uint64_t *done);

    /* Optional: NULL means what the comment says. */

    /** NULL: this host cannot swap; reclaim ends with the balloon. *done is
     *  how many pages really moved. */
    int (*swap_out)(void *host, uint64_t vm, uint64_t pages, uint64_t *done);
    /** NULL: pages come back only when the guest touches them. */
    int (*swap_in)(void *host, uint64_t vm, uint64_t pages, uint64_t *done);
    /** NULL: VMs are never blocked. `blocked` is 1 or 0. */
    int (*set_blocked)(void *host, uint64_t vm, int blocked);
    /** NULL: no page sharing, or not ours to steer. Pages per second. */
    int (*set_share_rate)(void *host, uint64_t pages_per_s);
    /** NULL: there is no enforced maximum. */
    int (*set_hard_cap)(void *host, uint64_t vm, uint64_t pages);
    /** Watch these guest pages from now on; the last ones are forgotten.
     *  NULL: no sampling; then sample_read is not used either. */
    int (*sample_begin)(void *host, uint64_t vm, const uint64_t *pages,
                        size_t n);
    /** How many of them have been touched, and the VM's own time. */
    int (*sample_read)(void *host, uint64_t vm, uint32_t *touched,
                       uint64_t *vm_time_ms);
    /** Called for every action after it was tried, notes included, for logs
     *  and reports. NULL: nobody listens. */
    void (*on_action)(void *host, const struct pol_action *action,
                      uint64_t done_pages, int error);
};

/** Memory and names for pol_host_step(); all stays the caller's. */
struct pol_host_loop {
    size_t size; /**< sizeof(struct pol_host_loop) */
    const struct pol_host_ops *ops;
    void *host;                 /**< first argument of every op */
    struct pol_action *actions; /**< room for `actions_cap` actions:
                                         pol_replay_bound() is always enough */
    size_t actions_cap;
    uint64_t *sample_pages; /**< room for config.sample_pages numbers;
                                         NULL without sampling */
    int keep_params;        /**< 1: parameters of VMs already known
                                         are the caller's; next_vm's are only
                                         used for new ones */
    int dry_run;            /**< 1: plan and tell on_action (done_pages
                                         0), but change nothing */
    uint64_t vm_failures;   /**< out: VMs that could not be read */
    size_t actions_n;       /**< out: actions of the last step */
};

/**
 * Check an ops table: size, name and required entries.
 * @return POL_OK, POL_ERR_VERSION, POL_ERR_INVALID
 */
POL_MUST_USE int pol_host_ops_check(const struct pol_host_ops *ops);

/**
 * One round: read the host, add VMs that have come and remove those that have
 * gone, read every VM, sample, plan, act, report.
 * @return POL_OK; POL_ERR_HOST when the host or the list of VMs could not be
 *         read (then nothing is planned and targets stay); otherwise what
 *         pol_host_ops_check(), pol_observe_host() or pol_plan() say
 */
POL_MUST_USE int pol_host_step(struct pol_ctx *ctx, struct pol_host_loop *loop);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_HOST_OPS_H */
