/* SPDX-License-Identifier: BSD-2-Clause */
/* VMs: their parameters, coming and going. */
#include <string.h>

#include "expect.h"
#include "fixture.h"

static void defaults(void)
{
    static const struct {
        uint64_t size, shares;
    } rows[] = {
        { 1, 1 },
        { 262144, 262144 },
        { POL_MAX_SHARES, POL_MAX_SHARES },
        { POL_MAX_SHARES + 1, POL_MAX_SHARES },
        { POL_MAX_PAGES, POL_MAX_SHARES },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct pol_vm_params p;

        pol_vm_params_init(&p, rows[i].size);
        EXPECT(NULL, p.shares, rows[i].shares);
        EXPECT(NULL, p.limit_pages, POL_NO_LIMIT);
        EXPECT(NULL, p.granule_pages, 1);
        EXPECT(NULL, pol_vm_params_check(&p, NULL), POL_OK);
    }
}

enum field {
    SIZE,
    SHARES,
    RESERVATION,
    LIMIT,
    OVERHEAD,
    GRANULE,
    TAX,
    FLAGS
};

static void put(struct pol_vm_params *p, enum field field, uint64_t value)
{
    switch (field) {
    case SIZE:
        p->size_pages = value;
        break;
    case SHARES:
        p->shares = value;
        break;
    case RESERVATION:
        p->reservation_pages = value;
        break;
    case LIMIT:
        p->limit_pages = value;
        break;
    case OVERHEAD:
        p->overhead_pages = value;
        break;
    case GRANULE:
        p->granule_pages = value;
        break;
    case TAX:
        p->tax_bp = (uint32_t)value;
        break;
    case FLAGS:
        p->flags = (uint32_t)value;
        break;
    }
}

static void ranges(void)
{
    static const struct {
        const char *name;
        enum field field;
        uint64_t good, bad;
        int error;
    } rows[] = {
        { "size_pages", SIZE, POL_MAX_PAGES, POL_MAX_PAGES + 1, POL_ERR_RANGE },
        { "size_pages", SIZE, 1, 0, POL_ERR_RANGE },
        { "shares", SHARES, 1, 0, POL_ERR_RANGE },
        { "shares", SHARES, POL_MAX_SHARES, POL_MAX_SHARES + 1, POL_ERR_RANGE },
        { "reservation_pages", RESERVATION, 1000, 1001, POL_ERR_LIMIT },
        { "limit_pages", LIMIT, 1, 0, POL_ERR_RANGE },
        { "limit_pages", LIMIT, POL_MAX_PAGES, POL_MAX_PAGES + 1,
          POL_ERR_RANGE },
        { "limit_pages", LIMIT, POL_NO_LIMIT, POL_NO_LIMIT - 1, POL_ERR_RANGE },
        { "overhead_pages", OVERHEAD, POL_MAX_PAGES, POL_MAX_PAGES + 1,
          POL_ERR_RANGE },
        { "granule_pages", GRANULE, 1, 0, POL_ERR_RANGE },
        { "granule_pages", GRANULE, 512, 3, POL_ERR_RANGE },
        { "granule_pages", GRANULE, 1u << 20, 1u << 21, POL_ERR_RANGE },
        { "tax_bp", TAX, 9900, 9901, POL_ERR_RANGE },
        { "tax_bp", TAX, POL_TAX_DEFAULT, POL_TAX_DEFAULT - 1, POL_ERR_RANGE },
        { "flags", FLAGS, 7, 8, POL_ERR_RANGE },
    };
    struct fixture f;
    size_t i;

    fx_open(&f, 4);
    for (i = 0; i < ROWS(rows); i++) {
        struct pol_vm_params p;
        const char *field = "untouched";

        pol_vm_params_init(&p, 1000);
        put(&p, rows[i].field, rows[i].good);
        EXPECT(rows[i].name, pol_vm_params_check(&p, &field), POL_OK);
        EXPECT_TEXT(rows[i].name, field, NULL);
        put(&p, rows[i].field, rows[i].bad);
        EXPECT(rows[i].name, pol_vm_params_check(&p, &field), rows[i].error);
        EXPECT_TEXT(rows[i].name, field, rows[i].name);
        EXPECT(rows[i].name, pol_vm_add(f.ctx, 1, &p), rows[i].error);
        EXPECT("nothing has changed", pol_vm_count(f.ctx), 0);
    }
    fx_close(&f);
}

static void contradictions(void)
{
    struct pol_vm_params p;
    const char *field;

    pol_vm_params_init(&p, 1000);
    p.limit_pages = 500;
    p.reservation_pages = 501;
    EXPECT("above the limit", pol_vm_params_check(&p, &field), POL_ERR_LIMIT);
    EXPECT_TEXT("above the limit", field, "reservation_pages");
    p.reservation_pages = 500;
    EXPECT("at the limit", pol_vm_params_check(&p, &field), POL_OK);
    p.limit_pages = 5000;
    EXPECT("a limit above the size", pol_vm_params_check(&p, &field), POL_OK);
    p.size++;
    EXPECT("another version", pol_vm_params_check(&p, &field), POL_ERR_VERSION);
    EXPECT_TEXT("another version", field, "size");
}

static void coming_and_going(void)
{
    struct fixture f;
    struct pol_vm_params p, q;
    uint64_t vm = 0, sum = 0;
    uint32_t cursor = 0;

    fx_open(&f, 3);
    pol_vm_params_init(&p, 1000);
    EXPECT("0 is an id", pol_vm_add(f.ctx, 0, &p), POL_OK);
    EXPECT("any is", pol_vm_add(f.ctx, UINT64_MAX, &p), POL_OK);
    EXPECT("twice", pol_vm_add(f.ctx, 0, &p), POL_ERR_EXISTS);
    p.group = 77;
    EXPECT("no such group", pol_vm_add(f.ctx, 5, &p), POL_ERR_NOTFOUND);
    p.group = POL_ROOT_GROUP;
    EXPECT("third", pol_vm_add(f.ctx, 5, &p), POL_OK);
    EXPECT("fourth of three", pol_vm_add(f.ctx, 6, &p), POL_ERR_NOMEM);
    EXPECT("count", pol_vm_count(f.ctx), 3);
    EXPECT("gone", pol_vm_remove(f.ctx, UINT64_MAX), POL_OK);
    EXPECT("gone before", pol_vm_remove(f.ctx, UINT64_MAX), POL_ERR_NOTFOUND);
    p.shares = 3;
    p.overhead_pages = 9;
    p.granule_pages = 16;
    p.flags = POL_VM_NO_SWAP;
    p.tax_bp = 100;
    EXPECT("its slot is free again", pol_vm_add(f.ctx, 6, &p), POL_OK);
    EXPECT("read", pol_vm_get(f.ctx, 6, &q), POL_OK);
    EXPECT("as written", memcmp(&p, &q, sizeof(p)), 0);
    EXPECT("read none", pol_vm_get(f.ctx, 8, &q), POL_ERR_NOTFOUND);
    EXPECT("set none", pol_vm_set(f.ctx, 8, &p), POL_ERR_NOTFOUND);
    EXPECT("release none", pol_vm_release(f.ctx, 8), POL_ERR_NOTFOUND);
    EXPECT("release", pol_vm_release(f.ctx, 6), POL_OK);
    while (pol_vm_next(f.ctx, &cursor, &vm) == POL_OK) {
        sum += vm;
    }
    EXPECT("walk: 0 + 6 + 5", sum, 11);
    EXPECT("at the end", pol_vm_next(f.ctx, &cursor, &vm), POL_ERR_NOTFOUND);
    fx_close(&f);
}

static void starts_as_building(void)
{
    struct fixture f;
    struct pol_vm_status s;

    fx_open(&f, 3);
    fx_add(&f, 1, 1000, 100);
    s = fx_status(&f, 1);
    EXPECT(NULL, s.lifecycle, POL_LIFE_BUILDING);
    EXPECT(NULL, s.driver, POL_DRIVER_UNKNOWN);
    EXPECT(NULL, s.actual_pages, 1000);
    EXPECT(NULL, s.active_pages, 1000);
    EXPECT("no plan yet", s.reason, POL_WHY_NONE);
    fx_close(&f);
}

/* The balloon stays as big as it was: 250 of 1000 pages. */
static void hotplug(void)
{
    static const struct {
        uint64_t size, actual;
    } rows[] = {
        { 1000, 750 }, { 2000, 1750 }, { 500, 250 }, { 250, 0 }, { 100, 0 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_params p;

        fx_open(&f, 3);
        fx_add(&f, 1, 1000, 0);
        fx_running(&f, 1, 700, 750);
        MUST(pol_vm_get(f.ctx, 1, &p));
        p.size_pages = rows[i].size;
        EXPECT(NULL, pol_vm_set(f.ctx, 1, &p), POL_OK);
        EXPECT("actual", fx_status(&f, 1).actual_pages, rows[i].actual);
        EXPECT("asked", fx_status(&f, 1).asked_pages, rows[i].actual);
        EXPECT_TRUE("active", fx_status(&f, 1).active_pages <= rows[i].size);
        fx_close(&f);
    }
}

static const struct test_case cases[] = {
    { "default parameters", defaults },
    { "each parameter: just in range, and just out of it", ranges },
    { "reservation, limit and size together", contradictions },
    { "adding, finding, walking, removing", coming_and_going },
    { "a new VM is being built", starts_as_building },
    { "size changes move what the VM has, not its balloon", hotplug },
};

EXPECT_MAIN("vm", cases)
