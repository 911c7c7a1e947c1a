/* SPDX-License-Identifier: BSD-2-Clause */
/* Holds: memory kept for a VM that will start. Everything above 4000 free
 * pages (state soft) may be handed over. Now is 1,000,000 ms. */
#include "expect.h"
#include "fixture.h"

#define NOW  UINT64_C(1000000)
#define ME   UINT64_C(7)
#define THEM UINT64_C(8)

static struct pol_hold get(struct fixture *f, uint64_t hold)
{
    struct pol_hold h;

    MUST(pol_hold_get(f->ctx, hold, &h));
    return h;
}

static void errors(void)
{
    static const struct {
        const char *row;
        uint64_t hold, owner, pages, deadline;
        uint32_t flags;
        int error;
    } rows[] = {
        { "good", 1, ME, 100, NOW + 1, 0, POL_OK },
        { "changed by its owner", 1, ME, 200, NOW + 2, 1, POL_OK },
        { "changed by another", 1, THEM, 200, NOW + 2, 0, POL_ERR_OWNER },
        { "nothing", 2, ME, 0, NOW + 1, 0, POL_ERR_RANGE },
        { "too much", 2, ME, POL_MAX_PAGES + 1, NOW + 1, 0, POL_ERR_RANGE },
        { "flags", 2, ME, 100, NOW + 1, 2, POL_ERR_RANGE },
        { "the deadline is now", 2, ME, 100, NOW, 0, POL_ERR_CLOCK },
        { "has passed", 2, ME, 100, 0, 0, POL_ERR_CLOCK },
        { "more than the host has", 2, ME, FX_TOTAL, NOW + 1, 0,
          POL_ERR_MEMORY_SHORT },
        { "second", 2, ME, 100, UINT64_MAX, 0, POL_OK },
        { "third of two", 3, ME, 100, NOW + 1, 0, POL_ERR_NOMEM },
    };
    struct fixture f;
    size_t i;

    fx_config(&f, 2);
    f.config.max_holds = 2;
    fx_create(&f);
    EXPECT("no host yet", pol_hold_add(f.ctx, 1, ME, 10, NOW + 1, 0),
           POL_ERR_INVALID);
    fx_free(&f, 0, FX_TOTAL);
    fx_plan(&f);
    for (i = 0; i < ROWS(rows); i++) {
        EXPECT(rows[i].row,
               pol_hold_add(f.ctx, rows[i].hold, rows[i].owner, rows[i].pages,
                            rows[i].deadline, rows[i].flags),
               rows[i].error);
    }
    EXPECT("as changed last", get(&f, 1).pages, 200);
    EXPECT("as changed last", get(&f, 1).deadline_ms, NOW + 2);
    EXPECT("as changed last", get(&f, 1).flags, POL_HOLD_URGENT);
    EXPECT("not mine", pol_hold_release(f.ctx, 1, THEM), POL_ERR_OWNER);
    EXPECT("mine", pol_hold_release(f.ctx, 1, ME), POL_OK);
    EXPECT("gone", pol_hold_release(f.ctx, 1, ME), POL_ERR_NOTFOUND);
    fx_close(&f);
}

static void ready_and_expired(void)
{
    static const struct {
        const char *row;
        uint64_t later_ms, free_pages;
        uint64_t ready; /* of 5000 */
        uint32_t notes_ready, notes_expired;
    } rows[] = {
        { "not enough", 0, 8999, 4999, 0, 0 },
        { "enough", 1000, 9000, 5000, 1, 0 },
        { "told once", 1000, 9000, 5000, 0, 0 },
        { "no more", 1000, 5000, 1000, 0, 0 },
        { "again", 1000, 50000, 5000, 1, 0 },
        { "just in time", 5999, 50000, 5000, 0, 0 },
        { "too late", 1, 50000, 0, 0, 1 },
        { "told once", 1, 50000, 0, 0, 0 },
    };
    struct fixture f;
    struct pol_hold h;
    uint32_t cursor;
    size_t i;

    fx_open(&f, 2);
    fx_plan(&f);
    MUST(pol_hold_add(f.ctx, 5, ME, 5000, NOW + 10000, 0));
    for (i = 0; i < ROWS(rows); i++) {
        fx_free(&f, rows[i].later_ms, rows[i].free_pages);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_notes(&f, 5, POL_WHY_HOLD_READY),
               rows[i].notes_ready);
        EXPECT(rows[i].row, fx_notes(&f, 5, POL_WHY_HOLD_EXPIRED),
               rows[i].notes_expired);
        cursor = 0;
        if (pol_hold_next(f.ctx, &cursor, &h) == POL_OK) {
            EXPECT(rows[i].row, h.ready_pages, rows[i].ready);
            EXPECT("the only one", pol_hold_next(f.ctx, &cursor, &h),
                   POL_ERR_NOTFOUND);
        } else {
            EXPECT(rows[i].row, rows[i].ready, 0);
        }
    }
    fx_close(&f);
}

/* Memory is freed for a hold although none is short. */
static void reclaim(void)
{
    struct fixture f;

    fx_open(&f, 2);
    fx_add(&f, 1, 80000, 0);
    fx_free(&f, 0, 10000);
    fx_running(&f, 1, 80000, 80000);
    fx_plan(&f);
    EXPECT("nothing before", fx_count(&f, POL_ACT_BALLOON), 0);
    MUST(pol_hold_add(f.ctx, 5, ME, 20000, NOW + 60000, 0));
    fx_free(&f, 1000, 10000);
    fx_running(&f, 1, 80000, 80000);
    fx_plan(&f);
    EXPECT("held", fx_host_status(&f).held_pages, 20000);
    EXPECT("target without it", fx_status(&f, 1).target_pages, 63750);
    EXPECT("a step", fx_pages(&f, 1, POL_ACT_BALLOON), 76000);
    EXPECT("why", fx_reason(&f, 1, POL_ACT_BALLOON), POL_WHY_HOLD);
    EXPECT("not by swapping", fx_count(&f, POL_ACT_SWAP_OUT), 0);
    fx_close(&f);
}

/* Taken: while the VM fills it, the larger of the two counts, never both. */
static void handing_over(void)
{
    static const struct {
        const char *row;
        uint64_t filled, free_pages;
        uint64_t promised; /* still to come */
    } rows[] = {
        { "empty", 0, 90000, 20000 },
        { "half", 10000, 80000, 10000 },
        { "full", 20000, 70000, 0 },
        { "more than was held", 25000, 65000, 0 },
    };
    struct fixture f;
    struct pol_vm_obs o = fx_obs(0, 30000);
    size_t i;

    fx_open(&f, 3);
    fx_add(&f, 1, 30000, 1000);
    fx_add(&f, 2, 30000, 1000);
    fx_free(&f, 0, 90000);
    MUST(pol_hold_add(f.ctx, 5, ME, 20000, NOW + 60000, 0));
    MUST(pol_hold_add(f.ctx, 6, ME, 10, NOW + 60000, 0));
    EXPECT("no such VM", pol_hold_take(f.ctx, 5, ME, 9), POL_ERR_NOTFOUND);
    EXPECT("no such hold", pol_hold_take(f.ctx, 9, ME, 1), POL_ERR_NOTFOUND);
    EXPECT("another's", pol_hold_take(f.ctx, 5, THEM, 1), POL_ERR_OWNER);
    EXPECT("taken", pol_hold_take(f.ctx, 5, ME, 1), POL_OK);
    EXPECT("twice", pol_hold_take(f.ctx, 5, ME, 2), POL_ERR_BUSY);
    MUST(pol_hold_release(f.ctx, 6, ME));
    EXPECT("by", get(&f, 5).vm, 1);
    MUST(pol_vm_remove(f.ctx, 2));
    o.lifecycle = POL_LIFE_BUILDING;
    for (i = 0; i < ROWS(rows); i++) {
        fx_free(&f, 10, rows[i].free_pages);
        o.consumed_pages = rows[i].filled;
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_host_status(&f).promised_pages,
               rows[i].promised);
        EXPECT(rows[i].row, fx_host_status(&f).held_pages, 0);
        EXPECT_TRUE(rows[i].row, fx_status(&f, 1).target_pages >= 20000);
        EXPECT("untouched", fx_pages(&f, 1, POL_ACT_BALLOON), -1);
    }
    o.lifecycle = POL_LIFE_RUNNING;
    fx_see(&f, 1, &o);
    EXPECT("ends with the building", pol_hold_release(f.ctx, 5, ME),
           POL_ERR_NOTFOUND);
    fx_close(&f);
}

static void vm_gone(void)
{
    struct fixture f;

    fx_open(&f, 1);
    fx_add(&f, 1, 30000, 0);
    MUST(pol_hold_add(f.ctx, 5, ME, 2000, NOW + 60000, 0));
    MUST(pol_hold_take(f.ctx, 5, ME, 1));
    MUST(pol_vm_remove(f.ctx, 1));
    EXPECT("ends with the VM", pol_hold_release(f.ctx, 5, ME),
           POL_ERR_NOTFOUND);
    fx_add(&f, 1, 30000, 0);
    MUST(pol_hold_add(f.ctx, 5, ME, 2000, NOW + 60000, 0));
    MUST(pol_hold_take(f.ctx, 5, ME, 1));
    fx_free(&f, 60000, FX_TOTAL);
    fx_plan(&f);
    EXPECT("ends at its deadline", fx_notes(&f, 5, POL_WHY_HOLD_EXPIRED), 1);
    EXPECT("promises nothing more", fx_host_status(&f).promised_pages, 0);
    fx_close(&f);
}

/* An urgent hold may be served by swapping, also while another VM wants more;
 * the VM of 80,000 has no driver. */
static void urgent(void)
{
    static const struct {
        const char *row;
        uint32_t flags;
        int other;
        int64_t swap; /* 500 for the hold, 900 for the other */
    } rows[] = {
        { "patient", 0, 0, -1 },
        { "patient, another wants more", 0, 1, -1 },
        { "urgent", POL_HOLD_URGENT, 0, 500 },
        { "urgent, another wants more", POL_HOLD_URGENT, 1, 1400 },
    };
    size_t i;
    int n;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(80000, 80000);

        fx_open(&f, 2);
        fx_add(&f, 1, 80000, 0);
        o.driver = POL_DRIVER_ABSENT;
        o.measured_active_pages = 1000;
        if (rows[i].other) {
            fx_add(&f, 2, 9000, 0);
        }
        for (n = 0; n < 2; n++) {
            fx_free(&f, 1000, FX_AIM);
            fx_see(&f, 1, &o);
            if (rows[i].other) {
                fx_running(&f, 2, 1000, 1000);
            }
            if (n == 1) {
                MUST(
                    pol_hold_add(f.ctx, 5, ME, 500, UINT64_MAX, rows[i].flags));
            }
            fx_plan(&f);
        }
        EXPECT(rows[i].row, fx_pages(&f, 1, POL_ACT_SWAP_OUT), rows[i].swap);
        if (rows[i].swap > 0) {
            EXPECT(rows[i].row, fx_host_status(&f).state, POL_STATE_HIGH);
        }
        fx_close(&f);
    }
}

/* A hold for more than the VM can have, as for its overhead and some slack,
 * is filled when the VM is full. */
static void more_than_its_size(void)
{
    struct fixture f;

    fx_open(&f, 1);
    fx_free(&f, 0, 90000);
    fx_add(&f, 1, 50000, 0);
    MUST(pol_hold_add(f.ctx, 5, ME, 55000, UINT64_MAX, 0));
    MUST(pol_hold_take(f.ctx, 5, ME, 1));
    fx_running(&f, 1, 49999, 50000);
    fx_plan(&f);
    EXPECT("one page to come", fx_host_status(&f).promised_pages, 1);
    EXPECT("no more than its size", fx_status(&f, 1).target_pages, 50000);
    EXPECT("still there", get(&f, 5).vm, 1);
    fx_running(&f, 1, 50000, 50000);
    fx_plan(&f);
    EXPECT("full: nothing to come", fx_host_status(&f).promised_pages, 0);
    EXPECT("over", pol_hold_release(f.ctx, 5, ME), POL_ERR_NOTFOUND);
    fx_close(&f);
}

/* What was said to be ready stays so, whichever hold comes later. */
static void ready_is_ready(void)
{
    static const struct {
        const char *row;
        uint64_t pages, free_pages;
        uint64_t old_ready, new_ready;
    } rows[] = {
        { "the new one has what is left", 8000, 13000, 5000, 4000 },
        { "and all there is to come", 8000, 17000, 5000, 8000 },
        { "less than was said", 8000, 8000, 4000, 0 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;

        fx_config(&f, 1);
        f.config.max_holds = 2;
        fx_create(&f);
        fx_free(&f, 0, 13000);
        fx_add(&f, 1, 87000, 0);
        fx_running(&f, 1, 87000, 87000);
        fx_plan(&f);
        MUST(pol_hold_add(f.ctx, 1, ME, 4000, UINT64_MAX, 0));
        MUST(pol_hold_add(f.ctx, 2, ME, 5000, UINT64_MAX, 0));
        fx_plan(&f);
        EXPECT("both", get(&f, 1).ready_pages, 4000);
        EXPECT("both", get(&f, 2).ready_pages, 5000);
        MUST(pol_hold_release(f.ctx, 1, ME));
        MUST(pol_hold_add(f.ctx, 3, THEM, rows[i].pages, UINT64_MAX, 0));
        fx_free(&f, 1000, rows[i].free_pages);
        fx_plan(&f);
        EXPECT(rows[i].row, get(&f, 2).ready_pages, rows[i].old_ready);
        EXPECT(rows[i].row, get(&f, 3).ready_pages, rows[i].new_ready);
        fx_close(&f);
    }
}

static const struct test_case cases[] = {
    { "adding, changing, releasing", errors },
    { "ready, no longer ready, expired", ready_and_expired },
    { "memory is freed for a hold", reclaim },
    { "handing over counts once", handing_over },
    { "a hold ends with its VM and at its deadline", vm_gone },
    { "urgent holds and swapping", urgent },
    { "a hold for more than the VM's size", more_than_its_size },
    { "what is ready stays ready", ready_is_ready },
};

EXPECT_MAIN("hold", cases)
