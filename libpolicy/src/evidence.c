/* SPDX-License-Identifier: BSD-2-Clause */
/* How much of a VM's memory is active, from whatever is known about it. */
#include "internal.h"

/*
 * A figure of a certain age, taken towards "all active" as it grows stale:
 * as it is up to fresh_ms, the VM's size from stale_ms on, linear between.
 */
static uint64_t aged(const struct pol_ctx *ctx, uint64_t pages, uint64_t size,
                     uint64_t age)
{
    uint64_t fresh = ctx->config.fresh_ms, stale = ctx->config.stale_ms;
    uint64_t late, span;

    if (age <= fresh || pages >= size) {
        return polx_min(pages, size);
    }
    if (age >= stale) {
        return size;
    }
    late = age - fresh;
    span = stale - fresh;
    /* late < span <= 2^27: divide first where the product could overflow. */
    if (size - pages < (UINT64_C(1) << 36)) {
        return pages + (size - pages) * late / span;
    }
    return pages + (size - pages) / span * late;
}

/** One source of evidence as it counts now. */
struct source {
    uint64_t raw;
    uint64_t aged;
    uint64_t age;
    bool usable;
};

static struct source source_of(const struct pol_ctx *ctx, uint64_t pages,
                               uint64_t size, uint64_t then)
{
    struct source s;

    s.raw = polx_min(pages, size);
    s.age = polx_age(ctx, then);
    s.usable = s.age < ctx->config.stale_ms || s.age <= ctx->config.fresh_ms;
    s.aged = aged(ctx, pages, size, s.age);
    return s;
}

/* While guests are in distress the slow average does not speak for a VM that
 * touches little. */
static uint64_t sampled_pages(const struct pol_ctx *ctx,
                              const struct polx_vm *vm)
{
    bool doubt =
        ctx->host.now_ms < ctx->hungry_until_ms && !polx_is_busy(ctx, vm);
    uint32_t q = doubt ? 0 : vm->slow_q16;

    q = vm->fast_q16 > q ? vm->fast_q16 : q;
    q = vm->running_q16 > q ? vm->running_q16 : q;
    /* size is at most 2^52: split to keep the product in 64 bits */
    return (vm->size_pages >> 16) * q +
           (((vm->size_pages & 0xffffu) * q + 0xffffu) >> 16);
}

/* What was measured on the host's side: the larger figure, so that no source
 * talks another one down, drifting only as fast as the fresher one ages. */
static struct source host_side(const struct pol_ctx *ctx, struct polx_vm *vm)
{
    struct source best = { 0, 0, 0, false }, s;

    if ((vm->bits & POLX_VM_SAMPLED) != 0) {
        best = source_of(ctx, sampled_pages(ctx, vm), vm->size_pages,
                         vm->sampled_ms);
        vm->evidence = POL_EVIDENCE_SAMPLED;
    }
    if ((vm->bits & POLX_VM_MEASURED) != 0) {
        s = source_of(ctx, vm->measured_pages, vm->size_pages, vm->measured_ms);
        if (s.usable && best.usable) {
            vm->evidence =
                s.age < best.age ? POL_EVIDENCE_MEASURED : POL_EVIDENCE_SAMPLED;
            best.raw = polx_max(best.raw, s.raw);
            best.aged = polx_max(polx_min(best.aged, s.aged), best.raw);
        } else if (s.usable) {
            best = s;
            vm->evidence = POL_EVIDENCE_MEASURED;
        }
    }
    return best;
}

uint64_t polx_active(const struct pol_ctx *ctx, struct polx_vm *vm)
{
    struct source host = host_side(ctx, vm), guest = { 0, 0, 0, false };

    if ((vm->bits & POLX_VM_CLAIMED) != 0) {
        guest =
            source_of(ctx, vm->claimed_pages, vm->size_pages, vm->claimed_ms);
    }
    if (host.usable) {
        /* What the guest says only softens the ageing, and never below what
         * was measured. */
        uint64_t said =
            guest.usable ? polx_max(guest.aged, host.raw) : host.aged;

        return polx_min(host.aged, said);
    }
    if (guest.usable) {
        vm->evidence = POL_EVIDENCE_GUEST;
        return guest.aged;
    }
    vm->evidence = POL_EVIDENCE_NONE;
    return vm->size_pages;
}

uint64_t polx_evidence_age(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    switch (vm->evidence) {
    case POL_EVIDENCE_SAMPLED:
        return polx_age(ctx, vm->sampled_ms);
    case POL_EVIDENCE_MEASURED:
        return polx_age(ctx, vm->measured_ms);
    case POL_EVIDENCE_GUEST:
        return polx_age(ctx, vm->claimed_ms);
    default:
        return 0;
    }
}
