/* SPDX-License-Identifier: BSD-2-Clause */
/* Parameters of VMs as people write them: some of them, in bytes, by name. */
#ifndef POLICYD_VM_CONFIG_H
#define POLICYD_VM_CONFIG_H

#include <stddef.h>
#include <stdint.h>

#include "backend.h"

#define PD_NONE      UINT64_MAX         /* not given */
#define PD_NO_LIMIT  (POL_NO_LIMIT - 1) /* given, and it is "none" */
#define PD_MAX_BYTES (UINT64_C(1) << 56)

/* Those that can be given; there is no key for the tax. */
#define PD_PARAM_ALL                                                           \
    (PD_PARAM_SHARES | PD_PARAM_RESERVATION | PD_PARAM_LIMIT |                 \
     PD_PARAM_BALLOON | PD_PARAM_SWAP | PD_PARAM_BLOCK)

struct pd_vm_config {
    char *name; /* NULL: the defaults */
    uint64_t shares;
    uint64_t reservation_bytes;
    uint64_t limit_bytes;
    int balloon, swap, block; /* 0, 1; -1: not given */
};

/* Nothing given. */
void pd_vm_config_init(struct pd_vm_config *vm);

/* Which are given: enum pd_param. */
uint32_t pd_vm_config_given(const struct pd_vm_config *vm);

/* Take over those of `mask`, also where they are not given. */
void pd_vm_config_merge(struct pd_vm_config *to,
                        const struct pd_vm_config *from, uint32_t mask);

/* Lay what is given over *params, as it is: the result may be impossible. */
void pd_vm_config_apply(const struct pd_vm_config *vm, uint32_t page_bytes,
                        struct pol_vm_params *params);

/* Sorted by name. Names are the list's. */
struct pd_vm_list {
    struct pd_vm_config *items;
    size_t n;
};

/* NULL: there is none. */
struct pd_vm_config *pd_vm_list_find(const struct pd_vm_list *list,
                                     const char *name);
/* Add, or replace the one of that name. @return POL_OK, POL_ERR_NOMEM */
int pd_vm_list_put(struct pd_vm_list *list, const struct pd_vm_config *vm);
void pd_vm_list_remove(struct pd_vm_list *list, const char *name);
void pd_vm_list_clear(struct pd_vm_list *list);

#endif /* POLICYD_VM_CONFIG_H */
