/* SPDX-License-Identifier: BSD-2-Clause */
/* Admission control (ESX02 6.2). */
#include "internal.h"

#include <string.h>

/** Sums over all VMs that admission needs. */
struct sums {
    uint64_t reserved; /* what reservations keep from everybody else */
    uint64_t overhead;
    uint64_t consumed; /* host memory and overheads in use */
    uint64_t swap;     /* size less reservation */
    uint64_t above;    /* held above reservations: could be reclaimed */
};

static void add_up(const struct pol_ctx *ctx, struct sums *s)
{
    uint32_t slot;

    memset(s, 0, sizeof(*s));
    for (slot = 0; slot < ctx->vm_high; slot++) {
        const struct polx_vm *vm = &ctx->vms[slot];

        if (polx_vm_used(vm)) {
            uint64_t mine = polx_vm_min(ctx, vm);

            ctx->groups[vm->group].inside =
                polx_plus(ctx->groups[vm->group].inside, mine);
            s->overhead = polx_plus(s->overhead, vm->overhead_pages);
            s->consumed = polx_plus(s->consumed, vm->consumed_pages);
            s->swap = polx_plus(
                s->swap, polx_sat_sub(vm->size_pages, vm->reservation_pages));
            s->above =
                polx_plus(s->above, polx_sat_sub(vm->consumed_pages, mine));
        }
    }
}

/*
 * Add up reservations through the groups, deepest first. A group keeps from
 * everybody else its own reservation or those inside it, whichever is more.
 * @return false when the limit of `group`, or of one above it, cannot hold
 *         what is inside
 */
static bool through_groups(const struct pol_ctx *ctx, uint32_t group)
{
    uint32_t depth, node;
    bool fits = true;

    for (depth = POL_MAX_DEPTH; depth > 0; depth--) {
        for (node = 1; node <= ctx->config.max_groups; node++) {
            struct polx_pool *g = &ctx->groups[node];

            if (g->used && polx_group_depth(ctx, node) == depth) {
                struct polx_pool *parent = &ctx->groups[g->parent];

                fits = fits && (g->inside <= g->limit_pages ||
                                !polx_group_within(ctx, group, node));
                parent->inside = polx_plus(
                    parent->inside, polx_max(g->inside, g->reservation_pages));
            }
        }
    }
    return fits;
}

/* All sums, with an extra reservation in one group. The field `inside` of
 * groups is scratch space that only this file uses. */
static bool sum(const struct pol_ctx *ctx, uint32_t group, uint64_t extra,
                struct sums *s)
{
    uint32_t node;
    bool fits;

    for (node = 0; node <= ctx->config.max_groups; node++) {
        ctx->groups[node].inside = 0;
    }
    add_up(ctx, s);
    ctx->groups[group].inside = polx_plus(ctx->groups[group].inside, extra);
    fits = through_groups(ctx, group);
    s->reserved = ctx->groups[0].inside;
    return fits;
}

/* The host's own use is measured, never below its floor; state high must be
 * possible with every reservation in use. */
static uint64_t unreserved(const struct pol_ctx *ctx, const struct sums *s)
{
    uint64_t total = ctx->host.total_pages;
    uint64_t own =
        polx_sat_sub(total - ctx->host.free_pages, s->consumed + s->overhead);

    own = polx_max(own, ctx->config.host_reserve_pages);
    return polx_sat_sub(total, own + s->reserved + s->overhead +
                                   polx_holds_pages(ctx) + polx_aim(ctx));
}

uint64_t polx_unreserved(const struct pol_ctx *ctx)
{
    struct sums s;

    (void)sum(ctx, 0, 0, &s);
    return unreserved(ctx, &s);
}

/* The figures, and whether the limits of the VM's groups leave room. */
static bool figures(const struct pol_ctx *ctx, uint32_t group,
                    const struct pol_vm_params *params, struct pol_admission *a)
{
    struct sums before, after;
    bool fits;

    (void)sum(ctx, 0, 0, &before);
    fits = sum(ctx, group, params->reservation_pages, &after);
    memset(a, 0, sizeof(*a));
    a->needed_pages = after.reserved - before.reserved + params->overhead_pages;
    a->unreserved_pages = unreserved(ctx, &before);
    a->swap_needed_pages =
        polx_plus(before.swap, params->size_pages - params->reservation_pages);
    a->swap_total_pages = ctx->host.swap_total_pages;
    a->free_now_pages =
        polx_sat_sub(ctx->host.free_pages,
                     ctx->totals.promised_pages + polx_holds_pages(ctx));
    a->reclaimable_pages = before.above;
    return fits;
}

int pol_admit(const struct pol_ctx *ctx, const struct pol_vm_params *params,
              struct pol_admission *out)
{
    struct pol_admission a;
    uint32_t group;
    bool fits;
    int rc = pol_vm_params_check(params, NULL);

    if (rc != POL_OK) {
        return rc;
    }
    if (!ctx->observed) {
        return POL_ERR_INVALID;
    }
    group = polx_idmap_find(&ctx->group_ids, params->group);
    if (group == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    fits = figures(ctx, group, params, &a);
    if (out != NULL) {
        *out = a;
    }
    if (a.needed_pages > a.unreserved_pages) {
        return POL_ERR_MEMORY_SHORT;
    }
    if (!fits) {
        return POL_ERR_GROUP_SHORT;
    }
    if (ctx->config.admission_needs_swap != 0 &&
        a.swap_needed_pages > a.swap_total_pages) {
        return POL_ERR_SWAP_SHORT;
    }
    return POL_OK;
}
