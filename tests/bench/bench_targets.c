/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What computing targets costs, as key=value lines.
 *
 * For each number of VMs, in nanoseconds per VM (median of many rounds):
 *   baseline  one pass that reads every field of the same records once
 *   compute   all claims changed beforehand: lambda and all targets stored
 *   full      the same, with stating the changed claims
 *   rebuild   lambda with nothing kept from before, and all targets stored
 *   cold      a new solver: attach, state, and store all targets
 * and in nanoseconds for one VM whose activity, or whose shares by a factor
 * of four, changed: state it, refresh, and look at its target.
 *
 * With --check only 10,000 VMs are looked at: a test that it runs, not of
 * how fast.
 */
/* For clock_gettime(). */
#define _POSIX_C_SOURCE 200809L

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "solve_int.h"

#define ROUNDS     41
#define CLAIM_SETS 3

static uint64_t random_state = 1;
static volatile uint64_t sink;

static uint64_t rnd(void)
{
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));

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

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), by_value);
    return values[count / 2];
}

struct fleet {
    struct polx_solver solver;
    void *memory;
    uint32_t count;
    uint32_t turn;
    /* The claims, and variants of them with other activity. */
    struct polx_claim *claims;
    struct polx_claim *variant[CLAIM_SETS];
};

/* 1 to 64 GiB, a tenth to nine tenths active, shares in four classes. */
static struct polx_claim typical_claim(void)
{
    struct polx_claim c;
    uint64_t size = UINT64_C(1) << (18 + rnd() % 7);

    c.max_pages = size;
    c.min_pages = rnd() % 4 == 0 ? size / 4 : size / 16;
    c.active_pages = size / 100 * (10 + rnd() % 81);
    c.shares = (UINT64_C(500) << rnd() % 4) * (size >> 18);
    c.tax_bp = 7500;
    return c;
}

static void *must_alloc(size_t bytes)
{
    void *p = malloc(bytes);

    if (p == NULL) {
        perror("malloc");
        exit(2);
    }
    return p;
}

static void fleet_fill(struct fleet *f, uint64_t available)
{
    polx_solver_init(&f->solver, f->memory, f->count, 0);
    for (uint32_t i = 0; i < f->count; i++) {
        polx_solver_attach(&f->solver, 1 + i, 0);
        polx_solver_set(&f->solver, 1 + i, &f->claims[i]);
    }
    polx_solver_set_available(&f->solver, available);
    polx_solver_materialise(&f->solver);
}

static uint64_t fleet_open(struct fleet *f, uint32_t count)
{
    size_t bytes = count * sizeof(struct polx_claim);
    uint64_t sum = 0;

    f->count = count;
    f->turn = 0;
    f->memory = must_alloc(polx_solver_size(count, 0));
    f->claims = must_alloc(bytes);
    for (uint32_t i = 0; i < count; i++) {
        f->claims[i] = typical_claim();
        sum += f->claims[i].max_pages;
    }
    for (int v = 0; v < CLAIM_SETS; v++) {
        f->variant[v] = must_alloc(bytes);
        memcpy(f->variant[v], f->claims, bytes);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t *active = &f->variant[v][i].active_pages;

            *active = *active / 1000 * (900 + rnd() % 201);
        }
    }
    fleet_fill(f, sum / 10 * 6);
    return sum / 10 * 6;
}

static void fleet_close(struct fleet *f)
{
    for (int v = 0; v < CLAIM_SETS; v++) {
        free(f->variant[v]);
    }
    free(f->claims);
    free(f->memory);
}

static void read_all(const struct fleet *f)
{
    const struct polx_node *n = &f->solver.nodes[1];
    uint64_t sum = 0;

    for (uint32_t i = 0; i < f->count; i++) {
        sum += n[i].level[0] ^ n[i].level[1] ^ n[i].level[2] ^ n[i].level[3] ^
               n[i].shares_less_1 ^ n[i].parent ^ n[i].tax_bp;
    }
    sink += sum;
}

/* Small fleets are done many times per round, for the clock's sake. */
static uint32_t repeats(const struct fleet *f)
{
    return f->count >= 2000 ? 1 : 2000 / f->count;
}

/* States another variant each time. */
static void set_all(struct fleet *f)
{
    const struct polx_claim *claims = f->variant[f->turn++ % CLAIM_SETS];

    for (uint32_t i = 0; i < f->count; i++) {
        polx_solver_set(&f->solver, 1 + i, &claims[i]);
    }
}

/*
 * The full computation, and the pass it is compared with; both right after
 * all claims were stated, so that both find the caches in the same state.
 */
static void measure_full(struct fleet *f, double *baseline_out,
                         double *compute_out, double *full_out)
{
    double b[ROUNDS], c[ROUNDS], t[ROUNDS];
    uint32_t times = repeats(f);

    for (int r = 0; r < ROUNDS; r++) {
        b[r] = c[r] = t[r] = 0;
        for (uint32_t i = 0; i < times; i++) {
            double start = now_ns(), stated, done;

            set_all(f);
            stated = now_ns();
            polx_solver_materialise(&f->solver);
            done = now_ns();
            c[r] += (done - stated) / times / f->count;
            t[r] += (done - start) / times / f->count;
            set_all(f);
            start = now_ns();
            read_all(f);
            b[r] += (now_ns() - start) / times / f->count;
        }
    }
    *baseline_out = median(b, ROUNDS);
    *compute_out = median(c, ROUNDS);
    *full_out = median(t, ROUNDS);
}

static double measure_rebuild(struct fleet *f)
{
    double t[ROUNDS];
    uint32_t times = repeats(f);

    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ns();

        for (uint32_t i = 0; i < times; i++) {
            f->solver.groups[0].folded = false;
            polx_mark(&f->solver, 0);
            polx_solver_materialise(&f->solver);
        }
        t[r] = (now_ns() - start) / times / f->count;
    }
    return median(t, ROUNDS);
}

static double measure_cold(struct fleet *f, uint64_t available)
{
    double t[ROUNDS];
    uint32_t times = repeats(f);

    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ns();

        for (uint32_t i = 0; i < times; i++) {
            fleet_fill(f, available);
        }
        t[r] = (now_ns() - start) / times / f->count;
    }
    return median(t, ROUNDS);
}

static double measure_single(struct fleet *f, bool shares)
{
    double t[ROUNDS];
    uint32_t times = 500;

    for (int r = 0; r < ROUNDS; r++) {
        double start = now_ns();

        for (uint32_t i = 0; i < times; i++) {
            uint32_t who = (uint32_t)(rnd() % f->count);
            struct polx_claim c = f->variant[i % CLAIM_SETS][who];

            if (shares && rnd() % 2 == 0) {
                c.shares *= 4;
            }
            polx_solver_set(&f->solver, 1 + who, &c);
            polx_solver_refresh(&f->solver);
            sink += polx_solver_peek(&f->solver, 1 + who);
        }
        t[r] = (now_ns() - start) / times;
    }
    return median(t, ROUNDS);
}

static void bench(uint32_t count)
{
    struct fleet f;
    uint64_t available = fleet_open(&f, count);
    double baseline, full, compute, rebuild, cold, single, large;

    measure_full(&f, &baseline, &compute, &full);
    rebuild = measure_rebuild(&f);
    single = measure_single(&f, false);
    large = measure_single(&f, true);
    cold = measure_cold(&f, available);
    /* Of small fleets the clock itself is a good part. */
    printf("vms=%u baseline_read_ns_per_vm=%.2f compute_ns_per_vm=%.2f "
           "full_ns_per_vm=%.2f rebuild_ns_per_vm=%.2f "
           "full_cold_ns_per_vm=%.2f single_change_ns=%.0f "
           "single_large_change_ns=%.0f compute_to_baseline=%.2f "
           "full_to_baseline=%.2f full_to_single=%.1f "
           "full_to_single_large=%.1f bytes_per_vm=%.1f\n",
           count, baseline, compute, full, rebuild, cold, single, large,
           compute / baseline, full / baseline, full * count / single,
           full * count / large, (double)polx_solver_size(count, 0) / count);
    fleet_close(&f);
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
