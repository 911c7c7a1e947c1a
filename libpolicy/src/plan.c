/* SPDX-License-Identifier: BSD-2-Clause */
/* One plan: assess, decide on the state, shrink, grow. */
#include "check.h"
#include "internal.h"
#include "record.h"
#include "state_table.h"

#include <string.h>

/* Per VM: balloon, swap, block or unblock, cap, and notes on statistics (2),
 * a foreign target, and a stuck or retried balloon. */
#define ACTIONS_PER_VM 8u
/* State, reservations, scan rate. */
#define ACTIONS_HOST 3u
/* Ready and expired. */
#define ACTIONS_PER_HOLD 2u

#define MAX_ELAPSED_MS 60000u
#define MIN_ELAPSED_MS 100u
/* How many sampling periods a target must stay put before small differences
 * move: estimates change with every period. */
#define SETTLED_PERIODS 2u

static size_t bound(size_t vms, size_t holds)
{
    return vms * ACTIONS_PER_VM + holds * ACTIONS_PER_HOLD + ACTIONS_HOST;
}

size_t pol_plan_bound(const struct pol_ctx *ctx)
{
    return bound(ctx->vm_count, ctx->hold_count);
}

size_t pol_replay_bound(const struct pol_config *config)
{
    return bound(config->max_vms, config->max_holds);
}

void polx_emit(struct polx_plan *plan, uint64_t vm, uint32_t kind,
               uint64_t pages, uint32_t reason)
{
    struct pol_action *a = &plan->actions[plan->n++];

    POLX_ASSERT(plan->n <= plan->cap);
    a->vm = vm;
    a->pages = pages;
    a->kind = kind;
    a->reason = reason;
}

void polx_decide(struct polx_plan *plan, struct polx_vm *vm, uint32_t kind,
                 uint64_t pages, uint32_t reason)
{
    polx_emit(plan, vm->id, kind, pages, reason);
    /* Several actions on one VM: the balloon tells most about it. */
    if (vm->action != POL_ACT_BALLOON) {
        vm->action = (uint8_t)kind;
        vm->action_pages = pages;
        vm->reason = (uint8_t)reason;
    }
}

void polx_because(struct polx_vm *vm, uint32_t reason)
{
    if (vm->action == 0) {
        vm->reason = (uint8_t)reason;
    }
}

bool polx_can_balloon(const struct polx_plan *plan, const struct polx_vm *vm,
                      uint32_t *reason)
{
    if (vm->lifecycle != POL_LIFE_RUNNING) {
        *reason = vm->lifecycle == POL_LIFE_PINNED ? POL_WHY_PINNED
                                                   : POL_WHY_LIFECYCLE;
    } else if ((vm->bits & POLX_VM_FOREIGN) != 0) {
        *reason = POL_WHY_FOREIGN;
    } else if ((vm->flags & POL_VM_NO_BALLOON) != 0) {
        *reason = POL_WHY_FORBIDDEN;
    } else if (!polx_driver_usable(plan->ctx, vm)) {
        *reason = POL_WHY_NO_DRIVER;
    } else if ((vm->bits & POLX_VM_BLOCKED) != 0) {
        *reason = POL_WHY_LOW_MEMORY;
    } else if ((vm->bits & POLX_VM_STUCK) != 0) {
        *reason = POL_WHY_STUCK;
    } else if (plan->ctx->config.thresholds.hard_stops_balloon != 0 &&
               plan->ctx->state >= POL_STATE_HARD &&
               polx_can_swap(plan->ctx, vm) && plan->swap_left > 0) {
        *reason = POL_WHY_URGENT;
    } else {
        return true;
    }
    return false;
}

uint64_t polx_step(const struct polx_plan *plan, const struct polx_vm *vm,
                   uint32_t rate_bp)
{
    uint64_t unit = UINT64_C(1) << vm->granule_shift;
    /* at most 2^52 / 2^10 * 2^16: divide by the second before multiplying */
    uint64_t per_second = polx_bp(vm->size_pages, rate_bp);
    uint64_t step = per_second / 1000u * plan->elapsed_ms +
                    per_second % 1000u * plan->elapsed_ms / 1000u;

    return polx_max(step, unit);
}

bool polx_settled(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    return polx_age(ctx, vm->target_ms) >=
           SETTLED_PERIODS * (uint64_t)ctx->config.sample_period_ms;
}

bool polx_in_dead_band(const struct pol_ctx *ctx, const struct polx_vm *vm,
                       uint64_t pages)
{
    return !polx_settled(ctx, vm) &&
           pages < polx_bp(vm->size_pages, ctx->config.dead_band_bp);
}

uint64_t polx_vm_target(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    return polx_solver_target(&ctx->solver,
                              polx_node(ctx, polx_slot_of(ctx, vm)));
}

static void note_settled(struct polx_plan *plan)
{
    struct pol_ctx *ctx = plan->ctx;
    uint32_t slot;

    for (slot = 0; slot < ctx->vm_high; slot++) {
        struct polx_vm *vm = &ctx->vms[slot];

        if (polx_vm_used(vm)) {
            uint64_t t = polx_vm_target(ctx, vm);

            /* Figures of a living host always differ by a little. */
            if (polx_distance(t, vm->last_target_pages) > vm->size_pages >>
                10) {
                vm->target_ms = ctx->host.now_ms;
                vm->last_target_pages = t;
            }
        }
    }
}

static void next_state(struct polx_plan *plan)
{
    struct pol_ctx *ctx = plan->ctx;
    uint32_t next =
        polx_state_next(&ctx->levels, ctx->state, ctx->totals.free_pages);

    if (next != ctx->state) {
        polx_emit(plan, 0, POL_ACT_NOTE, next, POL_WHY_STATE_CHANGE);
        ctx->state = next;
    }
    plan->means = polx_means[next];
}

static void note_short(struct polx_plan *plan)
{
    struct pol_ctx *ctx = plan->ctx;
    uint32_t node, is_short = 0;

    for (node = 0; node <= ctx->config.max_groups; node++) {
        is_short |=
            ctx->groups[node].used && polx_solver_is_short(&ctx->solver, node);
    }

    if (is_short && !ctx->short_noted) {
        polx_emit(plan, 0, POL_ACT_NOTE, ctx->totals.available_pages,
                  POL_WHY_SHORT);
    }
    ctx->short_noted = is_short;
}

/* Pages per second that scan everything the VMs have in the time the state
 * allows (ESX09 5.2). Small changes are not worth an action. */
static void scan_rate(struct polx_plan *plan)
{
    struct pol_ctx *ctx = plan->ctx;
    bool fast = (plan->means & POLX_MEANS_FAST_SCAN) != 0;
    uint64_t ms =
        fast ? ctx->config.share_scan_min_ms : ctx->config.share_scan_ms;
    uint64_t consumed = polx_min(ctx->totals.consumed_pages, POL_MAX_PAGES);
    uint64_t rate = consumed / ms * 1000u + consumed % ms * 1000u / ms;
    uint64_t old = ctx->share_rate;

    if ((ctx->host.caps & POL_CAP_SHARE) != 0 &&
        (rate > old + old / 8 || rate < old - old / 8)) {
        polx_emit(plan, 0, POL_ACT_SHARE_RATE, rate, POL_WHY_SCAN_RATE);
        ctx->share_rate = rate;
    }
}

/*
 * What is to be moved although no memory is short: what VMs below their
 * targets lack and free memory cannot give them, and what holds lack. In
 * states soft and below every VM goes to its target anyway.
 */
static void draw(struct polx_plan *plan)
{
    struct pol_ctx *ctx = plan->ctx;
    const struct polx_totals *t = &ctx->totals;
    uint64_t keep = t->aim_pages + t->held_pages;
    uint64_t held = polx_min(t->held_pages, polx_sat_sub(keep, t->free_pages));
    uint64_t wanted = polx_grow_wanted(plan);
    /* Growth is given only above what is kept: what free memory lacks of that
     * must come first, or the VM would wait for ever. */
    uint64_t lacking =
        wanted == 0
            ? 0
            : polx_sat_sub(polx_sat_sub(wanted + keep, t->free_pages), held);

    plan->draw_pages = polx_plus(lacking, held);
    plan->draw_reason = held > lacking ? POL_WHY_HOLD : POL_WHY_REBALANCE;
    plan->urgent_hold = held > 0 && polx_holds_urgent(ctx);
    /* Differences that are small for each VM may be large for all of them. */
    plan->draw_all =
        held > 0 || (wanted > 0 && ctx->host.now_ms < ctx->hungry_until_ms);
}

/*
 * Free memory that may be given out now. Ordinary growth leaves what targets
 * aim at. A guest in distress may take the host down to just above the next
 * worse state: its target says that the memory is its own, and the others'
 * are already being taken down to theirs.
 */
static void budgets(struct polx_plan *plan)
{
    const struct pol_ctx *ctx = plan->ctx;
    const struct polx_totals *t = &ctx->totals;
    uint64_t floor =
        ctx->state <= POL_STATE_CLEAR ? ctx->levels.soft : ctx->levels.hard;

    plan->budget = polx_sat_sub(t->free_pages, t->aim_pages + t->held_pages);
    plan->budget_distress =
        polx_sat_sub(t->free_pages, floor + ctx->levels.margin + t->held_pages);
    if (ctx->state >= POL_STATE_HARD) {
        plan->budget_distress = 0;
    }
    plan->budget_distress = polx_max(plan->budget_distress, plan->budget);
}

static void begin(struct polx_plan *plan, struct pol_ctx *ctx,
                  struct pol_action *actions)
{
    uint64_t elapsed =
        ctx->plans == 0 ? 1000u : ctx->host.now_ms - ctx->last_plan_ms;

    memset(plan, 0, sizeof(*plan));
    plan->ctx = ctx;
    plan->actions = actions;
    plan->cap = pol_plan_bound(ctx);
    plan->elapsed_ms =
        polx_max(polx_min(elapsed, MAX_ELAPSED_MS), MIN_ELAPSED_MS);
    plan->swap_left = ctx->host.swap_free_pages;
}

int pol_plan(struct pol_ctx *ctx, struct pol_action *actions, size_t cap,
             size_t *n)
{
    struct polx_plan plan;

    if (!ctx->observed) {
        return POL_ERR_INVALID;
    }
    if (cap < pol_plan_bound(ctx)) {
        return POL_ERR_BUFFER;
    }
    begin(&plan, ctx, actions);
    polx_holds_expire(&plan);
    polx_assess(&plan);
    note_settled(&plan);
    next_state(&plan);
    note_short(&plan);
    draw(&plan);
    budgets(&plan);
    polx_shrink_all(&plan);
    polx_grow_all(&plan);
    scan_rate(&plan);
    polx_holds_advance(&plan);
    ctx->plans++;
    ctx->last_plan_ms = ctx->host.now_ms;
    *n = plan.n;
    POLX_ASSERT_DEAR(polx_ctx_is_valid(ctx));
    polx_trace_plan(ctx, actions, plan.n);
    return POL_OK;
}
