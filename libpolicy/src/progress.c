/* SPDX-License-Identifier: BSD-2-Clause */
/* Is a balloon doing what it was asked? */
#include "internal.h"

uint64_t polx_tolerance(const struct polx_vm *vm)
{
    return (vm->size_pages >> 8) + (UINT64_C(1) << vm->granule_shift);
}

/* What a balloon that has done as asked shows: some always stop beside it
 * (squeezed took every such VM for an uncooperative one). */
uint64_t polx_expected(const struct polx_vm *vm)
{
    if (vm->offset_pages >= 0) {
        return polx_min(vm->asked_pages + (uint32_t)vm->offset_pages,
                        vm->size_pages);
    }
    return polx_sat_sub(vm->asked_pages, (uint32_t)-vm->offset_pages);
}

static uint64_t gap_of(const struct polx_vm *vm)
{
    return polx_distance(vm->actual_pages, polx_expected(vm));
}

void polx_progress_asked(const struct pol_ctx *ctx, struct polx_vm *vm,
                         uint64_t pages)
{
    /* A balloon on its way that is asked to go further the same way is not
     * given more time: only having arrived starts the clock anew. */
    if (gap_of(vm) <= polx_tolerance(vm) ||
        (vm->actual_pages > vm->asked_pages) != (vm->actual_pages > pages)) {
        vm->progress_ms = ctx->host.now_ms;
        vm->progress_pages = vm->actual_pages;
    }
    vm->asked_pages = pages;
    vm->bits |= POLX_VM_ASKED;
}

static void arrived(const struct pol_ctx *ctx, struct polx_vm *vm)
{
    vm->progress_ms = ctx->host.now_ms;
    vm->progress_pages = vm->actual_pages;
    /* Being where one was asked to stay is no proof of being able to move. */
    if ((vm->bits & POLX_VM_MOVED) != 0) {
        vm->backoff_ms = 0;
        vm->bits &=
            ~(uint32_t)(POLX_VM_STUCK | POLX_VM_RETRYING | POLX_VM_MOVED);
    }
}

/* A balloon that went most of the way and then stays where it is has an
 * offset; one that has not moved, or stopped far away, has none. */
static bool learn_offset(struct polx_vm *vm)
{
    uint64_t d = polx_distance(vm->actual_pages, vm->asked_pages);

    if ((vm->bits & POLX_VM_MOVED) == 0 || d > vm->size_pages >> 4 ||
        d > INT32_MAX) {
        return false;
    }
    vm->offset_pages =
        vm->actual_pages >= vm->asked_pages ? (int32_t)d : -(int32_t)d;
    return true;
}

static void moved(const struct pol_ctx *ctx, struct polx_vm *vm)
{
    vm->progress_ms = ctx->host.now_ms;
    vm->progress_pages = vm->actual_pages;
    vm->bits |= POLX_VM_PROVEN | POLX_VM_MOVED;
}

void polx_progress_stuck(const struct pol_ctx *ctx, struct polx_vm *vm)
{
    const struct pol_config *c = &ctx->config;

    vm->backoff_ms = vm->backoff_ms == 0
                         ? c->retry_ms
                         : (uint32_t)polx_min((uint64_t)vm->backoff_ms * 2u,
                                              c->retry_max_ms);
    vm->retry_at_ms = ctx->host.now_ms + vm->backoff_ms;
    vm->bits |= POLX_VM_STUCK;
    vm->bits &= ~(uint32_t)POLX_VM_RETRYING;
}

/* A stuck balloon may be tried again: it is not stuck until shown so. */
static void retry(struct polx_plan *plan, struct polx_vm *vm)
{
    if ((vm->bits & POLX_VM_STUCK) != 0 &&
        plan->ctx->host.now_ms >= vm->retry_at_ms) {
        vm->bits &= ~(uint32_t)POLX_VM_STUCK;
        vm->bits |= POLX_VM_RETRYING;
        vm->progress_ms = plan->ctx->host.now_ms;
        vm->progress_pages = vm->actual_pages;
        polx_emit(plan, vm->id, POL_ACT_NOTE, vm->asked_pages, POL_WHY_RETRY);
    }
}

void polx_progress(struct polx_plan *plan, struct polx_vm *vm)
{
    struct pol_ctx *ctx = plan->ctx;
    uint64_t step = (polx_tolerance(vm) >> 2) + 1;
    uint64_t gap = gap_of(vm);

    if ((vm->bits & POLX_VM_ASKED) == 0 || vm->lifecycle != POL_LIFE_RUNNING ||
        !polx_driver_usable(ctx, vm) ||
        (vm->bits & (POLX_VM_BLOCKED | POLX_VM_FOREIGN)) != 0) {
        vm->progress_ms = ctx->host.now_ms;
        if (vm->lifecycle == POL_LIFE_RUNNING) {
            retry(plan, vm);
        }
        return;
    }
    if (polx_distance(vm->actual_pages, vm->asked_pages) <=
        polx_tolerance(vm)) {
        /* Exactly where it was asked to be: whatever offset it had is gone. */
        vm->offset_pages = 0;
        gap = 0;
    }
    if (gap <= polx_tolerance(vm)) {
        if (vm->asked_pages < vm->size_pages) {
            vm->bits |= POLX_VM_PROVEN;
        }
        arrived(ctx, vm);
        retry(plan, vm);
    } else if (polx_distance(vm->progress_pages, polx_expected(vm)) >=
               gap + step) {
        moved(ctx, vm);
    } else if ((vm->bits & POLX_VM_STUCK) != 0) {
        retry(plan, vm);
    } else if (polx_age(ctx, vm->progress_ms) >= ctx->config.stuck_ms) {
        if (learn_offset(vm)) {
            arrived(ctx, vm);
        } else {
            polx_progress_stuck(ctx, vm);
            polx_emit(plan, vm->id, POL_ACT_NOTE, vm->actual_pages,
                      POL_WHY_STUCK);
        }
    }
}
