/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pol_host_step() with a bad adapter: every op fails at call number 1, 2, ...
 * once or for ever, with every kind of error; every number is garbage; lists
 * do not end or name VMs twice. The context must stay sound and, once the
 * adapter is well again, go on as if nothing had been.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "expect.h"
#include "step_host.h"

#define STEPS 6

/* What the VMs should have in the end, from a run without failures. */
static void run_well(struct step_host *h, uint64_t *targets)
{
    uint64_t vm;
    int n;

    h->fail_at = 0;
    h->garbage = GARBAGE_NONE;
    h->free_pages = 20000;
    for (n = 0; n < 90; n++) {
        MUST(step_once(h));
    }
    for (vm = 1; vm <= 3; vm++) {
        targets[vm - 1] = step_status(h, vm).target_pages;
        EXPECT("the VM is known", step_status(h, vm).lifecycle,
               POL_LIFE_RUNNING);
    }
    EXPECT("no others are", pol_vm_count(h->ctx), 3);
    EXPECT_TRUE("sound", polx_ctx_is_valid(h->ctx));
}

static void fail_at_each_call(void)
{
    static const int errors[] = { POL_ERR_HOST, POL_ERR_NOTFOUND,
                                  POL_ERR_UNSUPPORTED, -1000, 1 };
    uint64_t want[3], got[3];
    struct step_host h;
    uint32_t calls, at;
    size_t e;
    int n, for_ever;

    step_open(&h);
    h.free_pages = 500;
    for (n = 0; n < STEPS; n++) {
        MUST(step_once(&h));
    }
    calls = h.calls;
    run_well(&h, want);
    step_close(&h);
    printf("  %u calls, each failing once and for ever, with %zu errors\n",
           calls, ROWS(errors));
    for (e = 0; e < ROWS(errors); e++) {
        for (at = 1; at <= calls; at++) {
            for (for_ever = 0; for_ever < 2; for_ever++) {
                step_open(&h);
                h.free_pages = 500;
                h.error = errors[e];
                h.fail_at = at;
                h.for_ever = for_ever;
                for (n = 0; n < STEPS; n++) {
                    int rc = step_once(&h);

                    if (rc != POL_OK && rc != POL_ERR_HOST) {
                        EXPECT("ok, or the host's fault", rc, POL_ERR_HOST);
                    }
                    if (!polx_ctx_is_valid(h.ctx)) {
                        EXPECT("sound", at, 0);
                    }
                }
                run_well(&h, got);
                EXPECT("as if nothing had been", memcmp(got, want, sizeof(got)),
                       0);
                step_close(&h);
            }
        }
    }
}

static void garbage(void)
{
    static const struct {
        const char *row;
        enum step_garbage garbage;
        int rc; /* of the steps meanwhile */
        uint32_t least_failures;
    } rows[] = {
        { "huge numbers", GARBAGE_HUGE, POL_OK, 1 },
        { "zeroes", GARBAGE_ZERO, POL_OK, 1 },
        { "a list without end", GARBAGE_ENDLESS, POL_ERR_HOST, 0 },
        { "VMs twice", GARBAGE_DUPLICATE, POL_OK, 0 },
    };
    uint64_t want[3], got[3];
    struct step_host h;
    size_t i;
    int n, known;

    step_open(&h);
    run_well(&h, want);
    step_close(&h);
    for (i = 0; i < ROWS(rows); i++) {
        /* from the beginning, and with VMs that are known already */
        for (known = 0; known < 2; known++) {
            step_open(&h);
            if (known) {
                MUST(step_once(&h));
            }
            h.garbage = rows[i].garbage;
            for (n = 0; n < STEPS; n++) {
                EXPECT(rows[i].row, step_once(&h), rows[i].rc);
                EXPECT_TRUE(rows[i].row,
                            h.loop.vm_failures >= rows[i].least_failures);
                EXPECT_TRUE(rows[i].row, polx_ctx_is_valid(h.ctx));
            }
            for (n = 1; n <= 3; n++) {
                /* what a garbled record says is somebody else's target */
                if (pol_vm_release(h.ctx, (uint64_t)n) != POL_OK) {
                    EXPECT(rows[i].row, known, 0);
                }
            }
            run_well(&h, got);
            EXPECT(rows[i].row, memcmp(got, want, sizeof(got)), 0);
            step_close(&h);
        }
    }
}

static const struct test_case cases[] = {
    { "any call fails, once or for ever", fail_at_each_call },
    { "garbage", garbage },
};

EXPECT_MAIN("host faults", cases)
