/* SPDX-License-Identifier: BSD-2-Clause */
/* Plans as a whole: room, extremes, reservations that cannot be met, the
 * host's own floor, the sharing scan. */
#include "expect.h"
#include "fixture.h"

static void room(void)
{
    struct fixture f;
    size_t bound;

    fx_config(&f, 3);
    f.config.max_holds = 2;
    fx_create(&f);
    EXPECT("host never observed", pol_plan(f.ctx, f.actions, f.cap, &f.n),
           POL_ERR_INVALID);
    fx_free(&f, 0, 90000);
    fx_add(&f, 1, 1000, 0);
    fx_add(&f, 2, 1000, 0);
    MUST(pol_hold_add(f.ctx, 1, 1, 100, UINT64_MAX, 0));
    bound = pol_plan_bound(f.ctx);
    EXPECT_TRUE("never more than for a full context",
                bound <= pol_replay_bound(&f.config));
    EXPECT("one too few", pol_plan(f.ctx, f.actions, bound - 1, &f.n),
           POL_ERR_BUFFER);
    EXPECT("as many", pol_plan(f.ctx, f.actions, bound, &f.n), POL_OK);
    EXPECT("the failed one did not count", fx_host_status(&f).plans, 1);
    fx_close(&f);
}

/* VMs of the largest size there is on the largest host there is. */
static void extremes(void)
{
    static const struct {
        uint32_t vms;
        uint64_t size, shares, reservation, free_pages;
    } rows[] = {
        { 1, POL_MAX_PAGES, POL_MAX_SHARES, POL_MAX_PAGES, 0 },
        { 2, POL_MAX_PAGES, POL_MAX_SHARES, 0, POL_MAX_PAGES },
        { 1000, POL_MAX_PAGES, POL_MAX_SHARES, POL_MAX_PAGES, 0 },
        { 100000, POL_MAX_PAGES, POL_MAX_SHARES, POL_MAX_PAGES / 2, 0 },
        { 100000, POL_MAX_PAGES, 1, 0, POL_MAX_PAGES / 100 },
        { 100000, 1, POL_MAX_SHARES, 1, POL_MAX_PAGES / 2 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        uint64_t sum = 0, most = 0, vm;
        uint32_t plan;

        fx_config(&f, rows[i].vms);
        f.host.total_pages = POL_MAX_PAGES;
        f.host.swap_total_pages = f.host.swap_free_pages = POL_MAX_PAGES;
        f.host.caps = POL_CAPS_ALL;
        fx_create(&f);
        fx_free(&f, 0, rows[i].free_pages);
        for (vm = 0; vm < rows[i].vms; vm++) {
            struct pol_vm_params p;
            struct pol_vm_obs o = fx_obs(rows[i].size, rows[i].size);

            pol_vm_params_init(&p, rows[i].size);
            p.shares = rows[i].shares;
            p.reservation_pages = rows[i].reservation;
            p.overhead_pages = vm % 2 == 0 ? 0 : rows[i].size;
            MUST(pol_vm_add(f.ctx, vm, &p));
            o.valid |= POL_OBS_SWAPPED | POL_OBS_GRANTED;
            o.swapped_pages = o.granted_pages = rows[i].size;
            fx_see(&f, vm, &o);
        }
        for (plan = 0; plan < 2; plan++) {
            fx_free(&f, 60000, rows[i].free_pages);
            fx_plan(&f);
        }
        for (vm = 0; vm < rows[i].vms; vm++) {
            struct pol_vm_status s = fx_status(&f, vm);

            sum += s.target_pages;
            most += s.max_pages;
        }
        EXPECT("targets sum up to what there is", sum,
               most < fx_host_status(&f).available_pages
                   ? most
                   : fx_host_status(&f).available_pages);
        EXPECT_TRUE("within the bound", f.n <= pol_plan_bound(f.ctx));
        fx_close(&f);
    }
}

/* Memory lost: 3 VMs, all reserved, get what there is in proportion. */
static void reservations_unmet(void)
{
    static const struct {
        uint64_t free_pages; /* of 100,000 */
        uint32_t is_short, notes;
    } rows[] = {
        { 16000, 0, 0 }, { 2000, 1, 1 }, { 2000, 1, 0 },
        { 16000, 0, 0 }, { 2000, 1, 1 },
    };
    struct fixture f;
    size_t i;

    fx_open(&f, 3);
    fx_add(&f, 1, 20000, 20000);
    fx_add(&f, 2, 20000, 20000);
    fx_add(&f, 3, 40000, 40000);
    for (i = 0; i < ROWS(rows); i++) {
        struct pol_host_status s;

        fx_free(&f, 1000, rows[i].free_pages);
        fx_running(&f, 1, 20000, 20000);
        fx_running(&f, 2, 20000, 20000);
        fx_running(&f, 3, 40000, 40000);
        fx_plan(&f);
        s = fx_host_status(&f);
        EXPECT("short", s.short_of_reservations, rows[i].is_short);
        EXPECT("told once", fx_notes(&f, 0, POL_WHY_SHORT), rows[i].notes);
        if (rows[i].is_short) {
            /* 100,000 - 18,000 - 6250 */
            EXPECT(NULL, s.available_pages, 75750);
            /* 18,937.5 and 37,875, in whole pages */
            EXPECT_TRUE("a quarter",
                        fx_status(&f, 1).target_pages - 18937 <= 1);
            EXPECT_TRUE("a quarter",
                        fx_status(&f, 2).target_pages - 18937 <= 1);
            EXPECT("half", fx_status(&f, 3).target_pages, 37875);
        } else {
            EXPECT("in full", fx_status(&f, 3).target_pages, 40000);
        }
    }
    fx_close(&f);
}

/* A group limited to less than its members' reservations. */
static void group_unmet(void)
{
    struct fixture f;
    struct pol_group_params g;
    struct pol_vm_params p;

    fx_open(&f, 1);
    pol_group_params_init(&g);
    g.limit_pages = 10000;
    MUST(pol_group_add(f.ctx, 1, &g));
    pol_vm_params_init(&p, 20000);
    p.group = 1;
    p.reservation_pages = 15000;
    MUST(pol_vm_add(f.ctx, 1, &p));
    fx_free(&f, 0, 80000);
    fx_running(&f, 1, 20000, 20000);
    fx_plan(&f);
    EXPECT("its limit", fx_status(&f, 1).target_pages, 10000);
    EXPECT("short", fx_host_status(&f).short_of_reservations, 1);
    EXPECT("told", fx_notes(&f, 0, POL_WHY_SHORT), 1);
    fx_close(&f);
}

/* What is left to VMs: the host's own use, at least its floor. */
static void hosts_own(void)
{
    static const struct {
        const char *row;
        uint64_t reserve, free_pages, consumed;
        uint64_t own, available;
    } rows[] = {
        { "nothing of its own", 0, 100000, 0, 0, 93750 },
        { "measured", 0, 70000, 10000, 20000, 73750 },
        { "the floor is higher", 30000, 70000, 10000, 20000, 63750 },
        { "the floor is lower", 10000, 70000, 10000, 20000, 73750 },
        { "VMs seem to have more than is used", 0, 95000, 10000, 0, 93750 },
        { "the floor is all there is", 100000, 70000, 10000, 20000, 0 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;

        fx_config(&f, 1);
        f.config.host_reserve_pages = rows[i].reserve;
        fx_create(&f);
        fx_free(&f, 0, rows[i].free_pages);
        fx_add(&f, 1, 50000, 0);
        fx_running(&f, 1, rows[i].consumed, 50000);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_host_status(&f).host_used_pages, rows[i].own);
        EXPECT(rows[i].row, fx_host_status(&f).available_pages,
               rows[i].available);
        fx_close(&f);
    }
}

/* 60 minutes for a full scan of 72,000 pages, 10 under pressure. */
static void scan_rate(void)
{
    static const struct {
        const char *row;
        uint64_t consumed, free_pages;
        int64_t rate;
    } rows[] = {
        { "high: 72,000 an hour", 72000, 20000, 20 },
        { "the same again", 72000, 20000, -1 },
        { "a little more", 80000, 15000, -1 },
        { "soft: six times as fast", 72000, 3000, 120 },
        { "hard: the same", 72000, 1500, -1 },
        { "high again", 72000, 20000, 20 },
        { "nothing left to scan", 0, 90000, 0 },
    };
    struct fixture f;
    size_t i;

    fx_open(&f, 1);
    f.host.caps = POL_CAP_SHARE;
    fx_add(&f, 1, 90000, 0);
    for (i = 0; i < ROWS(rows); i++) {
        fx_free(&f, 1000, rows[i].free_pages);
        fx_running(&f, 1, rows[i].consumed, 90000);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_pages(&f, 0, POL_ACT_SHARE_RATE), rows[i].rate);
    }
    fx_close(&f);
}

/* The idle-memory tax (ESX02 5.2): 36,000 pages for two VMs of equal shares
 * and up to 25,600, of which one is idle and the other uses all. */
static void tax(void)
{
    static const struct {
        const char *row;
        uint32_t tax_bp;
        uint64_t idle, busy;
    } rows[] = {
        { "no tax: equal", 0, 18000, 18000 },
        { "half", 5000, 12000, 24000 },
        { "three quarters: all to the busy one", 7500, 10400, 25600 },
        { "99 %: no more than its size", 9900, 10400, 25600 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(25600, 25600);

        fx_config(&f, 2);
        f.config.idle_tax_bp = rows[i].tax_bp;
        f.config.host_reserve_pages = FX_TOTAL - FX_AIM - 36000;
        fx_create(&f);
        fx_free(&f, 0, FX_TOTAL - 51200);
        fx_add(&f, 1, 25600, 0);
        fx_add(&f, 2, 25600, 0);
        fx_see(&f, 2, &o);
        o.measured_active_pages = 0;
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_status(&f, 1).target_pages, rows[i].idle);
        EXPECT(rows[i].row, fx_status(&f, 2).target_pages, rows[i].busy);
        fx_close(&f);
    }
}

/* Memory that a guest has not touched is lent to others, but not while it
 * starts: for a minute from when it runs it may want all of its size. */
static void just_started(void)
{
    static const struct {
        const char *row;
        uint8_t before;
        uint64_t after_ms;
        uint64_t max; /* 1000 touched, and 1/64 of the size and a page */
    } rows[] = {
        { "built just now", POL_LIFE_BUILDING, 0, 80000 },
        { "built 59 s ago", POL_LIFE_BUILDING, 59999, 80000 },
        { "built a minute ago", POL_LIFE_BUILDING, 60000, 2251 },
        { "rebooted just now", POL_LIFE_REBOOTING, 0, 80000 },
        { "rebooted a minute ago", POL_LIFE_REBOOTING, 60000, 2251 },
        { "first seen running", POL_LIFE_RUNNING, 0, 2251 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(1000, 80000);

        fx_open(&f, 1);
        fx_add(&f, 1, 80000, 0);
        o.lifecycle = rows[i].before;
        fx_see(&f, 1, &o);
        fx_plan(&f);
        fx_free(&f, 10000, 99000);
        o.lifecycle = POL_LIFE_RUNNING;
        fx_see(&f, 1, &o);
        fx_plan(&f);
        fx_free(&f, rows[i].after_ms, 99000);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_status(&f, 1).max_pages, rows[i].max);
        fx_close(&f);
    }
}

/* A hundred VMs of 1100 pages, each less than 1 % above its target, which
 * changes with every plan. */
struct crowd {
    struct fixture f;
    uint64_t has[100];
};

static void open_crowd(struct crowd *c, uint64_t has)
{
    struct pol_thresholds *t;
    uint64_t vm;

    fx_config(&c->f, 101);
    c->f.config.idle_tax_bp = 0;
    t = &c->f.config.thresholds;
    t->high_bp = 100; /* 1000 pages; the aim is 1010 */
    t->clear_bp = t->soft_bp = 40;
    t->hard_bp = 20;
    t->low_bp = 10;
    t->margin_bp = 1;
    fx_create(&c->f);
    fx_free(&c->f, 0, FX_TOTAL);
    for (vm = 0; vm < 100; vm++) {
        fx_add(&c->f, vm, 1100, 0);
        c->has[vm] = has;
    }
}

/* A second of them, with so much more used; -> how many were asked. */
static uint32_t crowd_second(struct crowd *c, uint64_t more, uint32_t s)
{
    uint64_t vm, sum = 0;
    uint32_t asked = 0;

    for (vm = 0; vm < 100; vm++) {
        sum += c->has[vm];
    }
    fx_free(&c->f, 1000, FX_TOTAL - sum - more - s % 2 * 200);
    for (vm = 0; vm < 100; vm++) {
        fx_running(&c->f, vm, c->has[vm], c->has[vm]);
    }
    fx_plan(&c->f);
    for (vm = 0; vm < 100; vm++) {
        asked += fx_pages(&c->f, vm, POL_ACT_BALLOON) >= 0;
        c->has[vm] = fx_status(&c->f, vm).asked_pages;
    }
    return asked;
}

/* Small for each of them is much for all: a hold is served. */
static void hold_from_a_crowd(void)
{
    static const struct {
        const char *row;
        uint64_t hold;
        int asked;
    } rows[] = { { "no hold", 0, 0 }, { "a hold", 900, 1 } };
    size_t i;
    uint32_t s;

    for (i = 0; i < ROWS(rows); i++) {
        struct crowd c;
        uint32_t asked = 0, ready = 0;

        open_crowd(&c, 988);
        if (rows[i].hold > 0) {
            MUST(pol_hold_add(c.f.ctx, 500, 1, rows[i].hold, UINT64_MAX, 0));
        }
        for (s = 0; s < 20; s++) {
            asked += crowd_second(&c, 0, s);
            ready += fx_notes(&c.f, 500, POL_WHY_HOLD_READY);
        }
        EXPECT(rows[i].row, asked > 0, rows[i].asked);
        EXPECT(rows[i].row, ready > 0, rows[i].asked);
        fx_close(&c.f);
    }
}

/* So is a guest in distress; one that is only below its target waits. */
static void distress_beside_a_crowd(void)
{
    static const struct {
        const char *row;
        uint32_t stall_bp;
        int asked;
    } rows[] = { { "no distress", 0, 0 }, { "distress", 5000, 1 } };
    size_t i;
    uint32_t s;

    for (i = 0; i < ROWS(rows); i++) {
        struct crowd c;
        struct pol_vm_obs o = fx_obs(500, 500);
        uint32_t asked = 0;

        open_crowd(&c, 980);
        fx_add(&c.f, 100, 1800, 0);
        o.valid |= POL_OBS_GUEST_STALL;
        o.guest_stall_bp = rows[i].stall_bp;
        for (s = 0; s < 20; s++) {
            fx_see(&c.f, 100, &o);
            asked += crowd_second(&c, 500, s);
            EXPECT_TRUE("it wants more",
                        fx_status(&c.f, 100).target_pages > 1500);
        }
        EXPECT(rows[i].row, asked > 0, rows[i].asked);
        fx_close(&c.f);
    }
}

/* A target counts as settled when it moves by no more than 1/1024 of the
 * size, 78 pages: then also the last 250 pages are taken. */
static void settled(void)
{
    static const struct {
        uint64_t jitter;
        int moves_in_58_s, moves_in_200_s;
    } rows[] = { { 0, 0, 1 }, { 78, 0, 1 }, { 79, 0, 0 } };
    size_t i;
    uint32_t s;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        int moves = 0;

        fx_open(&f, 1);
        fx_add(&f, 1, 80000, 0);
        for (s = 0; s < 200 && !moves; s++) {
            fx_free(&f, 1000, 6000 - s % 2 * rows[i].jitter);
            fx_running(&f, 1, 80000, 80000);
            fx_plan(&f);
            moves = fx_reason(&f, 1, POL_ACT_BALLOON) == POL_WHY_SETTLED;
            if (s <= 58) {
                EXPECT("not yet", moves, rows[i].moves_in_58_s);
            }
        }
        EXPECT("in the end", moves, rows[i].moves_in_200_s);
        fx_close(&f);
    }
}

static const struct test_case cases[] = {
    { "room for actions", room },
    { "2^52 pages, 2^32 shares, 100,000 VMs", extremes },
    { "reservations that cannot be met", reservations_unmet },
    { "a group that cannot meet its members' reservations", group_unmet },
    { "the host's own memory", hosts_own },
    { "the sharing scan follows the state", scan_rate },
    { "the idle-memory tax", tax },
    { "memory of a VM that starts is not lent", just_started },
    { "a hold is served from many small differences", hold_from_a_crowd },
    { "so is a guest in distress", distress_beside_a_crowd },
    { "targets settle although hosts are never still", settled },
};

EXPECT_MAIN("plan", cases)
