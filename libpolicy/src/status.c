/* SPDX-License-Identifier: BSD-2-Clause */
/* What the last plan saw, single targets, and how actions went. */
#include "internal.h"
#include "record.h"

#include <string.h>

int pol_host_get(const struct pol_ctx *ctx, struct pol_host_status *out)
{
    const struct polx_totals *t = &ctx->totals;
    const struct polx_levels *l = &ctx->levels;

    if (ctx->plans == 0) {
        return POL_ERR_INVALID;
    }
    memset(out, 0, sizeof(*out));
    out->now_ms = ctx->last_plan_ms;
    out->total_pages = ctx->host.total_pages;
    out->free_pages = ctx->host.free_pages;
    out->promised_pages = t->promised_pages;
    out->held_pages = t->held_pages;
    out->host_used_pages = t->host_used_pages;
    out->overhead_pages = t->overhead_pages;
    out->available_pages = t->available_pages;
    out->consumed_pages = t->consumed_pages;
    out->reserved_pages = t->reserved_pages;
    out->high_pages = l->high;
    out->clear_pages = l->clear;
    out->soft_pages = l->soft;
    out->hard_pages = l->hard;
    out->low_pages = l->low;
    out->aim_pages = t->aim_pages;
    out->plans = ctx->plans;
    out->failures = ctx->failures;
    out->state = ctx->state;
    out->short_of_reservations = ctx->short_noted;
    return POL_OK;
}

int pol_vm_status(const struct pol_ctx *ctx, uint64_t id,
                  struct pol_vm_status *out)
{
    uint32_t slot = polx_vm_slot(ctx, id);
    const struct polx_vm *vm;
    struct polx_claim claim;

    if (slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    vm = &ctx->vms[slot];
    polx_solver_claim(&ctx->solver, polx_node(ctx, slot), &claim);
    memset(out, 0, sizeof(*out));
    out->target_pages = polx_vm_target(ctx, vm);
    out->min_pages = claim.min_pages;
    out->max_pages = claim.max_pages;
    out->active_pages = vm->active_pages;
    out->consumed_pages = vm->consumed_pages;
    out->granted_pages = vm->granted_pages;
    out->actual_pages = vm->actual_pages;
    out->asked_pages = vm->asked_pages;
    out->swapped_pages = vm->swapped_pages;
    out->promised_pages = polx_promised(ctx, vm);
    out->reason = vm->reason;
    out->action = vm->action;
    out->action_pages = vm->action_pages;
    out->failures = vm->failures;
    out->lifecycle = vm->lifecycle;
    out->driver = vm->driver;
    out->stuck = (vm->bits & POLX_VM_STUCK) != 0;
    out->blocked = (vm->bits & POLX_VM_BLOCKED) != 0;
    out->foreign = (vm->bits & POLX_VM_FOREIGN) != 0;
    out->distress = polx_in_distress(ctx, vm);
    return POL_OK;
}

int pol_vm_target(struct pol_ctx *ctx, uint64_t id, uint64_t *pages)
{
    uint32_t slot = polx_vm_slot(ctx, id);

    if (slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    if (ctx->plans == 0) {
        return POL_ERR_INVALID;
    }
    polx_solver_refresh(&ctx->solver);
    *pages = polx_solver_peek(&ctx->solver, polx_node(ctx, slot));
    return POL_OK;
}

/* So many failed balloon actions in a row make a balloon stuck. */
#define FAILURES_STUCK 3u

static void count_failure(struct pol_ctx *ctx, struct polx_vm *vm)
{
    ctx->failures++;
    if (vm != NULL) {
        vm->failures += vm->failures < UINT32_MAX;
    }
}

/* A balloon that cannot even be asked is as good as stuck. */
static void balloon_failed(const struct pol_ctx *ctx, struct polx_vm *vm,
                           int error)
{
    if (error == POL_ERR_UNSUPPORTED) {
        return;
    }
    vm->failures_row += vm->failures_row < UINT8_MAX;
    if (vm->failures_row >= FAILURES_STUCK) {
        polx_progress_stuck(ctx, vm);
        vm->failures_row = 0;
    }
}

/* Undo what the plan took for done. */
static void not_done(struct pol_ctx *ctx, struct polx_vm *vm,
                     const struct pol_action *action, int error)
{
    if (vm == NULL) {
        ctx->share_rate = 0;
        return;
    }
    switch (action->kind) {
    case POL_ACT_BALLOON:
        balloon_failed(ctx, vm, error);
        /* Nothing was asked: what the VM has is what it may keep. */
        vm->asked_pages = vm->actual_pages;
        vm->bits &= ~(uint32_t)(POLX_VM_ASKED | POLX_VM_ADOPTED);
        vm->granted_more_pages = 0;
        break;
    case POL_ACT_BLOCK:
        vm->bits &= ~(uint32_t)POLX_VM_BLOCKED;
        break;
    case POL_ACT_UNBLOCK:
        vm->bits |= POLX_VM_BLOCKED;
        break;
    case POL_ACT_HARD_CAP:
        vm->cap_pages = 0;
        break;
    default:
        break;
    }
}

int pol_report(struct pol_ctx *ctx, const struct pol_action *action,
               uint64_t done_pages, int error)
{
    struct polx_vm *vm = NULL;
    bool hosts =
        action->kind == POL_ACT_SHARE_RATE || action->kind == POL_ACT_NOTE;

    if (action->kind == 0 || action->kind >= POL_ACTION_KINDS ||
        done_pages > POL_MAX_PAGES) {
        return POL_ERR_RANGE;
    }
    if (!hosts) {
        uint32_t slot = polx_vm_slot(ctx, action->vm);

        if (slot == POLX_NONE) {
            return POL_ERR_NOTFOUND;
        }
        vm = &ctx->vms[slot];
    }
    if (error != POL_OK) {
        if (error != POL_ERR_UNSUPPORTED) {
            count_failure(ctx, vm);
        }
        not_done(ctx, vm, action, error);
    } else if (action->kind == POL_ACT_BALLOON) {
        vm->asked_pages = polx_min(done_pages, vm->size_pages);
        vm->failures_row = 0;
    }
    polx_trace_report(ctx, action, done_pages, error);
    return POL_OK;
}
