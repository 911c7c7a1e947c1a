/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file plan_check.h
 * What must be true of every plan, whatever came before it. Uses the public
 * calls only.
 */
#ifndef TESTLIB_PLAN_CHECK_H
#define TESTLIB_PLAN_CHECK_H

#include <stddef.h>

#include "model_host.h"

/** Groups have the ids 1..PLAN_GROUPS. */
#define PLAN_GROUPS 3u

/** A plan, and the VMs just before and just after it. */
struct plan_seen {
    const struct model_host *host;
    const struct pol_ctx *ctx;
    struct pol_vm_status before[MODEL_VMS];
    struct pol_vm_status after[MODEL_VMS];
    struct pol_host_status status;
    const struct pol_action *actions;
    size_t n;
    size_t bound; /* pol_plan_bound() before */
};

/** Note what VMs look like; call before pol_plan(). */
void plan_before(struct plan_seen *p, const struct model_host *host,
                 const struct pol_ctx *ctx);

/** Check the plan. @return NULL, or which rule is broken */
const char *plan_check(struct plan_seen *p, const struct pol_action *actions,
                       size_t n);

#endif /* TESTLIB_PLAN_CHECK_H */
