/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a full computation of targets costs inside a context, as key=value
 * lines, in nanoseconds per VM (median of many rounds):
 *   records  one pass that reads every VM's record, solver node included, once
 *   full     claims from all records, all changed, then all targets stored
 * and in nanoseconds one VM's change through the public calls, with its new
 * target. --check: 10,000 VMs only.
 */
/* For clock_gettime(). */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"
#include "solve_int.h"

#define ROUNDS 41

static uint64_t random_state = 7;
static volatile uint64_t sink;

static uint64_t rnd(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), by_value);
    return values[ROUNDS / 2];
}

static void must(int rc)
{
    if (rc != POL_OK) {
        fprintf(stderr, "bench_context: %s\n", pol_strerror(rc));
        exit(2);
    }
}

/* Targets of single VMs are told only after a plan. */
static void plan_once(struct pol_ctx *ctx)
{
    size_t n = 0, cap = pol_plan_bound(ctx);
    struct pol_action *actions = malloc(cap * sizeof(*actions));

    must(actions != NULL ? POL_OK : POL_ERR_NOMEM);
    must(pol_plan(ctx, actions, cap, &n));
    free(actions);
}

/* A context with so many running VMs that have touched all they have. */
static struct pol_ctx *populate(uint32_t count, void **block)
{
    struct pol_config config;
    struct pol_host_obs host = { .size = sizeof(host), .now_ms = 1000 };
    struct pol_ctx *ctx = NULL;
    size_t bytes = 0;

    pol_config_init(&config, count, 0);
    must(pol_ctx_size(&config, &bytes));
    *block = aligned_alloc(64, bytes);
    must(*block != NULL ? POL_OK : POL_ERR_NOMEM);
    must(pol_ctx_init(*block, bytes, &config, &ctx));
    host.total_pages = UINT64_C(200000) * count;
    host.free_pages = UINT64_C(10000) * count;
    must(pol_observe_host(ctx, &host));
    for (uint64_t vm = 1; vm <= count; vm++) {
        struct pol_vm_obs obs = { .size = sizeof(obs) };
        struct pol_vm_params params;

        pol_vm_params_init(&params, UINT64_C(1) << (17 + rnd() % 3));
        params.reservation_pages = params.size_pages / 8;
        must(pol_vm_add(ctx, vm, &params));
        obs.valid = POL_OBS_CONSUMED | POL_OBS_ACTUAL | POL_OBS_MEASURED;
        obs.lifecycle = POL_LIFE_RUNNING;
        obs.driver = POL_DRIVER_PRESENT;
        obs.consumed_pages = obs.actual_pages = params.size_pages;
        obs.measured_active_pages = rnd() % params.size_pages;
        must(pol_observe_vm(ctx, vm, &obs));
    }
    plan_once(ctx);
    return ctx;
}

static void change_all(struct pol_ctx *ctx)
{
    for (uint32_t i = 0; i < ctx->vm_high; i++) {
        struct polx_vm *vm = &ctx->vms[i];

        vm->active_pages = vm->measured_pages / 100 * (90 + rnd() % 21);
    }
}

static double read_records(const struct pol_ctx *ctx)
{
    const struct polx_node *nodes = &ctx->solver.nodes[1];
    double start = now_ns();
    uint64_t sum = 0;

    for (uint32_t i = 0; i < ctx->vm_high; i++) {
        uint64_t words[sizeof(struct polx_vm) / sizeof(uint64_t)];

        memcpy(words, &ctx->vms[i], sizeof(words));
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
            sum += words[w];
        }
        sum += nodes[i].level[0] ^ nodes[i].level[3] ^ nodes[i].tax_bp;
    }
    sink += sum;
    return now_ns() - start;
}

static double compute(struct pol_ctx *ctx)
{
    double start = now_ns();

    for (uint32_t i = 0; i < ctx->vm_high; i++) {
        polx_claim(ctx, i);
    }
    polx_solver_materialise(&ctx->solver);
    return now_ns() - start;
}

static double change_one(struct pol_ctx *ctx, uint32_t count)
{
    uint64_t vm = 1 + rnd() % count, target = 0;
    struct pol_vm_params params;
    double start;

    must(pol_vm_get(ctx, vm, &params));
    params.shares = params.shares % 1000000 + 1 + rnd() % 1000;
    start = now_ns();
    must(pol_vm_set(ctx, vm, &params));
    must(pol_vm_target(ctx, vm, &target));
    sink += target;
    return now_ns() - start;
}

static void bench(uint32_t count)
{
    double records[ROUNDS], full[ROUNDS], one[ROUNDS];
    uint32_t times = count >= 2000 ? 1 : 2000 / count;
    void *block = NULL;
    struct pol_ctx *ctx = populate(count, &block);
    double r, f, o;

    polx_solver_set_available(&ctx->solver, UINT64_C(120000) * count);
    for (int i = 0; i < ROUNDS; i++) {
        records[i] = full[i] = one[i] = 0;
        for (uint32_t t = 0; t < times; t++) {
            change_all(ctx);
            full[i] += compute(ctx) / times / count;
            change_all(ctx);
            records[i] += read_records(ctx) / times / count;
        }
        for (int t = 0; t < 100; t++) {
            one[i] += change_one(ctx, count) / 100;
        }
    }
    r = median(records);
    f = median(full);
    o = median(one);
    printf("vms=%u records_read_ns_per_vm=%.2f full_ns_per_vm=%.2f "
           "full_to_records=%.2f one_change_ns=%.0f full_to_one_change=%.1f\n",
           count, r, f, f / r, o, f * count / o);
    free(block);
}

int main(int argc, char **argv)
{
    static const uint32_t counts[] = { 10, 100, 1000, 10000, 100000 };

    if (argc > 1 && strcmp(argv[1], "--check") == 0) {
        bench(10000);
        return 0;
    }
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        bench(counts[i]);
    }
    return 0;
}
