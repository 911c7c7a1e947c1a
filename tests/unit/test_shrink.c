/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking memory. One VM of 80,000 pages on a host of 100,000, nothing
 * reserved, so that with so much free
 *     free   6000: target 79,750, 250 above; state high
 *     free   3000: target 76,750, 3250 above; state soft
 *     free   1500: target 75,250, 4750 above; state hard
 *     free    500: target 74,250, 5750 above; state low
 * A second passes between plans: 4000 pages are one step.
 */
#include "expect.h"
#include "fixture.h"

#define SIZE UINT64_C(80000)

/* What the only VM is like, and what is done to it; -1: nothing. */
struct row {
    const char *row;
    uint64_t free_pages;
    uint32_t driver, flags, caps;
    int64_t balloon, balloon_why;
    int64_t swap, swap_why;
    int64_t block;
    int64_t reason; /* of the decision */
};

#define ALL (POL_CAP_SWAP | POL_CAP_BLOCK)
#define YES POL_DRIVER_PRESENT

static void check_row(const struct row *r)
{
    struct fixture f;
    struct pol_vm_params p;
    struct pol_vm_obs o = fx_obs(SIZE, SIZE);

    fx_open(&f, 1);
    pol_vm_params_init(&p, SIZE);
    p.flags = r->flags;
    MUST(pol_vm_add(f.ctx, 1, &p));
    o.driver = (uint8_t)r->driver;
    f.host.caps = r->caps;
    fx_free(&f, 0, r->free_pages);
    fx_see(&f, 1, &o);
    fx_plan(&f);
    EXPECT(r->row, fx_pages(&f, 1, POL_ACT_BALLOON), r->balloon);
    EXPECT(r->row, fx_reason(&f, 1, POL_ACT_BALLOON), r->balloon_why);
    EXPECT(r->row, fx_pages(&f, 1, POL_ACT_SWAP_OUT), r->swap);
    EXPECT(r->row, fx_reason(&f, 1, POL_ACT_SWAP_OUT), r->swap_why);
    EXPECT(r->row, fx_pages(&f, 1, POL_ACT_BLOCK), r->block);
    EXPECT(r->row, fx_status(&f, 1).reason, r->reason);
    fx_close(&f);
}

static void states_and_means(void)
{
    static const struct row rows[] = {
        { "high", 6000, YES, 0, ALL, -1, -1, -1, -1, -1, POL_WHY_PLENTY },
        { "soft: balloon", 3000, YES, 0, ALL, 76750, POL_WHY_OVER_TARGET, -1,
          -1, -1, POL_WHY_OVER_TARGET },
        { "hard: swap what is urgent, balloon the rest", 1500, YES, 0, ALL,
          78000, POL_WHY_OVER_TARGET, 2750, POL_WHY_URGENT, -1,
          POL_WHY_OVER_TARGET },
        { "low: block as well", 500, YES, 0, ALL, 78000, POL_WHY_OVER_TARGET,
          3750, POL_WHY_URGENT, 0, POL_WHY_OVER_TARGET },
        { "soft, no driver: swap", 3000, POL_DRIVER_ABSENT, 0, ALL, -1, -1,
          3250, POL_WHY_NO_DRIVER, -1, POL_WHY_NO_DRIVER },
        { "soft, driver not up yet: swap", 3000, POL_DRIVER_BOOTING, 0, ALL, -1,
          -1, 3250, POL_WHY_NO_DRIVER, -1, POL_WHY_NO_DRIVER },
        { "soft, driver unknown: a small balloon", 3000, POL_DRIVER_UNKNOWN, 0,
          ALL, 78750, POL_WHY_OVER_TARGET, -1, -1, -1, POL_WHY_OVER_TARGET },
        { "hard, no driver: swap a step", 1500, POL_DRIVER_ABSENT, 0, ALL, -1,
          -1, 4000, POL_WHY_NO_DRIVER, -1, POL_WHY_NO_DRIVER },
        { "soft, balloon forbidden: swap", 3000, YES, POL_VM_NO_BALLOON, ALL,
          -1, -1, 3250, POL_WHY_FORBIDDEN, -1, POL_WHY_FORBIDDEN },
        { "hard, swap forbidden: balloon", 1500, YES, POL_VM_NO_SWAP, ALL,
          76000, POL_WHY_OVER_TARGET, -1, -1, -1, POL_WHY_OVER_TARGET },
        { "low, block forbidden", 500, YES, POL_VM_NO_BLOCK, ALL, 78000,
          POL_WHY_OVER_TARGET, 3750, POL_WHY_URGENT, -1, POL_WHY_OVER_TARGET },
        { "all forbidden", 500, YES, 7, ALL, -1, -1, -1, -1, -1,
          POL_WHY_FORBIDDEN },
        { "low, the host can only balloon", 500, YES, 0, 0, 76000,
          POL_WHY_OVER_TARGET, -1, -1, -1, POL_WHY_OVER_TARGET },
        { "low, no driver, no swap", 500, POL_DRIVER_ABSENT, 0, POL_CAP_BLOCK,
          -1, -1, -1, -1, -1, POL_WHY_NO_DRIVER },
        { "low, no swap: it must run to inflate", 500, YES, 0, POL_CAP_BLOCK,
          76000, POL_WHY_OVER_TARGET, -1, -1, -1, POL_WHY_OVER_TARGET },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        check_row(&rows[i]);
    }
}

/* In state low, one row per lifecycle. */
static void lifecycles(void)
{
    static const struct {
        uint8_t lifecycle;
        int64_t balloon, swap, block;
        int64_t reason;
    } rows[] = {
        { POL_LIFE_BUILDING, -1, -1, -1, POL_WHY_LIFECYCLE },
        { POL_LIFE_RUNNING, 78000, 3750, 0, POL_WHY_OVER_TARGET },
        { POL_LIFE_PAUSED, -1, -1, -1, POL_WHY_LIFECYCLE },
        { POL_LIFE_MIGRATING, -1, -1, -1, POL_WHY_LIFECYCLE },
        { POL_LIFE_REBOOTING, -1, 4000, -1, POL_WHY_LIFECYCLE },
        { POL_LIFE_SHUTTING_DOWN, -1, -1, -1, POL_WHY_LIFECYCLE },
        { POL_LIFE_PINNED, -1, -1, -1, POL_WHY_PINNED },
    };
    size_t i;

    EXPECT("every lifecycle", ROWS(rows), POL_LIFECYCLES);
    for (i = 0; i < ROWS(rows); i++) {
        const char *row = pol_lifecycle_name(rows[i].lifecycle);
        struct fixture f;
        struct pol_vm_obs o = fx_obs(SIZE, SIZE);

        fx_open(&f, 1);
        fx_add(&f, 1, SIZE, 0);
        o.lifecycle = rows[i].lifecycle;
        fx_free(&f, 0, 500);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT(row, fx_pages(&f, 1, POL_ACT_BALLOON), rows[i].balloon);
        EXPECT(row, fx_pages(&f, 1, POL_ACT_SWAP_OUT), rows[i].swap);
        EXPECT(row, fx_pages(&f, 1, POL_ACT_BLOCK), rows[i].block);
        EXPECT(row, fx_status(&f, 1).reason, rows[i].reason);
        fx_close(&f);
    }
}

/* The balloon may take 65 %: 28,000 pages are left. What is missing then is
 * swapped. The VM holds so much, with so much free. */
static void cap_and_floor(void)
{
    static const struct {
        const char *row;
        uint64_t consumed, floor;
        int64_t balloon, swap, swap_why;
    } rows[] = {
        { "far from its cap", 40000, 0, 36750, -1, -1 },
        { "to the cap, the rest swapped", 30000, 0, 28000, 1250,
          POL_WHY_BALLOON_CAP },
        { "at its cap", 28000, 0, -1, 3250, POL_WHY_BALLOON_CAP },
        { "the guest cannot run with less", 40000, 38000, 38000, 1250,
          POL_WHY_GUEST_FLOOR },
        { "a floor below the cap says nothing", 30000, 100, 28000, 1250,
          POL_WHY_BALLOON_CAP },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(rows[i].consumed, rows[i].consumed);

        fx_open(&f, 1);
        fx_add(&f, 1, SIZE, 0);
        o.valid |= POL_OBS_GUEST_FLOOR;
        o.guest_floor_pages = rows[i].floor;
        fx_free(&f, 0, 3000);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_pages(&f, 1, POL_ACT_BALLOON), rows[i].balloon);
        EXPECT(rows[i].row, fx_pages(&f, 1, POL_ACT_SWAP_OUT), rows[i].swap);
        EXPECT(rows[i].row, fx_reason(&f, 1, POL_ACT_SWAP_OUT),
               rows[i].swap_why);
        fx_close(&f);
    }
}

/* 5 % of the size per second, however often plans are made. */
static void step_limits(void)
{
    static const struct {
        uint64_t later_ms;
        int64_t balloon;
    } rows[] = {
        { 1, 59600 },       /* at least 100 ms count */
        { 500, 58000 },     /* half a second */
        { 1000, 56000 },    /* a second */
        { 10000, 28000 },   /* ten: would be 20,000, but for the cap */
        { 3600000, 28000 }, /* an hour counts as a minute */
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;

        fx_open(&f, 2);
        fx_free(&f, 0, 3000);
        fx_plan(&f);
        fx_add(&f, 1, SIZE, 0);
        fx_free(&f, rows[i].later_ms, 3000);
        fx_running(&f, 1, 60000, 60000);
        fx_add(&f, 2, 80000, 80000);
        fx_plan(&f);
        EXPECT(NULL, fx_pages(&f, 1, POL_ACT_BALLOON), rows[i].balloon);
        fx_close(&f);
    }
}

/* A limit below use is enforced with all memory free (ESX09 5.3). */
static void limits(void)
{
    static const struct {
        const char *row;
        uint32_t driver;
        int64_t balloon, swap;
    } rows[] = {
        { "balloon", POL_DRIVER_PRESENT, 37500, -1 },
        { "swap", POL_DRIVER_ABSENT, -1, 2500 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_params p;
        struct pol_vm_obs o = fx_obs(40000, 50000);

        fx_open(&f, 1);
        pol_vm_params_init(&p, 50000);
        p.limit_pages = 30000;
        MUST(pol_vm_add(f.ctx, 1, &p));
        o.driver = (uint8_t)rows[i].driver;
        fx_free(&f, 0, 55000);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_host_status(&f).state, POL_STATE_HIGH);
        EXPECT(rows[i].row, fx_pages(&f, 1, POL_ACT_BALLOON), rows[i].balloon);
        EXPECT(rows[i].row, fx_pages(&f, 1, POL_ACT_SWAP_OUT), rows[i].swap);
        EXPECT(rows[i].row, fx_status(&f, 1).action_pages,
               rows[i].balloon > 0 ? rows[i].balloon : rows[i].swap);
        fx_close(&f);
    }
}

/* Blocked in low; let go when that brings nothing for 10 s, at target, or
 * when memory has recovered. Consumed and free at each time. */
static void blocking(void)
{
    static const struct {
        const char *row;
        uint64_t later_ms, consumed, free_pages;
        int64_t kind, reason;
    } rows[] = {
        { "low", 0, 80000, 500, POL_ACT_BLOCK, POL_WHY_LOW_MEMORY },
        { "it goes on", 9000, 80000, 500, 0, 0 },
        { "progress: 10 s more", 999, 79000, 500, 0, 0 },
        { "no progress since", 9999, 79000, 500, 0, 0 },
        { "let go", 1, 79000, 500, POL_ACT_UNBLOCK, POL_WHY_NO_PROGRESS },
        { "not again in this need", 5000, 79000, 500, 0, 0 },
        { "soft", 5000, 79000, 4300, 0, 0 },
        { "low again", 1000, 79000, 500, POL_ACT_BLOCK, POL_WHY_LOW_MEMORY },
        { "hard: recovered", 1000, 79000, 2300, POL_ACT_UNBLOCK,
          POL_WHY_RECOVERED },
        { "low again", 1000, 79000, 500, POL_ACT_BLOCK, POL_WHY_LOW_MEMORY },
        { "at its target", 1000, 50000, 900, POL_ACT_UNBLOCK,
          POL_WHY_AT_TARGET },
    };
    struct fixture f;
    int blocked = 0;
    size_t i;

    fx_open(&f, 2);
    fx_add(&f, 1, SIZE, 50000);
    fx_add(&f, 2, 15000, 0);
    for (i = 0; i < ROWS(rows); i++) {
        struct pol_vm_obs o = fx_obs(rows[i].consumed, SIZE);
        int64_t b, u;

        o.blocked = (uint8_t)blocked;
        fx_free(&f, rows[i].later_ms, rows[i].free_pages);
        fx_see(&f, 1, &o);
        fx_running(&f, 2, 15000, 15000);
        fx_plan(&f);
        b = fx_reason(&f, 1, POL_ACT_BLOCK);
        u = fx_reason(&f, 1, POL_ACT_UNBLOCK);
        EXPECT(rows[i].row, b,
               rows[i].kind == POL_ACT_BLOCK ? rows[i].reason : -1);
        EXPECT(rows[i].row, u,
               rows[i].kind == POL_ACT_UNBLOCK ? rows[i].reason : -1);
        blocked = b >= 0 || (blocked && u < 0);
    }
    fx_close(&f);
}

/* Later ESX releases stop the balloon in state hard, where swapping can take
 * its place. */
static void hard_stops_balloon(void)
{
    static const struct {
        const char *row;
        uint32_t caps, flags;
        uint64_t swap_free;
        int64_t balloon, swap;
    } rows[] = {
        { "swap instead", POL_CAP_SWAP, 0, FX_TOTAL, -1, 4000 },
        { "a host that cannot", 0, 0, FX_TOTAL, 76000, -1 },
        { "a VM that may not", POL_CAP_SWAP, POL_VM_NO_SWAP, FX_TOTAL, 76000,
          -1 },
        { "no space left", POL_CAP_SWAP, 0, 0, 76000, -1 },
        { "little space left", POL_CAP_SWAP, 0, 10, -1, 10 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_params p;

        fx_config(&f, 1);
        f.config.thresholds.hard_stops_balloon = 1;
        f.host.caps = rows[i].caps;
        f.host.swap_free_pages = rows[i].swap_free;
        fx_create(&f);
        fx_free(&f, 0, 1500);
        pol_vm_params_init(&p, SIZE);
        p.flags = rows[i].flags;
        MUST(pol_vm_add(f.ctx, 1, &p));
        fx_running(&f, 1, SIZE, SIZE);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_pages(&f, 1, POL_ACT_BALLOON), rows[i].balloon);
        EXPECT(rows[i].row, fx_pages(&f, 1, POL_ACT_SWAP_OUT), rows[i].swap);
        fx_close(&f);
    }
}

/* Limits of groups hold on an idle host too: 1 and its child 2 are limited,
 * 3 is not. Each VM has 20,000 pages; 5 % of them are a step. */
static void group_limits(void)
{
    static const struct {
        const char *row;
        uint64_t limit_1, limit_2;
        int64_t in_1, in_2; /* balloons asked */
    } rows[] = {
        { "none", POL_NO_LIMIT, POL_NO_LIMIT, -1, -1 },
        { "just enough", 40000, 20000, -1, -1 },
        { "the outer", 30000, POL_NO_LIMIT, 19000, 19000 },
        { "a page too little", 39998, POL_NO_LIMIT, 19999, 19999 },
        { "the inner", POL_NO_LIMIT, 10000, -1, 19000 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_group_params g;
        struct pol_vm_params p;
        uint64_t id;

        fx_open(&f, 3);
        for (id = 1; id <= 3; id++) {
            pol_group_params_init(&g);
            g.parent = id == 2 ? 1 : 0;
            g.shares = 20000;
            g.limit_pages = id == 1   ? rows[i].limit_1
                            : id == 2 ? rows[i].limit_2
                                      : POL_NO_LIMIT;
            MUST(pol_group_add(f.ctx, id, &g));
            pol_vm_params_init(&p, 20000);
            p.group = id;
            MUST(pol_vm_add(f.ctx, id, &p));
            fx_running(&f, id, 20000, 20000);
        }
        fx_free(&f, 0, 40000);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_host_status(&f).state, POL_STATE_HIGH);
        EXPECT(rows[i].row, fx_pages(&f, 1, POL_ACT_BALLOON), rows[i].in_1);
        EXPECT(rows[i].row, fx_pages(&f, 2, POL_ACT_BALLOON), rows[i].in_2);
        EXPECT(rows[i].row, fx_pages(&f, 3, POL_ACT_BALLOON), -1);
        if (rows[i].in_2 > 0) {
            EXPECT(rows[i].row, fx_reason(&f, 2, POL_ACT_BALLOON),
                   POL_WHY_OVER_LIMIT);
        }
        fx_close(&f);
    }
}

/* Balloon and swap together take what a VM has too much, never more. */
static void never_twice(void)
{
    uint64_t free_pages;

    for (free_pages = 0; free_pages < 4000; free_pages += 100) {
        struct fixture f;
        uint64_t target;
        int64_t balloon, swapped;

        fx_config(&f, 1);
        f.config.balloon_step_bp = f.config.swap_step_bp = 10000;
        fx_create(&f);
        fx_free(&f, 0, free_pages);
        fx_add(&f, 1, SIZE, 0);
        fx_running(&f, 1, SIZE, SIZE);
        fx_plan(&f);
        target = fx_status(&f, 1).target_pages;
        balloon = fx_pages(&f, 1, POL_ACT_BALLOON);
        swapped = fx_pages(&f, 1, POL_ACT_SWAP_OUT);
        balloon = balloon < 0 ? (int64_t)SIZE : balloon;
        EXPECT("to its target by both", balloon - (swapped < 0 ? 0 : swapped),
               target);
        fx_close(&f);
    }
}

/* A guest in distress is left out when memory is moved from one VM to
 * another; when memory is short it gives at a quarter of the pace. It has
 * 40,000 of 40,000 pages, 10,000 active, and the other wants more. */
static void distress(void)
{
    static const struct {
        const char *row;
        uint64_t free_pages;
        int distress;
        int64_t balloon;
        uint32_t reason;
    } rows[] = {
        { "high: gives", 6250, 0, 38000, POL_WHY_REBALANCE },
        { "high, in distress: left alone", 6250, 1, -1, POL_WHY_DISTRESS },
        { "soft: gives", 3000, 0, 38000, POL_WHY_OVER_TARGET },
        { "soft, in distress: a quarter", 3000, 1, 39500, POL_WHY_OVER_TARGET },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(40000, 40000);

        fx_open(&f, 2);
        fx_add(&f, 1, 40000, 0);
        fx_add(&f, 2, 60000, 0);
        fx_free(&f, 0, rows[i].free_pages);
        o.valid |= POL_OBS_GUEST_STALL;
        o.measured_active_pages = 10000;
        o.guest_stall_bp = rows[i].distress ? 5000 : 0;
        fx_see(&f, 1, &o);
        fx_running(&f, 2, 30000, 30000);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_status(&f, 1).distress, rows[i].distress);
        EXPECT(rows[i].row, fx_pages(&f, 1, POL_ACT_BALLOON), rows[i].balloon);
        EXPECT(rows[i].row, fx_status(&f, 1).reason, rows[i].reason);
        fx_close(&f);
    }
}

/* Two VMs share what swap space is left. */
static void swap_space(void)
{
    struct fixture f;
    struct pol_vm_obs o = fx_obs(40000, 40000);

    fx_open(&f, 2);
    o.driver = POL_DRIVER_ABSENT;
    f.host.swap_free_pages = 700;
    fx_free(&f, 0, 3000);
    fx_add(&f, 1, 40000, 0);
    fx_add(&f, 2, 40000, 0);
    fx_see(&f, 1, &o);
    fx_see(&f, 2, &o);
    fx_plan(&f);
    EXPECT(NULL, fx_pages(&f, 1, POL_ACT_SWAP_OUT), 700);
    EXPECT(NULL, fx_pages(&f, 2, POL_ACT_SWAP_OUT), -1);
    EXPECT(NULL, fx_status(&f, 2).reason, POL_WHY_UNSUPPORTED);
    fx_close(&f);
}

static const struct test_case cases[] = {
    { "each state, driver and prohibition", states_and_means },
    { "each lifecycle", lifecycles },
    { "balloon cap and the guest's own floor", cap_and_floor },
    { "step limits", step_limits },
    { "limits hold in state high", limits },
    { "blocking and letting go", blocking },
    { "a preset whose balloon stops in hard", hard_stops_balloon },
    { "limits of groups hold in state high", group_limits },
    { "nothing is taken twice", never_twice },
    { "guests in distress", distress },
    { "no more swapped out than there is space", swap_space },
};

EXPECT_MAIN("shrink", cases)
