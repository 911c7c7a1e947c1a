/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ESX02 figure 4: from one to ten identical Linux VMs of 40 MiB. Sharing grows
 * smoothly with their number and with ten comes to about 67 % of all memory
 * shared and 60 % reclaimed; alone, a VM saves some by its zero pages. One
 * model of contents for all points:
 *
 *   kernel          1/32 of the VM, half of it the image's
 *   files in cache  12 MiB of the image's (programs, libraries)
 *   memory          24 MiB that programs allocate: 15 % left zero, 60 % equal
 *                   in all VMs, the rest their own; 5 MiB of it is written
 *                   again and again
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

#define MIB    UINT64_C(256) /* pages */
#define VM_MIB 40u

static int failed;

static void expect(int ok, const char *what, unsigned vms)
{
    if (!ok) {
        printf("FAILED with %u VMs: %s\n", vms, what);
        failed = 1;
    }
}

static void add_vm(struct sim_host *host, uint64_t id)
{
    struct sim_vm_config c;
    struct sim_phase p;
    struct sim_vm *vm;

    sim_vm_config_init(&c, VM_MIB * MIB);
    c.id = id;
    c.image = 1;
    c.kernel_image_pages = c.kernel_pages / 2;
    c.image_file_pages = 12 * MIB;
    c.zero_anon_bp = 1500;
    c.image_anon_bp = 6000;
    sim_phase_init(&p);
    p.kind = SIM_ZIPF;
    p.rate = 50;
    p.footprint_pages = 24 * MIB;
    p.working_set_pages = 5 * MIB;
    p.file_pages = 12 * MIB;
    p.file_bp = 2000;
    p.zipf_bp = 2000;
    if (sim_vm_new(host, &c, &p, 1, &vm) != POL_OK) {
        printf("cannot make VM %" PRIu64 "\n", id);
        exit(1);
    }
}

struct point {
    double shared, saved;
};

/* Two rounds of the scanner at its default of 60 minutes each. */
static struct point measure(unsigned vms)
{
    struct sim_host_config config;
    struct sim_host_stats s;
    struct sim_host *host;
    const char *why = "";
    double all = (double)(vms * VM_MIB * MIB);
    unsigned i;

    sim_host_config_init(&config);
    config.seed = 2002;
    config.total_pages = 512 * MIB;
    config.share_pages_per_s = (vms * VM_MIB * MIB + 3599) / 3600;
    if (sim_host_new(&config, &host) != POL_OK) {
        exit(1);
    }
    for (i = 0; i < vms; i++) {
        add_vm(host, i + 1);
    }
    for (i = 0; i < 2; i++) {
        expect(sim_host_step(host, 3600000) == POL_OK, "step", vms);
    }
    expect(sim_host_check(host, &why) == POL_OK, why, vms);
    sim_host_stats(host, &s);
    sim_host_destroy(host);
    return (struct point){
        .shared = 100.0 * (double)s.shared_pages / all,
        .saved = 100.0 * (double)(s.shared_pages - s.shared_frames) / all,
    };
}

int main(void)
{
    struct point last = { 0, 0 };
    unsigned vms;

    printf("VMs  shared %%  reclaimed %%  (of all VMs' memory)\n");
    for (vms = 1; vms <= 10; vms++) {
        struct point p = measure(vms);

        printf("%3u  %8.1f  %11.1f\n", vms, p.shared, p.saved);
        expect(p.saved >= last.saved - 0.5, "reclaimed grows", vms);
        expect(p.shared >= last.shared - 0.5, "shared grows", vms);
        if (vms == 1) {
            expect(p.saved > 2 && p.saved < 22, "zero pages: 12 %", vms);
        }
        last = p;
    }
    expect(last.shared > 57 && last.shared < 77, "shared: 67 %", 10);
    expect(last.saved > 50 && last.saved < 70, "reclaimed: 60 %", 10);
    return failed;
}
