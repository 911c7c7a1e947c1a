/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulator when the machine has no memory left: every allocation of a
 * short life fails once, in turn; calls say so, and nothing is lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "engine.h"

static long left; /* allocations until the one that fails; < 0: none does */
static bool failed;

void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *block, size_t size);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd,
                  off_t at);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd,
                  off_t at);

static bool fails(void)
{
    failed = failed || left == 0;
    return left-- == 0;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    return fails() ? NULL : __real_realloc(block, size);
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t at)
{
    return fails() ? MAP_FAILED : __real_mmap(addr, len, prot, flags, fd, at);
}

static int add_vm(struct sim_host *host, uint64_t id)
{
    static const uint64_t gfns[3] = { 1, 2, 3 };
    struct sim_vm_config c;
    struct sim_phase p[2];
    struct sim_vm *vm = NULL;
    int rc;

    /* The first one is big enough for memory that does not come from malloc. */
    sim_vm_config_init(&c, id == 1 ? 60000 : 600);
    c.id = id;
    c.image = 1;
    c.boot_ms = 0;
    c.touch_all_at_boot = true;
    sim_phase_init(&p[0]);
    sim_phase_init(&p[1]);
    p[0].footprint_pages = 100;
    p[1].kind = SIM_ZIPF;
    p[1].rate = 50;
    p[1].footprint_pages = id == 1 ? 400000 : 400;
    p[1].working_set_pages = 300;
    p[1].file_pages = 200;
    p[1].start_ms = 1000;
    rc = sim_vm_new(host, &c, p, 1, &vm);
    if (rc == POL_OK) {
        rc = sim_vm_set_phases(vm, p, 2);
    }
    if (rc == POL_OK) {
        rc = sim_vm_sample_begin(vm, gfns, 3);
    }
    return rc;
}

/* @return the first error of a short life, or that of the final check */
static int live(void)
{
    struct sim_host_config c;
    struct sim_host *host = NULL;
    uint64_t id;
    int rc;
    int check = POL_OK;

    sim_host_config_init(&c);
    c.share_pages_per_s = 100000;
    rc = sim_host_new(&c, &host);
    for (id = 1; id <= 18 && rc == POL_OK; id++) {
        rc = add_vm(host, id);
        if (sim_host_step(host, 500) != POL_OK) {
            rc = POL_ERR_CORRUPT; /* must not need memory */
        }
    }
    if (host != NULL) {
        left = -1;
        check = sim_host_check(host, NULL);
    }
    sim_host_destroy(host);
    return check != POL_OK ? check : rc;
}

int main(void)
{
    long n;
    int refused = 0;

    for (n = 0;; n++) {
        int rc;

        left = n;
        failed = false;
        rc = live();
        if (!failed) {
            printf("no allocation fails: %s\n", pol_error_name(rc));
            printf("%ld allocations failed in turn, %d calls said so\n", n,
                   refused);
            return rc == POL_OK && refused > 100 ? 0 : 1;
        }
        if (rc != POL_OK && rc != POL_ERR_NOMEM) {
            printf("FAIL: allocation %ld: %s\n", n, pol_error_name(rc));
            return 1;
        }
        refused += rc == POL_ERR_NOMEM;
    }
}
