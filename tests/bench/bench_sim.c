/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many page accesses of simulated guests fit into a second of one core:
 * hits, a sweep over more than the guest has (every access reclaims), a guest
 * half swapped out by its host, and a day of a mostly idle host. The baseline
 * is a pass over the same number of page records in order, in the same run.
 */
#define _POSIX_C_SOURCE 199309L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"

#define GUEST_PAGES 262144u

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void must(int rc, const char *what)
{
    if (rc != POL_OK) {
        fprintf(stderr, "bench_sim: %s: %s\n", what, pol_error_name(rc));
        exit(2);
    }
}

/* A host without disks to speak of, so that simulated time does not limit the
 * number of accesses. */
static struct sim_host *fast_host(uint64_t pages)
{
    struct sim_host_config c;
    struct sim_host *host;

    sim_host_config_init(&c);
    c.total_pages = pages;
    c.reserved_pages = 16;
    c.swap_pages = 4 * GUEST_PAGES;
    c.costs.disk_seek_ns = 0;
    c.costs.disk_ns_per_kib = 1;
    c.costs.cpu_ns = 100;
    c.costs.fault_ns = 100;
    c.costs.zero_ns_per_kib = 1;
    must(sim_host_new(&c, &host), "host");
    return host;
}

static struct sim_vm *add_vm(struct sim_host *host, uint64_t id,
                             const struct sim_phase *phase)
{
    struct sim_vm_config c;
    struct sim_vm *vm;

    sim_vm_config_init(&c, GUEST_PAGES);
    c.id = id;
    c.boot_ms = 0;
    c.guest_swap_pages = GUEST_PAGES;
    must(sim_vm_new(host, &c, phase, 1, &vm), "VM");
    return vm;
}

static uint64_t accesses(const struct sim_host *host)
{
    struct sim_host_stats s;

    sim_host_stats(host, &s);
    return s.accesses;
}

/* Run for run_ms of wall time after warming up. @return accesses per s */
static uint64_t measure(struct sim_host *host, uint64_t run_ms)
{
    uint64_t before;
    uint64_t start;
    uint64_t passed;

    must(sim_host_step(host, 1000), "warm up");
    before = accesses(host);
    start = now_ns();
    do {
        must(sim_host_step(host, 100), "step");
        passed = now_ns() - start;
    } while (passed < run_ms * 1000000);
    return (accesses(host) - before) * 1000 / (passed / 1000000);
}

static uint64_t run_case(enum sim_phase_kind kind, uint64_t ws,
                         uint64_t host_pages, uint64_t run_ms)
{
    struct sim_host *host = fast_host(host_pages);
    struct sim_phase phase;
    uint64_t rate;

    sim_phase_init(&phase);
    phase.kind = kind;
    phase.footprint_pages = ws;
    (void)add_vm(host, 1, &phase);
    rate = measure(host, run_ms);
    sim_host_destroy(host);
    return rate;
}

/* Reading as many 24-byte records in order, per second. */
static uint64_t baseline(void)
{
    size_t words = (size_t)GUEST_PAGES * 3;
    uint64_t *memory = malloc(words * sizeof(*memory));
    volatile uint64_t sink;
    uint64_t sum = 0;
    uint64_t start;
    uint64_t passed;
    int round;
    size_t i;

    if (memory == NULL) {
        exit(2);
    }
    memset(memory, 1, words * sizeof(*memory));
    start = now_ns();
    for (round = 0; round < 64; round++) {
        for (i = 0; i < words; i += 3) {
            sum += memory[i] ^ (sum >> 1);
        }
    }
    passed = now_ns() - start;
    sink = sum;
    (void)sink;
    free(memory);
    return (uint64_t)GUEST_PAGES * 64 * 1000 / (passed / 1000000 + 1);
}

/* 200 VMs of 1 GiB on 256 GiB, pages of 1 MiB, 10 to 50 accesses per second
 * each, one step every 10 s. @return wall time in ms of `seconds` */
static uint64_t idle_host(uint64_t seconds, uint64_t *per_s)
{
    struct sim_host_config c;
    struct sim_host *host;
    struct sim_phase phase;
    uint64_t start;
    uint64_t i;

    sim_host_config_init(&c);
    c.page_kib = 1024;
    c.total_pages = 262144;
    c.reserved_pages = 4096;
    c.swap_pages = 262144;
    must(sim_host_new(&c, &host), "host");
    for (i = 0; i < 200; i++) {
        struct sim_vm_config v;
        struct sim_vm *vm;

        sim_vm_config_init(&v, 1024);
        v.id = i;
        sim_phase_init(&phase);
        phase.kind = SIM_UNIFORM;
        phase.footprint_pages = 800;
        phase.working_set_pages = 300;
        phase.rate = 10 + i % 5 * 10;
        must(sim_vm_new(host, &v, &phase, 1, &vm), "VM");
    }
    start = now_ns();
    for (i = 0; i < seconds; i += 10) {
        must(sim_host_step(host, 10000), "step");
    }
    start = now_ns() - start;
    *per_s = accesses(host) * 1000 / (start / 1000000 + 1);
    sim_host_destroy(host);
    return start / 1000000;
}

int main(int argc, char **argv)
{
    bool check = argc > 1 && strcmp(argv[1], "--check") == 0;
    uint64_t run_ms = check ? 500 : 3000;
    uint64_t seconds = check ? 8640 : 86400;
    uint64_t roomy = 2 * GUEST_PAGES;
    uint64_t ws = GUEST_PAGES * 3 / 4;
    uint64_t base = baseline();
    uint64_t hit = run_case(SIM_UNIFORM, ws, roomy, run_ms);
    uint64_t zipf = run_case(SIM_ZIPF, ws, roomy, run_ms);
    uint64_t sweep = run_case(SIM_SWEEP, GUEST_PAGES * 5 / 4, roomy, run_ms);
    uint64_t swap = run_case(SIM_UNIFORM, ws, GUEST_PAGES / 2, run_ms);
    uint64_t day_per_s;
    uint64_t day = idle_host(seconds, &day_per_s);

    printf("baseline_records_per_s=%" PRIu64 "\n", base);
    printf("uniform_hit_accesses_per_s=%" PRIu64 "\n", hit);
    printf("zipf_hit_accesses_per_s=%" PRIu64 "\n", zipf);
    printf("sweep_guest_reclaim_accesses_per_s=%" PRIu64 "\n", sweep);
    printf("host_swapping_accesses_per_s=%" PRIu64 "\n", swap);
    printf("uniform_hit_baseline_ratio_x100=%" PRIu64 "\n",
           base * 100 / (hit != 0 ? hit : 1));
    printf("idle_host_seconds=%" PRIu64 "\n", seconds);
    printf("idle_host_wall_ms=%" PRIu64 "\n", day);
    printf("idle_host_accesses_per_s=%" PRIu64 "\n", day_per_s);
    return 0;
}
