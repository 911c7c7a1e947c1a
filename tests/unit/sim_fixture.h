/* SPDX-License-Identifier: BSD-2-Clause */
/* Small simulated hosts for tests: what is not said is out of the way. */
#ifndef SIM_FIXTURE_H
#define SIM_FIXTURE_H

#include <CUnit/Basic.h>

#include "engine.h"

static inline struct sim_host *fix_host(uint64_t total, uint64_t swap)
{
    struct sim_host_config c;
    struct sim_host *host = NULL;

    sim_host_config_init(&c);
    c.seed = 42;
    c.total_pages = total;
    c.reserved_pages = 0;
    c.swap_pages = swap;
    CU_ASSERT_EQUAL_FATAL(sim_host_new(&c, &host), POL_OK);
    return host;
}

/* Boots at once, no overhead, no image, kernel of 16 pages. */
static inline struct sim_vm_config fix_config(uint64_t id, uint64_t size)
{
    struct sim_vm_config c;

    sim_vm_config_init(&c, size);
    c.id = id;
    c.boot_ms = 0;
    c.overhead_pages = 0;
    c.kernel_pages = 16;
    c.kernel_image_pages = 0;
    return c;
}

static inline struct sim_phase fix_phase(enum sim_phase_kind kind,
                                         uint64_t footprint, uint64_t rate)
{
    struct sim_phase p;

    sim_phase_init(&p);
    p.kind = kind;
    p.footprint_pages = footprint;
    p.rate = rate;
    return p;
}

static inline struct sim_vm *fix_vm(struct sim_host *host,
                                    const struct sim_vm_config *config,
                                    const struct sim_phase *phase)
{
    struct sim_vm *vm = NULL;

    CU_ASSERT_EQUAL_FATAL(
        sim_vm_new(host, config, phase, phase != NULL ? 1 : 0, &vm), POL_OK);
    return vm;
}

static inline void fix_step(struct sim_host *host, uint64_t ms)
{
    CU_ASSERT_EQUAL_FATAL(sim_host_step(host, ms), POL_OK);
}

static inline struct sim_vm_stats fix_vm_stats(const struct sim_vm *vm)
{
    struct sim_vm_stats s;

    sim_vm_stats(vm, &s);
    return s;
}

static inline struct sim_host_stats fix_stats(const struct sim_host *host)
{
    struct sim_host_stats s;

    sim_host_stats(host, &s);
    return s;
}

/* Everything accounted for? Says what is not. */
static inline void fix_check(const struct sim_host *host)
{
    const char *why = "";
    int rc = sim_host_check(host, &why);

    if (rc != POL_OK) {
        printf("\nnot accounted for: %s\n", why);
    }
    CU_ASSERT_EQUAL(rc, POL_OK);
}

static inline int fix_run(const char *name, const CU_TestInfo *tests)
{
    CU_pSuite suite;
    unsigned failed;

    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 2;
    }
    suite = CU_add_suite(name, NULL, NULL);
    for (; suite != NULL && tests->pName != NULL; tests++) {
        if (CU_add_test(suite, tests->pName, tests->pTestFunc) == NULL) {
            return 2;
        }
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    (void)CU_basic_run_tests();
    failed = CU_get_number_of_failures() + (suite == NULL);
    CU_cleanup_registry();
    return failed == 0 ? 0 : 1;
}

#endif /* SIM_FIXTURE_H */
