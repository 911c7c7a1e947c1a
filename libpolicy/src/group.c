/* SPDX-License-Identifier: BSD-2-Clause */
/* Groups of VMs (resource pools). */
#include "internal.h"
#include "record.h"

#include <string.h>

void pol_group_params_init(struct pol_group_params *params)
{
    memset(params, 0, sizeof(*params));
    params->size = sizeof(*params);
    params->parent = POL_ROOT_GROUP;
    params->shares = 1000;
    params->limit_pages = POL_NO_LIMIT;
    params->tax_bp = POL_TAX_DEFAULT;
}

int pol_group_params_check(const struct pol_group_params *params,
                           const char **field)
{
    const char *wrong = NULL;
    int rc = POL_ERR_RANGE;

    if (params->size != sizeof(*params)) {
        wrong = "size";
        rc = POL_ERR_VERSION;
    } else if (params->shares < 1 || params->shares > POL_MAX_SHARES) {
        wrong = "shares";
    } else if (!polx_limit_valid(params->limit_pages)) {
        wrong = "limit_pages";
    } else if (params->reservation_pages > POL_MAX_PAGES) {
        wrong = "reservation_pages";
    } else if (!polx_tax_valid(params->tax_bp)) {
        wrong = "tax_bp";
    } else if (params->reserved_0 != 0) {
        wrong = "reserved_0";
    } else if (params->reservation_pages > params->limit_pages) {
        wrong = "reservation_pages";
        rc = POL_ERR_LIMIT;
    } else {
        rc = POL_OK;
    }
    if (field != NULL) {
        *field = wrong;
    }
    return rc;
}

uint32_t polx_group_depth(const struct pol_ctx *ctx, uint32_t node)
{
    uint32_t depth = 0;

    while (node != 0) {
        node = ctx->groups[node].parent;
        depth++;
    }
    return depth;
}

bool polx_group_within(const struct pol_ctx *ctx, uint32_t node,
                       uint32_t ancestor)
{
    while (node != ancestor && node != 0) {
        node = ctx->groups[node].parent;
    }
    return node == ancestor;
}

/* How many levels of groups hang below this one, itself included. */
static uint32_t height_of(const struct pol_ctx *ctx, uint32_t node)
{
    uint32_t base = polx_group_depth(ctx, node), height = 1;
    uint32_t i;

    for (i = 1; i <= ctx->config.max_groups; i++) {
        if (ctx->groups[i].used && polx_group_within(ctx, i, node)) {
            uint32_t d = polx_group_depth(ctx, i) - base + 1u;

            height = d > height ? d : height;
        }
    }
    return height;
}

static void store_params(struct polx_pool *g,
                         const struct pol_group_params *params)
{
    g->shares = params->shares;
    g->reservation_pages = params->reservation_pages;
    g->limit_pages = params->limit_pages;
    g->tax_bp = params->tax_bp;
}

static void move_members(struct pol_ctx *ctx, uint32_t from, uint32_t to)
{
    if (from != POLX_NONE) {
        ctx->groups[from].members--;
    }
    ctx->groups[to].members++;
}

int pol_group_add(struct pol_ctx *ctx, uint64_t id,
                  const struct pol_group_params *params)
{
    uint32_t parent, node = ctx->free_group;
    struct polx_pool *g;
    int rc = pol_group_params_check(params, NULL);

    if (rc != POL_OK) {
        return rc;
    }
    if (id == POL_ROOT_GROUP) {
        return POL_ERR_INVALID;
    }
    if (polx_idmap_find(&ctx->group_ids, id) != POLX_NONE) {
        return POL_ERR_EXISTS;
    }
    parent = polx_idmap_find(&ctx->group_ids, params->parent);
    if (parent == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    if (node == POLX_NONE) {
        return POL_ERR_NOMEM;
    }
    if (polx_group_depth(ctx, parent) >= POL_MAX_DEPTH) {
        return POL_ERR_DEPTH;
    }
    g = &ctx->groups[node];
    ctx->free_group = g->parent;
    memset(g, 0, sizeof(*g));
    g->id = id;
    g->parent = parent;
    g->used = 1;
    store_params(g, params);
    ctx->group_count++;
    move_members(ctx, POLX_NONE, parent);
    polx_idmap_add(&ctx->group_ids, node);
    polx_solver_attach(&ctx->solver, node, parent);
    polx_pool_claim(ctx, node);
    polx_trace_group(ctx, POLX_REC_GROUP_ADD, id, params);
    return POL_OK;
}

int pol_group_set(struct pol_ctx *ctx, uint64_t id,
                  const struct pol_group_params *params)
{
    uint32_t node = polx_idmap_find(&ctx->group_ids, id);
    uint32_t parent;
    struct polx_pool *g;
    int rc = pol_group_params_check(params, NULL);

    if (rc != POL_OK) {
        return rc;
    }
    if (id == POL_ROOT_GROUP) {
        return POL_ERR_INVALID;
    }
    parent = polx_idmap_find(&ctx->group_ids, params->parent);
    if (node == POLX_NONE || parent == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    g = &ctx->groups[node];
    if (parent != g->parent) {
        if (polx_group_within(ctx, parent, node)) {
            return POL_ERR_CYCLE;
        }
        if (polx_group_depth(ctx, parent) + height_of(ctx, node) >
            POL_MAX_DEPTH) {
            return POL_ERR_DEPTH;
        }
        polx_solver_move(&ctx->solver, node, parent);
        move_members(ctx, g->parent, parent);
        g->parent = parent;
    }
    store_params(g, params);
    polx_pool_claim(ctx, node);
    polx_trace_group(ctx, POLX_REC_GROUP_SET, id, params);
    return POL_OK;
}

int pol_group_get(const struct pol_ctx *ctx, uint64_t id,
                  struct pol_group_params *out)
{
    uint32_t node = polx_idmap_find(&ctx->group_ids, id);
    const struct polx_pool *g;

    if (node == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    g = &ctx->groups[node];
    memset(out, 0, sizeof(*out));
    out->size = sizeof(*out);
    out->parent = ctx->groups[g->parent].id;
    out->shares = g->shares;
    out->reservation_pages = g->reservation_pages;
    out->limit_pages = g->limit_pages;
    out->tax_bp = g->tax_bp;
    return POL_OK;
}

int pol_group_remove(struct pol_ctx *ctx, uint64_t id)
{
    uint32_t node = polx_idmap_find(&ctx->group_ids, id);
    struct polx_pool *g;

    if (node == POLX_NONE || node == 0) {
        return POL_ERR_NOTFOUND;
    }
    g = &ctx->groups[node];
    if (g->members != 0) {
        return POL_ERR_BUSY;
    }
    polx_idmap_remove(&ctx->group_ids, node);
    polx_solver_detach(&ctx->solver, node);
    ctx->groups[g->parent].members--;
    ctx->group_count--;
    g->used = 0;
    g->parent = ctx->free_group;
    ctx->free_group = node;
    polx_trace_id(ctx, POLX_REC_GROUP_REMOVE, id);
    return POL_OK;
}
