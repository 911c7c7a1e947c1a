/* SPDX-License-Identifier: BSD-2-Clause */
/* Holds: memory kept free for VMs about to start. */
#include "internal.h"
#include "record.h"

#include <string.h>

static struct polx_hold *find(const struct pol_ctx *ctx, uint64_t id)
{
    uint32_t i;

    for (i = 0; i < ctx->config.max_holds; i++) {
        if (ctx->holds[i].used && ctx->holds[i].id == id) {
            return &ctx->holds[i];
        }
    }
    return NULL;
}

static struct polx_hold *unused(const struct pol_ctx *ctx)
{
    uint32_t i;

    for (i = 0; i < ctx->config.max_holds; i++) {
        if (!ctx->holds[i].used) {
            return &ctx->holds[i];
        }
    }
    return NULL;
}

static void end(struct pol_ctx *ctx, struct polx_hold *h)
{
    if (h->taken) {
        ctx->vms[polx_vm_slot(ctx, h->vm)].hold = 0;
    }
    ctx->hold_count--;
    ctx->holds_taken -= h->taken;
    memset(h, 0, sizeof(*h));
}

uint64_t polx_holds_pages(const struct pol_ctx *ctx)
{
    uint64_t sum = 0;
    uint32_t i, left = ctx->hold_count;

    for (i = 0; left > 0; i++) {
        if (ctx->holds[i].used) {
            sum = polx_plus(sum, ctx->holds[i].taken ? 0 : ctx->holds[i].pages);
            left--;
        }
    }
    return sum;
}

bool polx_holds_urgent(const struct pol_ctx *ctx)
{
    uint32_t i, left = ctx->hold_count;

    for (i = 0; left > 0; i++) {
        if (ctx->holds[i].used) {
            if (!ctx->holds[i].taken &&
                (ctx->holds[i].flags & POL_HOLD_URGENT) != 0) {
                return true;
            }
            left--;
        }
    }
    return false;
}

static struct polx_hold *taken_by(const struct pol_ctx *ctx,
                                  const struct polx_vm *vm)
{
    return vm->hold != 0 ? &ctx->holds[vm->hold - 1] : NULL;
}

/* More than it may have a VM cannot fill. */
uint64_t polx_hold_of(const struct pol_ctx *ctx, const struct polx_vm *vm)
{
    const struct polx_hold *h = taken_by(ctx, vm);

    return h != NULL ? polx_min(h->pages, polx_vm_max(vm)) : 0;
}

void polx_hold_vm_gone(struct pol_ctx *ctx, struct polx_vm *vm)
{
    struct polx_hold *h = taken_by(ctx, vm);

    if (h != NULL) {
        end(ctx, h);
    }
}

void polx_hold_filled(struct pol_ctx *ctx, struct polx_vm *vm)
{
    if (vm->hold != 0 && vm->consumed_pages >= polx_hold_of(ctx, vm)) {
        end(ctx, taken_by(ctx, vm));
    }
}

/* What is left of the pool after one more hold has been served. */
static uint64_t serve(struct polx_plan *plan, struct polx_hold *h,
                      uint64_t pool)
{
    h->ready_pages = polx_min(pool, h->pages);
    if (h->ready_pages < h->pages) {
        h->announced = 0;
    } else if (!h->announced) {
        polx_emit(plan, h->id, POL_ACT_NOTE, h->pages, POL_WHY_HOLD_READY);
        h->announced = 1;
    }
    return pool - h->ready_pages;
}

/* Memory counts as free for holds as long as handing it over leaves the host
 * out of state soft. Those that were told that theirs is ready come first. */
static void share_out(struct polx_plan *plan)
{
    struct pol_ctx *ctx = plan->ctx;
    uint64_t pool = polx_sat_sub(ctx->totals.free_pages, ctx->levels.soft);
    uint32_t pass, i;

    for (pass = 0; pass < 2; pass++) {
        for (i = 0; i < ctx->config.max_holds; i++) {
            struct polx_hold *h = &ctx->holds[i];

            if (h->used && !h->taken && h->served == 0 &&
                (pass == 1 || h->announced)) {
                pool = serve(plan, h, pool);
                h->served = 1;
            }
        }
    }
    for (i = 0; i < ctx->config.max_holds; i++) {
        ctx->holds[i].served = 0;
    }
}

void polx_holds_expire(struct polx_plan *plan)
{
    struct pol_ctx *ctx = plan->ctx;
    uint32_t i, left = ctx->hold_count;

    for (i = 0; left > 0; i++) {
        struct polx_hold *h = &ctx->holds[i];

        if (!h->used) {
            continue;
        }
        left--;
        if (ctx->host.now_ms >= h->deadline_ms) {
            polx_emit(plan, h->id, POL_ACT_NOTE, h->pages,
                      POL_WHY_HOLD_EXPIRED);
            end(ctx, h);
        }
    }
}

void polx_holds_advance(struct polx_plan *plan)
{
    if (plan->ctx->hold_count > plan->ctx->holds_taken) {
        share_out(plan);
    }
}

static void fill(const struct polx_hold *h, struct pol_hold *out)
{
    memset(out, 0, sizeof(*out));
    out->hold = h->id;
    out->owner = h->owner;
    out->pages = h->pages;
    out->ready_pages = h->ready_pages;
    out->deadline_ms = h->deadline_ms;
    out->vm = h->vm;
    out->flags = h->flags;
    out->taken = h->taken;
}

static int add_check(const struct pol_ctx *ctx, const struct polx_hold *old,
                     uint64_t owner, uint64_t pages, uint64_t deadline_ms,
                     uint32_t flags)
{
    uint64_t room;

    if (!ctx->observed) {
        return POL_ERR_INVALID;
    }
    if (pages < 1 || pages > POL_MAX_PAGES ||
        (flags & ~(uint32_t)POL_HOLD_URGENT) != 0) {
        return POL_ERR_RANGE;
    }
    if (old != NULL && old->owner != owner) {
        return POL_ERR_OWNER;
    }
    if (old != NULL && old->taken) {
        return POL_ERR_BUSY;
    }
    if (deadline_ms <= ctx->host.now_ms) {
        return POL_ERR_CLOCK;
    }
    room = polx_plus(polx_unreserved(ctx), old != NULL ? old->pages : 0);
    return pages > room ? POL_ERR_MEMORY_SHORT : POL_OK;
}

int pol_hold_add(struct pol_ctx *ctx, uint64_t hold, uint64_t owner,
                 uint64_t pages, uint64_t deadline_ms, uint32_t flags)
{
    struct polx_hold *h = find(ctx, hold);
    struct pol_hold record;
    int rc = add_check(ctx, h, owner, pages, deadline_ms, flags);

    if (rc != POL_OK) {
        return rc;
    }
    if (h == NULL) {
        h = unused(ctx);
        if (h == NULL) {
            return POL_ERR_NOMEM;
        }
        ctx->hold_count++;
    }
    h->id = hold;
    h->owner = owner;
    h->pages = pages;
    h->deadline_ms = deadline_ms;
    h->flags = flags;
    h->used = 1;
    h->announced = 0;
    h->ready_pages = 0;
    fill(h, &record);
    polx_trace_hold_add(ctx, &record);
    return POL_OK;
}

int pol_hold_get(const struct pol_ctx *ctx, uint64_t hold, struct pol_hold *out)
{
    const struct polx_hold *h = find(ctx, hold);

    if (h == NULL) {
        return POL_ERR_NOTFOUND;
    }
    fill(h, out);
    return POL_OK;
}

int pol_hold_next(const struct pol_ctx *ctx, uint32_t *cursor,
                  struct pol_hold *out)
{
    while (*cursor < ctx->config.max_holds) {
        const struct polx_hold *h = &ctx->holds[(*cursor)++];

        if (h->used) {
            fill(h, out);
            return POL_OK;
        }
    }
    return POL_ERR_NOTFOUND;
}

int pol_hold_take(struct pol_ctx *ctx, uint64_t hold, uint64_t owner,
                  uint64_t vm)
{
    struct polx_hold *h = find(ctx, hold);

    uint32_t slot = polx_vm_slot(ctx, vm);

    if (h == NULL || slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    if (h->owner != owner) {
        return POL_ERR_OWNER;
    }
    if (h->taken || ctx->vms[slot].hold != 0) {
        return POL_ERR_BUSY;
    }
    h->taken = 1;
    h->vm = vm;
    ctx->vms[slot].hold = (uint16_t)(h - ctx->holds + 1);
    ctx->holds_taken++;
    polx_trace_hold_end(ctx, POLX_REC_HOLD_TAKE, hold, owner, vm);
    return POL_OK;
}

int pol_hold_release(struct pol_ctx *ctx, uint64_t hold, uint64_t owner)
{
    struct polx_hold *h = find(ctx, hold);

    if (h == NULL) {
        return POL_ERR_NOTFOUND;
    }
    if (h->owner != owner) {
        return POL_ERR_OWNER;
    }
    end(ctx, h);
    polx_trace_hold_end(ctx, POLX_REC_HOLD_RELEASE, hold, owner, 0);
    return POL_OK;
}
