/* SPDX-License-Identifier: BSD-2-Clause */
/* Sampling (ESX02 5.3): periods, the choice of pages, and the averages. */
#include <string.h>

#include "expect.h"
#include "fixture.h"

#define N 100u

static void begin(struct fixture *f, uint64_t vm_time_ms, uint64_t *pages)
{
    size_t n = 0;

    MUST(pol_ws_begin(f->ctx, 1, vm_time_ms, pages, N, &n));
    EXPECT("as many as configured", n, N);
}

static void open(struct fixture *f, uint64_t size)
{
    fx_open(f, 2);
    fx_add(f, 1, size, 0);
    fx_running(f, 1, 0, size);
}

static void errors(void)
{
    struct fixture f;
    uint64_t pages[N];
    size_t n;

    open(&f, 1000);
    EXPECT("no VM", pol_ws_due(f.ctx, 9, 0), POL_ERR_NOTFOUND);
    EXPECT("no VM", pol_ws_begin(f.ctx, 9, 0, pages, N, &n), POL_ERR_NOTFOUND);
    EXPECT("no VM", pol_ws_report(f.ctx, 9, 0), POL_ERR_NOTFOUND);
    EXPECT("small", pol_ws_begin(f.ctx, 1, 0, pages, N - 1, &n),
           POL_ERR_BUFFER);
    EXPECT("none runs", pol_ws_report(f.ctx, 1, 0), POL_ERR_INVALID);
    begin(&f, 1000, pages);
    EXPECT("more than watched", pol_ws_report(f.ctx, 1, N + 1), POL_ERR_RANGE);
    EXPECT("all", pol_ws_report(f.ctx, 1, 50), POL_OK);
    EXPECT("fewer than before", pol_ws_report(f.ctx, 1, 49), POL_ERR_RANGE);
    EXPECT("as before", pol_ws_report(f.ctx, 1, 50), POL_OK);
    fx_close(&f);
}

static void due(void)
{
    static const struct {
        uint64_t vm_time_ms;
        int due;
    } rows[] = { { 0, 1 },     { 1000, 0 },       { 30999, 0 }, { 31000, 1 },
                 { 31001, 1 }, { UINT64_MAX, 1 }, { 999, 1 } };
    /* Before 1000 it is another guest's time. */
    struct fixture f;
    uint64_t pages[N];
    size_t i;

    open(&f, 1000);
    EXPECT("before the first", pol_ws_due(f.ctx, 1, 0), 1);
    begin(&f, 1000, pages);
    for (i = 0; i < ROWS(rows); i++) {
        EXPECT(NULL, pol_ws_due(f.ctx, 1, rows[i].vm_time_ms), rows[i].due);
    }
    fx_close(&f);
}

static void choice_of_pages(void)
{
    static const uint64_t sizes[] = { 1, 7, 1000, UINT64_C(1) << 40,
                                      POL_MAX_PAGES };
    size_t i, k;

    for (i = 0; i < ROWS(sizes); i++) {
        struct fixture f, g;
        uint64_t first[N], again[N], second[N], halves = 0;

        open(&f, sizes[i]);
        open(&g, sizes[i]);
        begin(&f, 0, first);
        begin(&g, 0, again);
        EXPECT("the same in another context",
               memcmp(first, again, sizeof(first)), 0);
        begin(&f, 30000, second);
        for (k = 0; k < N; k++) {
            EXPECT_TRUE("in range",
                        first[k] < sizes[i] && second[k] < sizes[i]);
            halves += first[k] < sizes[i] / 2;
        }
        if (sizes[i] >= 1000) {
            EXPECT_TRUE("another period, other pages",
                        memcmp(first, second, sizeof(first)) != 0);
            EXPECT_TRUE("spread", halves > 30 && halves < 70);
        }
        fx_close(&f);
        fx_close(&g);
    }
}

/* Pages touched of 100 in each period, and the three averages after it in
 * basis points, computed in 65536ths with every step rounded down:
 * slow gain 20 %, fast gain 60 %. */
static void averages(void)
{
    static const struct {
        uint32_t touched;
        uint32_t slow_bp, fast_bp;
        uint64_t active; /* of 10,000 */
    } rows[] = {
        { 50, 5000, 5000, 5000 },  /* the first period counts as it is */
        { 100, 5999, 7999, 8000 }, /* growth: the fast one leads */
        { 100, 6799, 9199, 9200 }, { 0, 5440, 3679, 5441 }, /* slow decline */
        { 0, 4352, 1472, 4353 },   { 0, 3481, 588, 3482 },
        { 0, 2785, 235, 2786 },    { 100, 4228, 6094, 6095 },
        { 43, 4242, 5017, 5018 },  { 62, 4633, 5726, 5727 },
    };
    struct fixture f;
    uint64_t pages[N];
    size_t i;

    open(&f, 10000);
    begin(&f, 0, pages);
    for (i = 0; i < ROWS(rows); i++) {
        struct pol_ws ws;

        MUST(pol_ws_report(f.ctx, 1, rows[i].touched));
        begin(&f, 30000 * (i + 1), pages);
        fx_free(&f, 30000, FX_TOTAL);
        MUST(pol_ws_report(f.ctx, 1, 0));
        fx_plan(&f);
        ws = fx_ws(&f, 1);
        EXPECT("slow", ws.slow_bp, rows[i].slow_bp);
        EXPECT("fast", ws.fast_bp, rows[i].fast_bp);
        EXPECT("running", ws.running_bp, rows[i].fast_bp);
        EXPECT("active", ws.active_pages, rows[i].active);
    }
    fx_close(&f);
}

/* Within a period only growth shows: 10 % before, gain 60 %. */
static void running_period(void)
{
    static const struct {
        uint32_t touched, running_bp;
    } rows[] = { { 0, 1000 },  { 5, 1000 },  { 10, 1000 },
                 { 20, 1599 }, { 60, 3999 }, { 100, 6399 } };
    struct fixture f;
    uint64_t pages[N];
    size_t i;

    open(&f, 10000);
    begin(&f, 0, pages);
    MUST(pol_ws_report(f.ctx, 1, 10));
    begin(&f, 30000, pages);
    for (i = 0; i < ROWS(rows); i++) {
        MUST(pol_ws_report(f.ctx, 1, rows[i].touched));
        EXPECT_TRUE("running",
                    fx_ws(&f, 1).running_bp - rows[i].running_bp + 1 <= 2);
        EXPECT_TRUE("the others wait", fx_ws(&f, 1).slow_bp <= 1000 &&
                                           fx_ws(&f, 1).fast_bp <= 1000);
    }
    fx_close(&f);
}

/* The first period says nothing before it ends, one without any report says
 * nothing at all: all is assumed active. */
static void nothing_reported(void)
{
    struct fixture f;
    uint64_t pages[N];
    struct pol_vm_obs o = fx_obs(0, 1000);

    fx_config(&f, 2);
    f.host.now_ms = 0; /* a clock that begins with the host */
    fx_create(&f);
    fx_free(&f, 0, FX_TOTAL);
    fx_add(&f, 1, 1000, 0);
    o.valid &= ~(uint32_t)POL_OBS_MEASURED;
    fx_see(&f, 1, &o);
    begin(&f, 0, pages);
    fx_plan(&f);
    EXPECT("in the first period", fx_ws(&f, 1).active_pages, 1000);
    begin(&f, 30000, pages);
    fx_free(&f, 30000, FX_TOTAL);
    fx_plan(&f);
    EXPECT("a period without a report", fx_ws(&f, 1).active_pages, 1000);
    MUST(pol_ws_report(f.ctx, 1, 40));
    begin(&f, 60000, pages);
    fx_plan(&f);
    EXPECT("the first with one counts as it is", fx_ws(&f, 1).slow_bp, 3999);
    begin(&f, 90000, pages);
    fx_plan(&f);
    EXPECT("a gap changes no average", fx_ws(&f, 1).slow_bp, 3999);
    fx_close(&f);
}

static void reboot_forgets(void)
{
    struct fixture f;
    uint64_t pages[N];
    struct pol_vm_obs o = fx_obs(0, 1000);

    open(&f, 1000);
    o.valid &= ~(uint32_t)POL_OBS_MEASURED;
    begin(&f, 50000, pages);
    MUST(pol_ws_report(f.ctx, 1, 10));
    begin(&f, 80000, pages);
    o.lifecycle = POL_LIFE_REBOOTING;
    fx_see(&f, 1, &o);
    fx_plan(&f);
    EXPECT("all active again", fx_ws(&f, 1).active_pages, 1000);
    EXPECT("no period runs", pol_ws_report(f.ctx, 1, 1), POL_ERR_INVALID);
    EXPECT("VM time may begin anew", pol_ws_due(f.ctx, 1, 0), 1);
    fx_close(&f);
}

/* A guest that was started again between two looks: its VM time begins anew,
 * the period that ran counts for nothing, and the next ones count. */
static void time_begins_anew(void)
{
    struct fixture f;
    uint64_t pages[N];

    open(&f, 10000);
    begin(&f, 500000, pages);
    MUST(pol_ws_report(f.ctx, 1, 50));
    begin(&f, 530000, pages);
    MUST(pol_ws_report(f.ctx, 1, 100));
    EXPECT("half, so far", fx_ws(&f, 1).slow_bp, 5000);
    EXPECT("due at once", pol_ws_due(f.ctx, 1, 2000), 1);
    begin(&f, 2000, pages);
    EXPECT("a void period", fx_ws(&f, 1).slow_bp, 5000);
    EXPECT("a void period", fx_ws(&f, 1).fast_bp, 5000);
    EXPECT("counting from there", pol_ws_due(f.ctx, 1, 31999), 0);
    EXPECT("for 30 s", pol_ws_due(f.ctx, 1, 32000), 1);
    MUST(pol_ws_report(f.ctx, 1, 100));
    begin(&f, 32000, pages);
    EXPECT("counted", fx_ws(&f, 1).slow_bp, 5999);
    EXPECT("counted", fx_ws(&f, 1).fast_bp, 7999);
    fx_close(&f);
}

/* Averages under distress: 50 % before, then one period with so much touched
 * of 100, by a VM that consumes 4000 of its 10,000 pages. */
static void distress_shows_no_decline(void)
{
    static const struct {
        const char *row;
        int mine, others; /* in distress */
        uint32_t touched;
        uint32_t slow_bp, fast_bp;
    } rows[] = {
        { "no distress: slow decline", 0, 0, 20, 4400, 3200 },
        { "in distress: none", 1, 0, 20, 5000, 5000 },
        { "down to a quarter of 4000", 1, 0, 11, 5000, 5000 },
        { "below that: next to nothing touched", 1, 0, 9, 2539, 2539 },
        { "growth as ever", 1, 0, 100, 5999, 7999 },
        { "another in distress: both fast", 0, 1, 20, 3200, 3200 },
        { "and growth as ever", 0, 1, 100, 5999, 7999 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        uint64_t pages[N];
        struct pol_vm_obs o = fx_obs(4000, 10000);

        fx_open(&f, 2);
        fx_add(&f, 1, 10000, 0);
        fx_add(&f, 2, 10000, 0);
        o.valid |= POL_OBS_GUEST_STALL;
        o.valid &= ~(uint32_t)POL_OBS_MEASURED;
        begin(&f, 0, pages);
        MUST(pol_ws_report(f.ctx, 1, 50));
        begin(&f, 30000, pages);
        fx_free(&f, 1000, FX_TOTAL);
        o.guest_stall_bp = rows[i].mine ? 5000 : 0;
        fx_see(&f, 1, &o);
        o.guest_stall_bp = rows[i].others ? 5000 : 0;
        fx_see(&f, 2, &o);
        fx_plan(&f);
        fx_free(&f, 29000, FX_TOTAL);
        MUST(pol_ws_report(f.ctx, 1, rows[i].touched));
        begin(&f, 60000, pages);
        EXPECT(rows[i].row, fx_ws(&f, 1).slow_bp, rows[i].slow_bp);
        EXPECT(rows[i].row, fx_ws(&f, 1).fast_bp, rows[i].fast_bp);
        fx_close(&f);
    }
}

/* The shortest period there is, with a guest in distress: every instant is
 * both the beginning and the end of a period. */
static void shortest_period(void)
{
    struct fixture f;
    uint64_t pages[N], ms;
    size_t n;

    fx_config(&f, 2);
    f.config.sample_period_ms = 1;
    fx_create(&f);
    fx_add(&f, 1, 1000, 0);
    for (ms = 0; ms < 8; ms++) {
        struct pol_vm_obs o = fx_obs(900, 1000);

        o.valid |= POL_OBS_GUEST_STALL;
        o.guest_stall_bp = 5000;
        fx_free(&f, ms % 2, 50000);
        fx_see(&f, 1, &o);
        MUST(pol_ws_begin(f.ctx, 1, ms, pages, N, &n));
        MUST(pol_ws_report(f.ctx, 1, 50));
        fx_plan(&f);
    }
    EXPECT("it is busy and in distress", fx_status(&f, 1).distress, 1);
    fx_close(&f);
}

static const struct test_case cases[] = {
    { "wrong calls", errors },
    { "the shortest period there is", shortest_period },
    { "periods last 30 s of VM time", due },
    { "pages are in range, spread, and a function of the seed",
      choice_of_pages },
    { "averages, integer by integer", averages },
    { "growth shows before the period ends", running_period },
    { "periods without a report count for nothing", nothing_reported },
    { "a reboot forgets", reboot_forgets },
    { "VM time may begin anew", time_begins_anew },
    { "distress: no decline, and nobody waits for a slow one",
      distress_shows_no_decline },
};

EXPECT_MAIN("working_set", cases)
