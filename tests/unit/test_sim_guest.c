/* SPDX-License-Identifier: BSD-2-Clause */
/* The simulated guest: memory manager, balloon driver, program, reports. */
#include <stdlib.h>

#include "engine_int.h"
#include "sim_fixture.h"

static void boots_then_driver_is_up(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_vm *vm;

    c.boot_ms = 5000;
    vm = fix_vm(host, &c, NULL);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).driver, SIM_DRIVER_BOOTING);
    fix_step(host, 4000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).driver, SIM_DRIVER_BOOTING);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest.valid, 0);
    fix_step(host, 2000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).driver, SIM_DRIVER_PRESENT);
    CU_ASSERT_NOT_EQUAL(fix_vm_stats(vm).guest.valid, 0);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).consumed_pages, 16);
    fix_check(host);
    sim_host_destroy(host);
}

static void touching_all_at_boot_backs_all(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_vm *vm;

    c.touch_all_at_boot = true;
    vm = fix_vm(host, &c, NULL);
    fix_step(host, 3000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).consumed_pages, 2048);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_free_pages, 2048 - 16);
    fix_check(host);
    sim_host_destroy(host);
}

static void footprint_is_backed_and_freed_with_the_phase(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p[2] = { fix_phase(SIM_UNIFORM, 1000, 100),
                              fix_phase(SIM_IDLE, 200, 0) };
    struct sim_vm *vm = NULL;

    p[1].start_ms = 20000;
    CU_ASSERT_EQUAL_FATAL(sim_vm_new(host, &c, p, 2, &vm), POL_OK);
    fix_step(host, 10000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_anon_pages, 1000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).consumed_pages, 1016);
    fix_step(host, 20000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).phase, 1);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_anon_pages, 200);
    /* The guest's free memory is still the VM's: the host cannot know. */
    CU_ASSERT_EQUAL(fix_vm_stats(vm).consumed_pages, 1016);
    fix_check(host);
    sim_host_destroy(host);
}

static void growing_is_linear(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 4000);
    struct sim_phase p = fix_phase(SIM_GROW, 3000, 10);
    struct sim_vm *vm;

    p.grow_ms = 100000;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 51000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_anon_pages, 1500);
    fix_step(host, 100000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_anon_pages, 3000);
    sim_host_destroy(host);
}

static void balloon_gives_host_memory_back(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_IDLE, 1500, 0);
    struct sim_vm *vm;
    uint64_t on_record = 0;
    uint64_t before;

    c.balloon_pages_per_s = 100;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 10000);
    before = fix_stats(host).free_pages;
    CU_ASSERT_EQUAL(sim_vm_set_balloon(vm, 1000, &on_record), POL_OK);
    CU_ASSERT_EQUAL(on_record, 1000);
    fix_step(host, 5000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).balloon_pages, 500); /* on its way */
    fix_step(host, 10000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).balloon_pages, 1000);
    CU_ASSERT(fix_stats(host).free_pages >= before + 400);
    CU_ASSERT(fix_vm_stats(vm).guest_swapped_pages >= 400);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest.total_pages, 1048);
    CU_ASSERT_EQUAL(sim_vm_set_balloon(vm, 0, NULL), POL_OK);
    fix_step(host, 11000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).balloon_pages, 0);
    fix_check(host);
    sim_host_destroy(host);
}

static void balloon_is_capped_and_keeps_off_the_last_pages(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2000);
    struct sim_phase p = fix_phase(SIM_IDLE, 1500, 0);
    struct sim_vm *vm;
    uint64_t on_record = 0;

    c.guest_swap_pages = 0; /* nothing can be evicted */
    vm = fix_vm(host, &c, &p);
    fix_step(host, 10000);
    CU_ASSERT_EQUAL(sim_vm_set_balloon(vm, 2000, &on_record), POL_OK);
    CU_ASSERT_EQUAL(on_record, 1300); /* 65 % */
    fix_step(host, 60000);
    /* 2000 - 16 kernel - 1500, less the low watermark of 15. */
    CU_ASSERT_EQUAL(fix_vm_stats(vm).balloon_pages, 469);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).oom_kills, 0);
    fix_check(host);
    sim_host_destroy(host);
}

static void cache_goes_before_anonymous_memory(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_FILE_SCAN, 500, 0);
    struct sim_vm *vm;

    p.file_pages = 4000; /* more than fits: streaming */
    p.write_bp = 0;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 30000);
    CU_ASSERT(fix_vm_stats(vm).guest_cache_pages > 1400);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_swapped_pages, 0);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_anon_pages, 500);
    CU_ASSERT(fix_vm_stats(vm).guest.available_pages >
              fix_vm_stats(vm).guest.free_pages + 1300);
    fix_check(host);
    sim_host_destroy(host);
}

static void dirty_pages_get_written_back(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p[2] = { fix_phase(SIM_FILE_SCAN, 0, 100),
                              fix_phase(SIM_IDLE, 0, 0) };
    struct sim_vm *vm = NULL;

    p[0].file_pages = 1000;
    p[0].write_bp = 10000;
    p[1].start_ms = 10000;
    CU_ASSERT_EQUAL_FATAL(sim_vm_new(host, &c, p, 2, &vm), POL_OK);
    fix_step(host, 10000);
    CU_ASSERT(fix_vm_stats(vm).guest_dirty_pages > 300);
    fix_step(host, 40000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_dirty_pages, 0);
    CU_ASSERT(fix_vm_stats(vm).guest_cache_pages >= 800);
    fix_check(host);
    sim_host_destroy(host);
}

static void oom_kills_and_program_restarts(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 1024);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 1200, 10);
    struct sim_vm *vm;

    c.guest_swap_pages = 100;
    c.oom_restart_ms = 10000;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 3000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).oom_kills, 1);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_anon_pages, 0);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_swapped_pages, 0);
    fix_check(host);
    fix_step(host, 12000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).oom_kills, 2);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest.oom_kills, 2);
    fix_check(host);
    sim_host_destroy(host);
}

static void deflating_on_oom_saves_the_program(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 1024);
    struct sim_phase p[2] = { fix_phase(SIM_IDLE, 300, 0),
                              fix_phase(SIM_UNIFORM, 900, 10) };
    struct sim_vm *vm = NULL;

    c.guest_swap_pages = 0;
    c.deflate_on_oom = true;
    p[1].start_ms = 30000;
    CU_ASSERT_EQUAL_FATAL(sim_vm_new(host, &c, p, 2, &vm), POL_OK);
    CU_ASSERT_EQUAL(sim_vm_set_balloon(vm, 600, NULL), POL_OK);
    fix_step(host, 29000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).balloon_pages, 600);
    fix_step(host, 10000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).oom_kills, 0);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_anon_pages, 900);
    CU_ASSERT(fix_vm_stats(vm).balloon_pages <= 108);
    fix_check(host);
    sim_host_destroy(host);
}

/* Faults per access of a sweep in a guest of `size` on a host of `total`. */
static void run_sweep(uint64_t size, uint64_t total, uint64_t *guest_per_1000,
                      uint64_t *host_per_1000)
{
    struct sim_host *host = fix_host(total, 100000);
    struct sim_vm_config c = fix_config(1, size);
    struct sim_phase p = fix_phase(SIM_SWEEP, 2000, 0);
    struct sim_vm *vm;
    struct sim_vm_stats a;
    struct sim_vm_stats b;

    c.guest_swap_pages = 10000;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 100000);
    a = fix_vm_stats(vm);
    fix_step(host, 200000);
    b = fix_vm_stats(vm);
    *guest_per_1000 = (b.guest_swap_in_pages - a.guest_swap_in_pages) * 1000 /
                      (b.work_done - a.work_done);
    *host_per_1000 = (b.swap_in_pages - a.swap_in_pages) * 1000 /
                     (b.work_done - a.work_done);
    fix_check(host);
    sim_host_destroy(host);
}

/* LRU evicts just what a sweep wants next; random choice does not (the reason
 * why swapping can beat ballooning, ESX09 figure 12). */
static void sweep_defeats_lru_but_not_random_choice(void)
{
    uint64_t guest;
    uint64_t host;

    run_sweep(1900, 4000, &guest, &host); /* guest short by a tenth */
    printf("\n  guest short: %lu guest, %lu host faults per 1000\n",
           (unsigned long)guest, (unsigned long)host);
    CU_ASSERT(guest >= 950);
    CU_ASSERT_EQUAL(host, 0);
    run_sweep(4000, 1900, &guest, &host); /* host short by as much */
    printf("  host short: %lu guest, %lu host faults per 1000\n",
           (unsigned long)guest, (unsigned long)host);
    CU_ASSERT_EQUAL(guest, 0);
    CU_ASSERT(host > 50);
    CU_ASSERT(host < 400);
}

static void work_is_counted_against_what_was_wanted(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 500, 1000);
    struct sim_vm *vm = fix_vm(host, &c, &p);
    struct sim_vm_stats s;

    fix_step(host, 100000);
    s = fix_vm_stats(vm);
    CU_ASSERT(s.work_wanted >= 98000 && s.work_wanted <= 100000);
    CU_ASSERT_EQUAL(s.work_done, s.work_wanted);
    CU_ASSERT_EQUAL(s.ideal_ns, s.work_done * 1000);
    CU_ASSERT(s.spent_ns < s.ideal_ns * 2);
    CU_ASSERT_EQUAL(sim_vm_set_blocked(vm, true), POL_OK);
    fix_step(host, 100000);
    s = fix_vm_stats(vm);
    CU_ASSERT(s.work_wanted > s.work_done + 60000);
    CU_ASSERT(s.work_shed >= 35000); /* a minute's backlog is kept */
    sim_host_destroy(host);
}

static void true_working_set_is_what_is_touched(void)
{
    struct sim_host *host = fix_host(8192, 0);
    struct sim_vm_config c = fix_config(1, 4096);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 3000, 2000);
    struct sim_vm *vm;

    p.working_set_pages = 400;
    p.ws_offset_pages = 1000;
    c.kernel_every = 0;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 10000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).true_active_pages, 3016);
    fix_step(host, 90000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).true_active_pages, 400);
    CU_ASSERT_EQUAL(sim_vm_touched_pages(vm, 300000), 3016);
    sim_host_destroy(host);
}

static void samples_see_touches_once(void)
{
    struct sim_host *host = fix_host(8192, 0);
    struct sim_vm_config c = fix_config(1, 4096);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 1000, 2000);
    struct sim_vm *vm = fix_vm(host, &c, &p);
    uint64_t gfn[4096];
    uint64_t i;

    for (i = 0; i < 4096; i++) {
        gfn[i] = i;
    }
    fix_step(host, 5000);
    CU_ASSERT_EQUAL(sim_vm_sample_begin(vm, gfn, 4096), POL_OK);
    CU_ASSERT_EQUAL(sim_vm_sample_count(vm), 0);
    fix_step(host, 20000);
    /* All 1000 pages and the kernel's 16, each once. */
    CU_ASSERT_EQUAL(sim_vm_sample_count(vm), 1016);
    CU_ASSERT_EQUAL(sim_vm_sample_begin(vm, gfn + 3000, 100), POL_OK);
    fix_step(host, 20000);
    CU_ASSERT_EQUAL(sim_vm_sample_count(vm), 0); /* free pages */
    gfn[5] = 4096;
    CU_ASSERT_EQUAL(sim_vm_sample_begin(vm, gfn, 10), POL_ERR_RANGE);
    sim_host_destroy(host);
}

static void reset_forgets_everything(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 1500, 100);
    struct sim_vm *vm;
    uint64_t done;

    c.boot_ms = 3000;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 10000);
    CU_ASSERT_EQUAL(sim_vm_set_balloon(vm, 500, NULL), POL_OK);
    CU_ASSERT_EQUAL(sim_vm_swap_out(vm, 300, &done), POL_OK);
    CU_ASSERT_EQUAL(done, 300);
    fix_step(host, 3000);
    CU_ASSERT_EQUAL(sim_vm_reset(vm), POL_OK);
    CU_ASSERT_EQUAL(fix_stats(host).free_pages, 4096);
    CU_ASSERT_EQUAL(fix_stats(host).swap_free_pages, 4096);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).lifecycle, SIM_LIFE_REBOOTING);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).balloon_target_pages, 0);
    fix_check(host);
    fix_step(host, 10000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).lifecycle, SIM_LIFE_RUNNING);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).boots, 2);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_anon_pages, 1500);
    fix_check(host);
    sim_host_destroy(host);
}

/* Shares of the first ranks of 1000 in 10000ths: H(1), H(10) and H(100) over
 * H(1000) for s = 1; alike for all ranks for s = 0. */
static void zipf_follows_its_law(void)
{
    static const struct {
        uint32_t s_bp;
        uint32_t ranks;
        uint32_t share;
    } want[] = {
        { 10000, 1, 1336 }, { 10000, 10, 3913 }, { 10000, 100, 6930 },
        { 0, 1, 10 },       { 0, 10, 100 },      { 0, 100, 1000 },
    };
    struct zipf *zipf = simx_zipf_new();
    struct sim_rng rng;
    size_t i;

    CU_ASSERT_PTR_NOT_NULL_FATAL(zipf);
    sim_rng_init(&rng, 7, 0);
    for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        uint32_t hits = 0;
        uint32_t n;

        simx_zipf_set(zipf, 1000, want[i].s_bp);
        for (n = 0; n < 1000000; n++) {
            uint32_t rank = simx_zipf_draw(zipf, &rng);

            hits += rank < want[i].ranks;
            if (rank >= 1000) {
                CU_FAIL("rank out of range");
            }
        }
        printf("\n  s %u, first %u: %u, expected %u", want[i].s_bp,
               want[i].ranks, hits / 100, want[i].share);
        CU_ASSERT(hits / 100 + 60 > want[i].share);
        CU_ASSERT(hits / 100 < want[i].share + 60);
    }
    printf("\n");
    free(zipf);
}

/* Half of the accesses go round the part beyond the working set. */
static void sweep_goes_round_beside_the_working_set(void)
{
    struct sim_host *host = fix_host(8192, 0);
    struct sim_vm_config c = fix_config(1, 4096);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 2100, 2000);
    struct sim_vm *vm;

    p.working_set_pages = 100;
    p.sweep_bp = 5000;
    c.kernel_every = 0;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 400000);
    /* A round takes 2 s: all pages are active, and none of the kernel's. */
    CU_ASSERT_EQUAL(sim_vm_touched_pages(vm, 5000), 2100);
    p.sweep_bp = 0;
    CU_ASSERT_EQUAL(sim_vm_set_phases(vm, &p, 1), POL_OK);
    fix_step(host, 400000);
    CU_ASSERT_EQUAL(sim_vm_touched_pages(vm, 5000), 100);
    sim_host_destroy(host);
}

/* A stream goes by once: cache that is never asked for again. */
static void stream_fills_the_cache(void)
{
    struct sim_host *host = fix_host(8192, 0);
    struct sim_vm_config c = fix_config(1, 4096);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 100, 1000);
    struct sim_vm_stats s;
    struct sim_vm *vm;
    uint64_t read_ns;

    p.stream_bp = 1000;
    p.stream_pages = 100000;
    p.write_bp = 10000;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 10000);
    s = fix_vm_stats(vm);
    /* 100 pages a second, read and not written. */
    CU_ASSERT(s.guest_cache_pages >= 900 && s.guest_cache_pages <= 1100);
    CU_ASSERT_EQUAL(s.guest_dirty_pages, 0);
    read_ns = s.guest_wait_ns;
    p.stream_write_bp = 10000;
    CU_ASSERT_EQUAL(sim_vm_set_phases(vm, &p, 1), POL_OK);
    fix_step(host, 10000);
    /* Pages that are written whole are not read. */
    CU_ASSERT(fix_vm_stats(vm).guest_wait_ns - read_ns < read_ns / 10);
    sim_host_destroy(host);
}

/* Programs that come and go leave their memory to the next one. */
static void renewing_frees_and_takes_afresh(void)
{
    struct sim_host *host = fix_host(8192, 0);
    struct sim_vm_config c = fix_config(1, 4096);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 1000, 500);
    struct sim_vm_stats s;
    struct sim_vm *vm;

    p.renew_every = 100;
    c.kernel_every = 0;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 60000);
    s = fix_vm_stats(vm);
    CU_ASSERT_EQUAL(s.work_done, 29500); /* boots in the first slice */
    CU_ASSERT(s.guest_anon_pages <= 100);
    /* The first fill backed 1000 pages; the same ones are used again. */
    CU_ASSERT_EQUAL(s.granted_pages, 1016);
    sim_host_destroy(host);
}

static uint64_t work_with_threads(uint32_t threads)
{
    struct sim_host *host = fix_host(8192, 0);
    struct sim_vm_config c = fix_config(1, 1024);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 10, 0);
    struct sim_vm *vm;
    uint64_t done;

    p.file_bp = 10000; /* reads that nearly always miss, */
    p.file_pages = 1000000;
    p.write_bp = 5000;
    p.file_write_bp = 0; /* whatever else is written */
    c.threads = threads;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 40000); /* until the disk's queue has settled */
    done = fix_vm_stats(vm).work_done;
    fix_step(host, 20000);
    done = fix_vm_stats(vm).work_done - done;
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest_dirty_pages, 0);
    sim_host_destroy(host);
    return done;
}

/* The disk serves four requests at once: four threads do four times the work
 * of one, more of them only wait longer. */
static void threads_wait_for_the_disk_together(void)
{
    uint64_t one = work_with_threads(1);
    uint64_t four = work_with_threads(4);
    uint64_t forty = work_with_threads(40);

    CU_ASSERT(four * 10 >= one * 38 && four * 10 <= one * 42);
    CU_ASSERT(forty * 10 >= four * 8 && forty * 10 <= four * 13);
}

static void bad_mixtures_are_refused_by_name(void)
{
    struct sim_phase p = fix_phase(SIM_UNIFORM, 100, 0);
    const char *field = "";

    p.sweep_bp = 1;
    CU_ASSERT_EQUAL(sim_phase_check(&p, &field), POL_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(field, "sweep_bp"); /* nothing is left to sweep */
    p.working_set_pages = 99;
    CU_ASSERT_EQUAL(sim_phase_check(&p, &field), POL_OK);
    p.stream_bp = 10000;
    CU_ASSERT_EQUAL(sim_phase_check(&p, &field), POL_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(field, "stream_pages");
    p.stream_pages = 1;
    CU_ASSERT_EQUAL(sim_phase_check(&p, &field), POL_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(field, "sweep_bp"); /* more than all accesses */
}

static void bad_configuration_is_refused_by_name(void)
{
    struct sim_vm_config c;
    struct sim_phase p;
    struct sim_host_config h;
    const char *field = "";

    sim_vm_config_init(&c, 8);
    CU_ASSERT_EQUAL(sim_vm_config_check(&c, &field), POL_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(field, "size_pages");
    sim_vm_config_init(&c, 64);
    CU_ASSERT_EQUAL(sim_vm_config_check(&c, &field), POL_OK);
    c.kernel_pages = 33;
    CU_ASSERT_EQUAL(sim_vm_config_check(&c, &field), POL_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(field, "kernel_pages");
    sim_phase_init(&p);
    CU_ASSERT_EQUAL(sim_phase_check(&p, &field), POL_OK);
    p.working_set_pages = 1;
    CU_ASSERT_EQUAL(sim_phase_check(&p, &field), POL_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(field, "working_set_pages");
    sim_host_config_init(&h);
    CU_ASSERT_EQUAL(sim_host_config_check(&h, &field), POL_OK);
    h.page_kib = 12;
    CU_ASSERT_EQUAL(sim_host_config_check(&h, &field), POL_ERR_RANGE);
    CU_ASSERT_STRING_EQUAL(field, "page_kib");
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        { "boots, then the driver is up", boots_then_driver_is_up },
        { "touching all at boot backs all", touching_all_at_boot_backs_all },
        { "footprint is backed, and freed with the phase",
          footprint_is_backed_and_freed_with_the_phase },
        { "growing is linear", growing_is_linear },
        { "balloon gives host memory back", balloon_gives_host_memory_back },
        { "balloon is capped, keeps off the last pages",
          balloon_is_capped_and_keeps_off_the_last_pages },
        { "cache goes before anonymous memory",
          cache_goes_before_anonymous_memory },
        { "dirty pages get written back", dirty_pages_get_written_back },
        { "OOM kills, and the program restarts",
          oom_kills_and_program_restarts },
        { "deflating on OOM saves the program",
          deflating_on_oom_saves_the_program },
        { "a sweep defeats LRU but not random choice",
          sweep_defeats_lru_but_not_random_choice },
        { "work is counted against what was wanted",
          work_is_counted_against_what_was_wanted },
        { "the true working set is what is touched",
          true_working_set_is_what_is_touched },
        { "samples see touches once", samples_see_touches_once },
        { "reset forgets everything", reset_forgets_everything },
        { "zipf follows its law", zipf_follows_its_law },
        { "a sweep goes round beside the working set",
          sweep_goes_round_beside_the_working_set },
        { "a stream fills the cache", stream_fills_the_cache },
        { "renewing frees and takes afresh", renewing_frees_and_takes_afresh },
        { "threads wait for the disk together",
          threads_wait_for_the_disk_together },
        { "bad mixtures are refused by name",
          bad_mixtures_are_refused_by_name },
        { "bad configuration is refused by name",
          bad_configuration_is_refused_by_name },
        CU_TEST_INFO_NULL
    };

    return fix_run("simulated guest", tests);
}
