/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The smallest embedding: a host of 4 GiB, a busy VM and an idle one of the
 * same size and shares, one plan. Prints what to do and why.
 */
#include <policy/policy.h>

#include <stdio.h>
#include <stdlib.h>

#define MIB(n) ((uint64_t)(n)*256u) /* in pages of 4 KiB */

static int observe(struct pol_ctx *ctx, uint64_t vm, uint64_t active)
{
    struct pol_vm_obs obs = { .size = sizeof(obs) };

    obs.valid = POL_OBS_CONSUMED | POL_OBS_ACTUAL | POL_OBS_MEASURED;
    obs.lifecycle = POL_LIFE_RUNNING;
    obs.driver = POL_DRIVER_PRESENT;
    obs.consumed_pages = obs.actual_pages = MIB(1920);
    obs.measured_active_pages = active;
    return pol_observe_vm(ctx, vm, &obs);
}

static int run(struct pol_ctx *ctx)
{
    struct pol_host_obs host = { .size = sizeof(host), .now_ms = 1000 };
    struct pol_vm_params params;
    struct pol_action actions[32];
    size_t i, n = 0;
    uint64_t vm;
    int rc = POL_OK;

    host.total_pages = MIB(4096);
    host.free_pages = MIB(128); /* 3 %: state soft */
    pol_vm_params_init(&params, MIB(2048));
    for (vm = 1; vm <= 2 && rc == POL_OK; vm++) {
        rc = pol_vm_add(ctx, vm, &params);
    }
    if (rc == POL_OK) {
        rc = pol_observe_host(ctx, &host);
    }
    if (rc == POL_OK) {
        rc = observe(ctx, 1, MIB(1800));
    }
    if (rc == POL_OK) {
        rc = observe(ctx, 2, MIB(100));
    }
    if (rc == POL_OK) {
        rc = pol_plan(ctx, actions, 32, &n);
    }
    for (i = 0; i < n && rc == POL_OK; i++) {
        printf("vm %llu: %s %llu pages (%s)\n",
               (unsigned long long)actions[i].vm,
               pol_action_name((int)actions[i].kind),
               (unsigned long long)actions[i].pages,
               pol_reason_text((int)actions[i].reason));
    }
    for (vm = 1; vm <= 2 && rc == POL_OK; vm++) {
        struct pol_explanation why;
        char text[512];

        rc = pol_explain(ctx, vm, &why);
        if (rc == POL_OK) {
            rc = pol_explain_text(&why, text, sizeof(text));
            printf("vm %llu: %s\n", (unsigned long long)vm, text);
        }
    }
    return rc;
}

int main(void)
{
    struct pol_config config;
    struct pol_ctx *ctx = NULL;
    size_t bytes = 0;
    void *block;
    int rc;

    pol_config_init(&config, 16, 0);
    rc = pol_ctx_size(&config, &bytes);
    block = aligned_alloc(64, bytes);
    if (rc == POL_OK && block != NULL) {
        rc = pol_ctx_init(block, bytes, &config, &ctx);
    }
    if (rc == POL_OK && ctx != NULL) {
        rc = run(ctx);
    }
    free(block);
    if (rc != POL_OK) {
        fprintf(stderr, "01_minimal: %s\n", pol_strerror(rc));
    }
    return rc != POL_OK;
}
