/* SPDX-License-Identifier: BSD-2-Clause */
#include "model_host.h"

#include <string.h>

#include "expect.h"

uint64_t model_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

uint64_t model_below(uint64_t *state, uint64_t n)
{
    return model_random(state) % n;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t consumed(const struct model_vm *vm)
{
    return less(vm->backed, vm->saved);
}

uint64_t model_free(const struct model_host *h)
{
    uint64_t used = h->own;
    size_t i;

    for (i = 0; i < MODEL_VMS; i++) {
        if (h->vms[i].alive) {
            used += consumed(&h->vms[i]) + h->vms[i].params.overhead_pages;
        }
    }
    return less(h->total, used);
}

static uint64_t swap_free(const struct model_host *h)
{
    uint64_t used = 0;
    size_t i;

    for (i = 0; i < MODEL_VMS; i++) {
        used += h->vms[i].alive ? h->vms[i].swapped : 0;
    }
    return less(h->swap_total, used);
}

/* Where the balloon is going. */
static uint64_t goal_of(const struct model_vm *vm)
{
    int64_t goal = (int64_t)vm->record + vm->offset;

    return least(goal < 0 ? 0 : (uint64_t)goal, vm->params.size_pages);
}

/* A balloon takes unbacked pages first, then swapped, then backed ones. */
static void inflate(struct model_vm *vm, uint64_t to)
{
    vm->actual = to;
    vm->swapped = least(vm->swapped, less(to, vm->backed));
    vm->backed = least(vm->backed, to);
    vm->saved = least(vm->saved, vm->backed);
}

static void run_balloon(struct model_vm *vm, uint64_t ms)
{
    uint64_t step = vm->speed / 1000 * ms + vm->speed % 1000 * ms / 1000;
    uint64_t goal = goal_of(vm);

    if (vm->lifecycle != POL_LIFE_RUNNING || vm->blocked) {
        return;
    }
    if (goal < vm->actual) {
        inflate(vm, vm->actual - least(step, vm->actual - goal));
    } else {
        vm->actual += least(step, goal - vm->actual);
    }
}

/* A guest touches at most an eighth of its size in a second. */
static void run_guest(struct model_host *h, struct model_vm *vm, uint64_t ms)
{
    uint64_t room = less(least(vm->actual, vm->wants), vm->backed);
    uint64_t pace = vm->params.size_pages / 8000 * ms + ms;
    uint64_t n = least(least(room, model_free(h)), pace);

    if (vm->blocked || vm->lifecycle == POL_LIFE_PAUSED) {
        return;
    }
    vm->backed += n;
    vm->swapped = least(vm->swapped, less(vm->actual, vm->backed));
}

void model_run(struct model_host *h, uint64_t ms)
{
    size_t i;

    h->now_ms += ms;
    for (i = 0; i < MODEL_VMS; i++) {
        if (h->vms[i].alive) {
            run_balloon(&h->vms[i], ms);
        }
    }
    for (i = 0; i < MODEL_VMS; i++) {
        if (h->vms[i].alive) {
            run_guest(h, &h->vms[i], ms);
        }
    }
}

/* A number that a hostile guest might put anywhere. */
static uint64_t garbage(uint64_t *seed, uint64_t size)
{
    switch (model_below(seed, 8)) {
    case 0:
        return UINT64_MAX;
    case 1:
        return 0;
    case 2:
        return size;
    case 3:
        return size + 1;
    case 4:
        return model_random(seed);
    case 5:
        return UINT64_C(1) << 63;
    default:
        return model_below(seed, size + 1);
    }
}

static void lie(struct model_host *h, const struct model_vm *vm,
                struct pol_vm_obs *o)
{
    uint64_t size = vm->params.size_pages;

    o->valid |= POL_OBS_ALL & ~(uint32_t)(POL_OBS_GUEST_FREE - 1u);
    o->valid &= ~(uint32_t)(model_random(&h->seed) &
                            (POL_OBS_GUEST_FREE | POL_OBS_GUEST_TOTAL));
    o->guest_age_ms =
        (uint32_t)(model_below(&h->seed, 4) == 0 ? garbage(&h->seed, size) : 0);
    o->guest_free_pages = garbage(&h->seed, size);
    o->guest_available_pages = garbage(&h->seed, size);
    o->guest_total_pages = garbage(&h->seed, size);
    o->guest_floor_pages = garbage(&h->seed, size);
    o->guest_swap_in_pages = garbage(&h->seed, size);
    o->guest_faults = garbage(&h->seed, size);
    o->guest_stall_bp = (uint32_t)garbage(&h->seed, 10000);
}

struct pol_vm_obs model_obs(struct model_host *h, const struct model_vm *vm)
{
    struct pol_vm_obs o;

    memset(&o, 0, sizeof(o));
    o.size = sizeof(o);
    o.lifecycle = vm->lifecycle;
    o.driver = vm->driver;
    o.blocked = vm->blocked;
    o.valid = POL_OBS_CONSUMED | POL_OBS_GRANTED | POL_OBS_ACTUAL |
              POL_OBS_SWAPPED | POL_OBS_TARGET;
    o.consumed_pages = consumed(vm);
    o.granted_pages = vm->backed;
    o.actual_pages = vm->actual;
    o.swapped_pages = vm->swapped;
    o.target_seen_pages = vm->record;
    if (vm->measure) {
        o.valid |= POL_OBS_MEASURED;
        o.measured_active_pages = least(vm->active, vm->params.size_pages);
    }
    if (vm->lies) {
        lie(h, vm, &o);
    } else if (vm->honest) {
        o.valid |= POL_OBS_GUEST_AVAILABLE | POL_OBS_GUEST_TOTAL;
        o.guest_total_pages = vm->params.size_pages;
        o.guest_available_pages = less(vm->actual, vm->active);
    }
    return o;
}

struct pol_host_obs model_host_obs(const struct model_host *h)
{
    struct pol_host_obs o;

    memset(&o, 0, sizeof(o));
    o.size = sizeof(o);
    o.now_ms = h->now_ms;
    o.total_pages = h->total;
    o.free_pages = model_free(h);
    o.swap_total_pages = h->swap_total;
    o.swap_free_pages = swap_free(h);
    o.caps = h->caps;
    return o;
}

void model_observe(struct model_host *h, struct pol_ctx *ctx)
{
    struct pol_host_obs host = model_host_obs(h);
    size_t i;

    MUST(pol_observe_host(ctx, &host));
    for (i = 0; i < MODEL_VMS; i++) {
        if (h->vms[i].alive) {
            struct pol_vm_obs o = model_obs(h, &h->vms[i]);

            MUST(pol_observe_vm(ctx, h->vms[i].id, &o));
        }
    }
}

struct model_vm *model_find(struct model_host *h, uint64_t id)
{
    size_t i;

    for (i = 0; i < MODEL_VMS; i++) {
        if (h->vms[i].alive && h->vms[i].id == id) {
            return &h->vms[i];
        }
    }
    return NULL;
}

static uint64_t carry_out(struct model_host *h, struct model_vm *vm,
                          const struct pol_action *a)
{
    uint64_t n;

    switch (a->kind) {
    case POL_ACT_BALLOON:
        vm->record = a->pages;
        return a->pages;
    case POL_ACT_SWAP_OUT:
        n = least(least(a->pages, vm->backed), swap_free(h));
        vm->backed -= n;
        vm->swapped += n;
        vm->saved = least(vm->saved, vm->backed);
        return n;
    case POL_ACT_SWAP_IN:
        n = least(least(a->pages, vm->swapped), model_free(h));
        vm->backed += n;
        vm->swapped -= n;
        return n;
    case POL_ACT_BLOCK:
    case POL_ACT_UNBLOCK:
        vm->blocked = a->kind == POL_ACT_BLOCK;
        return 0;
    default:
        return 0;
    }
}

void model_act(struct model_host *h, struct pol_ctx *ctx,
               const struct pol_action *actions, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++) {
        const struct pol_action *a = &actions[i];
        struct model_vm *vm = model_find(h, a->vm);

        if (a->kind == POL_ACT_NOTE || a->kind == POL_ACT_SHARE_RATE ||
            vm == NULL) {
            continue;
        }
        if (model_below(&h->seed, 10000) < vm->fail_bp) {
            MUST(pol_report(ctx, a, 0, POL_ERR_HOST));
        } else {
            MUST(pol_report(ctx, a, carry_out(h, vm, a), POL_OK));
        }
    }
}
