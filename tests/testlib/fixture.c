/* SPDX-License-Identifier: BSD-2-Clause */
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "expect.h"

void fx_config(struct fixture *f, uint32_t vms)
{
    memset(f, 0, sizeof(*f));
    pol_config_init(&f->config, vms, 16);
    f->config.headroom_bp = 0;
    f->host.size = sizeof(f->host);
    f->host.now_ms = 1000000;
    f->host.total_pages = FX_TOTAL;
    f->host.swap_total_pages = FX_TOTAL;
    f->host.swap_free_pages = FX_TOTAL;
    f->host.caps = POL_CAP_SWAP | POL_CAP_SWAP_IN | POL_CAP_BLOCK;
}

void fx_create(struct fixture *f)
{
    size_t bytes = 0;

    MUST(pol_ctx_size(&f->config, &bytes));
    f->block = aligned_alloc(64, bytes);
    f->cap = pol_replay_bound(&f->config);
    f->actions = calloc(f->cap, sizeof(*f->actions));
    if (f->block == NULL || f->actions == NULL) {
        abort();
    }
    MUST(pol_ctx_init(f->block, bytes, &f->config, &f->ctx));
}

void fx_open(struct fixture *f, uint32_t vms)
{
    fx_config(f, vms);
    fx_create(f);
    fx_free(f, 0, FX_TOTAL);
}

void fx_close(struct fixture *f)
{
    free(f->block);
    free(f->actions);
    memset(f, 0, sizeof(*f));
}

void fx_free(struct fixture *f, uint64_t later_ms, uint64_t free_pages)
{
    f->host.now_ms += later_ms;
    f->host.free_pages = free_pages;
    MUST(pol_observe_host(f->ctx, &f->host));
}

void fx_add(struct fixture *f, uint64_t vm, uint64_t size_pages,
            uint64_t reservation_pages)
{
    struct pol_vm_params p;

    pol_vm_params_init(&p, size_pages);
    p.reservation_pages = reservation_pages;
    MUST(pol_vm_add(f->ctx, vm, &p));
}

struct pol_vm_obs fx_obs(uint64_t consumed_pages, uint64_t actual_pages)
{
    struct pol_vm_obs o;

    memset(&o, 0, sizeof(o));
    o.size = sizeof(o);
    o.lifecycle = POL_LIFE_RUNNING;
    o.driver = POL_DRIVER_PRESENT;
    o.valid = POL_OBS_CONSUMED | POL_OBS_ACTUAL | POL_OBS_MEASURED;
    o.consumed_pages = consumed_pages;
    o.actual_pages = actual_pages;
    o.measured_active_pages = consumed_pages;
    return o;
}

void fx_see(struct fixture *f, uint64_t vm, const struct pol_vm_obs *obs)
{
    MUST(pol_observe_vm(f->ctx, vm, obs));
}

void fx_running(struct fixture *f, uint64_t vm, uint64_t consumed_pages,
                uint64_t actual_pages)
{
    struct pol_vm_obs o = fx_obs(consumed_pages, actual_pages);

    fx_see(f, vm, &o);
}

void fx_plan(struct fixture *f)
{
    MUST(pol_plan(f->ctx, f->actions, f->cap, &f->n));
}

const struct pol_action *fx_action(const struct fixture *f, uint64_t vm,
                                   uint32_t kind)
{
    size_t i;

    for (i = 0; i < f->n; i++) {
        if (f->actions[i].vm == vm && f->actions[i].kind == kind) {
            return &f->actions[i];
        }
    }
    return NULL;
}

int64_t fx_pages(const struct fixture *f, uint64_t vm, uint32_t kind)
{
    const struct pol_action *a = fx_action(f, vm, kind);

    return a == NULL ? -1 : (int64_t)a->pages;
}

int64_t fx_reason(const struct fixture *f, uint64_t vm, uint32_t kind)
{
    const struct pol_action *a = fx_action(f, vm, kind);

    return a == NULL ? -1 : (int64_t)a->reason;
}

uint32_t fx_notes(const struct fixture *f, uint64_t id, uint32_t reason)
{
    uint32_t sum = 0;
    size_t i;

    for (i = 0; i < f->n; i++) {
        sum += f->actions[i].kind == POL_ACT_NOTE && f->actions[i].vm == id &&
               f->actions[i].reason == reason;
    }
    return sum;
}

uint32_t fx_count(const struct fixture *f, uint32_t kind)
{
    uint32_t sum = 0;
    size_t i;

    for (i = 0; i < f->n; i++) {
        sum += f->actions[i].kind == kind;
    }
    return sum;
}

struct pol_vm_status fx_status(const struct fixture *f, uint64_t vm)
{
    struct pol_vm_status s;

    MUST(pol_vm_status(f->ctx, vm, &s));
    return s;
}

struct pol_host_status fx_host_status(const struct fixture *f)
{
    struct pol_host_status s;

    MUST(pol_host_get(f->ctx, &s));
    return s;
}

struct pol_ws fx_ws(const struct fixture *f, uint64_t vm)
{
    struct pol_ws ws;

    MUST(pol_ws_get(f->ctx, vm, &ws));
    return ws;
}
