/* SPDX-License-Identifier: BSD-2-Clause */
/* What the configuration and the administrator say about VMs, laid over what
 * the hypervisor says. */
#include "vm_config.h"

#include <stdlib.h>
#include <string.h>

void pd_vm_config_init(struct pd_vm_config *vm)
{
    vm->name = NULL;
    vm->shares = PD_NONE;
    vm->reservation_bytes = PD_NONE;
    vm->limit_bytes = PD_NONE;
    vm->balloon = vm->swap = vm->block = -1;
}

uint32_t pd_vm_config_given(const struct pd_vm_config *vm)
{
    return (vm->shares != PD_NONE ? PD_PARAM_SHARES : 0) |
           (vm->reservation_bytes != PD_NONE ? PD_PARAM_RESERVATION : 0) |
           (vm->limit_bytes != PD_NONE ? PD_PARAM_LIMIT : 0) |
           (vm->balloon >= 0 ? PD_PARAM_BALLOON : 0) |
           (vm->swap >= 0 ? PD_PARAM_SWAP : 0) |
           (vm->block >= 0 ? PD_PARAM_BLOCK : 0);
}

void pd_vm_config_merge(struct pd_vm_config *to,
                        const struct pd_vm_config *from, uint32_t mask)
{
    if (mask & PD_PARAM_SHARES) {
        to->shares = from->shares;
    }
    if (mask & PD_PARAM_RESERVATION) {
        to->reservation_bytes = from->reservation_bytes;
    }
    if (mask & PD_PARAM_LIMIT) {
        to->limit_bytes = from->limit_bytes;
    }
    if (mask & PD_PARAM_BALLOON) {
        to->balloon = from->balloon;
    }
    if (mask & PD_PARAM_SWAP) {
        to->swap = from->swap;
    }
    if (mask & PD_PARAM_BLOCK) {
        to->block = from->block;
    }
}

static void set_flag(struct pol_vm_params *params, int allowed, uint32_t flag)
{
    if (allowed >= 0) {
        params->flags = allowed ? params->flags & ~flag : params->flags | flag;
    }
}

void pd_vm_config_apply(const struct pd_vm_config *vm, uint32_t page_bytes,
                        struct pol_vm_params *params)
{
    if (vm->shares != PD_NONE) {
        params->shares = vm->shares;
    }
    if (vm->limit_bytes != PD_NONE) {
        params->limit_pages = vm->limit_bytes == PD_NO_LIMIT
                                  ? POL_NO_LIMIT
                                  : vm->limit_bytes / page_bytes;
        params->limit_pages += params->limit_pages == 0;
    }
    if (vm->reservation_bytes != PD_NONE) {
        params->reservation_pages = vm->reservation_bytes / page_bytes;
    }
    set_flag(params, vm->balloon, POL_VM_NO_BALLOON);
    set_flag(params, vm->swap, POL_VM_NO_SWAP);
    set_flag(params, vm->block, POL_VM_NO_BLOCK);
}

/* ---- A list of them, by name -------------------------------------------- */

/* Where that name is, or would be. */
static size_t place(const struct pd_vm_list *list, const char *name)
{
    size_t low = 0;
    size_t high = list->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(list->items[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct pd_vm_config *pd_vm_list_find(const struct pd_vm_list *list,
                                     const char *name)
{
    size_t i = name == NULL ? list->n : place(list, name);

    return i < list->n && strcmp(list->items[i].name, name) == 0
               ? &list->items[i]
               : NULL;
}

static int insert(struct pd_vm_list *list, size_t i,
                  const struct pd_vm_config *vm)
{
    char *name = strdup(vm->name);
    struct pd_vm_config *items =
        name == NULL
            ? NULL
            : realloc(list->items, (list->n + 1) * sizeof(*list->items));

    if (items == NULL) {
        free(name);
        return POL_ERR_NOMEM;
    }
    memmove(items + i + 1, items + i, (list->n - i) * sizeof(*items));
    items[i] = *vm;
    items[i].name = name;
    list->items = items;
    list->n++;
    return POL_OK;
}

int pd_vm_list_put(struct pd_vm_list *list, const struct pd_vm_config *vm)
{
    struct pd_vm_config *at = pd_vm_list_find(list, vm->name);

    if (at == NULL) {
        return insert(list, place(list, vm->name), vm);
    }
    pd_vm_config_merge(at, vm, PD_PARAM_ALL);
    return POL_OK;
}

void pd_vm_list_remove(struct pd_vm_list *list, const char *name)
{
    struct pd_vm_config *at = pd_vm_list_find(list, name);

    if (at != NULL) {
        free(at->name);
        list->n--;
        memmove(at, at + 1, (size_t)(list->items + list->n - at) * sizeof(*at));
    }
}

void pd_vm_list_clear(struct pd_vm_list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        free(list->items[i].name);
    }
    free(list->items);
    list->items = NULL;
    list->n = 0;
}
