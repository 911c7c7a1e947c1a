/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a round costs, as key=value lines: nanoseconds per VM and round, median
 * of many, for observing every VM and for the plan, at rest and under
 * pressure; what a VM's changed shares cost; bytes of context per VM. Nothing
 * is judged here: figures depend on the machine.
 *
 * With --check only up to 10,000 VMs are looked at, for a second or so.
 */
/* for clock_gettime() */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "expect.h"
#include "policy/policy.h"

struct fleet {
    struct pol_ctx *ctx;
    void *block;
    struct pol_action *actions;
    struct pol_vm_obs *obs;
    size_t cap;
    size_t bytes;
    uint64_t seed;
    uint64_t now_ms;
    uint64_t total;
    uint32_t vms;
};

static uint64_t rnd(struct fleet *f)
{
    uint64_t z = (f->seed += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
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

static double median(double *values, uint32_t n)
{
    qsort(values, n, sizeof(*values), by_value);
    return values[n / 2];
}

/* VMs of 1 to 64 GiB, a tenth to nine tenths active, in one group. */
static void open(struct fleet *f, uint32_t vms)
{
    struct pol_config c;
    uint32_t i;

    memset(f, 0, sizeof(*f));
    f->vms = vms;
    f->seed = 1;
    pol_config_init(&c, vms, 0);
    c.max_holds = 1;
    MUST(pol_ctx_size(&c, &f->bytes));
    f->block = aligned_alloc(64, f->bytes);
    f->cap = pol_replay_bound(&c);
    f->actions = calloc(f->cap, sizeof(*f->actions));
    f->obs = calloc(vms, sizeof(*f->obs));
    if (f->block == NULL || f->actions == NULL || f->obs == NULL) {
        exit(2);
    }
    MUST(pol_ctx_init(f->block, f->bytes, &c, &f->ctx));
    for (i = 0; i < vms; i++) {
        uint64_t size = UINT64_C(1) << (18 + rnd(f) % 7);
        struct pol_vm_params p;
        struct pol_vm_obs *o = &f->obs[i];

        pol_vm_params_init(&p, size);
        MUST(pol_vm_add(f->ctx, i, &p));
        o->size = sizeof(*o);
        o->lifecycle = POL_LIFE_RUNNING;
        o->driver = POL_DRIVER_PRESENT;
        o->valid = POL_OBS_CONSUMED | POL_OBS_GRANTED | POL_OBS_ACTUAL |
                   POL_OBS_SWAPPED | POL_OBS_MEASURED | POL_OBS_GUEST_FREE;
        o->consumed_pages = o->granted_pages = o->actual_pages = size;
        f->total += size;
    }
    f->total += f->total / 10;
}

static void close(struct fleet *f)
{
    free(f->block);
    free(f->actions);
    free(f->obs);
}

/* One round with so many tenths of a percent of memory free. */
static void round_of(struct fleet *f, uint64_t free_permille, double *observe,
                     double *plan)
{
    struct pol_host_obs host;
    double t0, t1, t2;
    size_t n;
    uint32_t i;

    memset(&host, 0, sizeof(host));
    host.size = sizeof(host);
    host.now_ms = f->now_ms += 1000;
    host.total_pages = f->total;
    host.free_pages = f->total / 1000 * free_permille;
    host.swap_total_pages = host.swap_free_pages = f->total;
    host.caps = POL_CAPS_ALL;
    for (i = 0; i < f->vms; i++) {
        f->obs[i].measured_active_pages =
            f->obs[i].actual_pages / 10 * (1 + rnd(f) % 9);
    }
    t0 = now_ns();
    MUST(pol_observe_host(f->ctx, &host));
    for (i = 0; i < f->vms; i++) {
        MUST(pol_observe_vm(f->ctx, i, &f->obs[i]));
    }
    t1 = now_ns();
    MUST(pol_plan(f->ctx, f->actions, f->cap, &n));
    t2 = now_ns();
    *observe = (t1 - t0) / f->vms;
    *plan = (t2 - t1) / f->vms;
}

/* A VM's shares change, and its target is looked at. */
static double change(struct fleet *f)
{
    struct pol_vm_params p;
    uint64_t vm = rnd(f) % f->vms, target;
    double t0;

    MUST(pol_vm_get(f->ctx, vm, &p));
    p.shares = 1 + rnd(f) % 4000;
    t0 = now_ns();
    MUST(pol_vm_set(f->ctx, vm, &p));
    MUST(pol_vm_target(f->ctx, vm, &target));
    return now_ns() - t0;
}

static void measure(uint32_t vms, uint32_t rounds)
{
    static const struct {
        const char *name;
        uint64_t free_permille;
    } loads[] = { { "plenty", 90 }, { "soft", 30 }, { "low", 5 } };
    double *observe = calloc(rounds, sizeof(double));
    double *plan = calloc(rounds, sizeof(double));
    struct fleet f;
    size_t k;
    uint32_t i;

    open(&f, vms);
    for (k = 0; k < ROWS(loads); k++) {
        for (i = 0; i < rounds; i++) {
            round_of(&f, loads[k].free_permille, &observe[i], &plan[i]);
        }
        printf("vms=%u load=%s observe_ns_per_vm=%.1f plan_ns_per_vm=%.1f\n",
               vms, loads[k].name, median(observe, rounds),
               median(plan, rounds));
    }
    for (i = 0; i < rounds; i++) {
        plan[i] = change(&f);
    }
    printf("vms=%u change_ns=%.0f\n", vms, median(plan, rounds));
    printf("vms=%u context_bytes=%zu context_bytes_per_vm=%zu\n", vms, f.bytes,
           f.bytes / vms);
    fflush(stdout);
    close(&f);
    free(observe);
    free(plan);
}

int main(int argc, char **argv)
{
    static const uint32_t counts[] = { 10, 100, 1000, 10000, 100000 };
    int quick = argc > 1 && strcmp(argv[1], "--check") == 0;
    size_t i;

    for (i = 0; i < ROWS(counts) - (quick ? 1 : 0); i++) {
        uint32_t rounds = (quick ? 100000u : 2000000u) / counts[i];

        rounds = rounds < 11 ? 11 : rounds > 2001 ? 2001 : rounds;
        measure(counts[i], rounds);
    }
    return 0;
}
