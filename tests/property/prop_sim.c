/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random histories of a simulated host: VMs come and go, guests swap, share,
 * balloon, run out of memory and break; after every few events each frame,
 * each list and each counter must be accounted for. Each history runs twice
 * and must end in the same digest, and another seed in a different one.
 */
#include <inttypes.h>
#include <stdio.h>

#include "engine.h"
#include "rng.h"

#define SEED      UINT64_C(20020609)
#define HISTORIES (300 / POL_TEST_DIVISOR)
#define EVENTS    120
#define VMS       6u

struct history {
    struct sim_rng rng;
    struct sim_host *host;
    uint64_t next_id;
    struct sim_host_stats last;
};

static uint64_t pick(struct history *h, uint64_t n)
{
    return sim_rng_below(&h->rng, n);
}

static struct sim_vm *pick_vm(struct history *h)
{
    struct sim_host_stats s;
    struct sim_vm *vm = NULL;
    size_t cursor = 0;
    uint64_t i;

    sim_host_stats(h->host, &s);
    if (s.vms == 0) {
        return NULL;
    }
    for (i = pick(h, s.vms) + 1; i > 0; i--) {
        vm = sim_host_next_vm(h->host, &cursor);
    }
    return vm;
}

static void random_phase(struct history *h, struct sim_phase *p)
{
    sim_phase_init(p);
    p->kind = (enum sim_phase_kind)pick(h, SIM_PHASE_KINDS);
    p->footprint_pages = pick(h, 1500);
    p->file_pages = 1 + pick(h, 800);
    p->working_set_pages = pick(h, p->footprint_pages + 1);
    if (p->working_set_pages != 0) {
        p->ws_offset_pages =
            pick(h, p->footprint_pages - p->working_set_pages + 1);
    }
    p->write_bp = (uint32_t)pick(h, 10001);
    p->file_bp = (uint32_t)pick(h, 10001);
    p->zipf_bp = (uint32_t)pick(h, 20001);
    p->rate = pick(h, 3) == 0 ? 0 : 1 + pick(h, 2000);
    p->cpu_ns = 100000;
    p->grow_ms = 1 + pick(h, 60000);
}

static int new_vm(struct history *h)
{
    struct sim_vm_config c;
    struct sim_phase p[2];
    struct sim_vm *vm;
    int rc;

    sim_vm_config_init(&c, 16 + pick(h, 1500));
    c.id = h->next_id++;
    c.image = (uint32_t)pick(h, 3);
    c.image_file_pages = pick(h, 600);
    c.zero_anon_bp = (uint32_t)pick(h, 2) * 3000;
    c.image_anon_bp = (uint32_t)pick(h, 2) * 5000;
    c.build_ms = (uint32_t)pick(h, 3000);
    c.boot_ms = (uint32_t)pick(h, 5000);
    c.oom_restart_ms = (uint32_t)pick(h, 3000);
    c.guest_swap_pages = pick(h, 700);
    c.touch_all_at_boot = pick(h, 2) == 0;
    c.deflate_on_oom = pick(h, 2) == 0;
    c.driver = pick(h, 8) != 0;
    c.balloon_max_pages = pick(h, c.size_pages + 1);
    random_phase(h, &p[0]);
    random_phase(h, &p[1]);
    p[1].start_ms = 1 + pick(h, 30000);
    rc = sim_vm_new(h->host, &c, p, 1 + pick(h, 2), &vm);
    return rc == POL_ERR_MEMORY_SHORT ? POL_OK : rc;
}

/* Errors that the state of the VM explains are part of the game. */
static int tolerate(int rc)
{
    return rc == POL_ERR_BUSY || rc == POL_ERR_UNSUPPORTED ||
                   rc == POL_ERR_INVALID || rc == POL_ERR_MEMORY_SHORT
               ? POL_OK
               : rc;
}

static int control(struct history *h, struct sim_vm *vm)
{
    uint64_t size = sim_vm_config_get(vm)->size_pages;
    uint64_t n = pick(h, size + 1);
    uint64_t gfn[8];
    uint64_t done;
    int i;

    switch (pick(h, 11)) {
    case 0:
        return sim_vm_set_balloon(vm, n, NULL);
    case 1:
        return sim_vm_swap_out(vm, n, &done);
    case 2:
        return sim_vm_swap_in(vm, n, &done);
    case 3:
        return sim_vm_set_blocked(vm, pick(h, 4) == 0);
    case 4:
        return sim_vm_set_hard_cap(vm, pick(h, 2) == 0 ? UINT64_MAX : n);
    case 5:
        return sim_vm_pause(vm);
    case 6:
        return sim_vm_resume(vm);
    case 7:
        return pick(h, 4) == 0 ? sim_vm_reset(vm) : POL_OK;
    case 8:
        return pick(h, 4) == 0 ? sim_vm_shutdown(vm, n) : POL_OK;
    case 9:
        return sim_vm_set_overhead(vm, pick(h, 60));
    default:
        for (i = 0; i < 8; i++) {
            gfn[i] = pick(h, size);
        }
        return sim_vm_sample_begin(vm, gfn, 8);
    }
}

static int fault(struct history *h, struct sim_vm *vm)
{
    enum sim_fault f = (enum sim_fault)pick(h, SIM_FAULTS);

    if (f == SIM_FAULT_MEMORY_LOSS) {
        return sim_fault_set(h->host, NULL, f, pick(h, 1000));
    }
    if (f == SIM_FAULT_SLOW_DISK) {
        return sim_fault_set(h->host, NULL, f, 100 + pick(h, 100000));
    }
    if (f == SIM_FAULT_DIE && pick(h, 4) != 0) {
        return POL_OK;
    }
    return sim_fault_set(h->host, vm, f, f == SIM_FAULT_DIE ? 500 : pick(h, 2));
}

static int event(struct history *h)
{
    struct sim_vm *vm = pick_vm(h);
    struct sim_phase p;

    if (vm == NULL || pick(h, 12) == 0) {
        struct sim_host_stats s;

        sim_host_stats(h->host, &s);
        return s.vms < VMS ? new_vm(h) : POL_OK;
    }
    switch (pick(h, 10)) {
    case 0:
        if (pick(h, 3) == 0) {
            sim_vm_destroy(vm);
        }
        return POL_OK;
    case 1:
        return tolerate(fault(h, vm));
    case 2:
        random_phase(h, &p);
        return tolerate(sim_vm_set_phases(vm, &p, 1));
    case 3:
        return sim_host_set_share_rate(h->host, pick(h, 3000));
    case 4:
    case 5:
    case 6:
        return tolerate(control(h, vm));
    default:
        return sim_host_step(h->host, pick(h, 3000));
    }
}

/* @return 0, or 1 after saying what went wrong */
static int run(uint64_t seed, struct history *h, uint64_t *digest)
{
    struct sim_host_config c;
    const char *why = "";
    int rc;
    int i;

    sim_rng_init(&h->rng, seed, 0);
    h->next_id = 1;
    sim_host_config_init(&c);
    c.seed = seed;
    c.total_pages = 1000 + pick(h, 4000);
    c.reserved_pages = pick(h, 100);
    c.swap_pages = pick(h, 4000);
    c.slice_ms = 1 + (uint32_t)pick(h, 1500);
    rc = sim_host_new(&c, &h->host);
    for (i = 0; i < EVENTS && rc == POL_OK; i++) {
        rc = event(h);
        if (rc == POL_OK && i % 4 == 0) {
            rc = sim_host_check(h->host, &why);
        }
    }
    if (rc != POL_OK) {
        printf("FAIL: seed %" PRIu64 ", event %d: %s %s\n", seed, i,
               pol_error_name(rc), why);
    } else {
        *digest = sim_host_digest(h->host);
        sim_host_stats(h->host, &h->last);
    }
    sim_host_destroy(h->host);
    return rc != POL_OK;
}

int main(void)
{
    struct history h;
    struct sim_host_stats sum = { 0 };
    uint64_t before = 0;
    int failed = 0;
    int i;

    printf("seed %" PRIu64 ", %d histories of %d events, each twice\n", SEED,
           HISTORIES, EVENTS);
    for (i = 0; i < HISTORIES && !failed; i++) {
        uint64_t a = 0;
        uint64_t b = 0;

        failed = run(SEED + (uint64_t)i, &h, &a);
        failed |= run(SEED + (uint64_t)i, &h, &b);
        if (!failed && (a != b || a == before)) {
            printf("FAIL: seed %" PRIu64 ": digests %016" PRIx64 " %016" PRIx64
                   ", before %016" PRIx64 "\n",
                   SEED + (uint64_t)i, a, b, before);
            failed = 1;
        }
        before = a;
        sum.accesses += h.last.accesses;
        sum.swap_out_pages += h.last.swap_out_pages;
        sum.swap_in_pages += h.last.swap_in_pages;
        sum.emergency_swaps += h.last.emergency_swaps;
        sum.stalls += h.last.stalls;
        sum.pages_merged += h.last.pages_merged;
        sum.cow_breaks += h.last.cow_breaks;
    }
    printf("accesses %" PRIu64 ", swapped out %" PRIu64 ", in %" PRIu64
           ", emergencies %" PRIu64 ", stalls %" PRIu64 ", merged %" PRIu64
           ", copied on write %" PRIu64 "\n",
           sum.accesses, sum.swap_out_pages, sum.swap_in_pages,
           sum.emergency_swaps, sum.stalls, sum.pages_merged, sum.cow_breaks);
    /* A history in which nothing happens would prove nothing. */
    if (sum.swap_in_pages == 0 || sum.emergency_swaps == 0 || sum.stalls == 0 ||
        sum.cow_breaks == 0) {
        printf("FAIL: the histories are too tame\n");
        failed = 1;
    }
    return failed;
}
