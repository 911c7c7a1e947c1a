/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parameters that will hurt. One VM of 40,000 pages on a host of 100,000 that
 * can swap and share; each row breaks one thing.
 */
#include "expect.h"
#include "fixture.h"

#define VM 7

/** What one row changes; 0 leaves the default. */
struct row {
    const char *row;
    uint64_t active, limit, reservation, swap;
    uint32_t caps, flags;
    uint8_t driver;
    uint32_t kind; /* the only finding, 0: none */
    uint64_t figure, bound;
};

#define CAPS (POL_CAP_SWAP | POL_CAP_SHARE)

static const struct row rows[] = {
    { "nothing", 20000, 0, 0, 90000, CAPS, 0, POL_DRIVER_PRESENT, 0, 0, 0 },
    { "limit below size", 20000, 30000, 0, 90000, CAPS, 0, POL_DRIVER_PRESENT,
      POL_LINT_LIMIT_BELOW_SIZE, 40000, 30000 },
    { "reserved but unused", 11000, 0, 22002, 90000, CAPS, 0,
      POL_DRIVER_PRESENT, POL_LINT_RESERVATION_UNUSED, 11000, 22002 },
    { "twice is not over twice", 11000, 0, 22000, 90000, CAPS, 0,
      POL_DRIVER_PRESENT, 0, 0, 0 },
    { "far too large", 9999, 0, 0, 90000, CAPS, 0, POL_DRIVER_PRESENT,
      POL_LINT_OVERSIZED, 9999, 40000 },
    { "no driver", 20000, 0, 0, 90000, CAPS, 0, POL_DRIVER_ABSENT,
      POL_LINT_NO_BALLOON, 0, 0 },
    { "balloon forbidden", 20000, 0, 0, 90000, CAPS, POL_VM_NO_BALLOON,
      POL_DRIVER_PRESENT, POL_LINT_NO_BALLOON, 0, 0 },
    { "both forbidden", 20000, 0, 0, 90000, CAPS,
      POL_VM_NO_BALLOON | POL_VM_NO_SWAP, POL_DRIVER_PRESENT, POL_LINT_NO_MEANS,
      0, 0 },
    { "little swap", 20000, 0, 0, 39999, CAPS, 0, POL_DRIVER_PRESENT,
      POL_LINT_SWAP_SPACE, 39999, 40000 },
    { "no swapping", 20000, 0, 0, 90000, POL_CAP_SHARE, 0, POL_DRIVER_PRESENT,
      POL_LINT_NO_SWAP, 0, 0 },
    { "no sharing", 20000, 0, 0, 90000, POL_CAP_SWAP, 0, POL_DRIVER_PRESENT,
      POL_LINT_NO_SHARING, 0, 0 },
};

static void set_up(struct fixture *f, const struct row *r)
{
    struct pol_vm_params p;
    struct pol_vm_obs o = fx_obs(20000, 40000);

    fx_config(f, 4);
    f->host.swap_total_pages = r->swap;
    f->host.swap_free_pages = r->swap;
    f->host.caps = r->caps;
    fx_create(f);
    fx_free(f, 1000, 70000);
    pol_vm_params_init(&p, 40000);
    p.reservation_pages = r->reservation;
    p.limit_pages = r->limit != 0 ? r->limit : POL_NO_LIMIT;
    p.flags = r->flags;
    MUST(pol_vm_add(f->ctx, VM, &p));
    o.driver = r->driver;
    o.valid |= POL_OBS_MEASURED;
    o.measured_active_pages = r->active;
    fx_see(f, VM, &o);
    fx_plan(f);
}

static void one_finding_each(void)
{
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        const struct row *r = &rows[i];
        struct pol_finding found[16];
        struct fixture f;
        size_t n = 99;

        set_up(&f, r);
        EXPECT(r->row, pol_lint(f.ctx, found, 16, &n), POL_OK);
        EXPECT(r->row, n, r->kind != 0);
        if (n == 1) {
            EXPECT(r->row, found[0].kind, r->kind);
            EXPECT(r->row, found[0].vm, r->kind < 20 ? VM : 0);
            EXPECT(r->row, found[0].figure_pages, r->figure);
            EXPECT(r->row, found[0].bound_pages, r->bound);
        }
        fx_close(&f);
    }
}

static void refusals(void)
{
    struct pol_finding found[16];
    struct fixture f;
    size_t n = 0;

    fx_open(&f, 2);
    EXPECT("no plan yet", pol_lint(f.ctx, found, 16, &n), POL_ERR_INVALID);
    fx_add(&f, VM, 1000, 0);
    fx_plan(&f);
    EXPECT("no room", pol_lint(f.ctx, found, pol_lint_bound(f.ctx) - 1, &n),
           POL_ERR_BUFFER);
    fx_close(&f);
}

static void host_wide(void)
{
    struct pol_finding found[32];
    struct fixture f;
    uint64_t vm;
    size_t n = 0;

    fx_config(&f, 4);
    f.host.swap_total_pages = f.host.swap_free_pages = 500000;
    f.host.caps = CAPS;
    fx_create(&f);
    fx_free(&f, 1000, 10000);
    for (vm = 1; vm <= 2; vm++) {
        struct pol_vm_obs o = fx_obs(45000, 60000);

        fx_add(&f, vm, 60000, 46000);
        o.valid |= POL_OBS_MEASURED;
        o.measured_active_pages = 50000;
        fx_see(&f, vm, &o);
    }
    fx_plan(&f);
    EXPECT("lint", pol_lint(f.ctx, found, 32, &n), POL_OK);
    EXPECT("findings", n, 2);
    EXPECT("working sets", found[0].kind, POL_LINT_WORKING_SETS);
    EXPECT("their sum", found[0].figure_pages, 100000);
    EXPECT("reservations", found[1].kind, POL_LINT_RESERVATIONS);
    EXPECT("their sum", found[1].figure_pages, 92000);
    fx_close(&f);
}

static void names(void)
{
    EXPECT_TEXT(NULL, pol_lint_name(POL_LINT_OVERSIZED), "oversized");
    EXPECT_TEXT(NULL, pol_lint_name(0), "?");
    EXPECT_TEXT(NULL, pol_lint_text(99), "?");
}

static const struct test_case cases[] = {
    { "each finding from one broken thing", one_finding_each },
    { "what is refused", refusals },
    { "working sets and reservations of the host", host_wide },
    { "names", names },
};

EXPECT_MAIN("lint", cases)
