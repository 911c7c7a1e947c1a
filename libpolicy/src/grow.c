/* SPDX-License-Identifier: BSD-2-Clause */
/* Giving memory to VMs below their targets: balloon, swap-in, caps. */
#include "internal.h"

/** What all VMs of one class want, and what there is for them. */
struct pot {
    uint64_t wanted;
    uint64_t budget;
    uint64_t slack; /* budget that nobody wants */
};

/* Target in guest pages: what sharing saves may be had on top. */
uint64_t polx_grow_goal(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    uint64_t saved = polx_sat_sub(vm->granted_pages, vm->consumed_pages);

    return polx_min(polx_vm_target(ctx, vm) + saved, vm->size_pages);
}

/* Does a VM use most of what it has, so that more would be of use now? */
static bool has_use(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    return polx_in_distress(ctx, vm) ||
           (polx_is_busy(ctx, vm) &&
            polx_vm_active(ctx, vm) > vm->consumed_pages / 8 * 7);
}

/* Free memory that nobody is about to need. */
static uint64_t plenty(const struct pol_ctx *ctx)
{
    const struct polx_totals *t = &ctx->totals;

    return polx_sat_sub(t->free_pages, t->aim_pages + t->held_pages);
}

/*
 * How much a VM's balloon target is to rise, without step or budget. A VM
 * with no use for more waits until its target has settled, unless memory is
 * plentiful: targets of idle VMs wander with every estimate, and memory must
 * not wander with them.
 */
static uint64_t lacking(const struct polx_plan *plan, const struct polx_vm *vm)
{
    const struct pol_ctx *ctx = plan->ctx;
    uint64_t goal, has, gap;
    uint32_t why;

    if ((vm->bits & POLX_VM_FIXED) != 0 || !polx_can_balloon(plan, vm, &why)) {
        return 0;
    }
    goal = polx_grow_goal(ctx, vm);
    has = polx_max(vm->actual_pages, vm->asked_pages);
    gap = polx_sat_sub(goal, has);
    if (!has_use(ctx, vm) && !polx_settled(ctx, vm) && gap > plenty(ctx) / 2) {
        return 0;
    }
    /* A guest in distress is not made to wait for small amounts, only for
     * ones that are not worth asking a balloon for. */
    if (polx_in_dead_band(ctx, vm, gap) &&
        (!polx_in_distress(ctx, vm) || gap < polx_tolerance(vm))) {
        return 0;
    }
    return gap;
}

static uint64_t wanted_now(const struct polx_plan *plan,
                           const struct polx_vm *vm)
{
    return polx_min(lacking(plan, vm),
                    polx_step(plan, vm, plan->ctx->config.balloon_step_bp));
}

/* What will be wanted in this plan and the next: memory is drawn from others
 * as fast as it can be given, not ahead of that. */
uint64_t polx_grow_wanted(const struct polx_plan *plan)
{
    const struct pol_ctx *ctx = plan->ctx;
    uint64_t sum = 0;
    uint32_t slot;

    for (slot = 0; slot < ctx->vm_high; slot++) {
        if (polx_vm_used(&ctx->vms[slot])) {
            sum =
                polx_plus(sum, polx_min(lacking(plan, &ctx->vms[slot]),
                                        2 * wanted_now(plan, &ctx->vms[slot])));
        }
    }
    return sum;
}

static void cap(struct polx_plan *plan, struct polx_vm *vm, uint64_t least)
{
    uint64_t slack = (vm->size_pages >> 5) + (UINT64_C(1) << vm->granule_shift);
    uint64_t want =
        polx_max(least, vm->consumed_pages + vm->overhead_pages) + slack;

    /* A guest that starts over or is moved may need more at once, never
     * less. */
    if ((plan->ctx->host.caps & POL_CAP_HARD_CAP) == 0 ||
        (vm->lifecycle != POL_LIFE_RUNNING &&
         (vm->cap_pages == 0 || want <= vm->cap_pages))) {
        return;
    }
    if (polx_distance(want, vm->cap_pages) > slack / 2) {
        polx_emit(plan, vm->id, POL_ACT_HARD_CAP, want, POL_WHY_CAP_FOLLOWS);
        vm->cap_pages = want;
    }
}

/* Give a VM its part of the pot. */
static void grow(struct polx_plan *plan, struct polx_vm *vm, struct pot *pot,
                 uint64_t want)
{
    struct pol_ctx *ctx = plan->ctx;
    uint64_t give = pot->wanted <= pot->budget
                        ? want
                        : polx_muldiv(want, pot->budget, pot->wanted);
    uint64_t base = polx_max(vm->actual_pages, vm->asked_pages);
    uint64_t unit = UINT64_C(1) << vm->granule_shift;
    uint64_t to = polx_sat_sub(base + give, polx_beside(vm)) & ~(unit - 1);
    bool distress = polx_in_distress(ctx, vm);
    uint64_t more;

    /* The last few pages to the full size are not worth another round. */
    more = polx_sat_sub(vm->size_pages, base + give);
    if (more <= polx_min(polx_tolerance(vm), pot->slack) &&
        polx_grow_goal(ctx, vm) == vm->size_pages) {
        pot->slack -= more;
        give += more;
        to = polx_sat_sub(vm->size_pages, polx_beside(vm));
    }
    if (give == 0 || to <= vm->asked_pages) {
        polx_because(vm, POL_WHY_WAITS_FOR_FREE);
        return;
    }
    vm->granted_more_pages = polx_promised(ctx, vm) + polx_sat_sub(to, base);
    vm->promise_until_ms = ctx->host.now_ms + ctx->config.promise_ms;
    cap(plan, vm, to + vm->overhead_pages);
    polx_decide(plan, vm, POL_ACT_BALLOON, to,
                distress ? POL_WHY_DISTRESS : POL_WHY_BELOW_TARGET);
    polx_progress_asked(ctx, vm, to);
    plan->budget = polx_sat_sub(plan->budget, give);
}

/* A balloon asked for less than the VM may keep, and not there yet, is called
 * back: that needs no free memory. Also one that is stuck: should its driver
 * wake up, it must not do what was wanted long ago. */
static void call_back(struct polx_plan *plan, struct polx_vm *vm)
{
    uint64_t goal = polx_min(polx_grow_goal(plan->ctx, vm), vm->actual_pages);
    uint64_t coming = polx_expected(vm);
    uint64_t ask = polx_sat_sub(goal, polx_beside(vm));
    bool fixed =
        (vm->bits & POLX_VM_FIXED) != 0 && (vm->bits & POLX_VM_STUCK) == 0;
    uint32_t why;

    if (!fixed && (vm->bits & (POLX_VM_RETRYING | POLX_VM_BLOCKED)) == 0 &&
        vm->action != POL_ACT_BALLOON && goal > coming &&
        ask > vm->asked_pages &&
        !polx_in_dead_band(plan->ctx, vm, goal - coming) &&
        (polx_can_balloon(plan, vm, &why) || why == POL_WHY_STUCK)) {
        polx_decide(plan, vm, POL_ACT_BALLOON, ask, POL_WHY_BELOW_TARGET);
        polx_progress_asked(plan->ctx, vm, ask);
    }
}

/* Pages swapped out may come back while the VM is below its target and
 * memory is free for it. */
static void swap_in(struct polx_plan *plan, struct polx_vm *vm)
{
    const struct pol_ctx *ctx = plan->ctx;
    uint64_t pages = polx_sat_sub(polx_vm_target(ctx, vm), vm->consumed_pages);

    pages = polx_min(polx_min(pages, vm->swapped_pages), plan->budget);
    pages = polx_min(pages, polx_step(plan, vm, ctx->config.swap_step_bp));
    if ((ctx->host.caps & POL_CAP_SWAP_IN) != 0 && pages > 0 &&
        vm->action != POL_ACT_SWAP_OUT && vm->lifecycle == POL_LIFE_RUNNING) {
        plan->budget -= pages;
        polx_decide(plan, vm, POL_ACT_SWAP_IN, pages, POL_WHY_BELOW_TARGET);
    }
}

/* One class of VMs: first what they want, then each its part. */
static void grow_class(struct polx_plan *plan, bool distress, uint64_t budget)
{
    struct pol_ctx *ctx = plan->ctx;
    struct pot pot = { 0, budget, 0 };
    uint32_t pass, slot;

    for (pass = 0; pass < 2; pass++) {
        pot.slack = polx_sat_sub(budget, pot.wanted);
        for (slot = 0; slot < ctx->vm_high; slot++) {
            struct polx_vm *vm = &ctx->vms[slot];
            uint64_t want;

            if (!polx_vm_used(vm) || polx_in_distress(ctx, vm) != distress ||
                vm->action == POL_ACT_BALLOON) {
                continue;
            }
            want = wanted_now(plan, vm);
            if (pass == 0) {
                pot.wanted = polx_plus(pot.wanted, want);
            } else if (want > 0) {
                grow(plan, vm, &pot, want);
            }
        }
    }
}

void polx_grow_all(struct polx_plan *plan)
{
    struct pol_ctx *ctx = plan->ctx;
    uint32_t slot;

    for (slot = 0; slot < ctx->vm_high; slot++) {
        if (polx_vm_used(&ctx->vms[slot])) {
            call_back(plan, &ctx->vms[slot]);
        }
    }
    grow_class(plan, true, plan->budget_distress);
    grow_class(plan, false, plan->budget);
    for (slot = 0; slot < ctx->vm_high; slot++) {
        struct polx_vm *vm = &ctx->vms[slot];

        if (polx_vm_used(vm)) {
            swap_in(plan, vm);
            cap(plan, vm,
                polx_max(vm->actual_pages, vm->asked_pages) +
                    vm->overhead_pages);
        }
    }
}
