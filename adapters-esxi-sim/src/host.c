/* SPDX-License-Identifier: BSD-2-Clause */
/* The host: its life, its VMs, its time. */
#include <stdlib.h>
#include <string.h>

#include "big_alloc.h"
#include "engine_int.h"

#define MAX_STEP_MS 3600000u

int sim_host_new(const struct sim_host_config *config, struct sim_host **out)
{
    struct sim_host *host;
    int rc = sim_host_config_check(config, NULL);

    if (rc != POL_OK) {
        return rc;
    }
    host = calloc(1, sizeof(*host));
    if (host == NULL) {
        return POL_ERR_NOMEM;
    }
    host->cfg = *config;
    host->frames_n = (uint32_t)config->total_pages;
    host->frame_fresh = 1;
    host->free_n = config->total_pages;
    host->frame = simx_big_alloc(config->total_pages + 1, sizeof(*host->frame));
    rc = host->frame != NULL ? simx_host_share_open(host) : POL_ERR_NOMEM;
    if (rc != POL_OK) {
        simx_big_free(host->frame, config->total_pages + 1,
                      sizeof(*host->frame));
        free(host);
        return rc;
    }
    host->slow_disk_bp = 10000;
    host->queue_bp = 10000;
    host->cpu_bp = 10000;
    host->swap_tokens_ns = UINT64_C(1000000000) * config->costs.disk_parallel;
    sim_rng_init(&host->rng, config->seed, 0);
    simx_host_cost_derive(host);
    /* reserved < total: cannot fail. */
    (void)simx_host_chain_take(host, &host->reserved_head,
                               config->reserved_pages);
    *out = host;
    return POL_OK;
}

void sim_host_destroy(struct sim_host *host)
{
    if (host == NULL) {
        return;
    }
    while (host->vms_n > 0) {
        simx_vm_free(host->vms[--host->vms_n]);
    }
    free(host->vms);
    free(host->by_id);
    free(host->slots);
    simx_host_share_close(host);
    simx_big_free(host->frame, host->cfg.total_pages + 1, sizeof(*host->frame));
    free(host);
}

/* Where the id is in by_id, or belongs. */
static size_t id_index(const struct sim_host *host, uint64_t id)
{
    size_t low = 0;
    size_t high = host->vms_n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (host->by_id[mid]->cfg.id < id) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

struct sim_vm *sim_host_find_vm(const struct sim_host *host, uint64_t id)
{
    size_t i = id_index(host, id);

    return i < host->vms_n && host->by_id[i]->cfg.id == id ? host->by_id[i]
                                                           : NULL;
}

static bool grow_array(struct sim_vm ***array, size_t n)
{
    struct sim_vm **larger = realloc(*array, n * sizeof(struct sim_vm *));

    if (larger == NULL) {
        return false;
    }
    *array = larger;
    return true;
}

static int grow_arrays(struct sim_host *host)
{
    size_t cap = host->vms_cap != 0 ? host->vms_cap * 2 : 16;

    if (host->vms_n < host->vms_cap) {
        return POL_OK;
    }
    if (!grow_array(&host->vms, cap) || !grow_array(&host->by_id, cap) ||
        !grow_array(&host->slots, cap)) {
        return POL_ERR_NOMEM;
    }
    memset(host->slots + host->vms_cap, 0,
           (cap - host->vms_cap) * sizeof(struct sim_vm *));
    host->vms_cap = cap;
    return POL_OK;
}

int simx_host_add_vm(struct sim_host *host, struct sim_vm *vm)
{
    size_t at = id_index(host, vm->cfg.id);
    uint32_t slot = 0;
    int rc;

    if (sim_host_find_vm(host, vm->cfg.id) != NULL) {
        return POL_ERR_EXISTS;
    }
    if (host->vms_n >= SIM_MAX_VMS) {
        return POL_ERR_NOMEM;
    }
    rc = grow_arrays(host);
    if (rc != POL_OK) {
        return rc;
    }
    while (host->slots[slot] != NULL) {
        slot++;
    }
    vm->slot = slot;
    rc = simx_host_share_add(vm);
    if (rc != POL_OK) {
        return rc;
    }
    if (!simx_host_chain_take(host, &vm->overhead_head,
                              vm->cfg.overhead_pages)) {
        simx_host_share_remove(vm);
        return POL_ERR_MEMORY_SHORT;
    }
    vm->overhead = vm->cfg.overhead_pages;
    host->overhead += vm->overhead;
    host->slots[slot] = vm;
    memmove(host->by_id + at + 1, host->by_id + at,
            (host->vms_n - at) * sizeof(struct sim_vm *));
    host->by_id[at] = vm;
    host->vms[host->vms_n++] = vm;
    return POL_OK;
}

static void remove_at(struct sim_vm **array, size_t at, size_t n)
{
    memmove(array + at, array + at + 1, (n - at - 1) * sizeof(struct sim_vm *));
}

void simx_host_remove_vm(struct sim_host *host, struct sim_vm *vm)
{
    size_t at = 0;

    while (host->vms[at] != vm) {
        at++;
    }
    remove_at(host->by_id, id_index(host, vm->cfg.id), host->vms_n);
    remove_at(host->vms, at, host->vms_n);
    host->vms_n--;
    host->slots[vm->slot] = NULL;
}

struct sim_vm *sim_host_next_vm(const struct sim_host *host, size_t *cursor)
{
    return *cursor < host->vms_n ? host->vms[(*cursor)++] : NULL;
}

static void slice(struct sim_host *host, uint64_t ms, uint64_t step_ms)
{
    uint64_t parallel = host->cfg.costs.disk_parallel;
    uint64_t most = (step_ms > 1000 ? step_ms : 1000) * 1000000 * parallel;
    size_t i;

    host->now_ms += ms;
    host->swap_tokens_ns += ms * 1000000 * parallel;
    if (host->swap_tokens_ns > most) {
        host->swap_tokens_ns = most;
    }
    simx_host_collect_lost(host);
    for (i = 0; i < host->vms_n; i++) {
        simx_vm_slice(host->vms[(host->turn + i) % host->vms_n], ms);
    }
    host->turn++;
    simx_host_share_scan(host);
    simx_host_cost_end_of_slice(host, ms);
}

int sim_host_step(struct sim_host *host, uint64_t dt_ms)
{
    uint64_t left = dt_ms;

    if (dt_ms > MAX_STEP_MS) {
        return POL_ERR_RANGE;
    }
    while (left > 0) {
        uint64_t ms = left < host->cfg.slice_ms ? left : host->cfg.slice_ms;

        slice(host, ms, dt_ms);
        left -= ms;
    }
    return POL_OK;
}

uint64_t sim_host_now_ms(const struct sim_host *host)
{
    return host->now_ms;
}

const struct sim_host_config *sim_host_config_get(const struct sim_host *host)
{
    return &host->cfg;
}

int sim_host_set_share_rate(struct sim_host *host, uint64_t pages_per_s)
{
    if (pages_per_s > SIM_MAX_RATE) {
        return POL_ERR_RANGE;
    }
    host->cfg.share_pages_per_s = pages_per_s;
    return POL_OK;
}
