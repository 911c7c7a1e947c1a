/* SPDX-License-Identifier: BSD-2-Clause */
/* How actions went, what the last plan saw, and targets without a plan. */
#include "expect.h"
#include "fixture.h"

#define SIZE UINT64_C(80000)

/* One VM that is 3250 above its target, in state soft. */
static void open(struct fixture *f)
{
    fx_open(f, 3);
    fx_add(f, 1, SIZE, 0);
    fx_free(f, 0, 3000);
    fx_running(f, 1, SIZE, SIZE);
}

static void errors(void)
{
    static const struct {
        const char *row;
        struct pol_action action;
        uint64_t done;
        int error, rc;
    } rows[] = {
        { "no kind", { 1, 0, 0, 0 }, 0, POL_OK, POL_ERR_RANGE },
        { "unknown kind",
          { 1, 0, POL_ACTION_KINDS, 0 },
          0,
          POL_OK,
          POL_ERR_RANGE },
        { "too much done",
          { 1, 0, POL_ACT_BALLOON, 0 },
          POL_MAX_PAGES + 1,
          POL_OK,
          POL_ERR_RANGE },
        { "no such VM",
          { 9, 0, POL_ACT_BALLOON, 0 },
          0,
          POL_OK,
          POL_ERR_NOTFOUND },
        { "balloon", { 1, 5, POL_ACT_BALLOON, 0 }, 5, POL_OK, POL_OK },
        { "swap", { 1, 5, POL_ACT_SWAP_OUT, 0 }, 5, POL_OK, POL_OK },
        { "note", { 9, 5, POL_ACT_NOTE, 0 }, 0, POL_OK, POL_OK },
        { "rate", { 0, 5, POL_ACT_SHARE_RATE, 0 }, 0, POL_OK, POL_OK },
    };
    struct fixture f;
    struct pol_host_status h;
    struct pol_vm_status s;
    uint64_t t;
    size_t i;

    fx_config(&f, 1);
    fx_create(&f);
    EXPECT("no plan yet", pol_host_get(f.ctx, &h), POL_ERR_INVALID);
    EXPECT("no VM", pol_vm_status(f.ctx, 1, &s), POL_ERR_NOTFOUND);
    EXPECT("no VM", pol_vm_target(f.ctx, 1, &t), POL_ERR_NOTFOUND);
    fx_add(&f, 1, 100, 0);
    EXPECT("no host", pol_vm_target(f.ctx, 1, &t), POL_ERR_INVALID);
    fx_free(&f, 0, FX_TOTAL);
    EXPECT("no plan", pol_vm_target(f.ctx, 1, &t), POL_ERR_INVALID);
    for (i = 0; i < ROWS(rows); i++) {
        EXPECT(rows[i].row,
               pol_report(f.ctx, &rows[i].action, rows[i].done, rows[i].error),
               rows[i].rc);
    }
    fx_close(&f);
}

/* What happens to the balloon's target, by the report on it. */
static void balloon_reports(void)
{
    static const struct {
        const char *row;
        uint64_t done;
        int error;
        uint64_t asked;    /* afterwards */
        uint32_t failures; /* of VM and host */
        int64_t again;     /* the next plan's target; -1: none */
    } rows[] = {
        { "done", 76750, POL_OK, 76750, 0, -1 },
        { "rounded by the host", 76760, POL_OK, 76760, 0, 76750 },
        { "more than its size", POL_MAX_PAGES, POL_OK, SIZE, 0, 76750 },
        { "failed", 0, POL_ERR_HOST, SIZE, 1, 76750 },
        { "not tried on purpose", 0, POL_ERR_UNSUPPORTED, SIZE, 0, 76750 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;

        open(&f);
        fx_plan(&f);
        MUST(pol_report(f.ctx, fx_action(&f, 1, POL_ACT_BALLOON), rows[i].done,
                        rows[i].error));
        EXPECT(rows[i].row, fx_status(&f, 1).asked_pages, rows[i].asked);
        EXPECT(rows[i].row, fx_status(&f, 1).failures, rows[i].failures);
        EXPECT(rows[i].row, fx_host_status(&f).failures, rows[i].failures);
        fx_free(&f, 1000, 3000);
        fx_running(&f, 1, SIZE, SIZE);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_pages(&f, 1, POL_ACT_BALLOON), rows[i].again);
        fx_close(&f);
    }
}

/* A target that could not be set is not somebody else's: the record still
 * shows the one before, which the balloon has not reached. */
static void failure_is_not_foreign(void)
{
    static const int errors[] = { POL_ERR_HOST, POL_ERR_UNSUPPORTED };
    size_t i;

    for (i = 0; i < ROWS(errors); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(79000, 79000);

        open(&f);
        fx_plan(&f);
        MUST(pol_report(f.ctx, fx_action(&f, 1, POL_ACT_BALLOON), 76750,
                        POL_OK));
        o.valid |= POL_OBS_TARGET;
        o.target_seen_pages = 76750;
        fx_free(&f, 1000, 2000);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT("a new target", fx_pages(&f, 1, POL_ACT_BALLOON) > 0, 1);
        MUST(
            pol_report(f.ctx, fx_action(&f, 1, POL_ACT_BALLOON), 0, errors[i]));
        fx_free(&f, 1000, 2000);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT("not foreign", fx_status(&f, 1).foreign, 0);
        EXPECT("tried again", fx_pages(&f, 1, POL_ACT_BALLOON) > 0, 1);
        fx_close(&f);
    }
}

/* Blocking that failed was no blocking, and the other way round. */
static void block_reports(void)
{
    struct fixture f;

    open(&f);
    fx_free(&f, 0, 500);
    fx_plan(&f);
    EXPECT("taken for done", fx_status(&f, 1).blocked, 1);
    MUST(pol_report(f.ctx, fx_action(&f, 1, POL_ACT_BLOCK), 0, POL_ERR_HOST));
    EXPECT("failed", fx_status(&f, 1).blocked, 0);
    fx_free(&f, 1000, 500);
    fx_running(&f, 1, SIZE, SIZE);
    fx_plan(&f);
    EXPECT("tried again", fx_pages(&f, 1, POL_ACT_BLOCK), 0);
    fx_free(&f, 1000, 50000);
    fx_plan(&f);
    EXPECT("let go", fx_pages(&f, 1, POL_ACT_UNBLOCK), 0);
    MUST(pol_report(f.ctx, fx_action(&f, 1, POL_ACT_UNBLOCK), 0, POL_ERR_HOST));
    EXPECT("failed", fx_status(&f, 1).blocked, 1);
    fx_free(&f, 1000, 50000);
    fx_plan(&f);
    EXPECT("tried again", fx_pages(&f, 1, POL_ACT_UNBLOCK), 0);
    fx_close(&f);
}

static void cap_and_rate_reports(void)
{
    static const struct pol_action rate = { 0, 0, POL_ACT_SHARE_RATE, 0 };
    struct fixture f;

    open(&f);
    f.host.caps = POL_CAPS_ALL;
    fx_free(&f, 0, 3000);
    fx_plan(&f);
    EXPECT_TRUE("set", fx_pages(&f, 1, POL_ACT_HARD_CAP) > 0);
    EXPECT_TRUE("set", fx_pages(&f, 0, POL_ACT_SHARE_RATE) > 0);
    MUST(
        pol_report(f.ctx, fx_action(&f, 1, POL_ACT_HARD_CAP), 0, POL_ERR_HOST));
    MUST(pol_report(f.ctx, &rate, 0, POL_ERR_HOST));
    fx_plan(&f);
    EXPECT_TRUE("tried again", fx_pages(&f, 1, POL_ACT_HARD_CAP) > 0);
    EXPECT_TRUE("tried again", fx_pages(&f, 0, POL_ACT_SHARE_RATE) > 0);
    fx_plan(&f);
    EXPECT("now they stand", fx_pages(&f, 1, POL_ACT_HARD_CAP), -1);
    EXPECT("now they stand", fx_pages(&f, 0, POL_ACT_SHARE_RATE), -1);
    fx_close(&f);
}

/* A target without a plan is the plan's, or a page less. */
static void target_without_plan(void)
{
    static const uint64_t shares[] = { 1, 7, 100, 1000, 40000, 80000, 4000000 };
    size_t i;

    for (i = 0; i < ROWS(shares); i++) {
        struct fixture f;
        struct pol_vm_params p;
        uint64_t quick, vm;

        open(&f);
        fx_add(&f, 2, SIZE, 1000);
        fx_add(&f, 3, SIZE, 0);
        for (vm = 1; vm <= 3; vm++) {
            fx_running(&f, vm, 30000, 30000 + vm * 100);
        }
        fx_plan(&f);
        MUST(pol_vm_get(f.ctx, 2, &p));
        p.shares = shares[i];
        MUST(pol_vm_set(f.ctx, 2, &p));
        for (vm = 1; vm <= 3; vm++) {
            MUST(pol_vm_target(f.ctx, vm, &quick));
            fx_plan(&f);
            EXPECT_TRUE("the same, or a page more",
                        fx_status(&f, vm).target_pages - quick <= 1);
        }
        fx_close(&f);
    }
}

/* Three balloon actions that fail in a row make a balloon stuck. */
static void failures_in_a_row(void)
{
    static const struct {
        const char *row;
        int errors[6]; /* of the reports */
        int stuck;
    } rows[] = {
        { "two", { 0, 0, 0, 0, POL_ERR_HOST, POL_ERR_HOST }, 0 },
        { "three", { 0, 0, 0, POL_ERR_HOST, POL_ERR_HOST, POL_ERR_HOST }, 1 },
        { "three, not in a row",
          { 0, POL_ERR_HOST, POL_ERR_HOST, 0, POL_ERR_HOST, POL_ERR_HOST },
          0 },
        { "not tried on purpose",
          { POL_ERR_UNSUPPORTED, POL_ERR_UNSUPPORTED, POL_ERR_UNSUPPORTED,
            POL_ERR_UNSUPPORTED, POL_ERR_UNSUPPORTED, POL_ERR_UNSUPPORTED },
          0 },
    };
    size_t i, k;

    for (i = 0; i < ROWS(rows); i++) {
        struct pol_action a = { 1, 76750, POL_ACT_BALLOON, 0 };
        struct fixture f;

        open(&f);
        fx_plan(&f);
        for (k = 0; k < 6; k++) {
            MUST(pol_report(f.ctx, &a, 76750, rows[i].errors[k]));
        }
        EXPECT(rows[i].row, fx_status(&f, 1).stuck, rows[i].stuck);
        fx_close(&f);
    }
}

/* Such a VM keeps what it has, others make up for it on a host that cannot
 * swap, and it is asked again after a minute. */
static void stuck_by_failures(void)
{
    struct fixture f;
    uint32_t s, asks = 0, asked_at = 0;

    fx_open(&f, 2);
    f.host.caps = 0;
    fx_add(&f, 1, 45000, 0);
    fx_add(&f, 2, 45000, 0);
    for (s = 0; s < 70; s++) {
        const struct pol_action *a;

        fx_free(&f, 1000, 5000);
        fx_running(&f, 1, 45000, 45000);
        fx_running(&f, 2, 45000, 45000);
        fx_free(&f, 0, 3000);
        fx_plan(&f);
        a = fx_action(&f, 1, POL_ACT_BALLOON);
        if (a != NULL) {
            MUST(pol_report(f.ctx, a, 0, POL_ERR_HOST));
            asks++;
            asked_at = s;
        }
        if (s == 10) {
            EXPECT("asked three times", asks, 3);
            EXPECT("stuck", fx_status(&f, 1).stuck, 1);
            EXPECT("keeps it", fx_status(&f, 1).target_pages, 45000);
            EXPECT("the other makes up", fx_status(&f, 2).target_pages,
                   93000 - 5250 - 1000 - 45000);
        }
    }
    EXPECT_TRUE("asked again", asks > 3 && asked_at >= 62);
    fx_close(&f);
}

static const struct test_case cases[] = {
    { "wrong calls", errors },
    { "what a report says of a balloon", balloon_reports },
    { "a target that could not be set is not foreign", failure_is_not_foreign },
    { "blocking that failed", block_reports },
    { "caps and rates that could not be set", cap_and_rate_reports },
    { "targets without a plan", target_without_plan },
    { "three failures in a row", failures_in_a_row },
    { "stuck by failures: others make up, tried again", stuck_by_failures },
};

EXPECT_MAIN("status", cases)
