/* SPDX-License-Identifier: BSD-2-Clause */
/* The block a context lives in. */
#include "internal.h"
#include "record.h"

#include <string.h>

#define ALIGNMENT 64u

/** Where each array begins in the block. */
struct layout {
    size_t vms, groups, holds, vm_ids, group_ids, solver, bytes;
};

static size_t place(size_t *at, size_t bytes)
{
    size_t here = *at;

    *at = here + (bytes + ALIGNMENT - 1u) / ALIGNMENT * ALIGNMENT;
    return here;
}

/* Capacities are at most 10^6 VMs of a few hundred bytes: no overflow. */
static void lay_out(const struct pol_config *config, struct layout *l)
{
    size_t at = 0;
    uint32_t groups = config->max_groups + 1u;

    place(&at, sizeof(struct pol_ctx));
    l->vms = place(&at, (size_t)config->max_vms * sizeof(struct polx_vm));
    l->groups = place(&at, groups * sizeof(struct polx_pool));
    l->holds = place(&at, config->max_holds * sizeof(struct polx_hold));
    l->vm_ids = place(&at, polx_idmap_size(config->max_vms));
    l->group_ids = place(&at, polx_idmap_size(groups));
    l->solver =
        place(&at, polx_solver_size(config->max_vms, config->max_groups));
    l->bytes = at;
}

int pol_ctx_size(const struct pol_config *config, size_t *bytes)
{
    struct layout l;
    int rc = pol_config_check(config, NULL);

    if (rc == POL_OK) {
        lay_out(config, &l);
        *bytes = l.bytes;
    }
    return rc;
}

static void init_root(struct pol_ctx *ctx)
{
    struct polx_pool *root = &ctx->groups[0];

    root->id = POL_ROOT_GROUP;
    root->shares = 1;
    root->limit_pages = POL_NO_LIMIT;
    root->tax_bp = POL_TAX_DEFAULT;
    root->used = 1;
    polx_idmap_add(&ctx->group_ids, 0);
}

/* Chain the free slots in ascending order, so that slots are handed out in
 * the order of creation: order decides ties. */
static void init_free_lists(struct pol_ctx *ctx)
{
    uint32_t i;

    for (i = 0; i < ctx->config.max_vms; i++) {
        ctx->vms[i].group = i + 1u < ctx->config.max_vms ? i + 1u : POLX_NONE;
    }
    ctx->free_slot = 0;
    for (i = 1; i <= ctx->config.max_groups; i++) {
        ctx->groups[i].parent = i < ctx->config.max_groups ? i + 1u : POLX_NONE;
    }
    ctx->free_group = ctx->config.max_groups > 0 ? 1 : POLX_NONE;
}

int pol_ctx_init(void *block, size_t bytes, const struct pol_config *config,
                 struct pol_ctx **out)
{
    uint8_t *base = block;
    struct pol_ctx *ctx = block;
    struct layout l;
    int rc = pol_config_check(config, NULL);

    if (rc != POL_OK) {
        return rc;
    }
    lay_out(config, &l);
    if (block == NULL || (uintptr_t)block % ALIGNMENT != 0) {
        return POL_ERR_INVALID;
    }
    if (bytes < l.bytes) {
        return POL_ERR_NOMEM;
    }
    memset(block, 0, l.bytes);
    ctx->config = *config;
    ctx->vms = (struct polx_vm *)(void *)(base + l.vms);
    ctx->groups = (struct polx_pool *)(void *)(base + l.groups);
    ctx->holds = (struct polx_hold *)(void *)(base + l.holds);
    polx_idmap_init(&ctx->vm_ids, (uint32_t *)(void *)(base + l.vm_ids),
                    config->max_vms, &ctx->vms[0].id, sizeof(struct polx_vm));
    polx_idmap_init(&ctx->group_ids, (uint32_t *)(void *)(base + l.group_ids),
                    config->max_groups + 1u, &ctx->groups[0].id,
                    sizeof(struct polx_pool));
    init_free_lists(ctx);
    init_root(ctx);
    polx_solver_init(&ctx->solver, base + l.solver, config->max_vms,
                     config->max_groups);
    polx_pool_claim(ctx, 0);
    *out = ctx;
    return POL_OK;
}

/* Defaults that were taken from the configuration may have changed. */
static void apply_tuning(struct pol_ctx *ctx)
{
    uint32_t i;

    for (i = 0; i <= ctx->config.max_groups; i++) {
        if (ctx->groups[i].used) {
            polx_pool_claim(ctx, i);
        }
    }
    for (i = 0; i < ctx->vm_high; i++) {
        if (polx_vm_used(&ctx->vms[i])) {
            polx_claim(ctx, i);
        }
    }
    if (ctx->observed) {
        polx_levels_compute(ctx);
    }
}

int pol_ctx_tune(struct pol_ctx *ctx, const struct pol_config *config)
{
    const struct pol_config *old = &ctx->config;
    int rc = pol_config_check(config, NULL);

    if (rc != POL_OK) {
        return rc;
    }
    if (config->max_vms != old->max_vms ||
        config->max_groups != old->max_groups ||
        config->max_holds != old->max_holds ||
        config->page_bytes != old->page_bytes || config->seed != old->seed) {
        return POL_ERR_INVALID;
    }
    ctx->config = *config;
    apply_tuning(ctx);
    polx_trace_tune(ctx);
    return POL_OK;
}

const struct pol_config *pol_ctx_config(const struct pol_ctx *ctx)
{
    return &ctx->config;
}
