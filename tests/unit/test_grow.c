/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Giving memory. A VM of 40,000 pages that has 20,000 and uses all of them,
 * and one as large that is idle with 40,000, on a host of 100,000. With all
 * memory spoken for the targets are 37,500 and 22,500 (tax 75 %). 5 % of the
 * size, 2000 pages, are one step.
 */
#include "expect.h"
#include "fixture.h"

#define NEEDY 1u
#define IDLE  2u

static void open(struct fixture *f)
{
    fx_open(f, 4);
    fx_add(f, IDLE, 40000, 0);
    fx_add(f, NEEDY, 40000, 0);
}

static void see(struct fixture *f, uint64_t free_pages, uint64_t needy,
                uint64_t idle)
{
    struct pol_vm_obs o = fx_obs(idle, idle);

    fx_free(f, 1000, free_pages);
    fx_running(f, NEEDY, needy, needy);
    o.measured_active_pages = 0;
    fx_see(f, IDLE, &o);
}

static void shrink_before_grow(void)
{
    static const struct {
        uint64_t free_pages, needy, idle;
        int64_t take, give; /* balloon targets; -1: none */
        uint32_t why;       /* the needy one's reason */
    } rows[] = {
        { 6250, 20000, 40000, 38000, -1, POL_WHY_WAITS_FOR_FREE },
        { 7250, 20000, 39000, -1, 21000, POL_WHY_BELOW_TARGET },
        { 8250, 20000, 38000, 36000, -1, POL_WHY_WAITS_FOR_FREE },
    };
    struct fixture f;

    open(&f);
    see(&f, rows[0].free_pages, rows[0].needy, rows[0].idle);
    fx_plan(&f);
    EXPECT("target", fx_status(&f, NEEDY).target_pages, 37500);
    EXPECT("target", fx_status(&f, IDLE).target_pages, 22500);
    EXPECT("taken", fx_pages(&f, IDLE, POL_ACT_BALLOON), rows[0].take);
    EXPECT("taken", fx_reason(&f, IDLE, POL_ACT_BALLOON), POL_WHY_REBALANCE);
    EXPECT("nothing to give yet", fx_pages(&f, NEEDY, POL_ACT_BALLOON), -1);
    EXPECT("it waits", fx_status(&f, NEEDY).reason, rows[0].why);
    see(&f, 7250, 20000, 39000);
    fx_plan(&f);
    EXPECT("a thousand has come", fx_pages(&f, NEEDY, POL_ACT_BALLOON), 21000);
    EXPECT(NULL, fx_reason(&f, NEEDY, POL_ACT_BALLOON), POL_WHY_BELOW_TARGET);
    EXPECT("promised", fx_status(&f, NEEDY).promised_pages, 1000);
    see(&f, 8250, 20000, 38000);
    fx_plan(&f);
    EXPECT("what was promised is not given again",
           fx_pages(&f, NEEDY, POL_ACT_BALLOON), 22000);
    EXPECT("and the other goes on", fx_pages(&f, IDLE, POL_ACT_BALLOON) < 38000,
           1);
    EXPECT_TRUE("shrinks come first in the plan",
                fx_action(&f, IDLE, POL_ACT_BALLOON) <
                    fx_action(&f, NEEDY, POL_ACT_BALLOON));
    fx_close(&f);
}

/* What is given in one plan, by free memory: ordinary growth leaves 6250, a
 * guest in distress 4250 in state high. */
static void floors(void)
{
    static const struct {
        const char *row;
        uint64_t free_pages;
        int distress;
        int64_t to;
    } rows[] = {
        { "plenty: a step", 30000, 0, 22000 },
        { "little", 6251, 0, 20001 },
        { "none to spare", 6250, 0, -1 },
        { "distress: a step", 30000, 1, 22000 },
        { "distress: below the aim", 6000, 1, 21750 },
        { "distress: down to just above soft", 4251, 1, 20001 },
        { "but not further", 4250, 1, -1 },
        { "soft, no distress", 3000, 0, -1 },
        { "soft, distress: just above hard", 3000, 1, 20750 },
        { "hard, distress", 1500, 1, -1 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(20000, 20000);

        open(&f);
        see(&f, rows[i].free_pages, 20000, 40000);
        o.valid |= POL_OBS_GUEST_STALL;
        o.guest_stall_bp = rows[i].distress ? 5000 : 0;
        fx_see(&f, NEEDY, &o);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_pages(&f, NEEDY, POL_ACT_BALLOON), rows[i].to);
        if (rows[i].to > 0) {
            EXPECT(rows[i].row, fx_reason(&f, NEEDY, POL_ACT_BALLOON),
                   rows[i].distress ? POL_WHY_DISTRESS : POL_WHY_BELOW_TARGET);
        }
        fx_close(&f);
    }
}

/* Three VMs in want share what is free by what they want. */
static void budget_is_shared(void)
{
    struct fixture f;
    int64_t sum = 0;
    uint64_t vm;

    fx_open(&f, 3);
    fx_free(&f, 0, 7000); /* 750 to give */
    for (vm = 1; vm <= 3; vm++) {
        fx_add(&f, vm, vm * 10000, 0);
        fx_running(&f, vm, vm * 4000, vm * 4000);
    }
    fx_plan(&f);
    /* steps of 500, 1000 and 1500 are wanted */
    for (vm = 1; vm <= 3; vm++) {
        int64_t to = fx_pages(&f, vm, POL_ACT_BALLOON);

        EXPECT("a sixth, a third, a half", to, (int64_t)(vm * 4000 + vm * 125));
        sum += to - (int64_t)(vm * 4000);
    }
    EXPECT("all of it", sum, 750);
    fx_close(&f);
}

/* Differences below 1 % of the size wait until the target has stood for two
 * sampling periods: 60 s; so does growth of a VM that uses less than 7/8 of
 * what it has. A busy one's target is its size, 40,000. */
static void dead_band(void)
{
    static const struct {
        const char *row;
        uint64_t target, has, active;
        int at_once, after_58_s, after_62_s; /* does it move? */
    } rows[] = {
        { "busy, 399 pages: not yet", 40000, 39601, 39601, 0, 0, 1 },
        { "busy, 400 pages: at once", 40000, 39600, 39600, 1, 1, 1 },
        { "busy, 1 page", 40000, 39999, 39999, 0, 0, 1 },
        { "busy, none", 40000, 40000, 40000, 0, 0, 0 },
        { "of little use: not yet", 37500, 37100, 20000, 0, 0, 1 },
        { "of little use, 1 page", 37500, 37499, 20000, 0, 0, 1 },
        { "of little use, none", 37500, 37500, 20000, 0, 0, 0 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        uint64_t idle = 60000 - rows[i].target;
        struct fixture f;
        uint32_t s;
        int moves = 0;

        open(&f);
        for (s = 0; s <= 62; s++) {
            struct pol_vm_obs o = fx_obs(rows[i].has, rows[i].has);

            fx_free(&f, 1000, FX_AIM + rows[i].target - rows[i].has);
            o.measured_active_pages = rows[i].active;
            fx_see(&f, NEEDY, &o);
            o = fx_obs(idle, idle);
            o.measured_active_pages = 0;
            fx_see(&f, IDLE, &o);
            fx_plan(&f);
            EXPECT(rows[i].row, fx_status(&f, NEEDY).target_pages,
                   rows[i].target);
            moves |=
                fx_pages(&f, NEEDY, POL_ACT_BALLOON) == (int64_t)rows[i].target;
            if (s == 0) {
                EXPECT(rows[i].row, moves, rows[i].at_once);
            } else if (s == 58) {
                EXPECT(rows[i].row, moves, rows[i].after_58_s);
            }
        }
        EXPECT(rows[i].row, moves, rows[i].after_62_s);
        fx_close(&f);
    }
}

/* Growth begins with the first page above 7/8 of 32,000 in use; distress is
 * use, also below that; and where twice of what is wanted is free, use is no
 * matter. 8000 are wanted, 6250 stay free. */
static void use(void)
{
    static const struct {
        const char *row;
        uint64_t free_pages, active;
        uint32_t stall_bp;
        int grows;
    } rows[] = {
        { "7/8", 20000, 28000, 0, 0 },
        { "a page more", 20000, 28001, 0, 1 },
        { "half, but in distress", 20000, 16000, 5000, 1 },
        { "not a quarter, and in distress", 20000, 7999, 5000, 0 },
        { "twice, less a page, is free", 22249, 7999, 0, 0 },
        { "twice is free", 22250, 7999, 0, 1 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(32000, 32000);

        fx_open(&f, 1);
        fx_add(&f, NEEDY, 40000, 0);
        fx_free(&f, 0, rows[i].free_pages);
        o.measured_active_pages = rows[i].active;
        o.guest_stall_bp = rows[i].stall_bp;
        o.valid |= POL_OBS_GUEST_STALL;
        fx_see(&f, NEEDY, &o);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_pages(&f, NEEDY, POL_ACT_BALLOON),
               rows[i].grows ? 34000 : -1);
        fx_close(&f);
    }
}

/* An inflating balloon that may keep more is called back for nothing. */
static void call_back(void)
{
    struct fixture f;

    fx_open(&f, 1);
    fx_add(&f, 1, 80000, 0);
    fx_free(&f, 0, 3000);
    fx_running(&f, 1, 80000, 80000);
    fx_plan(&f);
    EXPECT("asked", fx_pages(&f, 1, POL_ACT_BALLOON), 76750);
    /* the host's own use has gone before the balloon moved */
    fx_free(&f, 1000, 7000);
    fx_running(&f, 1, 80000, 80000);
    fx_plan(&f);
    EXPECT("called back", fx_pages(&f, 1, POL_ACT_BALLOON), 80000);
    EXPECT("nothing is promised", fx_status(&f, 1).promised_pages, 0);
    fx_close(&f);
}

/* Pages come back from swap while the VM is below its target. */
static void swap_in(void)
{
    static const struct {
        const char *row;
        uint64_t free_pages, swapped;
        uint32_t caps;
        int64_t pages;
    } rows[] = {
        { "some", 20000, 500, POL_CAP_SWAP_IN, 500 },
        { "a step", 20000, 9000, POL_CAP_SWAP_IN, 2000 },
        { "no free memory", 6250, 9000, POL_CAP_SWAP_IN, -1 },
        { "little free memory", 6260, 9000, POL_CAP_SWAP_IN, 10 },
        { "none swapped", 20000, 0, POL_CAP_SWAP_IN, -1 },
        { "a host that cannot", 20000, 500, 0, -1 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(20000, 40000);

        fx_open(&f, 1);
        fx_add(&f, 1, 40000, 0);
        o.valid |= POL_OBS_SWAPPED;
        o.swapped_pages = rows[i].swapped;
        f.host.caps = POL_CAP_SWAP | rows[i].caps;
        fx_free(&f, 0, rows[i].free_pages);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_pages(&f, 1, POL_ACT_SWAP_IN), rows[i].pages);
        fx_close(&f);
    }
}

/* A hard cap follows, and is never below what the VM holds. */
static void hard_caps(void)
{
    struct fixture f;
    const struct pol_action *cap, *balloon;

    open(&f);
    f.host.caps |= POL_CAP_HARD_CAP;
    see(&f, 30000, 20000, 40000);
    fx_plan(&f);
    cap = fx_action(&f, NEEDY, POL_ACT_HARD_CAP);
    balloon = fx_action(&f, NEEDY, POL_ACT_BALLOON);
    EXPECT_TRUE("raised before the balloon", cap != NULL && cap < balloon);
    /* 22,000, and slack of 1/32 of the size and a page */
    EXPECT("so much", fx_pages(&f, NEEDY, POL_ACT_HARD_CAP), 22000 + 1251);
    EXPECT("idle", fx_pages(&f, IDLE, POL_ACT_HARD_CAP), 40000 + 1251);
    see(&f, 28000, 22000, 40000);
    fx_plan(&f);
    EXPECT("an unchanged one is not repeated",
           fx_pages(&f, IDLE, POL_ACT_HARD_CAP), -1);
    fx_close(&f);
}

/* A guest that starts over or is moved may need more at once: its cap is
 * raised, and never lowered. Its balloon held 50,000 of 80,000 pages. */
static void caps_of_other_lives(void)
{
    static const struct {
        uint8_t lifecycle;
        uint64_t actual;
        int64_t cap; /* slack: 1/32 of the size and a page */
    } rows[] = {
        { POL_LIFE_RUNNING, 80000, 82501 },
        { POL_LIFE_REBOOTING, 80000, 82501 },
        { POL_LIFE_MIGRATING, 80000, 82501 },
        { POL_LIFE_PINNED, 80000, 82501 },
        { POL_LIFE_RUNNING, 20000, 22501 },
        { POL_LIFE_MIGRATING, 20000, -1 },
        { POL_LIFE_PINNED, 20000, -1 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        const char *row = pol_lifecycle_name(rows[i].lifecycle);
        struct fixture f;
        struct pol_vm_obs o = fx_obs(20000, 30000);

        fx_open(&f, 1);
        f.host.caps = POL_CAPS_ALL;
        fx_add(&f, 1, 80000, 0);
        fx_free(&f, 0, FX_AIM);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT("the balloon's", fx_pages(&f, 1, POL_ACT_HARD_CAP), 32501);
        o.lifecycle = rows[i].lifecycle;
        o.actual_pages = rows[i].actual;
        o.target_seen_pages = rows[i].actual;
        o.valid |= POL_OBS_TARGET;
        fx_free(&f, 1000, FX_AIM);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT(row, fx_pages(&f, 1, POL_ACT_HARD_CAP), rows[i].cap);
        fx_close(&f);
    }
}

static const struct test_case cases[] = {
    { "shrinks before grows, and nothing is given twice", shrink_before_grow },
    { "floors of free memory, with and without distress", floors },
    { "what is free is shared by what is wanted", budget_is_shared },
    { "small differences wait, and so does what is of no use", dead_band },
    { "what counts as use", use },
    { "an inflating balloon is called back", call_back },
    { "swapped pages come back", swap_in },
    { "hard caps follow", hard_caps },
    { "caps are only raised while a guest starts or moves",
      caps_of_other_lives },
};

EXPECT_MAIN("grow", cases)
