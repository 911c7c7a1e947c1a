/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of a VM's memory is out of reach, and who makes up for it. A VM of
 * 80,000 pages whose balloon is at its cap (65 %) with 28,000, and one of
 * 80,000 that holds 70,800 and uses all of them, on a host of 100,000.
 */
#include "expect.h"
#include "fixture.h"

#define CAPPED 1u
#define BUSY   2u
#define SIZE   UINT64_C(80000)

/* One second: the host's own use, and both as they are. Without a driver the
 * first VM has no balloon. */
static void second(struct fixture *f, uint64_t own, uint64_t capped,
                   uint8_t driver, uint64_t busy)
{
    struct pol_vm_obs o =
        fx_obs(capped, driver == POL_DRIVER_PRESENT ? capped : SIZE);

    o.measured_active_pages = 0;
    o.driver = driver;
    fx_free(f, 1000, FX_TOTAL - own - capped - busy);
    fx_see(f, CAPPED, &o);
    fx_running(f, BUSY, busy, busy);
    fx_plan(f);
}

static void open(struct fixture *f, uint32_t caps, uint32_t flags)
{
    struct pol_vm_params p;

    fx_config(f, 2);
    f->host.caps = caps;
    fx_create(f);
    fx_free(f, 0, FX_TOTAL);
    pol_vm_params_init(&p, SIZE);
    p.flags = flags;
    MUST(pol_vm_add(f->ctx, CAPPED, &p));
    fx_add(f, BUSY, SIZE, 0);
}

/* The least that the first VM can be brought to: the balloon's cap less its
 * part of the swap space, 28,000 of 98,800; with no means, what it has. */
static void least(void)
{
    static const struct {
        const char *row;
        uint32_t caps, flags;
        uint8_t driver;
        uint64_t swap_free, consumed;
        uint64_t min;
    } rows[] = {
        { "no swap", 0, 0, POL_DRIVER_PRESENT, 0, 28000, 28000 },
        { "no swap, above the cap", 0, 0, POL_DRIVER_PRESENT, 0, 28001, 28000 },
        { "no swap, below the cap", 0, 0, POL_DRIVER_PRESENT, 0, 20000, 20000 },
        { "no swap, no driver", 0, 0, POL_DRIVER_ABSENT, 0, 28000, 28000 },
        { "no swap, no driver, more", 0, 0, POL_DRIVER_ABSENT, 0, 29000,
          29000 },
        { "a page of swap", POL_CAP_SWAP, 0, POL_DRIVER_PRESENT, 1, 28000,
          28000 },
        { "its part", POL_CAP_SWAP, 0, POL_DRIVER_PRESENT, 50000, 28000,
          13830 },
        { "its part, no driver", POL_CAP_SWAP, 0, POL_DRIVER_ABSENT, 50000,
          28000, 13830 },
        { "swap for all", POL_CAP_SWAP, 0, POL_DRIVER_PRESENT, 98800, 28000,
          0 },
        { "swap that may not be used", POL_CAP_SWAP, POL_VM_NO_SWAP,
          POL_DRIVER_PRESENT, 98800, 28000, 28000 },
        { "no balloon allowed, its part", POL_CAP_SWAP, POL_VM_NO_BALLOON,
          POL_DRIVER_PRESENT, 50000, 28000, 13830 },
        { "nothing allowed", POL_CAP_SWAP, POL_VM_NO_BALLOON | POL_VM_NO_SWAP,
          POL_DRIVER_PRESENT, 98800, 29000, 29000 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        uint64_t busy = 98800 - rows[i].consumed;

        open(&f, rows[i].caps, rows[i].flags);
        f.host.swap_free_pages = rows[i].swap_free;
        /* parts are those of the plan before */
        second(&f, 0, rows[i].consumed, rows[i].driver, busy);
        second(&f, 0, rows[i].consumed, rows[i].driver, busy);
        EXPECT(rows[i].row, fx_status(&f, CAPPED).min_pages, rows[i].min);
        EXPECT_TRUE(rows[i].row,
                    fx_status(&f, CAPPED).target_pages >= rows[i].min);
        EXPECT("all there is is given out",
               fx_status(&f, CAPPED).target_pages +
                   fx_status(&f, BUSY).target_pages,
               93750);
        fx_close(&f);
    }
}

/* Without swap the busy VM makes up for what the other cannot give: the host
 * comes out of state low, and ends with both at their targets. */
static void others_make_up(void)
{
    struct fixture f;
    uint64_t capped = 80000, busy = 15000;
    uint32_t s;

    open(&f, 0, 0);
    for (s = 0; s < 60; s++) {
        uint64_t own = s < 20 ? 0 : 10000;

        if (capped + busy + own > FX_TOTAL - 200) {
            own = FX_TOTAL - 200 - capped - busy;
        }
        second(&f, own, capped, POL_DRIVER_PRESENT, busy);
        capped = fx_status(&f, CAPPED).asked_pages;
        busy = fx_status(&f, BUSY).asked_pages;
        /* a busy guest takes what is free */
        if (s < 20) {
            busy = FX_TOTAL - 1200 - capped;
            busy = busy > 70800 ? 70800 : busy;
        }
    }
    EXPECT("at its cap", fx_status(&f, CAPPED).consumed_pages, 28000);
    EXPECT("which is its target", fx_status(&f, CAPPED).target_pages, 28000);
    EXPECT("the busy one has the rest", fx_status(&f, BUSY).target_pages,
           93750 - 10000 - 28000);
    EXPECT_TRUE("or almost: 1 %", fx_status(&f, BUSY).consumed_pages -
                                          fx_status(&f, BUSY).target_pages <=
                                      800);
    EXPECT("state", fx_host_status(&f).state, POL_STATE_HIGH);
    fx_close(&f);
}

/* One page of swap more or less does not make targets swing. */
static void no_swing(void)
{
    static const uint8_t drivers[] = { POL_DRIVER_PRESENT, POL_DRIVER_ABSENT };
    size_t i;
    uint32_t s;

    for (i = 0; i < ROWS(drivers); i++) {
        struct fixture f;
        uint64_t low = UINT64_MAX, high = 0;

        open(&f, POL_CAP_SWAP, 0);
        for (s = 0; s < 10; s++) {
            uint64_t t;

            f.host.swap_free_pages = s % 2;
            second(&f, 0, 28000, drivers[i], 70800);
            t = fx_status(&f, BUSY).target_pages;
            low = t < low ? t : low;
            high = t > high ? t : high;
        }
        EXPECT_TRUE("a page at most", high - low <= 1);
        EXPECT_TRUE("what the other leaves", low >= 93750 - 29251);
        fx_close(&f);
    }
}

static const struct test_case cases[] = {
    { "balloon cap, driver, swap space", least },
    { "others make up for what is out of reach", others_make_up },
    { "a page of swap makes no swing", no_swing },
};

EXPECT_MAIN("reach", cases)
