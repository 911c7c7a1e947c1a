/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Is a balloon doing what it was asked? A VM of 80,000 pages that holds all
 * of them, 3000 free: it is asked to go down to 76,750. 313 pages are near
 * enough; 20 s without progress are too long.
 */
#include "expect.h"
#include "fixture.h"

#define SIZE UINT64_C(80000)

static void open(struct fixture *f)
{
    fx_config(f, 2);
    f->config.idle_tax_bp = 0;
    f->host.caps = 0;
    fx_create(f);
    fx_free(f, 0, 3000);
    fx_add(f, 1, SIZE, 0);
}

static void second(struct fixture *f, uint64_t actual, uint64_t free_pages)
{
    fx_free(f, 1000, free_pages);
    fx_running(f, 1, actual, actual);
    fx_plan(f);
}

/* Retried after 60 s, then 120, 240 ... at most 960 s. */
static void back_off(void)
{
    static const struct {
        uint64_t at_s; /* since it was asked */
        uint32_t reason;
    } rows[] = {
        { 20, POL_WHY_STUCK },   { 80, POL_WHY_RETRY },
        { 100, POL_WHY_STUCK },  { 220, POL_WHY_RETRY },
        { 240, POL_WHY_STUCK },  { 480, POL_WHY_RETRY },
        { 500, POL_WHY_STUCK },  { 980, POL_WHY_RETRY },
        { 1000, POL_WHY_STUCK }, { 1960, POL_WHY_RETRY },
        { 1980, POL_WHY_STUCK }, { 2940, POL_WHY_RETRY },
    };
    struct fixture f;
    uint64_t s;
    size_t i = 0;

    open(&f);
    second(&f, SIZE, 3000);
    EXPECT("asked", fx_pages(&f, 1, POL_ACT_BALLOON), 76750);
    for (s = 1; s <= 2950; s++) {
        uint32_t want = i < ROWS(rows) && rows[i].at_s == s ? 1 : 0;

        second(&f, SIZE, 3000);
        if (want) {
            EXPECT(NULL, fx_notes(&f, 1, rows[i].reason), 1);
            EXPECT(NULL, fx_status(&f, 1).stuck,
                   rows[i].reason == POL_WHY_STUCK);
            i++;
        } else if (fx_notes(&f, 1, POL_WHY_STUCK) +
                       fx_notes(&f, 1, POL_WHY_RETRY) !=
                   0) {
            EXPECT("no note at another time", s, 0);
        }
    }
    EXPECT("all of them", i, ROWS(rows));
    fx_close(&f);
}

/* What it shows in each of a number of seconds; is it stuck afterwards? */
static void kinds_of_balloons(void)
{
    static const struct {
        const char *row;
        uint64_t from, per_second, to; /* 0 per second: does not move */
        uint32_t seconds;
        int stuck;
    } rows[] = {
        { "dead", 80000, 0, 80000, 20, 1 },
        { "dead, a second less", 80000, 0, 80000, 19, 0 },
        { "obedient", 80000, 3250, 76750, 60, 0 },
        { "slow: all the way in a minute", 80000, 55, 76750, 60, 0 },
        { "so slow that it does not count", 80000, 3, 76750, 60, 1 },
        { "stops near enough", 80000, 1000, 77063, 60, 0 },
        { "stops early: it has an offset", 80000, 1000, 78000, 40, 0 },
        { "goes the wrong way", 79000, 0, 80000, 60, 1 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        uint64_t actual = rows[i].from;
        uint32_t s;

        open(&f);
        second(&f, actual, 3000);
        for (s = 0; s < rows[i].seconds; s++) {
            uint64_t d = rows[i].per_second;

            actual = actual > rows[i].to + d ? actual - d : rows[i].to;
            second(&f, actual, 3000 + SIZE - actual);
        }
        EXPECT(rows[i].row, fx_status(&f, 1).stuck, rows[i].stuck);
        fx_close(&f);
    }
}

/* One that stops 1000 above what it was asked is asked for 1000 less. */
static void learnt_offset(void)
{
    struct fixture f;
    uint64_t asked = SIZE, actual = SIZE;
    uint32_t s, asks = 0;

    open(&f);
    for (s = 0; s < 120; s++) {
        if (asked < SIZE && actual > asked + 1000) {
            actual = actual - 500 > asked + 1000 ? actual - 500 : asked + 1000;
        }
        second(&f, actual, 3000 + SIZE - actual);
        asks += fx_count(&f, POL_ACT_BALLOON);
        asked = fx_status(&f, 1).asked_pages;
    }
    EXPECT("not stuck", fx_status(&f, 1).stuck, 0);
    EXPECT("asked for less", asked, 75750);
    EXPECT("and so at its target", actual, 76750);
    EXPECT("which it was", fx_status(&f, 1).target_pages, 76750);
    EXPECT("asked twice, and left alone", asks, 2);
    fx_close(&f);
}

/* One that stops far from what it was asked has no offset: it is stuck. */
static void stops_half_way(void)
{
    struct fixture f;
    uint32_t s;

    fx_config(&f, 1);
    f.config.balloon_step_bp = 10000;
    f.config.host_reserve_pages = 50000;
    f.host.caps = 0;
    fx_create(&f);
    fx_free(&f, 0, 3000);
    fx_add(&f, 1, SIZE, 0);
    second(&f, SIZE, 3000);
    EXPECT("asked", fx_pages(&f, 1, POL_ACT_BALLOON), 43750);
    for (s = 0; s < 30; s++) {
        second(&f, 75000, 5500);
    }
    EXPECT("stuck", fx_status(&f, 1).stuck, 1);
    fx_close(&f);
}

/* The clock of a balloon begins with its driver, and a reboot forgets. */
static void clock_starts_with_driver(void)
{
    struct fixture f;
    struct pol_vm_obs o = fx_obs(SIZE, SIZE);
    uint32_t s;

    open(&f);
    second(&f, SIZE, 3000);
    o.driver = POL_DRIVER_BOOTING;
    for (s = 0; s < 100; s++) {
        fx_free(&f, 1000, 3000);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT("booting: not asked", fx_pages(&f, 1, POL_ACT_BALLOON), -1);
    }
    EXPECT("not stuck while it boots", fx_status(&f, 1).stuck, 0);
    for (s = 0; s < 19; s++) {
        second(&f, SIZE, 3000);
    }
    EXPECT("nor 19 s after", fx_status(&f, 1).stuck, 0);
    for (s = 0; s < 5; s++) {
        second(&f, SIZE, 3000);
    }
    EXPECT("but then", fx_status(&f, 1).stuck, 1);
    o.lifecycle = POL_LIFE_REBOOTING;
    o.driver = POL_DRIVER_PRESENT;
    fx_see(&f, 1, &o);
    EXPECT("a reboot forgets", fx_status(&f, 1).stuck, 0);
    fx_close(&f);
}

/* A stuck VM's part is made up for by the others. */
static void others_make_up(void)
{
    struct fixture f;
    uint64_t before;
    uint32_t s;

    fx_open(&f, 2);
    f.host.caps = 0;
    fx_add(&f, 1, 45000, 0);
    fx_add(&f, 2, 45000, 0);
    for (s = 0; s < 3; s++) {
        fx_free(&f, 1000, 3000);
        fx_running(&f, 1, 45000, 45000);
        fx_running(&f, 2, 45000, 45000);
        fx_plan(&f);
    }
    EXPECT("half each", fx_status(&f, 1).target_pages, 43375);
    before = fx_status(&f, 2).target_pages;
    EXPECT("half each", before, 43375);
    for (s = 0; s < 25; s++) {
        fx_free(&f, 1000, 3000 + (s < 2 ? s : 2) * 800);
        fx_running(&f, 1, 45000, 45000);
        fx_running(&f, 2, 45000 - (s < 2 ? s : 2) * 800,
                   45000 - (s < 2 ? s : 2) * 800);
        fx_plan(&f);
    }
    EXPECT("stuck", fx_status(&f, 1).stuck, 1);
    EXPECT("counts with what it has", fx_status(&f, 1).target_pages, 45000);
    EXPECT("the other makes up for it", fx_status(&f, 2).target_pages,
           before - 1625);
    fx_close(&f);
}

/* After a restart of the library VMs are where they are: nothing moves. */
static void takeover(void)
{
    static const struct {
        uint64_t size, actual;
    } vms[] = { { 40000, 30000 }, { 40000, 40000 }, { 30000, 23750 } };
    struct fixture f;
    uint32_t s;
    size_t i;

    fx_config(&f, 3);
    f.config.idle_tax_bp = 0;
    fx_create(&f);
    for (i = 0; i < ROWS(vms); i++) {
        struct pol_vm_params p;

        pol_vm_params_init(&p, vms[i].size);
        p.shares = vms[i].actual;
        MUST(pol_vm_add(f.ctx, i, &p));
    }
    for (s = 0; s < 20; s++) {
        fx_free(&f, 1000, 6250);
        for (i = 0; i < ROWS(vms); i++) {
            struct pol_vm_obs o = fx_obs(vms[i].actual, vms[i].actual);

            o.valid |= POL_OBS_TARGET;
            o.target_seen_pages = vms[i].actual;
            fx_see(&f, i, &o);
        }
        fx_plan(&f);
        EXPECT("nothing moves", fx_count(&f, POL_ACT_BALLOON), 0);
        EXPECT("nothing is foreign", fx_notes(&f, 0, POL_WHY_FOREIGN), 0);
    }
    fx_close(&f);
}

/* A stuck balloon's old target is taken back when the VM may keep more, so
 * that it does not inflate when its driver wakes up. */
static void stuck_is_called_back(void)
{
    static const struct {
        const char *row;
        uint32_t caps;
    } rows[] = { { "with swap", POL_CAP_SWAP }, { "without", 0 } };
    size_t i;
    uint32_t s;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;

        open(&f);
        f.host.caps = rows[i].caps;
        for (s = 0; s <= 21; s++) {
            second(&f, SIZE, 3000);
        }
        EXPECT(rows[i].row, fx_status(&f, 1).stuck, 1);
        for (s = 0; s < 3; s++) {
            second(&f, SIZE, 20000);
        }
        EXPECT(rows[i].row, fx_status(&f, 1).stuck, 1);
        EXPECT(rows[i].row, fx_status(&f, 1).asked_pages, SIZE);
        EXPECT("free", fx_status(&f, 1).promised_pages, 0);
        fx_close(&f);
    }
}

/* One that stops above what it was asked comes to its target from below too,
 * and rests there; one that takes more than it should is let be. The host's
 * own use is 17,000, then 15,000. */
static void growth_and_offset(void)
{
    static const struct {
        const char *row;
        int64_t offset;
        uint64_t down, up; /* asked in the end */
        int64_t actual;
    } rows[] = {
        { "exact", 0, 76750, 78750, 78750 },
        { "stops 1000 above", 1000, 75750, 77750, 78750 },
        { "stops 1000 below", -1000, 76750, 78750, 77750 },
    };
    size_t i;
    uint32_t s;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        int64_t actual = (int64_t)SIZE;
        uint32_t late = 0;

        open(&f);
        for (s = 0; s < 400; s++) {
            uint64_t own = s < 200 ? 17000 : 15000;

            second(&f, (uint64_t)actual, FX_TOTAL - own - (uint64_t)actual);
            late += s > 350 ? fx_count(&f, POL_ACT_BALLOON) : 0;
            actual = (int64_t)fx_status(&f, 1).asked_pages + rows[i].offset;
            actual = actual > (int64_t)SIZE ? (int64_t)SIZE : actual;
            if (s == 199) {
                EXPECT(rows[i].row, fx_status(&f, 1).asked_pages, rows[i].down);
            }
        }
        EXPECT(rows[i].row, fx_status(&f, 1).asked_pages, rows[i].up);
        EXPECT(rows[i].row, actual, rows[i].actual);
        EXPECT("at rest", late, 0);
        fx_close(&f);
    }
}

static const struct test_case cases[] = {
    { "a dead balloon is tried again ever more rarely", back_off },
    { "slow, early, obedient and dead balloons", kinds_of_balloons },
    { "an offset is learnt and allowed for", learnt_offset },
    { "one that stops half way is stuck", stops_half_way },
    { "the clock begins with the driver", clock_starts_with_driver },
    { "others make up for a stuck one", others_make_up },
    { "taking over running VMs moves nothing", takeover },
    { "a stuck one is called back", stuck_is_called_back },
    { "growing with an offset", growth_and_offset },
};

EXPECT_MAIN("progress", cases)
