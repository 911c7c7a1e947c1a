/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters that will hurt (ESX09 section 6). */
#include "internal.h"

#include <string.h>

#define FINDINGS_PER_VM 6u
#define FINDINGS_HOST   5u

const char *pol_lint_name(int kind)
{
    switch (kind) {
#define CASE(name, value, token, text)                                         \
    case name:                                                                 \
        return token;
        POL_LINTS(CASE)
#undef CASE
    default:
        return "?";
    }
}

const char *pol_lint_text(int kind)
{
    switch (kind) {
#define CASE(name, value, token, text)                                         \
    case name:                                                                 \
        return text;
        POL_LINTS(CASE)
#undef CASE
    default:
        return "?";
    }
}

/** Findings being collected; room has been checked. */
struct list {
    struct pol_finding *findings;
    size_t n;
};

static void add(struct list *list, uint64_t vm, uint32_t kind, uint64_t figure,
                uint64_t bound)
{
    struct pol_finding *f = &list->findings[list->n++];

    memset(f, 0, sizeof(*f));
    f->vm = vm;
    f->kind = kind;
    f->figure_pages = figure;
    f->bound_pages = bound;
}

static bool can_balloon(const struct polx_vm *vm)
{
    return (vm->flags & POL_VM_NO_BALLOON) == 0 &&
           vm->driver != POL_DRIVER_ABSENT &&
           vm->lifecycle != POL_LIFE_PINNED && (vm->bits & POLX_VM_STUCK) == 0;
}

/* Parameters against what the VM is known to use. */
static void look_at_use(const struct polx_vm *vm, struct list *list)
{
    uint64_t active = vm->active_pages;

    if (vm->evidence == POL_EVIDENCE_NONE) {
        add(list, vm->id, POL_LINT_NO_STATISTICS, 0, 0);
        return;
    }
    if (vm->limit_pages < active) {
        add(list, vm->id, POL_LINT_LIMIT_BELOW_ACTIVE, active, vm->limit_pages);
    }
    if (vm->reservation_pages / 2 > active) {
        add(list, vm->id, POL_LINT_RESERVATION_UNUSED, active,
            vm->reservation_pages);
    }
    if (vm->size_pages / 4 > active) {
        add(list, vm->id, POL_LINT_OVERSIZED, active, vm->size_pages);
    }
}

static void look_at_vm(const struct pol_ctx *ctx, const struct polx_vm *vm,
                       struct list *list)
{
    if (vm->limit_pages < vm->size_pages) {
        add(list, vm->id, POL_LINT_LIMIT_BELOW_SIZE, vm->size_pages,
            vm->limit_pages);
    }
    if (!can_balloon(vm)) {
        add(list, vm->id,
            polx_can_swap(ctx, vm) ? POL_LINT_NO_BALLOON : POL_LINT_NO_MEANS, 0,
            0);
    }
    look_at_use(vm, list);
}

static void look_at_host(const struct pol_ctx *ctx, struct list *list)
{
    const struct polx_totals *t = &ctx->totals;
    uint64_t active = 0, swap = 0;
    uint64_t fixed = polx_plus(t->reserved_pages, t->overhead_pages);
    uint32_t slot;

    for (slot = 0; slot < ctx->vm_high; slot++) {
        const struct polx_vm *vm = &ctx->vms[slot];

        if (polx_vm_used(vm)) {
            active = polx_plus(active, vm->active_pages);
            swap = polx_plus(swap, vm->size_pages - vm->reservation_pages);
        }
    }
    if (active > t->available_pages) {
        add(list, 0, POL_LINT_WORKING_SETS, active, t->available_pages);
    }
    if (fixed > polx_bp(ctx->host.total_pages, 9000)) {
        add(list, 0, POL_LINT_RESERVATIONS, fixed, ctx->host.total_pages);
    }
    if ((ctx->host.caps & POL_CAP_SWAP) == 0) {
        add(list, 0, POL_LINT_NO_SWAP, 0, 0);
    } else if (ctx->host.swap_total_pages < swap) {
        add(list, 0, POL_LINT_SWAP_SPACE, ctx->host.swap_total_pages, swap);
    }
    if ((ctx->host.caps & POL_CAP_SHARE) == 0) {
        add(list, 0, POL_LINT_NO_SHARING, 0, 0);
    }
}

size_t pol_lint_bound(const struct pol_ctx *ctx)
{
    return (size_t)ctx->vm_count * FINDINGS_PER_VM + FINDINGS_HOST;
}

int pol_lint(const struct pol_ctx *ctx, struct pol_finding *findings,
             size_t cap, size_t *n)
{
    struct list list = { findings, 0 };
    uint32_t slot;

    if (ctx->plans == 0) {
        return POL_ERR_INVALID;
    }
    if (cap < pol_lint_bound(ctx)) {
        return POL_ERR_BUFFER;
    }
    look_at_host(ctx, &list);
    for (slot = 0; slot < ctx->vm_high; slot++) {
        if (polx_vm_used(&ctx->vms[slot])) {
            look_at_vm(ctx, &ctx->vms[slot], &list);
        }
    }
    *n = list.n;
    return POL_OK;
}
