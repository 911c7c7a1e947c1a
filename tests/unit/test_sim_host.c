/* SPDX-License-Identifier: BSD-2-Clause */
/* The simulated host: frames, hypervisor swap, page sharing, faults. */
#include "sim_fixture.h"

/* A guest whose pages are all zero and stay so. */
static struct sim_vm *zero_vm(struct sim_host *host, uint64_t id, uint64_t size)
{
    struct sim_vm_config c = fix_config(id, size);

    c.touch_all_at_boot = true;
    return fix_vm(host, &c, NULL);
}

static void zero_pages_merge_into_one_frame(void)
{
    struct sim_host *host = fix_host(8192, 0);
    struct sim_vm *a = zero_vm(host, 1, 1016);
    struct sim_vm *b = zero_vm(host, 2, 2016);
    struct sim_host_stats s;

    fix_step(host, 2000);
    CU_ASSERT_EQUAL(fix_stats(host).used_pages, 3032);
    CU_ASSERT_EQUAL(sim_host_set_share_rate(host, 1000), POL_OK);
    fix_step(host, 8000);
    s = fix_stats(host);
    /* 1000 and 2000 zero pages in one frame; 16 kernel pages each stay. */
    CU_ASSERT_EQUAL(s.used_pages, 33);
    CU_ASSERT_EQUAL(s.shared_pages, 3000);
    CU_ASSERT_EQUAL(s.shared_frames, 1);
    CU_ASSERT_EQUAL(s.pages_merged, 2999);
    CU_ASSERT_EQUAL(s.granted_pages, 3032);
    CU_ASSERT_EQUAL(fix_vm_stats(a).consumed_pages, 16);
    CU_ASSERT_EQUAL(fix_vm_stats(b).consumed_pages, 16);
    CU_ASSERT_EQUAL(fix_vm_stats(b).shared_pages, 2000);
    CU_ASSERT_EQUAL(fix_vm_stats(b).granted_pages, 2016);
    fix_check(host);
    sim_vm_destroy(a);
    CU_ASSERT_EQUAL(fix_stats(host).used_pages, 17);
    fix_check(host);
    sim_vm_destroy(b);
    CU_ASSERT_EQUAL(fix_stats(host).free_pages, 8192);
    sim_host_destroy(host);
}

static void writing_breaks_sharing(void)
{
    struct sim_host *host = fix_host(8192, 0);
    struct sim_vm *vm = zero_vm(host, 1, 2016);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 500, 0);

    CU_ASSERT_EQUAL(sim_host_set_share_rate(host, 1000), POL_OK);
    fix_step(host, 6000);
    CU_ASSERT_EQUAL(fix_stats(host).used_pages, 17);
    CU_ASSERT_EQUAL(sim_host_set_share_rate(host, 0), POL_OK);
    CU_ASSERT_EQUAL(sim_vm_set_phases(vm, &p, 1), POL_OK);
    fix_step(host, 2000);
    CU_ASSERT_EQUAL(fix_stats(host).cow_breaks, 500);
    CU_ASSERT_EQUAL(fix_stats(host).used_pages, 517);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).shared_pages, 1500);
    fix_check(host);
    sim_host_destroy(host);
}

/* VMs of one image share kernel and file pages, with 1/n each; VMs of another
 * image share nothing with them. */
static void images_are_shared_by_their_vms(void)
{
    static const uint32_t image[4] = { 1, 1, 1, 2 };
    struct sim_host *host = fix_host(16384, 0);
    struct sim_vm *vm[4];
    uint64_t sum = 0;
    int i;

    for (i = 0; i < 4; i++) {
        struct sim_vm_config c = fix_config((uint64_t)i, 2048);
        struct sim_phase p = fix_phase(SIM_FILE_SCAN, 0, 0);

        c.image = image[i];
        c.kernel_pages = 100;
        c.kernel_image_pages = 50;
        c.image_file_pages = 250;
        p.file_pages = 400;
        p.rate = 2000;
        p.write_bp = 0;
        vm[i] = fix_vm(host, &c, &p);
    }
    CU_ASSERT_EQUAL(sim_host_set_share_rate(host, 5000), POL_OK);
    fix_step(host, 20000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm[0]).granted_pages, 500);
    CU_ASSERT_EQUAL(fix_vm_stats(vm[0]).shared_pages, 300);
    CU_ASSERT_EQUAL(fix_vm_stats(vm[0]).consumed_pages, 200 + 100);
    CU_ASSERT_EQUAL(fix_vm_stats(vm[3]).shared_pages, 0);
    CU_ASSERT_EQUAL(fix_vm_stats(vm[3]).consumed_pages, 500);
    for (i = 0; i < 4; i++) {
        sum += fix_vm_stats(vm[i]).consumed_pages;
    }
    CU_ASSERT_EQUAL(fix_stats(host).used_pages, sum);
    CU_ASSERT_EQUAL(fix_stats(host).shared_frames, 300);
    fix_check(host);
    /* The last one left has its pages for itself again, after a scan. */
    sim_vm_destroy(vm[1]);
    sim_vm_destroy(vm[0]);
    fix_step(host, 5000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm[2]).shared_pages, 0);
    fix_check(host);
    sim_host_destroy(host);
}

/* Programs of one image leave the same pages zero and fill others alike; what
 * is written again is the VM's own. */
static void programs_of_an_image_are_alike(void)
{
    static const uint32_t image[3] = { 1, 1, 0 };
    struct sim_host *host = fix_host(65536, 0);
    struct sim_vm *vm[3];
    int i;

    for (i = 0; i < 3; i++) {
        struct sim_vm_config c = fix_config((uint64_t)i, 16384);
        struct sim_phase p = fix_phase(SIM_IDLE, 10000, 0);

        c.image = image[i];
        c.kernel_image_pages = 0;
        c.zero_anon_bp = 1000;
        c.image_anon_bp = 5000;
        p.write_bp = 0;
        vm[i] = fix_vm(host, &c, &p);
    }
    CU_ASSERT_EQUAL(sim_host_set_share_rate(host, 20000), POL_OK);
    fix_step(host, 20000);
    /* Pages are spread evenly: as many as stated, within a page or so. */
    for (i = 0; i < 3; i++) {
        uint64_t want = image[i] == 0 ? 1000 : 6000;
        uint64_t got = fix_vm_stats(vm[i]).shared_pages;

        CU_ASSERT(got + 4 >= want && got <= want + 4);
    }
    CU_ASSERT(fix_stats(host).shared_frames >= 4997);
    CU_ASSERT(fix_stats(host).shared_frames <= 5005);
    fix_check(host);
    sim_host_destroy(host);
}

static void swapping_moves_what_it_says(void)
{
    struct sim_host *host = fix_host(4096, 600);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 1500, 1);
    struct sim_vm *vm = fix_vm(host, &c, &p);
    uint64_t done = 0;

    fix_step(host, 5000);
    CU_ASSERT_EQUAL(sim_vm_swap_out(vm, 500, &done), POL_OK);
    CU_ASSERT_EQUAL(done, 500);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).swapped_pages, 500);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).consumed_pages, 1016);
    CU_ASSERT_EQUAL(sim_vm_swap_out(vm, 500, &done), POL_OK);
    CU_ASSERT_EQUAL(done, 100); /* swap space is full */
    CU_ASSERT_EQUAL(fix_stats(host).swap_free_pages, 0);
    fix_step(host, 5000);
    CU_ASSERT_EQUAL(sim_vm_swap_in(vm, 200, &done), POL_OK);
    CU_ASSERT_EQUAL(done, 200);
    CU_ASSERT_EQUAL(sim_vm_swap_in(vm, UINT64_MAX, &done), POL_OK);
    CU_ASSERT(fix_vm_stats(vm).swap_out_per_s > 30);
    fix_step(host, 30000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).swap_out_per_s, 0);
    fix_check(host);
    sim_host_destroy(host);
}

static void disk_limits_swapping_by_request(void)
{
    struct sim_host *host = fix_host(400000, 400000);
    struct sim_vm_config c = fix_config(1, 300000);
    struct sim_phase p = fix_phase(SIM_IDLE, 290000, 0);
    struct sim_vm *vm = fix_vm(host, &c, &p);
    uint64_t a = 0;
    uint64_t b = 0;

    fix_step(host, 10000);
    fix_step(host, 1000);
    CU_ASSERT_EQUAL(sim_vm_swap_out(vm, 290000, &a), POL_OK);
    CU_ASSERT_EQUAL(sim_vm_swap_out(vm, 290000, &b), POL_OK);
    CU_ASSERT_EQUAL(b, 0);
    fix_step(host, 1000);
    CU_ASSERT_EQUAL(sim_vm_swap_out(vm, 290000, &b), POL_OK);
    /* Four disks; a page takes 40 us and 1/64 of a seek of 4 ms. */
    CU_ASSERT_EQUAL(a, 39024);
    CU_ASSERT_EQUAL(b, 39024);
    CU_ASSERT_EQUAL(sim_fault_set(host, NULL, SIM_FAULT_SLOW_DISK, 40000),
                    POL_OK);
    fix_step(host, 1000);
    CU_ASSERT_EQUAL(sim_vm_swap_out(vm, 290000, &a), POL_OK);
    CU_ASSERT(a * 4 <= b + 4 && a * 5 > b);
    sim_host_destroy(host);
}

static void a_full_host_swaps_the_largest_vm(void)
{
    struct sim_host *host = fix_host(2000, 2000);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase big = fix_phase(SIM_UNIFORM, 1500, 1);
    struct sim_phase small = fix_phase(SIM_UNIFORM, 700, 1);
    struct sim_vm *a = fix_vm(host, &c, &big);
    struct sim_vm *b;

    fix_step(host, 10000);
    c.id = 2;
    b = fix_vm(host, &c, &small);
    fix_step(host, 20000);
    CU_ASSERT(fix_stats(host).emergency_swaps >= 232);
    CU_ASSERT_EQUAL(fix_stats(host).free_pages, 0);
    CU_ASSERT(fix_vm_stats(a).swapped_pages >= 232);
    CU_ASSERT_EQUAL(fix_vm_stats(b).swapped_pages, 0);
    CU_ASSERT_EQUAL(fix_stats(host).stalls, 0);
    fix_check(host);
    sim_host_destroy(host);
}

static void without_swap_the_vm_waits(void)
{
    struct sim_host *host = fix_host(1000, 0);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 900, 10);
    struct sim_vm *a = fix_vm(host, &c, &p);
    struct sim_vm *b;

    fix_step(host, 5000);
    c.id = 2;
    b = fix_vm(host, &c, &p);
    fix_step(host, 10000);
    CU_ASSERT(fix_stats(host).stalls >= 9);
    CU_ASSERT_EQUAL(fix_vm_stats(b).work_done, 0);
    fix_check(host);
    sim_vm_destroy(a);
    fix_step(host, 10000);
    CU_ASSERT(fix_vm_stats(b).work_done > 100);
    CU_ASSERT_EQUAL(fix_vm_stats(b).guest_anon_pages, 900);
    fix_check(host);
    sim_host_destroy(host);
}

static void hard_cap_holds(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 1500, 50);
    struct sim_vm *vm = fix_vm(host, &c, &p);
    int i;

    fix_step(host, 5000);
    CU_ASSERT_EQUAL(sim_vm_set_hard_cap(vm, 1200), POL_OK);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).consumed_pages, 1200);
    for (i = 0; i < 50; i++) {
        fix_step(host, 1000);
        CU_ASSERT(fix_vm_stats(vm).consumed_pages <= 1200);
    }
    CU_ASSERT(fix_vm_stats(vm).swap_in_pages > 300);
    CU_ASSERT(fix_stats(host).free_pages >= 2896);
    fix_check(host);
    sim_host_destroy(host);
}

static void full_swap_still_turns_over(void)
{
    struct sim_host *host = fix_host(1000, 500);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 1484, 10);
    struct sim_vm *vm = fix_vm(host, &c, &p); /* 1500: all of both */
    uint64_t done;

    fix_step(host, 20000);
    CU_ASSERT_EQUAL(fix_stats(host).free_pages, 0);
    CU_ASSERT_EQUAL(fix_stats(host).swap_free_pages, 0);
    done = fix_vm_stats(vm).work_done;
    fix_step(host, 20000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).work_done, done + 200);
    fix_check(host);
    sim_host_destroy(host);
}

static void double_paging_is_counted(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_IDLE, 1900, 0);
    struct sim_vm *vm = fix_vm(host, &c, &p);
    uint64_t done;

    fix_step(host, 5000);
    CU_ASSERT_EQUAL(sim_vm_swap_out(vm, 1500, &done), POL_OK);
    CU_ASSERT_EQUAL(sim_vm_set_balloon(vm, 1000, NULL), POL_OK);
    fix_step(host, 60000);
    CU_ASSERT(fix_vm_stats(vm).double_paging > 300);
    fix_check(host);
    sim_host_destroy(host);
}

static void life_goes_its_way(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 100, 100);
    struct sim_vm *vm;
    struct sim_vm *other = NULL;
    uint64_t done;

    c.build_ms = 5000;
    c.overhead_pages = 50;
    vm = fix_vm(host, &c, &p);
    CU_ASSERT_EQUAL(sim_vm_new(host, &c, &p, 1, &other), POL_ERR_EXISTS);
    c.id = 2;
    c.overhead_pages = 5000;
    CU_ASSERT_EQUAL(sim_vm_new(host, &c, &p, 1, &other), POL_ERR_MEMORY_SHORT);
    CU_ASSERT_PTR_NULL(other);
    CU_ASSERT_EQUAL(fix_stats(host).free_pages, 4046);
    fix_step(host, 4000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).lifecycle, SIM_LIFE_BUILDING);
    fix_step(host, 6000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).lifecycle, SIM_LIFE_RUNNING);
    CU_ASSERT_EQUAL(sim_vm_pause(vm), POL_OK);
    CU_ASSERT_EQUAL(sim_vm_pause(vm), POL_ERR_INVALID);
    done = fix_vm_stats(vm).work_done;
    CU_ASSERT(done > 0);
    fix_step(host, 5000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).work_done, done);
    CU_ASSERT_EQUAL(sim_vm_resume(vm), POL_OK);
    fix_step(host, 1000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).work_done, done + 100);
    CU_ASSERT_EQUAL(sim_vm_set_overhead(vm, 80), POL_OK);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).overhead_pages, 80);
    fix_check(host);
    CU_ASSERT_EQUAL(sim_vm_shutdown(vm, 3000), POL_OK);
    fix_step(host, 2000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).lifecycle, SIM_LIFE_SHUTTING_DOWN);
    fix_step(host, 2000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).lifecycle, SIM_LIFE_DEAD);
    CU_ASSERT_EQUAL(fix_stats(host).free_pages, 4096);
    CU_ASSERT_EQUAL(sim_vm_swap_out(vm, 1, &done), POL_ERR_BUSY);
    CU_ASSERT_PTR_EQUAL(sim_host_find_vm(host, 1), vm);
    sim_vm_destroy(vm);
    CU_ASSERT_PTR_NULL(sim_host_find_vm(host, 1));
    fix_check(host);
    sim_host_destroy(host);
}

static struct sim_vm *faulty_vm(struct sim_host *host)
{
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_IDLE, 500, 0);
    struct sim_vm *vm;

    c.balloon_pages_per_s = 100;
    vm = fix_vm(host, &c, &p);
    fix_step(host, 3000);
    return vm;
}

static void balloon_faults(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm *vm = faulty_vm(host);
    uint64_t on_record;

    CU_ASSERT_EQUAL(sim_vm_set_balloon(vm, 1000, NULL), POL_OK);
    fix_step(host, 2000);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_BALLOON_STUCK, 1),
                    POL_OK);
    fix_step(host, 5000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).balloon_pages, 200);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).driver, SIM_DRIVER_STUCK);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_BALLOON_STUCK, 0),
                    POL_OK);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_BALLOON_SLOW, 1000),
                    POL_OK);
    fix_step(host, 5000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).balloon_pages, 250);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_FOREIGN_TARGET, 271),
                    POL_OK);
    fix_step(host, 5000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).balloon_pages, 270);
    CU_ASSERT_EQUAL(sim_vm_set_balloon(vm, 0, &on_record), POL_OK);
    CU_ASSERT_EQUAL(on_record, 270);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_DRIVER_ABSENT, 1),
                    POL_OK);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).balloon_pages, 0);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).driver, SIM_DRIVER_ABSENT);
    CU_ASSERT_EQUAL(sim_vm_set_balloon(vm, 5, NULL), POL_ERR_UNSUPPORTED);
    fix_check(host);
    sim_host_destroy(host);
}

static void report_faults(void)
{
    struct sim_host *host = fix_host(4096, 4096);
    struct sim_vm *vm = faulty_vm(host);
    uint64_t at = fix_vm_stats(vm).guest.at_ms;

    CU_ASSERT_EQUAL(at, 3000);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_STATS_FROZEN, 1), POL_OK);
    fix_step(host, 5000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest.at_ms, at);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_STATS_FROZEN, 0), POL_OK);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_STATS_ABSURD, 1), POL_OK);
    fix_step(host, 2000);
    CU_ASSERT(fix_vm_stats(vm).guest.free_pages >
              fix_vm_stats(vm).guest.total_pages);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_STATS_MISSING, 1),
                    POL_OK);
    fix_step(host, 2000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).guest.valid, 0);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_STATS_ABSURD, 4),
                    POL_ERR_RANGE);
    CU_ASSERT_EQUAL(sim_fault_set(host, NULL, SIM_FAULT_STATS_FROZEN, 1),
                    POL_ERR_INVALID);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_MEMORY_LOSS, 1),
                    POL_ERR_INVALID);
    CU_ASSERT_EQUAL(sim_fault_set(host, vm, SIM_FAULT_DIE, 2500), POL_OK);
    fix_step(host, 2000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).lifecycle, SIM_LIFE_RUNNING);
    fix_step(host, 1000);
    CU_ASSERT_EQUAL(fix_vm_stats(vm).lifecycle, SIM_LIFE_DEAD);
    CU_ASSERT_EQUAL(fix_stats(host).free_pages, 4096);
    fix_check(host);
    sim_host_destroy(host);
}

static void memory_can_be_lost_and_found(void)
{
    struct sim_host *host = fix_host(2000, 4096);
    struct sim_vm_config c = fix_config(1, 2048);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 1500, 10);
    struct sim_vm *vm = fix_vm(host, &c, &p);
    uint64_t done;

    fix_step(host, 3000);
    CU_ASSERT_EQUAL(sim_fault_set(host, NULL, SIM_FAULT_MEMORY_LOSS, 1000),
                    POL_OK);
    CU_ASSERT_EQUAL(fix_stats(host).free_pages, 0);
    CU_ASSERT_EQUAL(fix_stats(host).lost_pages, 484);
    CU_ASSERT_EQUAL(sim_vm_swap_out(vm, 700, &done), POL_OK);
    CU_ASSERT_EQUAL(fix_stats(host).lost_pages, 1000);
    CU_ASSERT_EQUAL(fix_stats(host).free_pages, 184);
    fix_step(host, 10000);
    fix_check(host);
    CU_ASSERT_EQUAL(sim_fault_set(host, NULL, SIM_FAULT_MEMORY_LOSS, 0),
                    POL_OK);
    CU_ASSERT_EQUAL(fix_stats(host).lost_pages, 0);
    CU_ASSERT_EQUAL(fix_stats(host).total_pages, 2000);
    fix_check(host);
    sim_host_destroy(host);
}

/* Accesses done by n VMs, each at a cap that makes nearly all of them wait for
 * host swap, on four disks. */
static uint64_t work_of_swapping_vms(uint64_t n)
{
    struct sim_host *host = fix_host(100000, 100000);
    struct sim_phase p = fix_phase(SIM_UNIFORM, 1800, 0);
    struct sim_vm *vm[16] = { NULL };
    uint64_t sum = 0;
    uint64_t i;

    for (i = 0; i < n; i++) {
        struct sim_vm_config c = fix_config(i, 2048);

        vm[i] = fix_vm(host, &c, &p);
        CU_ASSERT_EQUAL(sim_vm_set_hard_cap(vm[i], 200), POL_OK);
    }
    fix_step(host, 120000);
    for (i = 0; i < n; i++) {
        sum += fix_vm_stats(vm[i]).work_done;
    }
    sim_host_destroy(host);
    return sum;
}

static void swapping_vms_share_the_disks(void)
{
    uint64_t one = work_of_swapping_vms(1);
    uint64_t three = work_of_swapping_vms(3);
    uint64_t sixteen = work_of_swapping_vms(16);

    printf("\n  work of 1, 3, 16 VMs: %lu %lu %lu\n", (unsigned long)one,
           (unsigned long)three, (unsigned long)sixteen);
    CU_ASSERT(three > one * 5 / 2); /* room on the disks */
    CU_ASSERT(sixteen < one * 6);   /* four disks are four disks */
    CU_ASSERT(sixteen > one * 2);
}

/* 25,000 pages a second at 4 us are a tenth of the only processor; with eight
 * of them the scanner runs beside the VM (ESX09 figure 9). */
static void scanning_costs_only_a_busy_host(void)
{
    uint64_t done[3];
    int i;

    for (i = 0; i < 3; i++) {
        struct sim_host_config h;
        struct sim_host *host = NULL;
        struct sim_vm_config c = fix_config(1, 65536);
        struct sim_phase p = fix_phase(SIM_UNIFORM, 1000, 0);
        struct sim_vm *vm;

        sim_host_config_init(&h);
        h.host_cpus = i == 2 ? 8 : 1;
        h.share_pages_per_s = i == 0 ? 0 : 25000;
        h.costs.cpu_ns = 100000;
        CU_ASSERT_EQUAL_FATAL(sim_host_new(&h, &host), POL_OK);
        vm = fix_vm(host, &c, &p);
        fix_step(host, 100000);
        done[i] = fix_vm_stats(vm).work_done;
        sim_host_destroy(host);
    }
    printf("\n  no scan %lu, scan %lu, scan beside %lu\n",
           (unsigned long)done[0], (unsigned long)done[1],
           (unsigned long)done[2]);
    CU_ASSERT(done[1] < done[0] * 93 / 100);
    CU_ASSERT(done[1] > done[0] * 85 / 100);
    CU_ASSERT(done[2] > done[0] * 999 / 1000);
}

static void names_are_complete(void)
{
    int i;

    for (i = 0; i < SIM_FAULTS; i++) {
        CU_ASSERT_PTR_NOT_NULL(sim_fault_name((enum sim_fault)i));
    }
    for (i = 0; i < SIM_PHASE_KINDS; i++) {
        CU_ASSERT_PTR_NOT_NULL(sim_phase_kind_name((enum sim_phase_kind)i));
    }
    CU_ASSERT_PTR_NULL(sim_fault_name((enum sim_fault)SIM_FAULTS));
    CU_ASSERT_PTR_NULL(
        sim_phase_kind_name((enum sim_phase_kind)SIM_PHASE_KINDS));
}

int main(void)
{
    static const CU_TestInfo tests[] = {
        { "zero pages merge into one frame", zero_pages_merge_into_one_frame },
        { "writing breaks sharing", writing_breaks_sharing },
        { "images are shared by their VMs", images_are_shared_by_their_vms },
        { "programs of an image are alike", programs_of_an_image_are_alike },
        { "swapping moves what it says", swapping_moves_what_it_says },
        { "the disk limits swapping by request",
          disk_limits_swapping_by_request },
        { "a full host swaps the largest VM",
          a_full_host_swaps_the_largest_vm },
        { "without swap the VM waits", without_swap_the_vm_waits },
        { "the hard cap holds", hard_cap_holds },
        { "full swap still turns over", full_swap_still_turns_over },
        { "double paging is counted", double_paging_is_counted },
        { "life goes its way", life_goes_its_way },
        { "balloon faults", balloon_faults },
        { "report faults", report_faults },
        { "memory can be lost and found", memory_can_be_lost_and_found },
        { "swapping VMs share the disks", swapping_vms_share_the_disks },
        { "scanning costs only a busy host", scanning_costs_only_a_busy_host },
        { "names are complete", names_are_complete },
        CU_TEST_INFO_NULL
    };

    return fix_run("simulated host", tests);
}
