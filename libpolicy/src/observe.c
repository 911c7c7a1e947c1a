/* SPDX-License-Identifier: BSD-2-Clause */
/* Taking in observations: ranges of what is measured, sense of what guests
 * say. */
#include "internal.h"
#include "record.h"

/* No sum of times can overflow. */
#define MAX_NOW_MS (UINT64_C(1) << 62)

int pol_observe_host(struct pol_ctx *ctx, const struct pol_host_obs *obs)
{
    if (obs->size != sizeof(*obs)) {
        return POL_ERR_VERSION;
    }
    if (obs->total_pages < 1 || obs->total_pages > POL_MAX_PAGES ||
        obs->free_pages > obs->total_pages ||
        obs->swap_total_pages > POL_MAX_PAGES ||
        obs->swap_free_pages > obs->swap_total_pages ||
        obs->now_ms > MAX_NOW_MS || (obs->caps & ~POL_CAPS_ALL) != 0 ||
        obs->reserved_0 != 0) {
        return POL_ERR_RANGE;
    }
    if (ctx->observed && obs->now_ms < ctx->host.now_ms) {
        return POL_ERR_CLOCK;
    }
    ctx->host = *obs;
    ctx->observed = 1;
    polx_levels_compute(ctx);
    polx_trace_host_obs(ctx, obs);
    return POL_OK;
}

static bool in_range(const struct pol_vm_obs *o)
{
    const struct {
        uint32_t bit;
        uint64_t pages;
    } fields[] = {
        { POL_OBS_CONSUMED, o->consumed_pages },
        { POL_OBS_GRANTED, o->granted_pages },
        { POL_OBS_ACTUAL, o->actual_pages },
        { POL_OBS_SWAPPED, o->swapped_pages },
        { POL_OBS_TARGET, o->target_seen_pages },
        { POL_OBS_OVERHEAD, o->overhead_pages },
        { POL_OBS_MEASURED, o->measured_active_pages },
    };
    size_t i;

    for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if ((o->valid & fields[i].bit) != 0 &&
            fields[i].pages > POL_MAX_PAGES) {
            return false;
        }
    }
    return (o->valid & ~POL_OBS_ALL) == 0 && o->lifecycle < POL_LIFECYCLES &&
           o->driver < POL_DRIVERS && o->blocked <= 1 && o->reserved_0 == 0 &&
           o->reserved_1 == 0;
}

/* A guest that starts over: nothing learnt about it holds any longer. */
static void forget_guest(struct polx_vm *vm)
{
    vm->bits &= ~(uint32_t)(POLX_VM_PROVEN | POLX_VM_STUCK | POLX_VM_FOREIGN |
                            POLX_VM_ADOPTED | POLX_VM_ASKED | POLX_VM_RETRYING |
                            POLX_VM_SAMPLING | POLX_VM_SAMPLED |
                            POLX_VM_HAS_SWAP_IN | POLX_VM_HAS_FAULTS |
                            POLX_VM_CLAIMED | POLX_VM_MEASURED | POLX_VM_MOVED);
    vm->offset_pages = 0;
    vm->backoff_ms = 0;
    vm->distress_until_ms = 0;
    vm->swapping_until_ms = 0;
    vm->granted_more_pages = 0;
    vm->slow_q16 = vm->fast_q16 = vm->running_q16 = vm->last_q16 = 0;
    vm->floor_pages = 0;
}

static void take_lifecycle(const struct pol_ctx *ctx, struct polx_vm *vm,
                           const struct pol_vm_obs *o)
{
    bool starts =
        o->lifecycle == POL_LIFE_REBOOTING || o->lifecycle == POL_LIFE_BUILDING;

    if (starts && o->lifecycle != vm->lifecycle) {
        forget_guest(vm);
    }
    /* The clock of a stuck balloon starts with its driver. */
    if (o->driver != vm->driver || o->lifecycle != vm->lifecycle) {
        vm->progress_ms = ctx->host.now_ms;
    }
    if (o->lifecycle != vm->lifecycle) {
        vm->lifecycle_ms = ctx->host.now_ms;
        /* A first sight after a restart of ours is no start of the guest. */
        vm->bits |= (vm->bits & POLX_VM_SEEN) != 0 ? POLX_VM_STARTED : 0u;
    }
    if (o->driver == POL_DRIVER_ABSENT || o->driver == POL_DRIVER_BOOTING) {
        /* What was asked of the driver before is asked of nobody now. That it
         * was stuck is not forgotten: guests may say what they like. */
        vm->bits &=
            ~(uint32_t)(POLX_VM_PROVEN | POLX_VM_RETRYING | POLX_VM_ASKED |
                        POLX_VM_ADOPTED | POLX_VM_MOVED);
        vm->offset_pages = 0;
        if (vm->lifecycle == POL_LIFE_RUNNING &&
            vm->driver == POL_DRIVER_PRESENT) {
            vm->driver_from_ms = ctx->host.now_ms + ctx->config.stuck_ms;
        }
    }
    vm->lifecycle = o->lifecycle;
    vm->driver = o->driver;
}

/* Somebody else's target is one on record that is not ours. Differences
 * smaller than the unit in which the host keeps it are rounding. */
static void take_target(struct polx_vm *vm, uint64_t seen)
{
    uint64_t unit = UINT64_C(1) << vm->granule_shift;
    uint64_t d;

    /* A record may count more than the VM's memory, such as video memory. */
    seen = polx_min(seen, vm->size_pages);
    d = polx_distance(seen, vm->asked_pages);

    if ((vm->bits & (POLX_VM_ASKED | POLX_VM_ADOPTED)) == 0) {
        vm->asked_pages = seen;
        vm->bits |= POLX_VM_ADOPTED;
    } else if (d >= unit) {
        vm->asked_pages = seen;
        vm->bits |= POLX_VM_FOREIGN;
    }
}

static void take_measured(const struct pol_ctx *ctx, struct polx_vm *vm,
                          const struct pol_vm_obs *o)
{
    if ((o->valid & POL_OBS_CONSUMED) != 0) {
        vm->consumed_pages = o->consumed_pages;
        vm->granted_pages = o->consumed_pages;
    }
    if ((o->valid & POL_OBS_GRANTED) != 0) {
        vm->granted_pages = o->granted_pages;
    }
    if ((o->valid & POL_OBS_SWAPPED) != 0) {
        vm->swapped_pages = o->swapped_pages;
    }
    if ((o->valid & POL_OBS_OVERHEAD) != 0) {
        vm->overhead_pages = o->overhead_pages;
    }
    if ((o->valid & POL_OBS_ACTUAL) != 0) {
        vm->actual_pages = polx_min(o->actual_pages, vm->size_pages);
    }
    if ((vm->bits & POLX_VM_SEEN) == 0) {
        vm->progress_pages = vm->actual_pages;
        vm->progress_ms = ctx->host.now_ms;
        vm->bits |= POLX_VM_SEEN;
    }
    if ((vm->bits & (POLX_VM_ASKED | POLX_VM_ADOPTED)) == 0) {
        /* Nothing of ours is on record: what is there now is where we begin,
         * after a restart of ours as after one of the guest. */
        vm->asked_pages = vm->actual_pages;
    }
    if ((o->valid & POL_OBS_TARGET) != 0) {
        take_target(vm, o->target_seen_pages);
    }
    if ((o->valid & POL_OBS_MEASURED) != 0) {
        vm->measured_pages = o->measured_active_pages;
        vm->measured_ms = polx_sat_sub(ctx->host.now_ms, o->measured_age_ms);
        vm->bits |= POLX_VM_MEASURED;
    }
    if (o->blocked) {
        vm->bits |= POLX_VM_BLOCKED;
    } else {
        vm->bits &= ~(uint32_t)POLX_VM_BLOCKED;
    }
}

/* Can these figures be true of a guest that has `actual` pages? Guests count
 * without what their kernel reserved at boot, so total may be less. */
static bool guest_sane(const struct polx_vm *vm, const struct pol_vm_obs *o)
{
    uint64_t most = vm->size_pages;

    if ((o->valid & POL_OBS_GUEST_TOTAL) != 0) {
        if (o->guest_total_pages > most || o->guest_total_pages == 0) {
            return false;
        }
        most = o->guest_total_pages;
    }
    if ((o->valid & POL_OBS_GUEST_AVAILABLE) != 0 &&
        o->guest_available_pages > most) {
        return false;
    }
    if ((o->valid & POL_OBS_GUEST_FREE) != 0 && o->guest_free_pages > most) {
        return false;
    }
    if ((o->valid & POL_OBS_GUEST_STALL) != 0 && o->guest_stall_bp > 10000) {
        return false;
    }
    return (o->valid & POL_OBS_GUEST_FLOOR) == 0 ||
           o->guest_floor_pages <= vm->size_pages;
}

/*
 * Rate of a guest's counter since the last report, per second. 0 when there
 * is no earlier value, when the counter has gone back (a reboot, a wrap), or
 * when it says that half of the VM's memory and more goes through in a
 * second: a jump like that is no rate, or not one of pages.
 */
static uint64_t rate_of(uint64_t now, uint64_t before, uint64_t ms,
                        uint64_t size)
{
    uint64_t d;

    if (ms == 0 || now < before) {
        return 0;
    }
    d = now - before;
    if (d > (UINT64_C(1) << 53) || d * 1000u / ms > size / 2) {
        return 0;
    }
    return d * 1000u / ms;
}

static void take_counters(struct pol_ctx *ctx, struct polx_vm *vm,
                          const struct pol_vm_obs *o)
{
    const struct pol_config *c = &ctx->config;
    uint64_t now = polx_sat_sub(ctx->host.now_ms, o->guest_age_ms);
    uint64_t ms = polx_sat_sub(now, vm->counters_ms);
    bool distress = false;

    /* Both counters share one time: one that is not told now has no last
     * value for the next report. */
    if ((o->valid & POL_OBS_GUEST_SWAP_IN) == 0) {
        vm->bits &= ~(uint32_t)POLX_VM_HAS_SWAP_IN;
    } else {
        if ((vm->bits & POLX_VM_HAS_SWAP_IN) != 0 && c->distress_swap_in != 0) {
            distress |= rate_of(o->guest_swap_in_pages, vm->swap_in_counter, ms,
                                vm->size_pages) >= c->distress_swap_in;
            if (distress) {
                vm->swapping_until_ms = ctx->host.now_ms + c->distress_ms;
            }
        }
        vm->swap_in_counter = o->guest_swap_in_pages;
        vm->bits |= POLX_VM_HAS_SWAP_IN;
    }
    if ((o->valid & POL_OBS_GUEST_FAULTS) == 0) {
        vm->bits &= ~(uint32_t)POLX_VM_HAS_FAULTS;
    } else {
        if ((vm->bits & POLX_VM_HAS_FAULTS) != 0 && c->distress_faults != 0) {
            distress |= rate_of(o->guest_faults, vm->faults_counter, ms,
                                vm->size_pages) >= c->distress_faults;
        }
        vm->faults_counter = o->guest_faults;
        vm->bits |= POLX_VM_HAS_FAULTS;
    }
    if ((o->valid & POL_OBS_GUEST_STALL) != 0 && c->distress_stall_bp != 0) {
        distress |= o->guest_stall_bp >= c->distress_stall_bp;
    }
    if ((vm->bits & (POLX_VM_HAS_SWAP_IN | POLX_VM_HAS_FAULTS)) != 0) {
        vm->counters_ms = now;
    }
    if (distress) {
        vm->distress_until_ms = ctx->host.now_ms + c->distress_ms;
    }
}

#define GUEST_BITS                                                             \
    (POL_OBS_GUEST_FREE | POL_OBS_GUEST_AVAILABLE | POL_OBS_GUEST_TOTAL |      \
     POL_OBS_GUEST_FLOOR | POL_OBS_GUEST_SWAP_IN | POL_OBS_GUEST_FAULTS |      \
     POL_OBS_GUEST_STALL)

/*
 * What the guest uses is what it has less what it could do without. `actual`
 * is the host's own figure: counting from the guest's total would count a
 * balloon as used memory with some drivers.
 */
static void take_guest(struct pol_ctx *ctx, struct polx_vm *vm,
                       const struct pol_vm_obs *o)
{
    uint64_t spare = 0;

    /* A guest that says nothing takes nothing back of what it said before:
     * that ages by itself. */
    if ((o->valid & GUEST_BITS) == 0 ||
        o->guest_age_ms >= ctx->config.stale_ms) {
        return;
    }
    if (!guest_sane(vm, o)) {
        vm->bits |= POLX_VM_BAD_STATS;
        vm->bits &= ~(uint32_t)(POLX_VM_CLAIMED | POLX_VM_HAS_SWAP_IN |
                                POLX_VM_HAS_FAULTS);
        vm->floor_pages = 0;
        return;
    }
    vm->bits &= ~(uint32_t)POLX_VM_BAD_STATS;
    if ((o->valid & POL_OBS_GUEST_AVAILABLE) != 0) {
        spare = o->guest_available_pages;
    } else if ((o->valid & POL_OBS_GUEST_FREE) != 0) {
        spare = o->guest_free_pages;
    }
    if ((o->valid & (POL_OBS_GUEST_AVAILABLE | POL_OBS_GUEST_FREE)) != 0) {
        vm->claimed_pages = polx_sat_sub(vm->actual_pages, spare);
        vm->claimed_ms = polx_sat_sub(ctx->host.now_ms, o->guest_age_ms);
        vm->bits |= POLX_VM_CLAIMED;
    }
    vm->floor_pages =
        (o->valid & POL_OBS_GUEST_FLOOR) != 0 ? o->guest_floor_pages : 0;
    take_counters(ctx, vm, o);
}

int pol_observe_vm(struct pol_ctx *ctx, uint64_t id,
                   const struct pol_vm_obs *obs)
{
    uint32_t slot = polx_vm_slot(ctx, id);
    struct polx_vm *vm;

    if (slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    if (obs->size != sizeof(*obs)) {
        return POL_ERR_VERSION;
    }
    if (!in_range(obs)) {
        return POL_ERR_RANGE;
    }
    vm = &ctx->vms[slot];
    take_lifecycle(ctx, vm, obs);
    take_measured(ctx, vm, obs);
    take_guest(ctx, vm, obs);
    polx_hold_filled(ctx, vm);
    polx_trace_vm_obs(ctx, id, obs);
    return POL_OK;
}
