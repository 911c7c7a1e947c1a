/* SPDX-License-Identifier: BSD-2-Clause */
/* The simulated ESX host under the suite that every adapter passes. */
#include <stdlib.h>

#include "adapter_suite.h"
#include "expect.h"
#include "sim_ops.h"

#define SIZE_PAGES 16384u /* 64 MiB */

static void add_vm(struct sim_adapter *adapter, uint64_t id)
{
    struct pol_vm_params params;
    struct sim_vm_config config;
    struct sim_phase phase;
    struct sim_slot *slot = NULL;
    struct sim_vm *vm = NULL;

    sim_vm_config_init(&config, SIZE_PAGES);
    config.id = id;
    config.boot_ms = 2000;
    config.touch_all_at_boot = true;
    sim_phase_init(&phase);
    phase.kind = SIM_UNIFORM;
    phase.rate = 5000;
    phase.footprint_pages = SIZE_PAGES / 2;
    MUST(sim_vm_new(adapter->engine, &config, &phase, 1, &vm));
    pol_vm_params_init(&params, SIZE_PAGES);
    params.overhead_pages = config.overhead_pages;
    MUST(sim_adapter_add(adapter, vm, &params, &slot));
}

static void advance(void *host, uint64_t ms)
{
    struct sim_adapter *adapter = host;

    MUST(sim_host_step(adapter->engine, ms));
}

static void *make(void)
{
    struct sim_adapter *adapter = malloc(sizeof(*adapter));
    struct sim_host_config config;
    struct sim_host *engine = NULL;

    MUST(adapter == NULL ? POL_ERR_NOMEM : POL_OK);
    sim_host_config_init(&config);
    config.total_pages = 3 * SIZE_PAGES;
    config.swap_pages = 4 * SIZE_PAGES;
    config.seed = 99;
    MUST(sim_host_new(&config, &engine));
    sim_adapter_init(adapter, engine);
    add_vm(adapter, 1);
    add_vm(adapter, 2);
    advance(adapter, 10000);
    return adapter;
}

static void destroy(void *host)
{
    struct sim_adapter *adapter = host;
    struct sim_host *engine = adapter->engine;

    sim_adapter_clean_up(adapter);
    sim_host_destroy(engine);
    free(adapter);
}

int main(void)
{
    static const struct conf_subject subject = {
        .name = "esxi-sim",
        .ops = &sim_host_ops,
        .make = make,
        .advance = advance,
        .destroy = destroy,
        .page_bytes = 4096,
        .settle_ms = 30000,
    };

    return conf_run(&subject);
}
