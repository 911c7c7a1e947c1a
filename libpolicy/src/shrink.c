/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking memory from VMs above their targets: balloon, swap, block. */
#include "internal.h"
#include "state_table.h"

/** What is to be taken from one VM and why. */
struct take {
    uint64_t pages;     /* in all */
    uint64_t now_pages; /* of it at once, by swapping */
    uint32_t reason;
    bool may_swap; /* where the balloon cannot work */
};

/** Sums over VMs above their targets. */
struct above {
    uint64_t excess;
    uint64_t urgent; /* to be swapped out now, by all of them together */
};

static uint64_t excess_of(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    return polx_sat_sub(vm->consumed_pages, polx_vm_target(ctx, vm));
}

/* x * part / whole for part <= whole, without overflow. */
static uint64_t portion(uint64_t x, uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : polx_muldiv(x, part, whole);
}

static struct above add_up(struct polx_plan *plan)
{
    const struct pol_ctx *ctx = plan->ctx;
    struct above sum = { 0, 0 };
    uint32_t slot;

    for (slot = 0; slot < ctx->vm_high; slot++) {
        const struct polx_vm *vm = &ctx->vms[slot];

        if (polx_vm_used(vm) && (vm->bits & POLX_VM_FIXED) == 0) {
            sum.excess = polx_plus(sum.excess, excess_of(ctx, vm));
        }
    }
    if ((plan->means & POLX_MEANS_SWAP_URGENT) != 0) {
        sum.urgent = polx_min(
            sum.excess, polx_sat_sub(ctx->levels.soft + ctx->levels.margin,
                                     ctx->totals.free_pages));
    }
    return sum;
}

/* Memory of all members, up through the groups, in their field `inside`. */
static void add_up_groups(struct pol_ctx *ctx)
{
    uint32_t node, slot;

    if (ctx->group_count == 0) {
        return;
    }
    for (node = 0; node <= ctx->config.max_groups; node++) {
        ctx->groups[node].inside = 0;
    }
    for (slot = 0; slot < ctx->vm_high; slot++) {
        const struct polx_vm *vm = &ctx->vms[slot];

        for (node = polx_vm_used(vm) ? vm->group : 0; node != 0;
             node = ctx->groups[node].parent) {
            ctx->groups[node].inside =
                polx_plus(ctx->groups[node].inside, vm->consumed_pages);
        }
    }
}

/* What a VM has above its own limit; all of its excess where a group above it
 * has more than that group's limit. */
static uint64_t over_limits(const struct pol_ctx *ctx, const struct polx_vm *vm,
                            uint64_t excess)
{
    uint32_t node;

    for (node = vm->group; node != 0; node = ctx->groups[node].parent) {
        if (ctx->groups[node].inside > ctx->groups[node].limit_pages) {
            return excess;
        }
    }
    return polx_sat_sub(vm->consumed_pages, vm->limit_pages);
}

/* How much to take from a VM; 0 pages and a reason when nothing. */
static struct take what_to_take(const struct polx_plan *plan,
                                const struct polx_vm *vm,
                                const struct above *sum)
{
    const struct pol_ctx *ctx = plan->ctx;
    uint64_t excess = excess_of(ctx, vm);
    uint64_t over = over_limits(ctx, vm, excess);
    struct take t = { 0, 0, POL_WHY_AT_TARGET, false };

    if (excess == 0) {
        return t;
    }
    if ((plan->means & POLX_MEANS_BALLOON) != 0) {
        t.pages = excess;
        t.now_pages = portion(excess, sum->urgent, sum->excess);
        t.reason = POL_WHY_OVER_TARGET;
        t.may_swap = (plan->means & POLX_MEANS_SWAP_INSTEAD) != 0;
    } else if (plan->draw_pages > 0 && polx_in_distress(ctx, vm)) {
        t.reason = POL_WHY_DISTRESS;
    } else if (plan->draw_pages > 0 && !plan->draw_all &&
               polx_in_dead_band(ctx, vm, excess)) {
        t.reason = POL_WHY_SMALL_CHANGE;
    } else if (plan->draw_pages > 0) {
        t.pages = portion(excess, polx_min(plan->draw_pages, sum->excess),
                          sum->excess);
        t.reason = plan->draw_reason;
        t.may_swap = plan->urgent_hold;
    } else {
        t.reason = POL_WHY_PLENTY;
    }
    if (over > 0) {
        t.pages = polx_max(t.pages, over);
        t.reason = POL_WHY_OVER_LIMIT;
        t.may_swap = true;
    }
    return t;
}

/* The least a balloon may leave the guest, and what keeps it from less. */
static uint64_t balloon_floor(const struct polx_plan *plan,
                              const struct polx_vm *vm, uint32_t *why)
{
    const struct pol_ctx *ctx = plan->ctx;
    uint64_t floor = polx_sat_sub(
        vm->size_pages, polx_bp(vm->size_pages, ctx->config.balloon_cap_bp));

    *why = POL_WHY_BALLOON_CAP;
    /* A guest knows best what it cannot run without; taking it all the same
     * would only let it thrash or kill. But where nothing else is left, its
     * word does not weigh more than everybody else's memory. */
    if (vm->floor_pages > floor &&
        (ctx->state < POL_STATE_HARD || polx_can_swap(ctx, vm))) {
        floor = vm->floor_pages;
        *why = POL_WHY_GUEST_FLOOR;
    }
    return floor;
}

static uint64_t step_for(const struct polx_plan *plan, const struct polx_vm *vm)
{
    uint64_t step = polx_step(plan, vm, plan->ctx->config.balloon_step_bp);

    /* A driver that has not proved itself is tried with a small balloon. */
    if ((vm->bits & POLX_VM_PROVEN) == 0 && vm->driver == POL_DRIVER_UNKNOWN) {
        step = polx_min(step, polx_max(vm->size_pages >> 6, 1));
    }
    if (polx_in_distress(plan->ctx, vm) && plan->ctx->state <= POL_STATE_SOFT) {
        step = (step + 3) / 4;
    }
    return step;
}

static uint64_t round_up(const struct polx_vm *vm, uint64_t pages)
{
    uint64_t unit = UINT64_C(1) << vm->granule_shift;

    return (pages + unit - 1) & ~(unit - 1);
}

/*
 * Set a balloon target that takes `pages` of host memory, or the step's part
 * of it. What the guest has but never touched comes off first: inflating over
 * it frees nothing.
 * @return how much of it the balloon will never get, with the reason
 */
static uint64_t balloon(struct polx_plan *plan, struct polx_vm *vm,
                        const struct take *t, uint32_t *why)
{
    uint64_t backed =
        polx_min(vm->granted_pages + vm->swapped_pages, vm->actual_pages);
    uint64_t least, want, left;

    least = balloon_floor(plan, vm, why);
    left = polx_sat_sub(t->pages, polx_sat_sub(backed, least));
    want = polx_sat_sub(backed, polx_min(t->pages, step_for(plan, vm)));
    want = polx_max(polx_max(want, least), 1);
    /* A driver known to stop above what it is asked is asked for less. */
    if (vm->offset_pages > 0) {
        want = polx_max(polx_sat_sub(want, (uint32_t)vm->offset_pages),
                        polx_max(least, 1));
    }
    want = polx_min(round_up(vm, want), vm->size_pages);
    if (want < vm->asked_pages && want < vm->actual_pages) {
        polx_decide(plan, vm, POL_ACT_BALLOON, want, t->reason);
        polx_progress_asked(plan->ctx, vm, want);
        vm->granted_more_pages = 0;
    } else {
        polx_because(vm, t->reason);
    }
    return left;
}

/* @return how many pages are to be swapped */
static uint64_t swap(struct polx_plan *plan, struct polx_vm *vm, uint64_t pages,
                     uint32_t why)
{
    uint64_t step = polx_step(plan, vm, plan->ctx->config.swap_step_bp);

    if (!polx_can_swap(plan->ctx, vm)) {
        polx_because(vm, (vm->flags & POL_VM_NO_SWAP) != 0
                             ? POL_WHY_FORBIDDEN
                             : POL_WHY_UNSUPPORTED);
        return 0;
    }
    pages = polx_min(polx_min(pages, step), plan->swap_left);
    pages = polx_min(pages, vm->granted_pages);
    if (pages == 0) {
        polx_because(vm, POL_WHY_UNSUPPORTED);
        return 0;
    }
    plan->swap_left -= pages;
    polx_decide(plan, vm, POL_ACT_SWAP_OUT, pages, why);
    return pages;
}

/* Blocking a VM that is above its target stops it from taking more while
 * what it has is swapped out. It must bring something: a VM from which
 * nothing can be had is let go. */
static void block(struct polx_plan *plan, struct polx_vm *vm, uint64_t excess)
{
    struct pol_ctx *ctx = plan->ctx;
    /* A guest whose balloon is all there is must run to inflate it. */
    bool useful = (polx_can_swap(ctx, vm) && plan->swap_left > 0) ||
                  !polx_has_balloon(ctx, vm);
    bool allowed = useful && (ctx->host.caps & POL_CAP_BLOCK) != 0 &&
                   (vm->flags & POL_VM_NO_BLOCK) == 0 &&
                   vm->lifecycle == POL_LIFE_RUNNING &&
                   (vm->bits & POLX_VM_BLOCK_BARRED) == 0;

    if ((vm->bits & POLX_VM_BLOCKED) == 0 && allowed &&
        (plan->means & POLX_MEANS_BLOCK) != 0 && excess > 0) {
        vm->block_ms = ctx->host.now_ms;
        vm->block_consumed_pages = vm->consumed_pages;
        vm->bits |= POLX_VM_BLOCKED;
        polx_decide(plan, vm, POL_ACT_BLOCK, 0, POL_WHY_LOW_MEMORY);
    }
}

static void unblock(struct polx_plan *plan, struct polx_vm *vm, uint64_t excess)
{
    struct pol_ctx *ctx = plan->ctx;
    uint32_t reason = POL_WHY_NONE;

    if ((plan->means & POLX_MEANS_BLOCK) == 0) {
        vm->bits &= ~(uint32_t)POLX_VM_BLOCK_BARRED;
    }
    if ((vm->bits & POLX_VM_BLOCKED) == 0) {
        return;
    }
    if ((plan->means & POLX_MEANS_BLOCK) == 0) {
        reason = POL_WHY_RECOVERED;
    } else if (excess == 0) {
        reason = POL_WHY_AT_TARGET;
    } else if (vm->consumed_pages + (vm->size_pages >> 8) <
               vm->block_consumed_pages) {
        vm->block_ms = ctx->host.now_ms;
        vm->block_consumed_pages = vm->consumed_pages;
    } else if (polx_age(ctx, vm->block_ms) >= ctx->config.block_max_ms) {
        reason = POL_WHY_NO_PROGRESS;
        vm->bits |= POLX_VM_BLOCK_BARRED;
    }
    if (reason != POL_WHY_NONE) {
        vm->bits &= ~(uint32_t)POLX_VM_BLOCKED;
        polx_decide(plan, vm, POL_ACT_UNBLOCK, 0, reason);
    }
}

static void without_balloon(struct polx_plan *plan, struct polx_vm *vm,
                            const struct take *t, uint32_t why)
{
    if (t->may_swap) {
        (void)swap(plan, vm, t->pages, why);
    } else if (t->now_pages > 0) {
        (void)swap(plan, vm, t->now_pages, POL_WHY_URGENT);
    } else {
        polx_because(vm, why);
    }
}

static void shrink(struct polx_plan *plan, struct polx_vm *vm,
                   const struct above *sum)
{
    struct take t = what_to_take(plan, vm, sum);
    uint32_t why = t.reason;
    uint64_t left;

    if (t.pages == 0) {
        polx_because(vm, t.reason);
        return;
    }
    if (!polx_can_balloon(plan, vm, &why)) {
        without_balloon(plan, vm, &t, why);
        return;
    }
    /* What is swapped now the balloon need not take as well. */
    if (t.now_pages > 0) {
        uint64_t swapped = swap(plan, vm, t.now_pages, POL_WHY_URGENT);

        t.pages -= polx_min(swapped, t.pages);
        t.may_swap = t.may_swap && swapped == 0;
    }
    left = balloon(plan, vm, &t, &why);
    if (left > 0 && t.may_swap) {
        (void)swap(plan, vm, left, why);
    } else if (left > 0) {
        polx_because(vm, why);
    }
}

/*
 * A VM that is almost where its target has stayed for a while is taken there
 * to the page. Only where memory is contended: a target that is all the VM
 * could want says nothing about what it should be denied.
 */
static void settle(struct polx_plan *plan, struct polx_vm *vm)
{
    struct pol_ctx *ctx = plan->ctx;
    uint64_t goal = polx_max(round_up(vm, polx_grow_goal(ctx, vm)), 1);
    uint64_t gap = polx_sat_sub(polx_expected(vm), goal);
    uint64_t ask = polx_sat_sub(goal, polx_beside(vm));
    struct polx_claim claim;
    uint32_t why;

    polx_solver_claim(&ctx->solver, polx_node(ctx, polx_slot_of(ctx, vm)),
                      &claim);
    if (vm->action != 0 || gap == 0 || polx_in_dead_band(ctx, vm, gap) ||
        gap >= polx_bp(vm->size_pages, ctx->config.dead_band_bp) ||
        polx_vm_target(ctx, vm) >= claim.max_pages || ask < 1 ||
        ask >= vm->asked_pages || ask < balloon_floor(plan, vm, &why) ||
        !polx_can_balloon(plan, vm, &why)) {
        return;
    }
    polx_decide(plan, vm, POL_ACT_BALLOON, ask, POL_WHY_SETTLED);
    polx_progress_asked(ctx, vm, ask);
}

void polx_shrink_all(struct polx_plan *plan)
{
    struct pol_ctx *ctx = plan->ctx;
    struct above sum = add_up(plan);
    uint32_t slot;

    add_up_groups(ctx);

    for (slot = 0; slot < ctx->vm_high; slot++) {
        struct polx_vm *vm = &ctx->vms[slot];

        if (!polx_vm_used(vm)) {
            continue;
        }
        if ((vm->bits & POLX_VM_FIXED) != 0) {
            uint32_t why = POL_WHY_UNSUPPORTED;

            (void)polx_can_balloon(plan, vm, &why);
            polx_because(vm, why);
        } else {
            shrink(plan, vm, &sum);
            settle(plan, vm);
            block(plan, vm, excess_of(ctx, vm));
        }
        unblock(plan, vm,
                (vm->bits & POLX_VM_FIXED) != 0 ? 0 : excess_of(ctx, vm));
    }
}
