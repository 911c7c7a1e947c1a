/* SPDX-License-Identifier: BSD-2-Clause */
#include "history.h"

#include <string.h>

const char *const history_call_names[HISTORY_CALLS] = {
    [CALL_TUNE] = "tune",
    [CALL_VM_ADD] = "vm_add",
    [CALL_VM_SET] = "vm_set",
    [CALL_VM_REMOVE] = "vm_remove",
    [CALL_VM_RELEASE] = "vm_release",
    [CALL_GROUP_ADD] = "group_add",
    [CALL_GROUP_SET] = "group_set",
    [CALL_GROUP_REMOVE] = "group_remove",
    [CALL_HOST_OBS] = "observe_host",
    [CALL_VM_OBS] = "observe_vm",
    [CALL_WS_BEGIN] = "ws_begin",
    [CALL_WS_REPORT] = "ws_report",
    [CALL_PLAN] = "plan",
    [CALL_REPORT] = "report",
    [CALL_HOLD_ADD] = "hold_add",
    [CALL_HOLD_TAKE] = "hold_take",
    [CALL_HOLD_RELEASE] = "hold_release",
};

/* splitmix64 */
uint64_t history_random(struct history *h)
{
    uint64_t z = (h->random += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t below(struct history *h, uint64_t n)
{
    return history_random(h) % n;
}

static int one_in(struct history *h, uint64_t n)
{
    return below(h, n) == 0;
}

/* Any number, small ones and powers of two as likely as huge ones. */
static uint64_t anything(struct history *h)
{
    uint64_t v = history_random(h) >> below(h, 64);

    return one_in(h, 8) ? UINT64_MAX : v;
}

static int count(struct history *h, enum history_call call, int rc)
{
    if (rc == POL_OK) {
        h->counts->ok[call]++;
    } else {
        h->counts->failed[call]++;
    }
    return rc;
}

/* 1..HISTORY_VMS: also the index into h->vm. */
static uint64_t some_vm(struct history *h)
{
    return 1 + below(h, HISTORY_VMS);
}

static uint64_t some_group(struct history *h)
{
    return below(h, HISTORY_GROUPS + 1);
}

/* Mostly one that exists. */
static uint64_t some_parent(struct history *h)
{
    return one_in(h, 2) ? POL_ROOT_GROUP : some_group(h);
}

static void random_tuning(struct history *h, struct pol_config *config)
{
    static const uint32_t taxes[] = { 0, 5000, 7500, 9900 };

    config->idle_tax_bp = taxes[below(h, 4)];
    config->headroom_bp = (uint32_t)below(h, 3000);
    config->host_reserve_pages = below(h, 2000);
    config->sample_period_ms = 1 + (uint32_t)below(h, 30000);
    config->sample_pages = 1 + (uint32_t)below(h, 1000);
    config->balloon_step_bp = 1 + (uint32_t)below(h, 10000);
    config->stuck_ms = 1 + (uint32_t)below(h, 20000);
    config->promise_ms = (uint32_t)below(h, 20000);
    config->block_max_ms = 1 + (uint32_t)below(h, 10000);
    config->admission_needs_swap = (uint32_t)below(h, 2);
    if (one_in(h, 16)) {
        config->dead_band_bp = (uint32_t)anything(h);
    }
    if (pol_config_preset(config, (int)below(h, POL_PRESETS)) != POL_OK) {
        config->size = 0; /* cannot be: the call using it then fails */
    }
}

static void tune(struct history *h)
{
    struct pol_config config = *pol_ctx_config(h->ctx);

    random_tuning(h, &config);
    config.seed += one_in(h, 32); /* refused */
    count(h, CALL_TUNE, pol_ctx_tune(h->ctx, &config));
}

static void vm_params(struct history *h, struct pol_vm_params *p)
{
    static const uint32_t granules[] = { 1, 1, 1, 256, 512 };
    uint64_t size = 1000 + below(h, 60000);

    pol_vm_params_init(p, size);
    p->group = some_parent(h);
    p->shares = 1 + below(h, 4000);
    p->reservation_pages = one_in(h, 2) ? below(h, size / 2) : 0;
    p->limit_pages = one_in(h, 4) ? 1 + below(h, 2 * size) : POL_NO_LIMIT;
    p->overhead_pages = below(h, 500);
    p->granule_pages = granules[below(h, 5)];
    p->tax_bp =
        one_in(h, 4) ? (uint32_t)below(h, POL_MAX_TAX_BP + 1) : POL_TAX_DEFAULT;
    p->flags = one_in(h, 4) ? (uint32_t)below(h, 8) : 0;
    if (one_in(h, 32)) {
        p->size_pages = anything(h);
    }
}

static void vm_add(struct history *h)
{
    struct pol_vm_params p;
    uint64_t id = some_vm(h);

    vm_params(h, &p);
    if (count(h, CALL_VM_ADD, pol_vm_add(h->ctx, id, &p)) == POL_OK) {
        struct history_vm *vm = &h->vm[id];

        memset(vm, 0, sizeof(*vm));
        vm->size_pages = vm->actual_pages = vm->asked_pages = p.size_pages;
    }
}

static void vm_set(struct history *h)
{
    struct pol_vm_params p;
    uint64_t id = some_vm(h);

    vm_params(h, &p);
    if (count(h, CALL_VM_SET, pol_vm_set(h->ctx, id, &p)) == POL_OK) {
        h->vm[id].size_pages = p.size_pages;
    }
}

static void vm_remove(struct history *h)
{
    count(h, CALL_VM_REMOVE, pol_vm_remove(h->ctx, some_vm(h)));
}

static void vm_release(struct history *h)
{
    count(h, CALL_VM_RELEASE, pol_vm_release(h->ctx, some_vm(h)));
}

static void group_params(struct history *h, struct pol_group_params *p)
{
    pol_group_params_init(p);
    p->parent = some_parent(h);
    p->shares = one_in(h, 16) ? anything(h) : 1 + below(h, 4000);
    p->limit_pages = one_in(h, 3) ? 1 + below(h, 100000) : POL_NO_LIMIT;
    p->reservation_pages = one_in(h, 2) ? below(h, 20000) : 0;
}

static void group_add(struct history *h)
{
    struct pol_group_params p;

    group_params(h, &p);
    count(h, CALL_GROUP_ADD, pol_group_add(h->ctx, some_group(h), &p));
}

static void group_set(struct history *h)
{
    struct pol_group_params p;

    group_params(h, &p);
    count(h, CALL_GROUP_SET, pol_group_set(h->ctx, some_group(h), &p));
}

static void group_remove(struct history *h)
{
    count(h, CALL_GROUP_REMOVE, pol_group_remove(h->ctx, some_group(h)));
}

static void observe_host(struct history *h)
{
    static const uint32_t parts[] = { 1, 8, 15, 25, 35, 45, 60, 70, 200, 900 };
    struct pol_host_obs obs = { .size = sizeof(obs) };

    if (one_in(h, 3)) {
        /* Any free-memory state, with equal chances. */
        h->free_pages = h->total_pages / 1000 * parts[below(h, 10)];
    }
    h->now_ms += below(h, 4000);
    obs.now_ms = h->now_ms;
    obs.total_pages = h->total_pages;
    obs.free_pages = h->free_pages;
    obs.swap_total_pages = h->total_pages;
    obs.swap_free_pages = below(h, h->total_pages + 1);
    obs.caps = one_in(h, 4) ? (uint32_t)below(h, 33) : POL_CAPS_ALL;
    if (one_in(h, 32)) {
        obs.now_ms = anything(h) >> 20;
    }
    if (one_in(h, 32)) {
        obs.total_pages = anything(h);
    }
    if (count(h, CALL_HOST_OBS, pol_observe_host(h->ctx, &obs)) == POL_OK) {
        h->now_ms = obs.now_ms;
    }
}

static void absurd_vm_obs(struct history *h, struct pol_vm_obs *o)
{
    o->valid = (uint32_t)below(h, 2u * (POL_OBS_ALL + 1));
    o->lifecycle = (uint8_t)below(h, POL_LIFECYCLES + 1);
    o->driver = (uint8_t)below(h, POL_DRIVERS + 1);
    o->consumed_pages = anything(h);
    o->granted_pages = anything(h) >> 12;
    o->actual_pages = anything(h) >> 12;
    o->swapped_pages = anything(h) >> 12;
    o->target_seen_pages = anything(h) >> 12;
    o->overhead_pages = anything(h) >> 12;
    o->measured_active_pages = anything(h) >> 12;
    o->measured_age_ms = (uint32_t)anything(h);
    o->guest_age_ms = (uint32_t)anything(h);
    o->guest_free_pages = anything(h);
    o->guest_available_pages = anything(h);
    o->guest_total_pages = anything(h);
    o->guest_floor_pages = anything(h);
    o->guest_swap_in_pages = anything(h);
    o->guest_faults = anything(h);
    o->guest_stall_bp = (uint32_t)anything(h);
}

/* A balloon goes half of the way, or sometimes nowhere. */
static void likely_vm_obs(struct history *h, struct history_vm *vm,
                          struct pol_vm_obs *o)
{
    uint64_t size = vm->size_pages > 0 ? vm->size_pages : 1;

    if (!one_in(h, 4)) {
        vm->actual_pages = (vm->actual_pages + vm->asked_pages) / 2;
    }
    o->valid = POL_OBS_ALL & (uint32_t)(history_random(h) | history_random(h));
    o->lifecycle =
        one_in(h, 6) ? (uint8_t)below(h, POL_LIFECYCLES) : POL_LIFE_RUNNING;
    o->driver =
        one_in(h, 6) ? (uint8_t)below(h, POL_DRIVERS) : POL_DRIVER_PRESENT;
    o->blocked = one_in(h, 12);
    o->actual_pages = vm->actual_pages;
    o->consumed_pages = below(h, vm->actual_pages + 1);
    o->granted_pages = vm->actual_pages;
    o->swapped_pages = below(h, size) / 8;
    o->target_seen_pages = one_in(h, 20) ? below(h, size) : vm->asked_pages;
    o->overhead_pages = below(h, 600);
    o->measured_active_pages = below(h, size);
    o->measured_age_ms = (uint32_t)below(h, 400000);
    o->guest_age_ms = one_in(h, 4) ? (uint32_t)below(h, 400000) : 0;
    o->guest_free_pages = below(h, vm->actual_pages + 1) / 2;
    o->guest_available_pages = below(h, vm->actual_pages + 1);
    o->guest_total_pages = vm->actual_pages;
    o->guest_floor_pages = below(h, size) / 4;
    vm->swap_ins += one_in(h, 4) ? below(h, 1000) : 0;
    o->guest_swap_in_pages = vm->swap_ins;
    o->guest_faults = vm->swap_ins;
    o->guest_stall_bp = (uint32_t)below(h, 1500);
}

static void observe_vm(struct history *h)
{
    struct pol_vm_obs obs = { .size = sizeof(obs) };
    uint64_t id = some_vm(h);

    if (one_in(h, 10)) {
        absurd_vm_obs(h, &obs);
    } else {
        likely_vm_obs(h, &h->vm[id], &obs);
    }
    count(h, CALL_VM_OBS, pol_observe_vm(h->ctx, id, &obs));
}

static void ws_begin(struct history *h)
{
    uint64_t pages[1000];
    uint64_t id = some_vm(h);
    struct history_vm *vm = &h->vm[id];
    size_t n;
    int rc;

    vm->vm_time_ms += below(h, 40000);
    rc = pol_ws_begin(h->ctx, id,
                      one_in(h, 10) ? vm->vm_time_ms / 2 : vm->vm_time_ms,
                      pages, one_in(h, 20) ? 0 : 1000, &n);
    if (count(h, CALL_WS_BEGIN, rc) == POL_OK) {
        vm->touched = 0;
    }
}

static void ws_report(struct history *h)
{
    uint64_t id = some_vm(h);
    struct history_vm *vm = &h->vm[id];
    uint32_t watched = pol_ctx_config(h->ctx)->sample_pages;

    vm->touched += (uint32_t)below(h, watched / 2 + 1);
    if (count(h, CALL_WS_REPORT, pol_ws_report(h->ctx, id, vm->touched)) !=
        POL_OK) {
        vm->touched = 0;
    }
}

static void report(struct history *h, const struct pol_action *action)
{
    static const int errors[] = { POL_OK,       POL_OK,
                                  POL_OK,       POL_ERR_UNSUPPORTED,
                                  POL_ERR_HOST, 5,
                                  INT32_MIN,    INT32_MAX };
    struct pol_action a = *action;
    uint64_t done = a.pages;
    int error = errors[below(h, 8)];

    if (a.kind == POL_ACT_BALLOON && error == POL_OK && a.vm <= HISTORY_VMS) {
        h->vm[a.vm].asked_pages = a.pages;
    }
    if (one_in(h, 16)) {
        done = anything(h);
    }
    if (one_in(h, 16)) {
        a.kind = (uint32_t)anything(h);
    }
    count(h, CALL_REPORT, pol_report(h->ctx, &a, done, error));
}

static void plan(struct history *h)
{
    size_t i, cap = one_in(h, 40) ? 0 : HISTORY_ACTIONS;

    observe_host(h);
    if (count(h, CALL_PLAN, pol_plan(h->ctx, h->actions, cap, &h->actions_n)) !=
        POL_OK) {
        return;
    }
    for (i = 0; i < h->actions_n; i++) {
        const struct pol_action *a = &h->actions[i];

        h->counts->actions[a->kind]++;
        if (a->kind == POL_ACT_NOTE && a->reason == POL_WHY_STATE_CHANGE) {
            h->counts->states[a->pages]++;
        }
        if (!one_in(h, 4)) {
            report(h, a);
        }
    }
}

static void hold_add(struct history *h)
{
    uint64_t pages = one_in(h, 8) ? anything(h) : 1 + below(h, 8000);

    count(h, CALL_HOLD_ADD,
          pol_hold_add(h->ctx, 1 + below(h, HISTORY_HOLDS), below(h, 2), pages,
                       h->now_ms + below(h, 20000), (uint32_t)below(h, 2)));
}

static void hold_take(struct history *h)
{
    count(h, CALL_HOLD_TAKE,
          pol_hold_take(h->ctx, 1 + below(h, HISTORY_HOLDS), below(h, 2),
                        some_vm(h)));
}

static void hold_release(struct history *h)
{
    count(h, CALL_HOLD_RELEASE,
          pol_hold_release(h->ctx, 1 + below(h, HISTORY_HOLDS), below(h, 2)));
}

/* Calls that leave no record: later plans must not depend on them. */
static void look(struct history *h)
{
    struct pol_vm_params params;
    struct pol_explanation explanation;
    struct pol_ws ws;
    uint64_t target, id = some_vm(h);
    int ignored = pol_vm_target(h->ctx, id, &target);

    ignored = pol_explain(h->ctx, id, &explanation);
    ignored = pol_ws_get(h->ctx, id, &ws);
    vm_params(h, &params);
    ignored = pol_admit(h->ctx, &params, NULL);
    (void)ignored;
}

static const struct {
    void (*act)(struct history *);
    uint32_t weight;
} acts[] = {
    { tune, 1 },      { vm_add, 7 },       { vm_set, 3 },
    { vm_remove, 1 }, { vm_release, 1 },   { group_add, 2 },
    { group_set, 2 }, { group_remove, 1 }, { observe_vm, 25 },
    { ws_begin, 5 },  { ws_report, 8 },    { plan, 14 },
    { hold_add, 2 },  { hold_take, 1 },    { hold_release, 1 },
    { look, 3 },
};
#define ACTS (sizeof(acts) / sizeof(acts[0]))

static void any_act(struct history *h)
{
    uint64_t total = 0, choice;
    size_t i;

    for (i = 0; i < ACTS; i++) {
        total += acts[i].weight;
    }
    choice = below(h, total);
    for (i = 0; choice >= acts[i].weight; i++) {
        choice -= acts[i].weight;
    }
    acts[i].act(h);
}

/* Enough VMs and groups for the rest to have something to act on. */
static void populate(struct history *h)
{
    uint64_t i, groups = below(h, 4), vms = below(h, 12);

    for (i = 0; i < groups; i++) {
        group_add(h);
    }
    for (i = 0; i < vms; i++) {
        vm_add(h);
    }
}

int history_run(struct history *h, struct history_counts *counts, uint64_t seed,
                uint32_t steps, struct trace_buffer *trace)
{
    struct pol_config config;
    uint32_t i;
    int rc;

    memset(h, 0, offsetof(struct history, block));
    h->counts = counts;
    h->random = seed;
    pol_config_init(&config, HISTORY_MAX_VMS, HISTORY_MAX_GROUPS);
    config.max_holds = HISTORY_MAX_HOLDS;
    config.seed = history_random(h);
    random_tuning(h, &config);
    config.dead_band_bp = 100;
    h->total_pages = 20000 + below(h, 200000);
    h->free_pages = h->total_pages / 2;
    h->now_ms = below(h, 1000);
    rc = pol_ctx_init(h->block, sizeof(h->block), &config, &h->ctx);
    if (rc == POL_OK && trace != NULL) {
        rc = pol_trace_start(h->ctx, trace_buffer_sink, trace);
    }
    if (rc == POL_OK && steps > 0) {
        populate(h);
    }
    for (i = 0; rc == POL_OK && i < steps; i++) {
        any_act(h);
    }
    return rc;
}
