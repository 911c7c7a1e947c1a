/* SPDX-License-Identifier: BSD-2-Clause */
/* Making, ending and programming a VM. */
#include <stdlib.h>
#include <string.h>

#include "big_alloc.h"
#include "engine_int.h"

bool simx_vm_is_dead(const struct sim_vm *vm)
{
    return vm->life == SIM_LIFE_DEAD;
}

void simx_vm_free(struct sim_vm *vm)
{
    simx_big_free(vm->pages, vm->cfg.size_pages, sizeof(*vm->pages));
    simx_big_free(vm->anon_map, vm->anon_cap, sizeof(*vm->anon_map));
    simx_big_free(vm->file_map, vm->file_cap, sizeof(*vm->file_map));
    free(vm->block);
    free(vm->sblock);
    free(vm->phases);
    free(vm->zipf);
    free(vm->zipf_file);
    free(vm->sample);
    free(vm);
}

static int check_phases(const struct sim_phase *phases, size_t n)
{
    size_t i;

    if (n > SIM_MAX_PHASES) {
        return POL_ERR_RANGE;
    }
    for (i = 0; i < n; i++) {
        int rc = sim_phase_check(&phases[i], NULL);

        if (rc != POL_OK) {
            return rc;
        }
        if (i == 0 ? phases[i].start_ms != 0
                   : phases[i].start_ms <= phases[i - 1].start_ms) {
            return POL_ERR_RANGE;
        }
    }
    return POL_OK;
}

/* Enlarge a map to hold `need` entries, the new ones empty. */
static int grow_map(uint32_t **map, uint64_t *cap, uint64_t need)
{
    uint32_t *larger;

    if (need <= *cap) {
        return POL_OK;
    }
    larger = simx_big_alloc(need, sizeof(*larger));
    if (larger == NULL) {
        return POL_ERR_NOMEM;
    }
    if (*cap != 0) {
        memcpy(larger, *map, *cap * sizeof(*larger));
    }
    simx_big_free(*map, *cap, sizeof(**map));
    *map = larger;
    *cap = need;
    return POL_OK;
}

static int prepare_zipf(struct sim_vm *vm)
{
    if (vm->zipf == NULL) {
        vm->zipf = simx_zipf_new();
    }
    if (vm->zipf_file == NULL) {
        vm->zipf_file = simx_zipf_new();
    }
    return vm->zipf != NULL && vm->zipf_file != NULL ? POL_OK : POL_ERR_NOMEM;
}

/* Tables for the largest phase, so that no later step needs memory. */
static int prepare_tables(struct sim_vm *vm, const struct sim_phase *phases,
                          size_t n)
{
    uint64_t anon = 0;
    uint64_t file = 0;
    bool zipf = false;
    int rc;
    size_t i;

    for (i = 0; i < n; i++) {
        const struct sim_phase *ph = &phases[i];

        anon = ph->footprint_pages > anon ? ph->footprint_pages : anon;
        if (ph->file_pages + ph->stream_pages > file) {
            file = ph->file_pages + ph->stream_pages;
        }
        zipf = zipf || ph->kind == SIM_ZIPF;
    }
    rc = grow_map(&vm->anon_map, &vm->anon_cap, anon);
    if (rc == POL_OK) {
        rc = grow_map(&vm->file_map, &vm->file_cap, file);
    }
    if (rc == POL_OK && zipf) {
        rc = prepare_zipf(vm);
    }
    return rc;
}

/* A guest without a program idles. */
static int copy_phases(struct sim_vm *vm, const struct sim_phase *phases,
                       size_t n)
{
    size_t made = n != 0 ? n : 1;
    struct sim_phase *copy = calloc(made, sizeof(*copy));
    int rc;

    if (copy == NULL) {
        return POL_ERR_NOMEM;
    }
    rc = prepare_tables(vm, phases, n);
    if (rc != POL_OK) {
        free(copy);
        return rc;
    }
    if (n == 0) {
        sim_phase_init(&copy[0]);
    } else {
        memcpy(copy, phases, n * sizeof(*copy));
    }
    free(vm->phases);
    vm->phases = copy;
    vm->n_phases = made;
    vm->phase = made;
    return POL_OK;
}

int sim_vm_set_phases(struct sim_vm *vm, const struct sim_phase *phases,
                      size_t n_phases)
{
    int rc;

    if (simx_vm_is_dead(vm)) {
        return POL_ERR_BUSY;
    }
    rc = check_phases(phases, n_phases);
    if (rc == POL_OK) {
        rc = copy_phases(vm, phases, n_phases);
    }
    if (rc == POL_OK) {
        vm->program_start_ms = vm->host->now_ms;
        vm->op_n = 0;
        vm->backlog = 0;
        vm->rate_carry = 0;
    }
    return rc;
}

static int alloc_guest(struct sim_vm *vm)
{
    uint64_t size = vm->cfg.size_pages;
    uint64_t blocks = (size >> BLOCK_SHIFT) + 1;
    uint64_t sblocks = (size >> SBLOCK_SHIFT) + 1;

    vm->pages = simx_big_alloc(size, sizeof(*vm->pages));
    vm->block = calloc(blocks, sizeof(*vm->block));
    vm->sblock = calloc(sblocks, sizeof(*vm->sblock));
    if (vm->pages == NULL || vm->block == NULL || vm->sblock == NULL) {
        return POL_ERR_NOMEM;
    }
    return POL_OK;
}

static void begin_life(struct sim_vm *vm)
{
    uint64_t now = vm->host->now_ms;
    int i;

    vm->life = vm->cfg.build_ms != 0 ? SIM_LIFE_BUILDING : SIM_LIFE_RUNNING;
    vm->life_ms = now + vm->cfg.build_ms;
    vm->hard_cap = UINT64_MAX;
    vm->epoch = simx_touch_epoch(now);
    vm->report_ms = now;
    for (i = 0; i < WINDOWS; i++) {
        vm->win[i].at_ms = now;
    }
    sim_rng_init(&vm->rng, vm->host->cfg.seed, vm->cfg.id + 1);
    simx_guest_init(vm);
}

int sim_vm_new(struct sim_host *host, const struct sim_vm_config *config,
               const struct sim_phase *phases, size_t n_phases,
               struct sim_vm **out)
{
    struct sim_vm *vm;
    int rc = sim_vm_config_check(config, NULL);

    if (rc == POL_OK) {
        rc = check_phases(phases, n_phases);
    }
    if (rc != POL_OK) {
        return rc;
    }
    vm = calloc(1, sizeof(*vm));
    if (vm == NULL) {
        return POL_ERR_NOMEM;
    }
    vm->host = host;
    vm->cfg = *config;
    rc = alloc_guest(vm);
    if (rc == POL_OK) {
        rc = copy_phases(vm, phases, n_phases);
    }
    if (rc == POL_OK) {
        rc = simx_host_add_vm(host, vm);
    }
    if (rc != POL_OK) {
        simx_vm_free(vm);
        return rc;
    }
    begin_life(vm);
    *out = vm;
    return POL_OK;
}

void simx_vm_die(struct sim_vm *vm)
{
    struct sim_host *host = vm->host;

    if (simx_vm_is_dead(vm)) {
        return;
    }
    simx_guest_reset(vm);
    vm->boots--;
    simx_host_share_remove(vm);
    simx_workload_stop(vm);
    host->overhead -= vm->overhead;
    simx_host_chain_give(host, &vm->overhead_head, vm->overhead);
    vm->overhead = 0;
    vm->life = SIM_LIFE_DEAD;
    vm->report.valid = 0;
}

void sim_vm_destroy(struct sim_vm *vm)
{
    if (vm == NULL) {
        return;
    }
    simx_vm_die(vm);
    simx_host_remove_vm(vm->host, vm);
    simx_vm_free(vm);
}

uint64_t sim_vm_id(const struct sim_vm *vm)
{
    return vm->cfg.id;
}

const char *sim_vm_name(const struct sim_vm *vm)
{
    return vm->cfg.name;
}

const struct sim_vm_config *sim_vm_config_get(const struct sim_vm *vm)
{
    return &vm->cfg;
}

struct sim_host *sim_vm_host(const struct sim_vm *vm)
{
    return vm->host;
}
