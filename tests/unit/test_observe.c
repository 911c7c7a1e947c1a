/* SPDX-License-Identifier: BSD-2-Clause */
/* Observations: what the host says is checked, what guests say is doubted. */
#include <string.h>

#include "expect.h"
#include "fixture.h"

static void host_ranges(void)
{
    static const struct {
        const char *row;
        struct pol_host_obs obs;
        int error;
    } rows[] = {
#define HOST(now, total, free_, swap, swap_free, caps, res)                    \
    {                                                                          \
        sizeof(struct pol_host_obs),                                           \
        now,                                                                   \
        total,                                                                 \
        free_,                                                                 \
        swap,                                                                  \
        swap_free,                                                             \
        caps,                                                                  \
        res                                                                    \
    }
        { "good", HOST(10, 100, 100, 0, 0, 0, 0), POL_OK },
        { "largest",
          HOST(10, POL_MAX_PAGES, POL_MAX_PAGES, POL_MAX_PAGES, POL_MAX_PAGES,
               63, 0),
          POL_OK },
        { "no memory", HOST(10, 0, 0, 0, 0, 0, 0), POL_ERR_RANGE },
        { "too much", HOST(10, POL_MAX_PAGES + 1, 0, 0, 0, 0, 0),
          POL_ERR_RANGE },
        { "more free than there is", HOST(10, 100, 101, 0, 0, 0, 0),
          POL_ERR_RANGE },
        { "swap", HOST(10, 100, 0, POL_MAX_PAGES + 1, 0, 0, 0), POL_ERR_RANGE },
        { "more swap free", HOST(10, 100, 0, 5, 6, 0, 0), POL_ERR_RANGE },
        { "unknown means", HOST(10, 100, 0, 0, 0, 64, 0), POL_ERR_RANGE },
        { "reserved", HOST(10, 100, 0, 0, 0, 0, 1), POL_ERR_RANGE },
        { "earlier", HOST(9, 100, 0, 0, 0, 0, 0), POL_ERR_CLOCK },
        { "the same time", HOST(10, 100, 0, 0, 0, 0, 0), POL_OK },
        { "after the end of time",
          HOST((UINT64_C(1) << 62) + 1, 100, 0, 0, 0, 0, 0), POL_ERR_RANGE },
        { "the end of time", HOST(UINT64_C(1) << 62, 100, 0, 0, 0, 0, 0),
          POL_OK },
#undef HOST
    };
    struct fixture f;
    struct pol_host_obs o = rows[0].obs;
    size_t i;

    fx_config(&f, 1);
    fx_create(&f);
    EXPECT("no plan without a host", pol_plan(f.ctx, f.actions, f.cap, &f.n),
           POL_ERR_INVALID);
    o.size--;
    EXPECT("size", pol_observe_host(f.ctx, &o), POL_ERR_VERSION);
    for (i = 0; i < ROWS(rows); i++) {
        EXPECT(rows[i].row, pol_observe_host(f.ctx, &rows[i].obs),
               rows[i].error);
    }
    fx_plan(&f);
    fx_close(&f);
}

#define PAGES(bit, field)                                                      \
    {                                                                          \
#field, bit, offsetof(struct pol_vm_obs, field)                        \
    }

static void vm_ranges(void)
{
    static const struct {
        const char *field;
        uint32_t bit;
        size_t offset;
    } rows[] = {
        PAGES(POL_OBS_CONSUMED, consumed_pages),
        PAGES(POL_OBS_GRANTED, granted_pages),
        PAGES(POL_OBS_ACTUAL, actual_pages),
        PAGES(POL_OBS_SWAPPED, swapped_pages),
        PAGES(POL_OBS_TARGET, target_seen_pages),
        PAGES(POL_OBS_OVERHEAD, overhead_pages),
        PAGES(POL_OBS_MEASURED, measured_active_pages),
    };
    static const uint64_t bad = POL_MAX_PAGES + 1, good = POL_MAX_PAGES;
    struct fixture f;
    struct pol_vm_obs o;
    size_t i;

    fx_open(&f, 1);
    fx_add(&f, 1, 1000, 0);
    for (i = 0; i < ROWS(rows); i++) {
        o = fx_obs(0, 1000);
        o.valid = rows[i].bit;
        memcpy((char *)&o + rows[i].offset, &bad, sizeof(bad));
        EXPECT(rows[i].field, pol_observe_vm(f.ctx, 1, &o), POL_ERR_RANGE);
        o.valid = 0;
        EXPECT("not valid: not read", pol_observe_vm(f.ctx, 1, &o), POL_OK);
        o.valid = rows[i].bit;
        memcpy((char *)&o + rows[i].offset, &good, sizeof(good));
        EXPECT("2^52 pages", pol_observe_vm(f.ctx, 1, &o), POL_OK);
        fx_plan(&f);
    }
#define REFUSED(field, value, error)                                           \
    o = fx_obs(0, 1000);                                                       \
    o.field = value;                                                           \
    EXPECT(#field, pol_observe_vm(f.ctx, 1, &o), error)
    REFUSED(size, 8, POL_ERR_VERSION);
    REFUSED(valid, POL_OBS_ALL + 1, POL_ERR_RANGE);
    REFUSED(lifecycle, POL_LIFECYCLES, POL_ERR_RANGE);
    REFUSED(driver, POL_DRIVERS, POL_ERR_RANGE);
    REFUSED(blocked, 2, POL_ERR_RANGE);
    REFUSED(reserved_0, 1, POL_ERR_RANGE);
    REFUSED(reserved_1, 1, POL_ERR_RANGE);
#undef REFUSED
    o = fx_obs(0, 0);
    EXPECT("no VM", pol_observe_vm(f.ctx, 2, &o), POL_ERR_NOTFOUND);
    fx_close(&f);
}

/* What a guest of 1000 pages may say, and what it may not. */
static void guest_garbage(void)
{
    static const struct {
        const char *row;
        uint32_t valid;
        uint64_t value;
        int bad;
    } rows[] = {
        { "free: all", POL_OBS_GUEST_FREE, 1000, 0 },
        { "free: more", POL_OBS_GUEST_FREE, 1001, 1 },
        { "free: -1", POL_OBS_GUEST_FREE, UINT64_MAX, 1 },
        { "available: all", POL_OBS_GUEST_AVAILABLE, 1000, 0 },
        { "available: more", POL_OBS_GUEST_AVAILABLE, 1001, 1 },
        { "total: less", POL_OBS_GUEST_TOTAL, 900, 0 },
        { "total: none", POL_OBS_GUEST_TOTAL, 0, 1 },
        { "total: more", POL_OBS_GUEST_TOTAL, 1001, 1 },
        { "free above total", POL_OBS_GUEST_TOTAL | POL_OBS_GUEST_FREE, 900,
          0 },
        { "floor: all", POL_OBS_GUEST_FLOOR, 1000, 0 },
        { "floor: more", POL_OBS_GUEST_FLOOR, 1001, 1 },
        { "stall: always", POL_OBS_GUEST_STALL, 10000, 0 },
        { "stall: more", POL_OBS_GUEST_STALL, 10001, 1 },
        { "counters: anything", POL_OBS_GUEST_SWAP_IN | POL_OBS_GUEST_FAULTS,
          UINT64_MAX, 0 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(500, 1000);

        fx_open(&f, 1);
        fx_add(&f, 1, 1000, 0);
        o.valid = (o.valid & ~(uint32_t)POL_OBS_MEASURED) | rows[i].valid;
        o.guest_free_pages = o.guest_available_pages = rows[i].value;
        o.guest_total_pages = o.guest_floor_pages = rows[i].value;
        o.guest_swap_in_pages = o.guest_faults = rows[i].value;
        o.guest_stall_bp = (uint32_t)rows[i].value;
        EXPECT(rows[i].row, pol_observe_vm(f.ctx, 1, &o), POL_OK);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_notes(&f, 1, POL_WHY_BAD_STATISTICS),
               rows[i].bad);
        if (rows[i].bad) {
            EXPECT(rows[i].row, fx_ws(&f, 1).evidence, POL_EVIDENCE_NONE);
            EXPECT(rows[i].row, fx_ws(&f, 1).active_pages, 1000);
        }
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT("told once", fx_notes(&f, 1, POL_WHY_BAD_STATISTICS), 0);
        o.valid = POL_OBS_GUEST_FREE;
        o.guest_free_pages = 100;
        fx_see(&f, 1, &o);
        fx_plan(&f);
        o.guest_free_pages = UINT64_MAX;
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT("told again after a sound one",
               fx_notes(&f, 1, POL_WHY_BAD_STATISTICS), 1);
        fx_close(&f);
    }
}

/* Missing statistics are told once, and only when they had time to come. */
static void missing(void)
{
    static const struct {
        uint64_t later_ms;
        uint32_t notes;
    } rows[] = { { 0, 0 }, { 299000, 0 }, { 999, 0 },
                 { 1, 1 }, { 1000, 0 },   { 600000, 0 } };
    struct fixture f;
    struct pol_vm_obs o = fx_obs(500, 1000);
    size_t i;

    fx_open(&f, 1);
    fx_add(&f, 1, 1000, 0);
    o.valid &= ~(uint32_t)POL_OBS_MEASURED;
    for (i = 0; i < ROWS(rows); i++) {
        fx_free(&f, rows[i].later_ms, 50000);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT(NULL, fx_notes(&f, 1, POL_WHY_NO_STATISTICS), rows[i].notes);
    }
    fx_close(&f);
}

/* Counter readings of one guest of 1000 pages, and whether it is in distress
 * after the last: 64 per second are. */
static void counters(void)
{
    static const struct {
        const char *row;
        struct {
            uint64_t later_ms;
            uint64_t counter;
            int absent;
        } readings[3];
        int distress;
    } rows[] = {
        { "the first reading is no rate",
          { { 0, 0, 1 }, { 0, 0, 1 }, { 1000, 1000000, 0 } },
          0 },
        { "63 per second", { { 0, 0, 1 }, { 0, 7, 0 }, { 1000, 70, 0 } }, 0 },
        { "64 per second", { { 0, 0, 1 }, { 0, 7, 0 }, { 1000, 71, 0 } }, 1 },
        { "64 in two seconds",
          { { 0, 0, 1 }, { 0, 7, 0 }, { 2000, 71, 0 } },
          0 },
        { "a reset is no spike",
          { { 0, 0, 1 }, { 0, UINT64_MAX, 0 }, { 1000, 5, 0 } },
          0 },
        { "no time has passed",
          { { 0, 0, 1 }, { 0, 7, 0 }, { 0, 1000, 0 } },
          0 },
        { "an absurd jump",
          { { 0, 0, 1 }, { 0, 7, 0 }, { 1000, UINT64_MAX, 0 } },
          0 },
        { "10 per second, with gaps",
          { { 0, 0, 0 }, { 100000, 0, 1 }, { 1000, 1010, 0 } },
          0 },
        { "the largest that is no jump: half of its memory in a second",
          { { 0, 0, 1 }, { 0, 0, 0 }, { 1000, 500, 0 } },
          1 },
        { "a page more: bytes, perhaps",
          { { 0, 0, 1 }, { 0, 0, 0 }, { 1000, 501, 0 } },
          0 },
        { "half of its memory per second for ten",
          { { 0, 0, 1 }, { 0, 0, 0 }, { 10000, 5000, 0 } },
          1 },
    };
    size_t i, k, which;

    for (which = 0; which < 2; which++) {
        for (i = 0; i < ROWS(rows); i++) {
            struct fixture f;

            fx_open(&f, 1);
            fx_add(&f, 1, 1000, 0);
            for (k = 0; k < 3; k++) {
                struct pol_vm_obs o = fx_obs(500, 1000);

                if (!rows[i].readings[k].absent) {
                    o.valid |= which == 0 ? POL_OBS_GUEST_SWAP_IN
                                          : POL_OBS_GUEST_FAULTS;
                }
                o.guest_swap_in_pages = rows[i].readings[k].counter;
                o.guest_faults = rows[i].readings[k].counter;
                fx_free(&f, rows[i].readings[k].later_ms, 50000);
                fx_see(&f, 1, &o);
            }
            fx_plan(&f);
            EXPECT(rows[i].row, fx_status(&f, 1).distress, rows[i].distress);
            EXPECT("no complaint", fx_notes(&f, 1, POL_WHY_BAD_STATISTICS), 0);
            fx_close(&f);
        }
    }
}

/* Distress is believed for 30 s. */
static void distress_ends(void)
{
    static const struct {
        uint64_t later_ms;
        int distress;
    } rows[] = { { 0, 1 }, { 29999, 1 }, { 1, 0 } };
    struct fixture f;
    struct pol_vm_obs o = fx_obs(500, 1000);
    size_t i;

    fx_open(&f, 1);
    fx_add(&f, 1, 1000, 0);
    o.valid |= POL_OBS_GUEST_STALL;
    o.guest_stall_bp = 1000;
    fx_see(&f, 1, &o);
    for (i = 0; i < ROWS(rows); i++) {
        fx_free(&f, rows[i].later_ms, 50000);
        fx_plan(&f);
        EXPECT(NULL, fx_status(&f, 1).distress, rows[i].distress);
    }
    fx_close(&f);
}

/* Targets on record: ours, rounded, somebody else's. Granule 16 pages. */
static void foreign_targets(void)
{
    static const struct {
        const char *row;
        int64_t off; /* from what was asked */
        int foreign;
    } rows[] = {
        { "ours", 0, 0 },
        { "rounded up", 15, 0 },
        { "rounded down", -15, 0 },
        { "somebody else's", 16, 1 },
        { "somebody else's", -16, 1 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_params p;
        struct pol_vm_obs o = fx_obs(80000, 80000);
        uint64_t asked;

        fx_open(&f, 1);
        pol_vm_params_init(&p, 80000);
        p.granule_pages = 16;
        MUST(pol_vm_add(f.ctx, 1, &p));
        fx_free(&f, 0, 3000);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        asked = fx_status(&f, 1).asked_pages;
        EXPECT("asked", asked, 76752); /* 76750 in units of 16 */
        o.valid |= POL_OBS_TARGET;
        o.target_seen_pages = (uint64_t)((int64_t)asked + rows[i].off);
        fx_free(&f, 1000, 3000);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT(rows[i].row, fx_status(&f, 1).foreign, rows[i].foreign);
        EXPECT(rows[i].row, fx_notes(&f, 1, POL_WHY_FOREIGN), rows[i].foreign);
        fx_free(&f, 1000, 3000);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT("told once", fx_notes(&f, 1, POL_WHY_FOREIGN), 0);
        if (rows[i].foreign) {
            EXPECT("not fought", fx_pages(&f, 1, POL_ACT_BALLOON), -1);
            EXPECT("and that is why", fx_status(&f, 1).reason, POL_WHY_FOREIGN);
            MUST(pol_vm_release(f.ctx, 1));
            fx_free(&f, 1000, 3000);
            fx_see(&f, 1, &o);
            fx_plan(&f);
            EXPECT("ours again", fx_status(&f, 1).foreign, 0);
        }
        fx_close(&f);
    }
}

/* A record may count more than the VM's memory: never somebody else's. */
static void record_above_size(void)
{
    struct fixture f;
    struct pol_vm_obs o = fx_obs(80000, 80000);
    int n;

    fx_open(&f, 1);
    fx_add(&f, 1, 80000, 0);
    o.valid |= POL_OBS_TARGET;
    o.target_seen_pages = 80004;
    for (n = 0; n < 3; n++) {
        fx_free(&f, 1000, 20000);
        fx_see(&f, 1, &o);
        fx_plan(&f);
        EXPECT("not foreign", fx_status(&f, 1).foreign, 0);
        EXPECT("its size", fx_status(&f, 1).asked_pages, 80000);
    }
    o.target_seen_pages = 79000;
    fx_see(&f, 1, &o);
    EXPECT("but this is", fx_status(&f, 1).foreign, 1);
    fx_close(&f);
}

/* A guest that says every second that its driver has come and gone moves the
 * others' targets once, and does not get rid of being stuck. */
static void driver_comes_and_goes(void)
{
    static const struct {
        const char *row;
        uint32_t from_s;
        int stuck;
    } rows[] = { { "not stuck", 2, 0 }, { "stuck by then", 25, 1 } };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_vm_obs o = fx_obs(45000, 45000);
        uint64_t last = 0, other = 43000;
        uint32_t s, changes = 0;

        fx_open(&f, 2);
        f.host.caps = 0;
        fx_add(&f, 1, 45000, 0);
        fx_add(&f, 2, 45000, 0);
        o.measured_active_pages = 0;
        for (s = 0; s < 60; s++) {
            o.driver = s < rows[i].from_s || s % 2 == 0 ? POL_DRIVER_PRESENT
                                                        : POL_DRIVER_BOOTING;
            fx_free(&f, 1000, 46000 - other);
            fx_see(&f, 1, &o);
            fx_running(&f, 2, other, other);
            fx_plan(&f);
            if (s > rows[i].from_s + 1) {
                changes += fx_status(&f, 2).target_pages != last;
                EXPECT("not asked", fx_pages(&f, 1, POL_ACT_BALLOON), -1);
            }
            last = fx_status(&f, 2).target_pages;
            other = fx_status(&f, 2).asked_pages;
        }
        EXPECT(rows[i].row, changes, 0);
        EXPECT(rows[i].row, fx_status(&f, 1).stuck, rows[i].stuck);
        o.driver = POL_DRIVER_PRESENT;
        for (s = 0; s < 20; s++) {
            fx_free(&f, 1000, 46000 - other);
            fx_see(&f, 1, &o);
            fx_running(&f, 2, other, other);
            fx_plan(&f);
        }
        EXPECT("20 s after the last loss it counts again, unless it is stuck",
               fx_status(&f, 2).target_pages > last, !rows[i].stuck);
        fx_close(&f);
    }
}

static const struct test_case cases[] = {
    { "what the host says of itself", host_ranges },
    { "what the host says of a VM", vm_ranges },
    { "what a guest says: impossible figures are told once", guest_garbage },
    { "missing statistics are told once, in time", missing },
    { "counters: rates, resets, gaps and jumps", counters },
    { "distress ends", distress_ends },
    { "targets set by somebody else", foreign_targets },
    { "a record above the VM's size", record_above_size },
    { "a driver that comes and goes", driver_comes_and_goes },
};

EXPECT_MAIN("observe", cases)
