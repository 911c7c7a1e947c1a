/* SPDX-License-Identifier: BSD-2-Clause */
/* Active memory from several sources of different age: fresh up to 60 s,
 * stale from 300 s on. The VM has 1000 pages and 800 of them now. */
#include "expect.h"
#include "fixture.h"

#define NO UINT64_MAX

/* What is observed and how old it is; what counts then. */
struct row {
    const char *row;
    uint64_t measured;
    uint32_t measured_age;
    uint64_t available; /* said by the guest */
    uint32_t guest_age;
    uint64_t active;
    uint32_t evidence;
};

static void one_row(const struct row *r, uint64_t size)
{
    struct fixture f;
    struct pol_vm_obs o = fx_obs(700, 800);

    fx_open(&f, 1);
    fx_add(&f, 1, size, 0);
    o.valid &= ~(uint32_t)POL_OBS_MEASURED;
    if (r->measured != NO) {
        o.valid |= POL_OBS_MEASURED;
        o.measured_active_pages = r->measured;
        o.measured_age_ms = r->measured_age;
    }
    if (r->available != NO) {
        o.valid |= POL_OBS_GUEST_AVAILABLE;
        o.guest_available_pages = r->available;
        o.guest_age_ms = r->guest_age;
    }
    fx_see(&f, 1, &o);
    fx_plan(&f);
    EXPECT(r->row, fx_ws(&f, 1).active_pages, r->active);
    EXPECT(r->row, fx_ws(&f, 1).evidence, r->evidence);
    fx_close(&f);
}

static void fusion(void)
{
    static const struct row rows[] = {
        { "nothing known", NO, 0, NO, 0, 1000, POL_EVIDENCE_NONE },
        { "measured, fresh", 100, 0, NO, 0, 100, POL_EVIDENCE_MEASURED },
        { "at the end of fresh", 100, 60000, NO, 0, 100,
          POL_EVIDENCE_MEASURED },
        { "half way to stale", 100, 180000, NO, 0, 550, POL_EVIDENCE_MEASURED },
        { "one third", 100, 140000, NO, 0, 400, POL_EVIDENCE_MEASURED },
        { "stale", 100, 300000, NO, 0, 1000, POL_EVIDENCE_NONE },
        { "very old", 100, UINT32_MAX, NO, 0, 1000, POL_EVIDENCE_NONE },
        { "measured more than there is", 5000, 0, NO, 0, 1000,
          POL_EVIDENCE_MEASURED },
        { "measured: none", 0, 0, NO, 0, 0, POL_EVIDENCE_MEASURED },
        { "guest: 800 - 300", NO, 0, 300, 0, 500, POL_EVIDENCE_GUEST },
        { "guest, half way", NO, 0, 300, 180000, 750, POL_EVIDENCE_GUEST },
        { "guest, stale", NO, 0, 300, 300000, 1000, POL_EVIDENCE_NONE },
        { "guest: all idle", NO, 0, 800, 0, 0, POL_EVIDENCE_GUEST },
        { "guest: more idle than it has", NO, 0, 900, 0, 0,
          POL_EVIDENCE_GUEST },
        { "the guest cannot go below what was measured", 400, 0, 700, 0, 400,
          POL_EVIDENCE_MEASURED },
        { "nor lift a fresh measurement", 100, 0, 0, 0, 100,
          POL_EVIDENCE_MEASURED },
        { "a fresh guest softens ageing", 100, 180000, 600, 0, 200,
          POL_EVIDENCE_MEASURED },
        { "but not below the old figure", 100, 180000, 750, 0, 100,
          POL_EVIDENCE_MEASURED },
        { "and never makes it worse", 100, 180000, 0, 0, 550,
          POL_EVIDENCE_MEASURED },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        one_row(&rows[i], 1000);
    }
}

/* 2^52 pages, half way between fresh and stale. */
static void huge(void)
{
    static const struct row fresh = { "2^52, fresh",        1, 0, NO, 0, 1,
                                      POL_EVIDENCE_MEASURED };
    static const struct row stale = {
        "2^52, stale", 0, 300000, NO, 0, POL_MAX_PAGES, POL_EVIDENCE_NONE
    };
    struct fixture f;
    struct pol_vm_obs o = fx_obs(0, 0);

    one_row(&fresh, POL_MAX_PAGES);
    one_row(&stale, POL_MAX_PAGES);
    /* dividing first costs at most span pages: 240,000 */
    fx_open(&f, 1);
    fx_add(&f, 1, POL_MAX_PAGES, 0);
    o.measured_active_pages = 0;
    o.measured_age_ms = 180000;
    fx_see(&f, 1, &o);
    fx_plan(&f);
    EXPECT_TRUE("2^52, half way",
                fx_ws(&f, 1).active_pages <= POL_MAX_PAGES / 2 &&
                    fx_ws(&f, 1).active_pages >= POL_MAX_PAGES / 2 - 240000);
    fx_close(&f);
}

/* Time passes without a new observation. */
static void ageing(void)
{
    static const struct {
        uint64_t later_ms, active;
        uint32_t age_ms;
    } rows[] = {
        { 0, 100, 0 },          { 60000, 100, 60000 }, { 120000, 550, 180000 },
        { 60000, 775, 240000 }, { 60000, 1000, 0 },    { 600000, 1000, 0 },
    };
    struct fixture f;
    struct pol_vm_obs o = fx_obs(700, 800);
    size_t i;

    fx_open(&f, 1);
    fx_add(&f, 1, 1000, 0);
    o.measured_active_pages = 100;
    fx_see(&f, 1, &o);
    for (i = 0; i < ROWS(rows); i++) {
        fx_free(&f, rows[i].later_ms, FX_TOTAL - 700);
        fx_plan(&f);
        EXPECT(NULL, fx_ws(&f, 1).active_pages, rows[i].active);
        EXPECT(NULL, fx_ws(&f, 1).age_ms, rows[i].age_ms);
    }
    fx_close(&f);
}

/* Sampling and another measurement: the larger figure counts, and drifts only
 * as fast as the fresher one ages. */
static void two_measurements(void)
{
    static const struct {
        uint32_t touched; /* of 100, just now */
        uint64_t measured;
        uint32_t measured_age;
        uint64_t active;
    } rows[] = {
        { 20, 100, 0, 200 },      { 20, 200, 0, 200 },
        { 20, 300, 0, 300 },      { 20, 300, 299000, 300 },
        { 20, 201, 299000, 201 }, { 20, 900, 300000, 200 },
        { 0, 0, 0, 0 },           { 100, 0, 0, 1000 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(700, 800);
        uint64_t pages[100];
        size_t n;

        fx_open(&f, 1);
        fx_add(&f, 1, 1000, 0);
        o.measured_active_pages = rows[i].measured;
        o.measured_age_ms = rows[i].measured_age;
        fx_see(&f, 1, &o);
        MUST(pol_ws_begin(f.ctx, 1, 0, pages, 100, &n));
        MUST(pol_ws_report(f.ctx, 1, rows[i].touched));
        MUST(pol_ws_begin(f.ctx, 1, 30000, pages, 100, &n));
        fx_plan(&f);
        /* sampled in 65536ths, rounded up to pages */
        EXPECT_TRUE(NULL, fx_ws(&f, 1).active_pages - rows[i].active <= 1);
        fx_close(&f);
    }
}

static const struct test_case cases[] = {
    { "measured and guest figures of every age", fusion },
    { "sizes of 2^52 pages", huge },
    { "figures grow old towards all active", ageing },
    { "the larger of two measurements counts", two_measurements },
};

EXPECT_MAIN("evidence", cases)
