/* SPDX-License-Identifier: BSD-2-Clause */
/* VMs: slots, parameters, coming and going. */
#include "internal.h"
#include "record.h"

#include <string.h>

void pol_vm_params_init(struct pol_vm_params *params, uint64_t size_pages)
{
    memset(params, 0, sizeof(*params));
    params->size = sizeof(*params);
    params->group = POL_ROOT_GROUP;
    params->size_pages = size_pages;
    params->shares = polx_max(1, polx_min(size_pages, POL_MAX_SHARES));
    params->limit_pages = POL_NO_LIMIT;
    params->granule_pages = 1;
    params->tax_bp = POL_TAX_DEFAULT;
}

bool polx_tax_valid(uint32_t tax_bp)
{
    return tax_bp <= POL_MAX_TAX_BP || tax_bp == POL_TAX_DEFAULT;
}

bool polx_limit_valid(uint64_t limit_pages)
{
    return limit_pages == POL_NO_LIMIT ||
           (limit_pages >= 1 && limit_pages <= POL_MAX_PAGES);
}

/* The first field whose value is wrong by itself, or NULL. */
static const char *vm_wrong(const struct pol_vm_params *p)
{
    uint64_t g = p->granule_pages;

    if (p->size_pages < 1 || p->size_pages > POL_MAX_PAGES) {
        return "size_pages";
    }
    if (p->shares < 1 || p->shares > POL_MAX_SHARES) {
        return "shares";
    }
    if (!polx_limit_valid(p->limit_pages)) {
        return "limit_pages";
    }
    if (p->overhead_pages > POL_MAX_PAGES) {
        return "overhead_pages";
    }
    if (g < 1 || g > (1u << 20) || (g & (g - 1)) != 0) {
        return "granule_pages";
    }
    if (!polx_tax_valid(p->tax_bp)) {
        return "tax_bp";
    }
    if ((p->flags & ~POL_VM_FLAGS_ALL) != 0) {
        return "flags";
    }
    return NULL;
}

int pol_vm_params_check(const struct pol_vm_params *params, const char **field)
{
    const char *wrong = NULL;
    int rc = POL_OK;

    if (params->size != sizeof(*params)) {
        wrong = "size";
        rc = POL_ERR_VERSION;
    } else if ((wrong = vm_wrong(params)) != NULL) {
        rc = POL_ERR_RANGE;
    } else if (params->reservation_pages >
               polx_min(params->size_pages, params->limit_pages)) {
        wrong = "reservation_pages";
        rc = POL_ERR_LIMIT;
    }
    if (field != NULL) {
        *field = wrong;
    }
    return rc;
}

uint32_t polx_vm_slot(const struct pol_ctx *ctx, uint64_t id)
{
    return polx_idmap_find(&ctx->vm_ids, id);
}

static uint8_t log2_of(uint64_t power)
{
    uint8_t shift = 0;

    while (power > 1) {
        power >>= 1;
        shift++;
    }
    return shift;
}

static void store_params(struct polx_vm *vm, const struct pol_vm_params *p)
{
    vm->shares = p->shares;
    vm->reservation_pages = p->reservation_pages;
    vm->limit_pages = p->limit_pages;
    vm->size_pages = p->size_pages;
    vm->overhead_pages = p->overhead_pages;
    vm->granule_shift = log2_of(p->granule_pages);
    vm->tax_bp = p->tax_bp;
    vm->flags = p->flags;
}

int pol_vm_add(struct pol_ctx *ctx, uint64_t id,
               const struct pol_vm_params *params)
{
    struct polx_vm *vm;
    uint32_t group, slot = ctx->free_slot;
    int rc = pol_vm_params_check(params, NULL);

    if (rc != POL_OK) {
        return rc;
    }
    if (polx_vm_slot(ctx, id) != POLX_NONE) {
        return POL_ERR_EXISTS;
    }
    group = polx_idmap_find(&ctx->group_ids, params->group);
    if (group == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    if (slot == POLX_NONE) {
        return POL_ERR_NOMEM;
    }
    vm = &ctx->vms[slot];
    ctx->free_slot = vm->group;
    memset(vm, 0, sizeof(*vm));
    vm->id = id;
    vm->bits = POLX_VM_USED;
    vm->lifecycle = POL_LIFE_BUILDING;
    vm->group = group;
    store_params(vm, params);
    vm->actual_pages = vm->size_pages;
    ctx->vm_count++;
    ctx->vm_high = slot >= ctx->vm_high ? slot + 1u : ctx->vm_high;
    ctx->groups[group].members++;
    polx_idmap_add(&ctx->vm_ids, slot);
    polx_solver_attach(&ctx->solver, polx_node(ctx, slot), group);
    vm->active_pages = polx_active(ctx, vm);
    polx_claim(ctx, slot);
    polx_trace_vm(ctx, POLX_REC_VM_ADD, id, params);
    return POL_OK;
}

/* A balloon stays as big as it is when the VM's size changes (hotplug), so
 * what the VM has moves along with its size. */
static void resize(struct polx_vm *vm, uint64_t size_pages)
{
    uint64_t old = vm->size_pages;

    if (size_pages >= old) {
        vm->actual_pages += size_pages - old;
        vm->asked_pages += size_pages - old;
    } else {
        vm->actual_pages = polx_sat_sub(vm->actual_pages, old - size_pages);
        vm->asked_pages = polx_sat_sub(vm->asked_pages, old - size_pages);
    }
    vm->actual_pages = polx_min(vm->actual_pages, size_pages);
    vm->asked_pages = polx_min(vm->asked_pages, size_pages);
    if (size_pages != old) {
        /* Whether the target on record moves along is the host's affair. */
        vm->bits &= ~(uint32_t)(POLX_VM_ASKED | POLX_VM_ADOPTED);
    }
}

int pol_vm_set(struct pol_ctx *ctx, uint64_t id,
               const struct pol_vm_params *params)
{
    struct polx_vm *vm;
    uint32_t group, slot = polx_vm_slot(ctx, id);
    int rc = pol_vm_params_check(params, NULL);

    if (rc != POL_OK) {
        return rc;
    }
    group = polx_idmap_find(&ctx->group_ids, params->group);
    if (slot == POLX_NONE || group == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    vm = &ctx->vms[slot];
    if (group != vm->group) {
        polx_solver_move(&ctx->solver, polx_node(ctx, slot), group);
        ctx->groups[vm->group].members--;
        ctx->groups[group].members++;
        vm->group = group;
    }
    resize(vm, params->size_pages);
    store_params(vm, params);
    vm->active_pages = polx_active(ctx, vm);
    polx_claim(ctx, slot);
    polx_trace_vm(ctx, POLX_REC_VM_SET, id, params);
    return POL_OK;
}

int pol_vm_get(const struct pol_ctx *ctx, uint64_t id,
               struct pol_vm_params *out)
{
    uint32_t slot = polx_vm_slot(ctx, id);
    const struct polx_vm *vm;

    if (slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    vm = &ctx->vms[slot];
    memset(out, 0, sizeof(*out));
    out->size = sizeof(*out);
    out->group = ctx->groups[vm->group].id;
    out->size_pages = vm->size_pages;
    out->shares = vm->shares;
    out->reservation_pages = vm->reservation_pages;
    out->limit_pages = vm->limit_pages;
    out->overhead_pages = vm->overhead_pages;
    out->granule_pages = UINT64_C(1) << vm->granule_shift;
    out->tax_bp = vm->tax_bp;
    out->flags = vm->flags;
    return POL_OK;
}

int pol_vm_remove(struct pol_ctx *ctx, uint64_t id)
{
    uint32_t slot = polx_vm_slot(ctx, id);
    struct polx_vm *vm;

    if (slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    vm = &ctx->vms[slot];
    polx_hold_vm_gone(ctx, vm);
    polx_idmap_remove(&ctx->vm_ids, slot);
    polx_solver_detach(&ctx->solver, polx_node(ctx, slot));
    ctx->groups[vm->group].members--;
    ctx->vm_count--;
    vm->bits = 0;
    vm->group = ctx->free_slot;
    ctx->free_slot = slot;
    polx_trace_id(ctx, POLX_REC_VM_REMOVE, id);
    return POL_OK;
}

int pol_vm_release(struct pol_ctx *ctx, uint64_t id)
{
    uint32_t slot = polx_vm_slot(ctx, id);
    struct polx_vm *vm;

    if (slot == POLX_NONE) {
        return POL_ERR_NOTFOUND;
    }
    vm = &ctx->vms[slot];
    /* What stands now is where we go on from. */
    vm->bits &= ~(uint32_t)(POLX_VM_FOREIGN | POLX_VM_ASKED | POLX_VM_ADOPTED);
    polx_trace_id(ctx, POLX_REC_VM_RELEASE, id);
    return POL_OK;
}

uint32_t pol_vm_count(const struct pol_ctx *ctx)
{
    return ctx->vm_count;
}

int pol_vm_next(const struct pol_ctx *ctx, uint32_t *cursor, uint64_t *vm)
{
    while (*cursor < ctx->vm_high) {
        const struct polx_vm *v = &ctx->vms[(*cursor)++];

        if (polx_vm_used(v)) {
            *vm = v->id;
            return POL_OK;
        }
    }
    return POL_ERR_NOTFOUND;
}
