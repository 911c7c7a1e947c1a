/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file vm.h
 * VMs and groups of VMs (resource pools) and their parameters.
 *
 * The caller names VMs and groups by 64-bit identifiers of its own; VM and
 * group identifiers are separate. Groups nest. Within a group, memory is
 * divided among its members (VMs and groups) by their shares.
 *
 * A change of parameters takes effect with the next pol_plan(), which may be
 * called at once (ESX02 6.3: targets are recomputed when parameters change).
 */
#ifndef POLICY_VM_H
#define POLICY_VM_H

#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"
#include "policy/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters of a VM. Fill with pol_vm_params_init() first. */
struct pol_vm_params {
    size_t size;                /**< sizeof(struct pol_vm_params) */
    uint64_t group;             /**< a group's id or POL_ROOT_GROUP */
    uint64_t size_pages;        /**< configured size, 1..POL_MAX_PAGES */
    uint64_t shares;            /**< 1..POL_MAX_SHARES */
    uint64_t reservation_pages; /**< guaranteed, 0..min(size, limit) */
    uint64_t limit_pages;       /**< most host memory, 1..POL_MAX_PAGES, or
                                     POL_NO_LIMIT */
    uint64_t overhead_pages;    /**< the hypervisor's own memory for the VM,
                                     0..POL_MAX_PAGES */
    uint64_t granule_pages;     /**< the host frees memory only in units of so
                                     many pages; power of two, 1..2^20 */
    uint32_t tax_bp;            /**< 0..POL_MAX_TAX_BP or POL_TAX_DEFAULT */
    uint32_t flags;             /**< enum pol_vm_flag */
};

/** Defaults: root group, shares = size in pages (at most POL_MAX_SHARES),
 *  no reservation, no limit, no overhead, default tax. */
void pol_vm_params_init(struct pol_vm_params *params, uint64_t size_pages);

/**
 * Check the fields that can be checked without a context.
 * @param field  when not NULL, receives the name of the first wrong field
 * @return POL_OK, POL_ERR_VERSION, POL_ERR_RANGE, POL_ERR_LIMIT
 */
POL_MUST_USE int pol_vm_params_check(const struct pol_vm_params *params,
                                     const char **field);

/**
 * Add a VM. This is not admission: see pol_admit(). The VM starts in
 * lifecycle BUILDING with nothing known about it.
 * @return POL_OK, POL_ERR_EXISTS, POL_ERR_NOTFOUND (group), POL_ERR_NOMEM
 *         (max_vms reached), or what pol_vm_params_check() says
 */
POL_MUST_USE int pol_vm_add(struct pol_ctx *ctx, uint64_t vm,
                            const struct pol_vm_params *params);

/**
 * Change a VM's parameters, also its size and group.
 * @return as pol_vm_add(), POL_ERR_NOTFOUND when there is no such VM
 */
POL_MUST_USE int pol_vm_set(struct pol_ctx *ctx, uint64_t vm,
                            const struct pol_vm_params *params);

/** Read a VM's parameters. @return POL_OK, POL_ERR_NOTFOUND */
POL_MUST_USE int pol_vm_get(const struct pol_ctx *ctx, uint64_t vm,
                            struct pol_vm_params *out);

/** Forget a VM that has gone. @return POL_OK, POL_ERR_NOTFOUND */
POL_MUST_USE int pol_vm_remove(struct pol_ctx *ctx, uint64_t vm);

/**
 * Take back control of a VM whose target somebody else has set: until this is
 * called such a target is reported and left alone.
 * @return POL_OK (also when there was nothing to release), POL_ERR_NOTFOUND
 */
POL_MUST_USE int pol_vm_release(struct pol_ctx *ctx, uint64_t vm);

/** Number of VMs. */
uint32_t pol_vm_count(const struct pol_ctx *ctx);

/**
 * Walk all VMs, oldest slot first.
 * @param cursor  0 to begin; updated; do not add or remove in between
 * @return POL_OK with *vm set, or POL_ERR_NOTFOUND at the end
 */
POL_MUST_USE int pol_vm_next(const struct pol_ctx *ctx, uint32_t *cursor,
                             uint64_t *vm);

/** Parameters of a group. Fill with pol_group_params_init() first. */
struct pol_group_params {
    size_t size;                /**< sizeof(struct pol_group_params) */
    uint64_t parent;            /**< a group's id or POL_ROOT_GROUP */
    uint64_t shares;            /**< 1..POL_MAX_SHARES */
    uint64_t reservation_pages; /**< guaranteed to the group as a whole,
                                     0..min(POL_MAX_PAGES, limit) */
    uint64_t limit_pages;       /**< 1..POL_MAX_PAGES or POL_NO_LIMIT */
    uint32_t tax_bp;            /**< 0..POL_MAX_TAX_BP or POL_TAX_DEFAULT */
    uint32_t reserved_0;        /**< must be 0 */
};

/** Defaults: child of the root, 1000 shares, no reservation, no limit. */
void pol_group_params_init(struct pol_group_params *params);

/** As pol_vm_params_check(). */
POL_MUST_USE int pol_group_params_check(const struct pol_group_params *params,
                                        const char **field);

/**
 * Add a group.
 * @param group  any id but POL_ROOT_GROUP
 * @return POL_OK, POL_ERR_INVALID (root), POL_ERR_EXISTS, POL_ERR_NOTFOUND
 *         (parent), POL_ERR_NOMEM, POL_ERR_DEPTH, or what
 *         pol_group_params_check() says
 */
POL_MUST_USE int pol_group_add(struct pol_ctx *ctx, uint64_t group,
                               const struct pol_group_params *params);

/** Change a group's parameters and place. Also POL_ERR_CYCLE. */
POL_MUST_USE int pol_group_set(struct pol_ctx *ctx, uint64_t group,
                               const struct pol_group_params *params);

/** Read a group's parameters. @return POL_OK, POL_ERR_NOTFOUND */
POL_MUST_USE int pol_group_get(const struct pol_ctx *ctx, uint64_t group,
                               struct pol_group_params *out);

/** Remove an empty group. @return POL_OK, POL_ERR_NOTFOUND, POL_ERR_BUSY */
POL_MUST_USE int pol_group_remove(struct pol_ctx *ctx, uint64_t group);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_VM_H */
