/* SPDX-License-Identifier: BSD-2-Clause */
/* The invariants of a context, in one place. */
#include "check.h"
#include "internal.h"

static bool vm_is_valid(const struct pol_ctx *ctx, uint32_t slot)
{
    const struct polx_vm *vm = &ctx->vms[slot];

    return polx_vm_slot(ctx, vm->id) == slot && vm->size_pages >= 1 &&
           vm->size_pages <= POL_MAX_PAGES && vm->shares >= 1 &&
           vm->shares <= POL_MAX_SHARES &&
           vm->reservation_pages <= polx_vm_max(vm) &&
           vm->actual_pages <= vm->size_pages &&
           vm->asked_pages <= vm->size_pages && vm->touched <= vm->watched &&
           vm->slow_q16 <= 65536u && vm->fast_q16 <= 65536u &&
           vm->running_q16 <= 65536u && vm->active_pages <= vm->size_pages &&
           ctx->groups[vm->group].used &&
           polx_solver_parent(&ctx->solver, polx_node(ctx, slot)) == vm->group;
}

static bool groups_are_valid(const struct pol_ctx *ctx)
{
    uint32_t node, used = 0;

    for (node = 1; node <= ctx->config.max_groups; node++) {
        const struct polx_pool *g = &ctx->groups[node];

        if (!g->used) {
            continue;
        }
        used++;
        if (!ctx->groups[g->parent].used ||
            polx_group_depth(ctx, node) > POL_MAX_DEPTH ||
            polx_solver_parent(&ctx->solver, node) != g->parent ||
            polx_solver_child_count(&ctx->solver, node) != g->members) {
            return false;
        }
    }
    return used == ctx->group_count;
}

static bool holds_are_valid(const struct pol_ctx *ctx)
{
    uint32_t i, used = 0, taken = 0;

    for (i = 0; i < ctx->config.max_holds; i++) {
        used += ctx->holds[i].used;
        taken += ctx->holds[i].taken;
        if (ctx->holds[i].ready_pages > ctx->holds[i].pages) {
            return false;
        }
    }
    return used == ctx->hold_count && taken == ctx->holds_taken;
}

bool polx_ctx_is_valid(const struct pol_ctx *ctx)
{
    uint32_t slot, used = 0;

    for (slot = 0; slot < ctx->vm_high; slot++) {
        if (polx_vm_used(&ctx->vms[slot])) {
            used++;
            if (!vm_is_valid(ctx, slot)) {
                return false;
            }
        }
    }
    return used == ctx->vm_count && ctx->state < POL_STATES &&
           groups_are_valid(ctx) && holds_are_valid(ctx) &&
           polx_solver_check(&ctx->solver);
}
