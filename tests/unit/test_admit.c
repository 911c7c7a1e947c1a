/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Admission (ESX02 6.2). Of 100,000 pages 6000 stay free; nobody else runs
 * but, where the row says so, a VM of 40,000 with 30,000 reserved and an
 * overhead of 1000.
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
        { "all there is", 0, 94000, 94000, 0, 0, 0, 0, 94000, 94000, POL_OK },
        { "one page more", 0, 94001, 94001, 0, 0, 0, 0, 94001, 94000,
          POL_ERR_MEMORY_SHORT },
        { "overhead counts", 0, 94000, 93000, 1001, 0, 0, 1000, 94001, 94000,
          POL_ERR_MEMORY_SHORT },
        { "the host's own", 0, 80000, 80000, 0, 14001, 0, 0, 80000, 79999,
          POL_ERR_MEMORY_SHORT },
        { "a hold", 0, 80000, 80000, 0, 0, 14001, 0, 80000, 79999,
          POL_ERR_MEMORY_SHORT },
        { "beside another", OTHER, 63000, 63000, 0, 0, 0, 10000, 63000, 63000,
          POL_OK },
        { "one page more", OTHER, 63001, 63001, 0, 0, 0, 10000, 63001, 63000,
          POL_ERR_MEMORY_SHORT },
        { "swap for the rest", 0, 50000, 10000, 0, 0, 0, 40000, 10000, 94000,
          POL_OK },
        { "too little swap", 0, 50000, 10000, 0, 0, 0, 39999, 10000, 94000,
          POL_ERR_SWAP_SHORT },
        { "others need swap too", OTHER, 50000, 10000, 0, 0, 0, 49999, 10000,
          63000, POL_ERR_SWAP_SHORT },
        { "enough for both", OTHER, 50000, 10000, 0, 0, 0, 50000, 10000, 63000,
          POL_OK },
        { "larger than the host", 0, 200000, 1000, 0, 0, 0, 199000, 1000, 94000,
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
    EXPECT("held", a.unreserved_pages, 64000);
    fx_add(&f, 1, 40000, 20000);
    EXPECT(NULL, pol_admit(f.ctx, &p, &a), POL_OK);
    EXPECT("not taken: both", a.unreserved_pages, 44000);
    MUST(pol_hold_take(f.ctx, 1, 1, 1));
    EXPECT(NULL, pol_admit(f.ctx, &p, &a), POL_OK);
    EXPECT("taken: once", a.unreserved_pages, 64000);
    fx_close(&f);
}

static const struct test_case cases[] = {
    { "memory, overhead, holds and swap", answers },
    { "limits and reservations of groups", groups },
    { "a VM on a hold counts once", on_a_hold },
};

EXPECT_MAIN("admit", cases)
