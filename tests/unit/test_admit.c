/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Admission (ESX02 6.2). Of 100,000 pages 6250 stay free, as plans aim at;
 * nobody else runs but, where the row says so, a VM of 40,000 with 30,000
 * reserved and an overhead of 1000.
 */
#include "expect.h"
#include "fixture.h"

#define OTHER 1

static void answers(void)
{
    static const struct {
        const char *row;
        int other;
        uint64_t size, reservation, overhead;
        uint64_t host_reserve, hold, swap;
        uint64_t needed, unreserved;
        int answer;
    } rows[] = {
        { "all there is", 0, 93750, 93750, 0, 0, 0, 0, 93750, 93750, POL_OK },
        { "one page more", 0, 93751, 93751, 0, 0, 0, 0, 93751, 93750,
          POL_ERR_MEMORY_SHORT },
        { "overhead counts", 0, 93750, 92750, 1001, 0, 0, 1000, 93751, 93750,
          POL_ERR_MEMORY_SHORT },
        { "the host's own", 0, 80000, 80000, 0, 14001, 0, 0, 80000, 79749,
          POL_ERR_MEMORY_SHORT },
        { "a hold", 0, 80000, 80000, 0, 0, 14001, 0, 80000, 79749,
          POL_ERR_MEMORY_SHORT },
        { "beside another", OTHER, 62750, 62750, 0, 0, 0, 10000, 62750, 62750,
          POL_OK },
        { "one page more", OTHER, 62751, 62751, 0, 0, 0, 10000, 62751, 62750,
          POL_ERR_MEMORY_SHORT },
        { "swap for the rest", 0, 50000, 10000, 0, 0, 0, 40000, 10000, 93750,
          POL_OK },
        { "too little swap", 0, 50000, 10000, 0, 0, 0, 39999, 10000, 93750,
          POL_ERR_SWAP_SHORT },
        { "others need swap too", OTHER, 50000, 10000, 0, 0, 0, 49999, 10000,
          62750, POL_ERR_SWAP_SHORT },
        { "enough for both", OTHER, 50000, 10000, 0, 0, 0, 50000, 10000, 62750,
          POL_OK },
        { "larger than the host", 0, 200000, 1000, 0, 0, 0, 199000, 1000, 93750,
          POL_OK },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_params p;
        struct pol_admission a;

        fx_config(&f, 2);
        f.config.host_reserve_pages = rows[i].host_reserve;
        f.host.swap_total_pages = rows[i].swap;
        f.host.swap_free_pages = rows[i].swap;
        fx_create(&f);
        pol_vm_params_init(&p, 40000);
        p.reservation_pages = 30000;
        p.overhead_pages = 1000;
        EXPECT("no host", pol_admit(f.ctx, &p, &a), POL_ERR_INVALID);
        fx_free(&f, 0, rows[i].other ? 59000 : FX_TOTAL);
        if (rows[i].other) {
            MUST(pol_vm_add(f.ctx, 1, &p));
            fx_running(&f, 1, 40000, 40000);
            fx_plan(&f);
        }
        if (rows[i].hold > 0) {
            MUST(pol_hold_add(f.ctx, 1, 1, rows[i].hold, UINT64_MAX, 0));
        }
        pol_vm_params_init(&p, rows[i].size);
        p.reservation_pages = rows[i].reservation;
        p.overhead_pages = rows[i].overhead;
        EXPECT(rows[i].row, pol_admit(f.ctx, &p, &a), rows[i].answer);
        EXPECT(rows[i].row, pol_admit(f.ctx, &p, NULL), rows[i].answer);
        EXPECT(rows[i].row, a.needed_pages, rows[i].needed);
        EXPECT(rows[i].row, a.unreserved_pages, rows[i].unreserved);
        EXPECT(rows[i].row, a.swap_total_pages, rows[i].swap);
        EXPECT(rows[i].row, a.reclaimable_pages, rows[i].other ? 10000 : 0);
        EXPECT("nothing has changed", pol_vm_count(f.ctx), rows[i].other);
        fx_close(&f);
    }
}

/*  0 - 1 (limit 50,000, 20,000 reserved) - 2 (limit 30,000) */
static void groups(void)
{
    static const struct {
        const char *row;
        uint64_t group, reservation;
        uint64_t needed;
        int answer;
    } rows[] = {
        { "covered by the group's reservation", 1, 20000, 0, POL_OK },
        { "beyond it", 1, 25000, 5000, POL_OK },
        { "up to the limit", 1, 50000, 30000, POL_OK },
        { "beyond the limit", 1, 50001, 30001, POL_ERR_GROUP_SHORT },
        { "inner limit", 2, 30000, 10000, POL_OK },
        { "beyond the inner limit", 2, 30001, 10001, POL_ERR_GROUP_SHORT },
        { "in the root", 0, 50001, 50001, POL_OK },
        { "nowhere", 9, 1, 0, POL_ERR_NOTFOUND },
    };
    struct fixture f;
    struct pol_group_params g;
    size_t i;

    fx_open(&f, 2);
    pol_group_params_init(&g);
    g.limit_pages = 50000;
    g.reservation_pages = 20000;
    MUST(pol_group_add(f.ctx, 1, &g));
    pol_group_params_init(&g);
    g.parent = 1;
    g.limit_pages = 30000;
    MUST(pol_group_add(f.ctx, 2, &g));
    for (i = 0; i < ROWS(rows); i++) {
        struct pol_vm_params p;
        struct pol_admission a = { 0, 0, 0, 0, 0, 0 };

        pol_vm_params_init(&p, 60000);
        p.group = rows[i].group;
        p.reservation_pages = rows[i].reservation;
        EXPECT(rows[i].row, pol_admit(f.ctx, &p, &a), rows[i].answer);
        EXPECT(rows[i].row, a.needed_pages, rows[i].needed);
    }
    fx_close(&f);
}

/* A VM being built on a hold counts with the larger of both. */
static void on_a_hold(void)
{
    struct fixture f;
    struct pol_vm_params p;
    struct pol_admission a;

    fx_open(&f, 2);
    fx_plan(&f);
    MUST(pol_hold_add(f.ctx, 1, 1, 30000, UINT64_MAX, 0));
    pol_vm_params_init(&p, 10);
    EXPECT(NULL, pol_admit(f.ctx, &p, &a), POL_OK);
    EXPECT("held", a.unreserved_pages, 63750);
    fx_add(&f, 1, 40000, 20000);
    EXPECT(NULL, pol_admit(f.ctx, &p, &a), POL_OK);
    EXPECT("not taken: both", a.unreserved_pages, 43750);
    MUST(pol_hold_take(f.ctx, 1, 1, 1));
    EXPECT(NULL, pol_admit(f.ctx, &p, &a), POL_OK);
    EXPECT("taken: once", a.unreserved_pages, 63750);
    fx_close(&f);
}

/* Memory from which nothing can be taken is not there for others: a VM of
 * 88,000 pages that holds them all, nothing reserved; 93,750 in all. */
static void out_of_reach(void)
{
    static const struct {
        const char *row;
        uint8_t lifecycle, driver;
        uint32_t caps;
        uint64_t kept; /* 65 % are the balloon's: 30,800 are left */
    } rows[] = {
        { "pinned", POL_LIFE_PINNED, POL_DRIVER_PRESENT, POL_CAP_SWAP, 88000 },
        { "migrating", POL_LIFE_MIGRATING, POL_DRIVER_PRESENT, POL_CAP_SWAP,
          88000 },
        { "no driver, no swap", POL_LIFE_RUNNING, POL_DRIVER_ABSENT, 0, 88000 },
        { "no driver, but swap", POL_LIFE_RUNNING, POL_DRIVER_ABSENT,
          POL_CAP_SWAP, 0 },
        { "balloon and swap", POL_LIFE_RUNNING, POL_DRIVER_PRESENT,
          POL_CAP_SWAP, 0 },
        { "balloon to its cap, no swap", POL_LIFE_RUNNING, POL_DRIVER_PRESENT,
          0, 30800 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_params p;
        struct pol_vm_obs o = fx_obs(88000, 88000);
        struct pol_admission a;

        fx_config(&f, 2);
        f.config.admission_needs_swap = 0;
        fx_create(&f);
        fx_free(&f, 0, FX_TOTAL);
        f.host.caps = rows[i].caps;
        fx_add(&f, 1, 88000, 0);
        fx_free(&f, 0, FX_TOTAL - 88000);
        o.lifecycle = rows[i].lifecycle;
        o.driver = rows[i].driver;
        fx_see(&f, 1, &o);
        fx_plan(&f);
        pol_vm_params_init(&p, 90000);
        p.reservation_pages = 5750;
        EXPECT(rows[i].row, pol_admit(f.ctx, &p, &a), POL_OK);
        EXPECT(rows[i].row, a.unreserved_pages, 93750 - rows[i].kept);
        EXPECT(rows[i].row, a.reclaimable_pages, 88000 - rows[i].kept);
        p.reservation_pages = 93751 - rows[i].kept;
        if (p.reservation_pages <= 90000) {
            EXPECT(rows[i].row, pol_admit(f.ctx, &p, NULL),
                   POL_ERR_MEMORY_SHORT);
        }
        EXPECT(rows[i].row,
               pol_hold_add(f.ctx, 1, 1, 93751 - rows[i].kept, UINT64_MAX, 0),
               POL_ERR_MEMORY_SHORT);
        EXPECT(rows[i].row,
               pol_hold_add(f.ctx, 1, 1, 93750 - rows[i].kept, UINT64_MAX, 0),
               POL_OK);
        fx_close(&f);
    }
}

/* Seen but not planned for yet: the figures are the same as after a plan. */
static void before_the_first_plan(void)
{
    struct fixture f;
    struct pol_vm_params p;
    struct pol_admission before, after;

    fx_open(&f, 2);
    fx_add(&f, 1, 40000, 30000);
    fx_free(&f, 0, 60000);
    fx_running(&f, 1, 40000, 40000);
    pol_vm_params_init(&p, 1000);
    MUST(pol_admit(f.ctx, &p, &before));
    fx_plan(&f);
    MUST(pol_admit(f.ctx, &p, &after));
    EXPECT("above its reservation", after.reclaimable_pages, 10000);
    EXPECT("as after", before.unreserved_pages, after.unreserved_pages);
    EXPECT("as after", before.reclaimable_pages, after.reclaimable_pages);
    fx_close(&f);
}

/* What was admitted to the last page, the plan can give. */
static void admitted_is_given(void)
{
    struct fixture f;
    struct pol_vm_params p;

    fx_open(&f, 2);
    fx_add(&f, 1, 30000, 20000);
    fx_free(&f, 0, 65000); /* 5000 are the host's own */
    fx_running(&f, 1, 30000, 30000);
    fx_plan(&f);
    pol_vm_params_init(&p, 80000);
    p.reservation_pages = 68750;
    MUST(pol_admit(f.ctx, &p, NULL));
    MUST(pol_vm_add(f.ctx, 2, &p));
    fx_running(&f, 2, 0, 80000);
    fx_plan(&f);
    EXPECT("not short", fx_host_status(&f).short_of_reservations, 0);
    EXPECT_TRUE("all of it", fx_status(&f, 2).target_pages >= 68750);
    fx_close(&f);
}

/* Group 1 is limited to less than its member's reservation, group 2 lies in
 * it; that is no matter for others. */
static void a_short_group(void)
{
    static const struct {
        const char *row;
        uint64_t group;
        int answer;
    } rows[] = {
        { "root", 0, POL_OK },
        { "the short group", 1, POL_ERR_GROUP_SHORT },
        { "inside it", 2, POL_ERR_GROUP_SHORT },
        { "beside it", 3, POL_OK },
    };
    struct fixture f;
    struct pol_group_params g;
    struct pol_vm_params p;
    uint64_t id;
    size_t i;

    fx_open(&f, 2);
    for (id = 1; id <= 3; id++) {
        pol_group_params_init(&g);
        g.parent = id == 2 ? 1 : 0;
        g.limit_pages = id == 1 ? 10000 : POL_NO_LIMIT;
        MUST(pol_group_add(f.ctx, id, &g));
    }
    pol_vm_params_init(&p, 20000);
    p.group = 1;
    p.reservation_pages = 15000;
    MUST(pol_vm_add(f.ctx, 1, &p));
    for (i = 0; i < ROWS(rows); i++) {
        p.group = rows[i].group;
        p.reservation_pages = 100;
        EXPECT(rows[i].row, pol_admit(f.ctx, &p, NULL), rows[i].answer);
    }
    fx_close(&f);
}

static const struct test_case cases[] = {
    { "memory, overhead, holds and swap", answers },
    { "limits and reservations of groups", groups },
    { "a VM on a hold counts once", on_a_hold },
    { "memory out of reach is guaranteed to whoever has it", out_of_reach },
    { "before the first plan", before_the_first_plan },
    { "what is admitted can be given", admitted_is_given },
    { "a group that is short concerns its own", a_short_group },
};

EXPECT_MAIN("admit", cases)
