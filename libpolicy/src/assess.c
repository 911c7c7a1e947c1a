/* SPDX-License-Identifier: BSD-2-Clause */
/* From observations to claims: what each VM may and should have. */
#include "internal.h"

/*
 * Most a VM counts for while nothing is taken from it, or UINT64_MAX when it
 * takes part in sharing. One rule per lifecycle.
 */
static uint64_t fixed_pages(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    uint64_t most = polx_vm_max(vm), hold;

    switch ((enum pol_lifecycle)vm->lifecycle) {
    case POL_LIFE_BUILDING:
        hold = polx_hold_of(ctx, vm);
        return polx_max(vm->consumed_pages, hold != 0 ? hold : most);
    case POL_LIFE_PAUSED:
    case POL_LIFE_MIGRATING:
    case POL_LIFE_PINNED:
        return polx_max(vm->consumed_pages, polx_min(vm->actual_pages, most));
    case POL_LIFE_SHUTTING_DOWN:
        return vm->consumed_pages;
    case POL_LIFE_RUNNING:
    case POL_LIFE_REBOOTING:
        break;
    }
    if ((vm->bits & POLX_VM_FOREIGN) != 0) {
        return polx_max(vm->consumed_pages, polx_min(vm->asked_pages, most));
    }
    return UINT64_MAX;
}

/* Room for growth without asking: see pol_config.headroom_bp. */
static uint64_t headroom(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    return polx_bp(vm->consumed_pages, ctx->config.headroom_bp) +
           (vm->size_pages >> 6) + 1;
}

bool polx_can_swap(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    return (ctx->host.caps & POL_CAP_SWAP) != 0 &&
           (vm->flags & POL_VM_NO_SWAP) == 0 &&
           (vm->lifecycle == POL_LIFE_RUNNING ||
            vm->lifecycle == POL_LIFE_REBOOTING);
}

/* A driver that went away and came back must have stayed for a while: what a
 * guest says of its driver must not make everybody's targets swing. */
bool polx_driver_usable(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    return (vm->driver == POL_DRIVER_PRESENT ||
            vm->driver == POL_DRIVER_UNKNOWN) &&
           ctx->host.now_ms >= vm->driver_from_ms;
}

bool polx_has_balloon(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    return vm->lifecycle == POL_LIFE_RUNNING &&
           (vm->flags & POL_VM_NO_BALLOON) == 0 &&
           (vm->bits & (POLX_VM_FOREIGN | POLX_VM_STUCK)) == 0 &&
           polx_driver_usable(ctx, vm);
}

/* Swap space is one for all: a VM's part is as large as its part of memory. */
static uint64_t swap_part(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    uint64_t all = polx_max(ctx->last_consumed_pages, vm->consumed_pages);

    if (!polx_can_swap(ctx, vm) || all == 0) {
        return 0;
    }
    return polx_muldiv(ctx->host.swap_free_pages, vm->consumed_pages, all);
}

/* The least that a VM can be brought to by all means there are. What is out
 * of reach it keeps, and the others make up for it. */
static uint64_t reach(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    uint64_t least = vm->consumed_pages;

    if (polx_has_balloon(ctx, vm)) {
        least = polx_min(least,
                         vm->size_pages - polx_bp(vm->size_pages,
                                                  ctx->config.balloon_cap_bp));
    }
    return polx_sat_sub(least, swap_part(ctx, vm));
}

/*
 * Most a VM is worth planning for. Memory it was never denied and has not
 * touched is lent to others until it is: what it could touch but has not,
 * beyond some headroom, does not count. Without a balloon that makes
 * consumed + headroom; with one that has squeezed out every unused page, the
 * VM's whole maximum. The rule is continuous in between.
 */
static uint64_t demand(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    uint64_t most = polx_vm_max(vm), backed, untouched;

    /* A guest that has just started will touch much of what it has, some all
     * of it. */
    if ((vm->bits & POLX_VM_SEEN) == 0 || vm->lifecycle == POL_LIFE_REBOOTING ||
        ((vm->bits & POLX_VM_STARTED) != 0 &&
         polx_age(ctx, vm->lifecycle_ms) < ctx->config.fresh_ms)) {
        return most;
    }
    /* What it has just been given it has had no time to touch. */
    backed = vm->granted_pages + vm->swapped_pages + polx_promised(ctx, vm);
    untouched = polx_sat_sub(vm->actual_pages, backed);
    untouched = polx_sat_sub(untouched, headroom(ctx, vm));
    return polx_min(most, polx_sat_sub(vm->size_pages, untouched));
}

static uint32_t tax_of(const struct pol_ctx *ctx, uint32_t tax_bp)
{
    return tax_bp == POL_TAX_DEFAULT ? ctx->config.idle_tax_bp : tax_bp;
}

/*
 * What counts as active. A guest in distress uses more than it has room for:
 * an eighth more than was measured, so that its target rises step by step for
 * as long as it asks, and never by more than freedom from the tax. One that
 * swaps in uses all that it has: what it touches is bounded by its disk.
 */
uint64_t polx_vm_active(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    uint64_t active = vm->active_pages;

    if (!polx_in_distress(ctx, vm)) {
        return active;
    }
    if (ctx->host.now_ms < vm->swapping_until_ms) {
        active = polx_max(active, vm->consumed_pages);
    }
    return polx_min(active + (vm->consumed_pages >> 3) + 1, vm->size_pages);
}

/* Can nothing be taken from this running VM by any means? With a balloon at
 * its cap it is only out of reach, and may still grow. */
static bool beyond_means(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    return vm->consumed_pages > 0 && !polx_has_balloon(ctx, vm) &&
           reach(ctx, vm) >= vm->consumed_pages;
}

/* A VM that shuts down gives up its reservation. */
uint64_t polx_vm_min(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    bool fixed = fixed_pages(ctx, vm) != UINT64_MAX;
    uint64_t least = fixed ? vm->consumed_pages : reach(ctx, vm);

    least = polx_max(least, polx_hold_of(ctx, vm));
    return vm->lifecycle == POL_LIFE_SHUTTING_DOWN
               ? least
               : polx_max(least, vm->reservation_pages);
}

void polx_claim(struct pol_ctx *ctx, uint32_t slot)
{
    struct polx_vm *vm = &ctx->vms[slot];
    uint64_t most = fixed_pages(ctx, vm);
    struct polx_claim c;

    vm->bits &= ~(uint32_t)POLX_VM_FIXED;
    c.shares = vm->shares;
    c.tax_bp = tax_of(ctx, vm->tax_bp);
    c.active_pages = polx_vm_active(ctx, vm);
    c.min_pages = polx_vm_min(ctx, vm);
    if (most != UINT64_MAX || beyond_means(ctx, vm)) {
        /* What it holds it keeps; the rest it may want at any moment. */
        vm->bits |= POLX_VM_FIXED;
        c.active_pages = vm->size_pages;
    }
    if (most == UINT64_MAX) {
        most = demand(ctx, vm);
    }
    c.max_pages = polx_max(c.min_pages, most);
    polx_solver_set(&ctx->solver, polx_node(ctx, slot), &c);
}

void polx_pool_claim(struct pol_ctx *ctx, uint32_t node)
{
    const struct polx_pool *g = &ctx->groups[node];
    struct polx_claim c;

    c.shares = g->shares;
    c.tax_bp = tax_of(ctx, g->tax_bp);
    c.min_pages = g->reservation_pages;
    c.max_pages = polx_min(g->limit_pages, POL_MAX_PAGES);
    c.active_pages = 0; /* the solver adds up its members */
    polx_solver_set(&ctx->solver, node, &c);
}

uint64_t polx_promised(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    uint64_t has = polx_max(vm->asked_pages, vm->actual_pages);
    uint64_t backed = vm->granted_pages + vm->swapped_pages;

    uint64_t held = polx_sat_sub(polx_hold_of(ctx, vm), vm->consumed_pages);

    if (ctx->host.now_ms >= vm->promise_until_ms) {
        return held;
    }
    return polx_max(
        held, polx_min(vm->granted_more_pages, polx_sat_sub(has, backed)));
}

/* Statistics that are missing or impossible are told once per occurrence;
 * missing ones only when there has been time enough for them to come. */
static void note_statistics(struct polx_plan *plan, struct polx_vm *vm)
{
    bool bad = (vm->bits & POLX_VM_BAD_STATS) != 0;
    bool none =
        vm->evidence == POL_EVIDENCE_NONE &&
        vm->lifecycle == POL_LIFE_RUNNING &&
        polx_age(plan->ctx, vm->lifecycle_ms) >= plan->ctx->config.stale_ms;

    if (bad && (vm->bits & POLX_VM_TOLD_BAD) == 0) {
        polx_emit(plan, vm->id, POL_ACT_NOTE, 0, POL_WHY_BAD_STATISTICS);
    }
    if (none && (vm->bits & POLX_VM_TOLD_NONE) == 0) {
        polx_emit(plan, vm->id, POL_ACT_NOTE, 0, POL_WHY_NO_STATISTICS);
    }
    vm->bits &= ~(uint32_t)(POLX_VM_TOLD_BAD | POLX_VM_TOLD_NONE);
    vm->bits |= (bad ? POLX_VM_TOLD_BAD : 0u) | (none ? POLX_VM_TOLD_NONE : 0u);
}

static void note_foreign(struct polx_plan *plan, struct polx_vm *vm)
{
    bool foreign = (vm->bits & POLX_VM_FOREIGN) != 0;

    if (foreign && (vm->bits & POLX_VM_TOLD_FOREIGN) == 0) {
        polx_emit(plan, vm->id, POL_ACT_NOTE, vm->asked_pages, POL_WHY_FOREIGN);
        vm->bits |= POLX_VM_TOLD_FOREIGN;
    } else if (!foreign) {
        vm->bits &= ~(uint32_t)POLX_VM_TOLD_FOREIGN;
    }
}

static void assess_vm(struct polx_plan *plan, struct polx_vm *vm)
{
    struct pol_ctx *ctx = plan->ctx;
    struct polx_totals *t = &ctx->totals;

    vm->action = 0;
    vm->action_pages = 0;
    vm->reason = POL_WHY_NONE;
    polx_progress(plan, vm);
    vm->active_pages = polx_active(ctx, vm);
    if (polx_in_distress(ctx, vm)) {
        ctx->hungry_until_ms = ctx->host.now_ms + ctx->config.sample_period_ms;
    }
    note_statistics(plan, vm);
    note_foreign(plan, vm);
    polx_claim(ctx, polx_slot_of(ctx, vm));
    t->consumed_pages = polx_plus(t->consumed_pages, vm->consumed_pages);
    t->overhead_pages = polx_plus(t->overhead_pages, vm->overhead_pages);
    t->reserved_pages = polx_plus(t->reserved_pages, vm->reservation_pages);
    t->promised_pages = polx_plus(t->promised_pages, polx_promised(ctx, vm));
}

/* What the VMs share: everything but the host's own use (at least its floor),
 * overheads, holds, and the free memory that targets aim at. */
static void available(struct pol_ctx *ctx)
{
    struct polx_totals *t = &ctx->totals;
    uint64_t total = ctx->host.total_pages;
    uint64_t vms = t->consumed_pages + t->overhead_pages;

    t->host_used_pages = polx_sat_sub(total - ctx->host.free_pages, vms);
    t->aim_pages = polx_aim(ctx);
    t->free_pages = polx_sat_sub(ctx->host.free_pages, t->promised_pages);
    t->available_pages = polx_sat_sub(
        total, polx_max(t->host_used_pages, ctx->config.host_reserve_pages) +
                   t->overhead_pages + t->held_pages + t->aim_pages);
}

void polx_assess(struct polx_plan *plan)
{
    struct pol_ctx *ctx = plan->ctx;
    struct polx_totals none = { 0 };
    uint32_t slot;

    ctx->last_consumed_pages = ctx->totals.consumed_pages;
    ctx->totals = none;
    for (slot = 0; slot < ctx->vm_high; slot++) {
        if (polx_vm_used(&ctx->vms[slot])) {
            assess_vm(plan, &ctx->vms[slot]);
        }
    }
    ctx->totals.held_pages = polx_holds_pages(ctx);
    available(ctx);
    polx_solver_set_available(&ctx->solver, ctx->totals.available_pages);
    polx_solver_materialise(&ctx->solver);
}
