/* SPDX-License-Identifier: BSD-2-Clause */
/* Sampling of working sets (ESX02 5.3): periods, choice of pages, averages. */
#include "internal.h"
#include "record.h"

#include <string.h>

#define ONE_Q16 65536u

/* A page number below n; the bias is below n / 2^64. */
static uint64_t below(uint64_t random, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)random * n) >> 64);
}

/* One step of a moving average towards x. */
static uint32_t towards(uint32_t average, uint32_t x, uint32_t gain_bp)
{
    if (x >= average) {
        return average + (uint32_t)((uint64_t)(x - average) * gain_bp / 10000u);
    }
    return average - (uint32_t)((uint64_t)(average - x) * gain_bp / 10000u);
}

static uint32_t touched_q16(const struct polx_vm *vm)
{
    return vm->watched == 0 ? 0 : vm->touched * ONE_Q16 / vm->watched;
}

/*
 * The slow average keeps a VM's memory from being taken at its first quiet
 * period. While guests are in distress, that caution costs more than it
 * saves, and declines are believed as fast as growth.
 */
static uint32_t slow_gain(const struct pol_ctx *ctx)
{
    return ctx->host.now_ms < ctx->hungry_until_ms ? ctx->config.fast_gain_bp
                                                   : ctx->config.slow_gain_bp;
}

/* Part of the VM's size, in pages, rounded down. */
static uint64_t part_of(const struct polx_vm *vm, uint32_t q16)
{
    return (vm->size_pages >> 16) * q16 +
           (((vm->size_pages & 0xffffu) * q16) >> 16);
}

/*
 * Judged by what was touched lately, not by averages: by the running period as
 * soon as a quarter of it has passed, extrapolated to the whole.
 */
bool polx_is_busy(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    uint64_t span = ctx->config.sample_period_ms;
    uint64_t past = polx_age(ctx, vm->period_host_ms);
    uint64_t q = touched_q16(vm);

    if ((vm->bits & POLX_VM_SAMPLED) == 0) {
        return vm->active_pages >= vm->consumed_pages / 4;
    }
    if (past <= span / 4) {
        q = q > vm->last_q16 ? q : vm->last_q16;
    } else if (past < span) {
        q = polx_min(q * span / past, ONE_Q16);
    }
    return part_of(vm, (uint32_t)q) >= vm->consumed_pages / 4;
}

/*
 * A guest in distress waits for its disk and touches less the worse it is off:
 * such a period shows no decline, unless next to nothing was touched.
 */
static bool shows_decline(const struct pol_ctx *ctx, const struct polx_vm *vm,
                          uint32_t x)
{
    return !polx_in_distress(ctx, vm) ||
           part_of(vm, x) < vm->consumed_pages / 4;
}

static void close_period(const struct pol_ctx *ctx, struct polx_vm *vm)
{
    const struct pol_config *config = &ctx->config;
    uint32_t x = touched_q16(vm);

    if ((vm->bits & POLX_VM_REPORTED) == 0) {
        return; /* nobody has looked: that is not "nothing touched" */
    }
    if ((vm->bits & POLX_VM_SAMPLED) == 0) {
        vm->slow_q16 = x;
        vm->fast_q16 = x;
    } else if (x > vm->fast_q16 || shows_decline(ctx, vm, x)) {
        vm->slow_q16 =
            towards(vm->slow_q16, x,
                    x > vm->slow_q16 ? config->slow_gain_bp : slow_gain(ctx));
        vm->fast_q16 = towards(vm->fast_q16, x, config->fast_gain_bp);
    }
    vm->last_q16 = x;
    vm->running_q16 = vm->fast_q16;
    vm->bits |= POLX_VM_SAMPLED;
}

int pol_ws_due(const struct pol_ctx *ctx, uint64_t id, uint64_t vm_time_ms)
{
    uint32_t slot = polx_vm_slot(ctx, id);
    const struct polx_vm *vm;

    if (slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    vm = &ctx->vms[slot];
    return (vm->bits & POLX_VM_SAMPLING) == 0 ||
           vm_time_ms < vm->period_start_ms ||
           polx_sat_sub(vm_time_ms, vm->period_start_ms) >=
               ctx->config.sample_period_ms;
}

int pol_ws_begin(struct pol_ctx *ctx, uint64_t id, uint64_t vm_time_ms,
                 uint64_t *pages, size_t cap, size_t *n)
{
    uint32_t slot = polx_vm_slot(ctx, id);
    struct polx_vm *vm;
    uint32_t i, count = ctx->config.sample_pages;
    uint64_t base;

    if (slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    if (cap < count) {
        return POL_ERR_BUFFER;
    }
    vm = &ctx->vms[slot];
    /* A VM whose time has begun anew is another guest: that period is void. */
    if ((vm->bits & POLX_VM_SAMPLING) != 0 &&
        vm_time_ms >= vm->period_start_ms) {
        close_period(ctx, vm);
    }
    vm->period++;
    vm->period_start_ms = vm_time_ms;
    vm->period_host_ms = ctx->host.now_ms;
    vm->watched = (uint16_t)count;
    vm->touched = 0;
    vm->bits |= POLX_VM_SAMPLING;
    vm->bits &= ~(uint32_t)POLX_VM_REPORTED;
    /* No state to keep, and the same choice in a replay. */
    base = polx_spread(polx_spread(ctx->config.seed ^ polx_spread(id)) ^
                       vm->period);
    for (i = 0; i < count; i++) {
        pages[i] = below(polx_spread(base + i), vm->size_pages);
    }
    *n = count;
    polx_trace_ws_begin(ctx, id, vm_time_ms);
    return POL_OK;
}

int pol_ws_report(struct pol_ctx *ctx, uint64_t id, uint32_t touched)
{
    uint32_t slot = polx_vm_slot(ctx, id);
    struct polx_vm *vm;

    if (slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    vm = &ctx->vms[slot];
    if ((vm->bits & POLX_VM_SAMPLING) == 0) {
        return POL_ERR_INVALID;
    }
    if (touched > vm->watched || touched < vm->touched) {
        return POL_ERR_RANGE;
    }
    vm->touched = (uint16_t)touched;
    vm->bits |= POLX_VM_REPORTED;
    vm->sampled_ms = ctx->host.now_ms;
    /* Within a period only growth says something: the count still rises. */
    if (touched_q16(vm) > vm->fast_q16) {
        vm->running_q16 =
            towards(vm->fast_q16, touched_q16(vm), ctx->config.fast_gain_bp);
    }
    polx_trace_ws_report(ctx, id, touched);
    return POL_OK;
}

int pol_ws_get(const struct pol_ctx *ctx, uint64_t id, struct pol_ws *out)
{
    uint32_t slot = polx_vm_slot(ctx, id);
    const struct polx_vm *vm;

    if (slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    vm = &ctx->vms[slot];
    memset(out, 0, sizeof(*out));
    out->active_pages = vm->active_pages;
    out->slow_bp = (uint32_t)((uint64_t)vm->slow_q16 * 10000u / ONE_Q16);
    out->fast_bp = (uint32_t)((uint64_t)vm->fast_q16 * 10000u / ONE_Q16);
    out->running_bp = (uint32_t)((uint64_t)vm->running_q16 * 10000u / ONE_Q16);
    out->evidence = vm->evidence;
    out->age_ms = (uint32_t)polx_min(polx_evidence_age(ctx, vm), UINT32_MAX);
    out->distress = ctx->host.now_ms < vm->distress_until_ms;
    return POL_OK;
}
