/* SPDX-License-Identifier: BSD-2-Clause */
/* The figures behind a decision. Turning them into words: explain_text.c. */
#include "internal.h"

#include <string.h>

/* Adjusted shares per page of a VM for what it holds now. */
static uint64_t rho_of(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    return polx_solver_rho(&ctx->solver, polx_node(ctx, polx_slot_of(ctx, vm)),
                           vm->consumed_pages);
}

static void rank(const struct pol_ctx *ctx, const struct polx_vm *vm,
                 struct pol_explanation *out)
{
    uint32_t slot;

    out->rho_q32 = rho_of(ctx, vm);
    out->rho_rank = 1;
    for (slot = 0; slot < ctx->vm_high; slot++) {
        const struct polx_vm *other = &ctx->vms[slot];

        if (polx_vm_used(other)) {
            out->rho_count++;
            out->rho_rank += rho_of(ctx, other) < out->rho_q32;
        }
    }
}

int pol_explain(const struct pol_ctx *ctx, uint64_t id,
                struct pol_explanation *out)
{
    uint32_t slot = polx_vm_slot(ctx, id);
    const struct polx_vm *vm;
    int rc;

    if (slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    if (ctx->plans == 0) {
        return POL_ERR_INVALID;
    }
    vm = &ctx->vms[slot];
    memset(out, 0, sizeof(*out));
    rc = pol_vm_status(ctx, id, &out->status);
    if (rc == POL_OK) {
        rc = pol_ws_get(ctx, id, &out->ws);
    }
    out->vm = id;
    out->size_pages = vm->size_pages;
    out->reservation_pages = vm->reservation_pages;
    out->limit_pages = vm->limit_pages;
    out->shares = vm->shares;
    out->excess_pages =
        polx_sat_sub(vm->consumed_pages, out->status.target_pages);
    out->lacking_pages =
        polx_sat_sub(out->status.target_pages, vm->consumed_pages);
    out->balloon_pages = polx_sat_sub(vm->size_pages, vm->actual_pages);
    out->balloon_max_pages =
        polx_bp(vm->size_pages, ctx->config.balloon_cap_bp);
    out->tax_bp =
        vm->tax_bp == POL_TAX_DEFAULT ? ctx->config.idle_tax_bp : vm->tax_bp;
    out->state = ctx->state;
    out->retry_in_ms =
        (vm->bits & POLX_VM_STUCK) != 0
            ? (uint32_t)polx_min(
                  polx_sat_sub(vm->retry_at_ms, ctx->host.now_ms), UINT32_MAX)
            : 0;
    rank(ctx, vm, out);
    return rc;
}
