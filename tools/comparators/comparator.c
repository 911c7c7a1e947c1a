/* SPDX-License-Identifier: BSD-2-Clause */
/* Looking at the host and acting; what all comparators have in common. */
#include "comparator_int.h"

#include <stdlib.h>

static const struct {
    const char *name;
    void (*rule)(struct comparator *cmp);
    uint32_t period_ms; /* least time between two looks */
} rules[CMP_KINDS] = {
    [CMP_NONE] = { "none", NULL, 0 },
    [CMP_MOM] = { "mom", cmp_mom, 5000 },
    [CMP_SQUEEZED] = { "squeezed", cmp_squeezed, 1000 },
    [CMP_QMEMMAN] = { "qmemman", cmp_qmemman, 1000 },
    [CMP_PROXMOX] = { "proxmox", cmp_proxmox, 10000 },
};

void cmp_config_init(struct cmp_config *config)
{
    memset(config, 0, sizeof(*config));
    config->page_bytes = 4096;
    config->dynamic_min_bp = 2500;
}

const char *cmp_name(int kind)
{
    return kind >= 0 && kind < CMP_KINDS ? rules[kind].name : "?";
}

int cmp_find(const char *name)
{
    for (int i = 0; i < CMP_KINDS; i++) {
        if (strcmp(name, rules[i].name) == 0) {
            return i;
        }
    }
    return -1;
}

int cmp_new(int kind, const struct cmp_config *config, struct comparator **out)
{
    uint32_t page = config->page_bytes;
    struct comparator *cmp;

    if (kind < 0 || kind >= CMP_KINDS) {
        return POL_ERR_INVALID;
    }
    if (page < 4096 || page > 1u << 30 || (page & (page - 1)) != 0 ||
        config->dynamic_min_bp == 0 || config->dynamic_min_bp > 10000) {
        return POL_ERR_RANGE;
    }
    cmp = calloc(1, sizeof(*cmp));
    if (cmp == NULL) {
        return POL_ERR_NOMEM;
    }
    cmp->kind = kind;
    cmp->config = *config;
    *out = cmp;
    return POL_OK;
}

void cmp_free(struct comparator *cmp)
{
    if (cmp != NULL) {
        free(cmp->vms);
        free(cmp);
    }
}

/* ---- Looking ----------------------------------------------------------- */

static int by_id(const void *a, const void *b)
{
    const struct cmp_vm *x = a;
    const struct cmp_vm *y = b;

    return x->id < y->id ? -1 : x->id > y->id;
}

/* The VM of that id among the first `known`; a new one behind the last
 * otherwise. NULL: no memory. */
static struct cmp_vm *vm_of(struct comparator *cmp, size_t known, uint64_t id)
{
    struct cmp_vm key = { .id = id };
    struct cmp_vm *vm =
        known == 0 ? NULL : bsearch(&key, cmp->vms, known, sizeof(key), by_id);

    if (vm != NULL) {
        return vm;
    }
    if (cmp->vms_n == cmp->vms_cap) {
        size_t cap = cmp->vms_cap == 0 ? 16 : cmp->vms_cap * 2;

        vm = realloc(cmp->vms, cap * sizeof(*vm));
        if (vm == NULL) {
            return NULL;
        }
        cmp->vms = vm;
        cmp->vms_cap = cap;
    }
    vm = &cmp->vms[cmp->vms_n++];
    memset(vm, 0, sizeof(*vm));
    vm->id = id;
    vm->is_new = true;
    return vm;
}

/* A guest's figures, unless they cannot be true. */
static void read_stats(struct cmp_vm *vm, const struct pol_vm_obs *obs)
{
    uint32_t need = POL_OBS_GUEST_FREE | POL_OBS_GUEST_AVAILABLE;

    vm->has_stats = (obs->valid & need) == need &&
                    obs->guest_free_pages <= vm->actual_pages &&
                    obs->guest_available_pages <= vm->actual_pages;
    if ((obs->valid & POL_OBS_GUEST_TOTAL) != 0 &&
        obs->guest_total_pages > vm->size_pages) {
        vm->has_stats = false;
    }
    vm->guest_free_pages = vm->has_stats ? obs->guest_free_pages : 0;
    vm->guest_avail_pages = vm->has_stats ? obs->guest_available_pages : 0;
}

static void read_memory(struct cmp_vm *vm, const struct pol_vm_obs *obs)
{
    uint64_t backed = 0;

    vm->actual_pages = (obs->valid & POL_OBS_ACTUAL) != 0
                           ? cmp_least(obs->actual_pages, vm->size_pages)
                           : vm->size_pages;
    if ((obs->valid & POL_OBS_GRANTED) != 0) {
        backed = obs->granted_pages;
    } else if ((obs->valid & POL_OBS_CONSUMED) != 0) {
        backed = obs->consumed_pages;
    }
    vm->backed_pages = cmp_least(backed, vm->size_pages);
    vm->target_pages = (obs->valid & POL_OBS_TARGET) != 0
                           ? cmp_least(obs->target_seen_pages, vm->size_pages)
                           : vm->actual_pages;
    vm->want_pages = vm->target_pages;
}

static void read_params(struct comparator *cmp, struct cmp_vm *vm,
                        const struct pol_vm_params *params)
{
    vm->size_pages = cmp_between(1, params->size_pages, CMP_MAX_PAGES);
    vm->max_pages = cmp_between(1, params->limit_pages, vm->size_pages);
    vm->min_pages = params->reservation_pages;
    if (vm->min_pages == 0) {
        vm->min_pages =
            cmp_part(vm->size_pages, cmp->config.dynamic_min_bp, 10000);
    }
    vm->min_pages = cmp_between(1, vm->min_pages, vm->max_pages);
    vm->shares = cmp_between(1, params->shares, POL_MAX_SHARES);
}

static int look_at_vm(struct comparator *cmp, const struct pol_host_ops *ops,
                      void *host, uint64_t id, size_t known,
                      const struct pol_vm_params *params)
{
    struct pol_vm_obs obs;
    struct cmp_vm *vm = vm_of(cmp, known, id);

    if (vm == NULL) {
        return POL_ERR_NOMEM;
    }
    memset(&obs, 0, sizeof(obs));
    obs.size = sizeof(obs);
    if (ops->read_vm(host, id, &obs) != POL_OK) {
        /* Stays known, as it was, but is not touched in this step. */
        vm->seen = !vm->is_new;
        vm->can_balloon = false;
        vm->want_pages = vm->target_pages;
        return POL_OK;
    }
    vm->seen = true;
    read_params(cmp, vm, params);
    read_memory(vm, &obs);
    read_stats(vm, &obs);
    vm->can_balloon = obs.lifecycle == POL_LIFE_RUNNING &&
                      obs.driver == POL_DRIVER_PRESENT &&
                      (params->flags & POL_VM_NO_BALLOON) == 0;
    if (vm->is_new) {
        vm->last_actual = vm->actual_pages;
    }
    return POL_OK;
}

/* Forget VMs that have gone, put new ones in their places. */
static void tidy(struct comparator *cmp)
{
    size_t n = 0;

    for (size_t i = 0; i < cmp->vms_n; i++) {
        cmp->changed |= !cmp->vms[i].seen || cmp->vms[i].is_new;
        if (cmp->vms[i].seen) {
            cmp->vms[n++] = cmp->vms[i];
        }
    }
    cmp->vms_n = n;
    if (n != 0) {
        qsort(cmp->vms, n, sizeof(*cmp->vms), by_id);
    }
    /* A host that lists a VM twice: the first counts. */
    n = 0;
    for (size_t i = 0; i < cmp->vms_n; i++) {
        if (i == 0 || cmp->vms[i].id != cmp->vms[n - 1].id) {
            cmp->vms[n++] = cmp->vms[i];
        }
    }
    cmp->vms_n = n;
}

static int look_at_vms(struct comparator *cmp, const struct pol_host_ops *ops,
                       void *host)
{
    struct pol_vm_params params;
    size_t known = cmp->vms_n;
    uint64_t cursor = 0, id = 0;
    int rc = POL_OK;

    for (size_t i = 0; i < known; i++) {
        cmp->vms[i].seen = false;
        cmp->vms[i].is_new = false;
    }
    for (uint32_t n = 0; rc == POL_OK; n++) {
        pol_vm_params_init(&params, 1);
        rc = ops->next_vm(host, &cursor, &id, &params);
        if (rc == POL_OK) {
            rc = n == CMP_MAX_VMS
                     ? POL_ERR_HOST
                     : look_at_vm(cmp, ops, host, id, known, &params);
        }
    }
    if (rc == POL_ERR_NOTFOUND) {
        tidy(cmp);
        return POL_OK;
    }
    cmp->vms_n = known; /* as it was */
    return rc == POL_ERR_NOMEM ? rc : POL_ERR_HOST;
}

static int look_at_host(struct comparator *cmp, const struct pol_host_ops *ops,
                        void *host)
{
    struct pol_host_obs obs;

    memset(&obs, 0, sizeof(obs));
    obs.size = sizeof(obs);
    if (ops->read_host(host, &obs) != POL_OK || obs.total_pages == 0 ||
        obs.total_pages > CMP_MAX_PAGES || obs.free_pages > obs.total_pages) {
        return POL_ERR_HOST;
    }
    cmp->total_pages = obs.total_pages;
    cmp->free_pages = obs.free_pages;
    return POL_OK;
}

int64_t cmp_free_unpromised(const struct comparator *cmp)
{
    int64_t left = (int64_t)cmp->free_pages;

    for (size_t i = 0; i < cmp->vms_n; i++) {
        const struct cmp_vm *vm = &cmp->vms[i];
        uint64_t may = cmp_most(vm->actual_pages, vm->target_pages);

        left -= (int64_t)cmp_minus(may, vm->backed_pages);
    }
    return left;
}

/* ---- Acting ------------------------------------------------------------ */

static void set_balloon(struct comparator *cmp, const struct pol_host_ops *ops,
                        void *host, struct cmp_vm *vm)
{
    struct pol_action action = { .vm = vm->id,
                                 .pages = vm->want_pages,
                                 .kind = POL_ACT_BALLOON,
                                 .reason = POL_WHY_NONE };
    uint64_t done = vm->target_pages;
    int rc = ops->set_balloon(host, vm->id, vm->want_pages, &done);

    (void)cmp;
    if (rc == POL_OK) {
        vm->target_pages = cmp_least(done, vm->size_pages);
    }
    if (ops->on_action != NULL) {
        ops->on_action(host, &action, vm->target_pages, rc);
    }
}

/* Those that give come first. */
static void act(struct comparator *cmp, const struct pol_host_ops *ops,
                void *host)
{
    for (int growing = 0; growing <= 1; growing++) {
        for (size_t i = 0; i < cmp->vms_n; i++) {
            struct cmp_vm *vm = &cmp->vms[i];

            if (!vm->can_balloon || vm->want_pages == vm->target_pages) {
                continue;
            }
            if ((vm->want_pages > vm->target_pages) == (growing != 0)) {
                set_balloon(cmp, ops, host, vm);
            }
        }
    }
}

int cmp_step(struct comparator *cmp, const struct pol_host_ops *ops, void *host,
             uint64_t now_ms)
{
    int rc;

    if (rules[cmp->kind].rule == NULL ||
        (cmp->started && now_ms < cmp->next_ms)) {
        return POL_OK;
    }
    rc = look_at_host(cmp, ops, host);
    if (rc == POL_OK) {
        rc = look_at_vms(cmp, ops, host);
    }
    if (rc != POL_OK) {
        return rc;
    }
    cmp->now_ms = now_ms;
    cmp->next_ms = now_ms + rules[cmp->kind].period_ms;
    rules[cmp->kind].rule(cmp);
    cmp->started = true;
    cmp->changed = false;
    act(cmp, ops, host);
    return POL_OK;
}
