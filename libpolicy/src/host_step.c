/* SPDX-License-Identifier: BSD-2-Clause */
/* One round for an adapter: observe, plan, act. Uses only the public calls,
 * besides a mark on VMs that are still there. */
#include "internal.h"

#include <string.h>

int pol_host_ops_check(const struct pol_host_ops *ops)
{
    if (ops->size != sizeof(*ops)) {
        return POL_ERR_VERSION;
    }
    if (ops->name == NULL || ops->read_host == NULL || ops->next_vm == NULL ||
        ops->read_vm == NULL || ops->set_balloon == NULL) {
        return POL_ERR_INVALID;
    }
    return POL_OK;
}

static bool samples(const struct pol_host_loop *loop)
{
    return loop->ops->sample_begin != NULL && loop->ops->sample_read != NULL &&
           loop->sample_pages != NULL;
}

static uint32_t caps_of(const struct pol_host_loop *loop)
{
    const struct pol_host_ops *ops = loop->ops;
    uint32_t caps = 0;

    caps |= ops->swap_out != NULL ? POL_CAP_SWAP : 0u;
    caps |= ops->swap_in != NULL ? POL_CAP_SWAP_IN : 0u;
    caps |= ops->set_blocked != NULL ? POL_CAP_BLOCK : 0u;
    caps |= ops->set_share_rate != NULL ? POL_CAP_SHARE : 0u;
    caps |= ops->set_hard_cap != NULL ? POL_CAP_HARD_CAP : 0u;
    caps |= samples(loop) ? POL_CAP_SAMPLE : 0u;
    return caps;
}

static int observe_host(struct pol_ctx *ctx, struct pol_host_loop *loop)
{
    struct pol_host_obs obs;
    uint32_t caps = caps_of(loop);

    memset(&obs, 0, sizeof(obs));
    obs.size = sizeof(obs);
    obs.caps = caps;
    if (loop->ops->read_host(loop->host, &obs) != POL_OK) {
        return POL_ERR_HOST;
    }
    obs.caps &= caps;
    return pol_observe_host(ctx, &obs);
}

static bool same_params(const struct pol_vm_params *a,
                        const struct pol_vm_params *b)
{
    return a->group == b->group && a->size_pages == b->size_pages &&
           a->shares == b->shares &&
           a->reservation_pages == b->reservation_pages &&
           a->limit_pages == b->limit_pages &&
           a->overhead_pages == b->overhead_pages &&
           a->granule_pages == b->granule_pages && a->tax_bp == b->tax_bp &&
           a->flags == b->flags;
}

/* Overhead can also come with observations: the listed figure then stands
 * only until the first of them, so it is no reason for a change. */
static int update_params(struct pol_ctx *ctx, uint64_t vm,
                         const struct pol_vm_params *listed)
{
    struct pol_vm_params now, want = *listed;
    int rc = pol_vm_get(ctx, vm, &now);

    if (rc != POL_OK) {
        return rc;
    }
    want.overhead_pages = now.overhead_pages;
    return same_params(&now, &want) ? POL_OK : pol_vm_set(ctx, vm, &want);
}

static void list_vm(struct pol_ctx *ctx, struct pol_host_loop *loop,
                    uint64_t vm, const struct pol_vm_params *params)
{
    uint32_t slot = polx_vm_slot(ctx, vm);
    int rc = POL_OK;

    if (slot == POLX_NONE) {
        rc = pol_vm_add(ctx, vm, params);
        slot = polx_vm_slot(ctx, vm);
    } else if (!loop->keep_params) {
        rc = update_params(ctx, vm, params);
    }
    loop->vm_failures += rc != POL_OK;
    if (slot != POLX_NONE) {
        ctx->vms[slot].bits |= POLX_VM_PRESENT;
    }
}

/* An adapter whose list never ends is cut off: more VMs than a context can
 * have are an error in any case. */
static int list_vms(struct pol_ctx *ctx, struct pol_host_loop *loop)
{
    struct pol_vm_params params;
    uint64_t vm = 0, cursor = 0;
    uint32_t n;
    int rc = POL_OK;

    for (n = 0; n < 2u * POL_MAX_VMS; n++) {
        pol_vm_params_init(&params, 1);
        rc = loop->ops->next_vm(loop->host, &cursor, &vm, &params);
        if (rc != POL_OK) {
            return rc == POL_ERR_NOTFOUND ? POL_OK : POL_ERR_HOST;
        }
        list_vm(ctx, loop, vm, &params);
    }
    return POL_ERR_HOST;
}

static void mark_none(struct pol_ctx *ctx)
{
    uint32_t slot;

    for (slot = 0; slot < ctx->vm_high; slot++) {
        ctx->vms[slot].bits &= ~(uint32_t)POLX_VM_PRESENT;
    }
}

static void sample_vm(struct pol_ctx *ctx, struct pol_host_loop *loop,
                      uint64_t vm)
{
    const struct pol_host_ops *ops = loop->ops;
    uint64_t vm_time = 0;
    uint32_t touched = 0;
    size_t n = 0;
    int rc = ops->sample_read(loop->host, vm, &touched, &vm_time);

    if (rc != POL_OK) {
        loop->vm_failures++;
        return;
    }
    /* Nothing is being watched before the first period: not an error. */
    rc = pol_ws_report(ctx, vm, touched);
    loop->vm_failures += rc != POL_OK && rc != POL_ERR_INVALID;
    if (pol_ws_due(ctx, vm, vm_time) > 0) {
        rc = pol_ws_begin(ctx, vm, vm_time, loop->sample_pages,
                          ctx->config.sample_pages, &n);
        if (rc == POL_OK) {
            rc = ops->sample_begin(loop->host, vm, loop->sample_pages, n);
        }
        loop->vm_failures += rc != POL_OK;
    }
}

/* Read one VM; one that has gone in the meantime is forgotten. */
static void read_vm(struct pol_ctx *ctx, struct pol_host_loop *loop,
                    uint64_t vm)
{
    struct pol_vm_obs obs;
    int rc;

    memset(&obs, 0, sizeof(obs));
    obs.size = sizeof(obs);
    rc = loop->ops->read_vm(loop->host, vm, &obs);
    if (rc == POL_ERR_NOTFOUND) {
        loop->vm_failures += pol_vm_remove(ctx, vm) != POL_OK;
        return;
    }
    if (rc == POL_OK) {
        rc = pol_observe_vm(ctx, vm, &obs);
    }
    if (rc != POL_OK) {
        loop->vm_failures++;
    } else if ((ctx->host.caps & POL_CAP_SAMPLE) != 0 &&
               obs.lifecycle == POL_LIFE_RUNNING) {
        sample_vm(ctx, loop, vm);
    }
}

static void read_vms(struct pol_ctx *ctx, struct pol_host_loop *loop)
{
    uint32_t slot;

    for (slot = 0; slot < ctx->vm_high; slot++) {
        const struct polx_vm *vm = &ctx->vms[slot];

        if (!polx_vm_used(vm)) {
            continue;
        }
        if ((vm->bits & POLX_VM_PRESENT) == 0) {
            loop->vm_failures += pol_vm_remove(ctx, vm->id) != POL_OK;
        } else {
            read_vm(ctx, loop, vm->id);
        }
    }
}

static int try_action(const struct pol_host_loop *loop,
                      const struct pol_action *a, uint64_t *done)
{
    const struct pol_host_ops *ops = loop->ops;
    void *host = loop->host;

    *done = 0;
    if (loop->dry_run) {
        return POL_ERR_UNSUPPORTED;
    }
    switch (a->kind) {
    case POL_ACT_BALLOON:
        *done = a->pages;
        return ops->set_balloon(host, a->vm, a->pages, done);
    case POL_ACT_SWAP_OUT:
        return ops->swap_out(host, a->vm, a->pages, done);
    case POL_ACT_SWAP_IN:
        return ops->swap_in == NULL ? POL_ERR_UNSUPPORTED
                                    : ops->swap_in(host, a->vm, a->pages, done);
    case POL_ACT_BLOCK:
    case POL_ACT_UNBLOCK:
        return ops->set_blocked == NULL
                   ? POL_ERR_UNSUPPORTED
                   : ops->set_blocked(host, a->vm, a->kind == POL_ACT_BLOCK);
    case POL_ACT_SHARE_RATE:
        return ops->set_share_rate(host, a->pages);
    case POL_ACT_HARD_CAP:
        return ops->set_hard_cap(host, a->vm, a->pages);
    default:
        return POL_OK;
    }
}

static int act(struct pol_ctx *ctx, struct pol_host_loop *loop)
{
    size_t i;
    int rc = POL_OK;

    for (i = 0; i < loop->actions_n && rc == POL_OK; i++) {
        const struct pol_action *a = &loop->actions[i];
        uint64_t done;
        int error = try_action(loop, a, &done);

        if (error != POL_OK && error != POL_ERR_UNSUPPORTED) {
            error = POL_ERR_HOST;
        }
        if (a->kind != POL_ACT_NOTE) {
            rc = pol_report(ctx, a, polx_min(done, POL_MAX_PAGES), error);
        }
        if (loop->ops->on_action != NULL) {
            loop->ops->on_action(loop->host, a, done, error);
        }
    }
    return rc;
}

int pol_host_step(struct pol_ctx *ctx, struct pol_host_loop *loop)
{
    int rc = loop->size != sizeof(*loop) ? POL_ERR_VERSION
                                         : pol_host_ops_check(loop->ops);

    loop->actions_n = 0;
    loop->vm_failures = 0;
    if (rc == POL_OK) {
        rc = observe_host(ctx, loop);
    }
    if (rc == POL_OK) {
        mark_none(ctx);
        rc = list_vms(ctx, loop);
    }
    if (rc != POL_OK) {
        return rc;
    }
    read_vms(ctx, loop);
    rc = pol_plan(ctx, loop->actions, loop->actions_cap, &loop->actions_n);
    return rc == POL_OK ? act(ctx, loop) : rc;
}
