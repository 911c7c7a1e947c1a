/* SPDX-License-Identifier: BSD-2-Clause */
/* Page sharing, step by step: what the table answers to a host. */
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "share_int.h"

/* VMs 10 and 11 are in domain 1, VM 20 is in domain 2; 100 pages each. */
struct bench {
    struct pol_share_config config;
    struct pol_share *t;
    void *block;
};

static void create(struct bench *b)
{
    size_t bytes;

    MUST(pol_share_size(&b->config, &bytes));
    b->block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(b->block, b->config.zeroed ? 0 : 0xa5, bytes);
    MUST(pol_share_init(b->block, bytes, &b->config, &b->t));
}

static void open_sized(struct bench *b, uint32_t entries, uint32_t pages)
{
    pol_share_config_init(&b->config, 4, 300);
    b->config.max_entries = entries;
    b->config.max_pages = pages;
    b->config.order = POL_SHARE_ROUND_ROBIN;
    create(b);
    MUST(pol_share_vm_add(b->t, 10, 1, 100));
    MUST(pol_share_vm_add(b->t, 11, 1, 100));
    MUST(pol_share_vm_add(b->t, 20, 2, 100));
}

static void open_table(struct bench *b)
{
    open_sized(b, 300, 300);
}

static void close_table(struct bench *b)
{
    EXPECT_TRUE("invariants", polx_share_is_valid(b->t));
    free(b->block);
}

static struct pol_share_verdict scan(struct bench *b, uint64_t vm, uint64_t gfn,
                                     uint64_t hash)
{
    struct pol_share_verdict v;

    MUST(pol_share_scan(b->t, vm, gfn, hash, &v));
    return v;
}

static uint32_t confirm(struct bench *b, const struct pol_share_verdict *v,
                        uint32_t compared, uint64_t frame)
{
    uint32_t what;

    MUST(pol_share_confirm(b->t, v, compared, frame, &what));
    return what;
}

/* Scan a page and find everything equal. */
static uint32_t share(struct bench *b, uint64_t vm, uint64_t gfn, uint64_t hash,
                      uint64_t frame)
{
    struct pol_share_verdict v = scan(b, vm, gfn, hash);

    if (v.what != POL_SHARE_COMPARE_PAGE && v.what != POL_SHARE_COMPARE_FRAME) {
        return v.what;
    }
    return confirm(b, &v, POL_SHARE_EQUAL, frame);
}

static struct pol_share_stats stats(const struct bench *b)
{
    struct pol_share_stats s;

    pol_share_stats(b->t, &s);
    return s;
}

static struct pol_share_vm_info info(struct bench *b, uint64_t vm)
{
    struct pol_share_vm_info i;

    pol_share_account(b->t);
    MUST(pol_share_vm_get(b->t, vm, &i));
    return i;
}

/* ---- From a hint to a shared frame and back ----------------------------- */

static void hint_then_frame(void)
{
    struct bench b;
    struct pol_share_verdict v;
    uint64_t frame;

    open_table(&b);
    EXPECT("first seen", scan(&b, 10, 5, 0xabc).what, POL_SHARE_HINTED);
    EXPECT("again", scan(&b, 10, 5, 0xabc).what, POL_SHARE_NOTHING);
    v = scan(&b, 11, 7, 0xabc);
    EXPECT("second page", v.what, POL_SHARE_COMPARE_PAGE);
    EXPECT("with", v.other_vm, 10);
    EXPECT("with", v.other_gfn, 5);
    EXPECT("equal", confirm(&b, &v, POL_SHARE_EQUAL, 77), POL_SHARE_MERGED);
    v = scan(&b, 11, 8, 0xabc);
    EXPECT("third page", v.what, POL_SHARE_COMPARE_FRAME);
    EXPECT("with", v.frame, 77);
    EXPECT("equal", confirm(&b, &v, POL_SHARE_EQUAL, 0), POL_SHARE_MERGED);
    EXPECT("shared already", scan(&b, 10, 5, 0).what, POL_SHARE_NOTHING);
    MUST(pol_share_find(b.t, 10, 5, &frame));
    EXPECT("the hint's page", frame, 77);
    EXPECT("of another", pol_share_find(b.t, 10, 6, &frame), POL_ERR_NOTFOUND);
    EXPECT("pages", stats(&b).shared_pages, 3);
    EXPECT("frames", stats(&b).shared_frames, 1);
    EXPECT("saved", stats(&b).saved_pages, 2);
    EXPECT("hints", stats(&b).hints, 0);
    close_table(&b);
}

static void unequal_is_never_shared(void)
{
    struct bench b;
    struct pol_share_verdict v;
    uint64_t frame;

    open_table(&b);
    scan(&b, 10, 1, 9);
    v = scan(&b, 11, 1, 9);
    EXPECT("hint", confirm(&b, &v, POL_SHARE_UNEQUAL, 50), POL_SHARE_NOTHING);
    EXPECT("hint", pol_share_find(b.t, 11, 1, &frame), POL_ERR_NOTFOUND);
    EXPECT("hint", pol_share_find(b.t, 10, 1, &frame), POL_ERR_NOTFOUND);
    EXPECT("other", share(&b, 10, 2, 9, 50), POL_SHARE_MERGED);
    v = scan(&b, 11, 1, 9);
    EXPECT("frame", v.what, POL_SHARE_COMPARE_FRAME);
    EXPECT("frame", confirm(&b, &v, POL_SHARE_UNEQUAL, 0), POL_SHARE_NOTHING);
    EXPECT("frame", pol_share_find(b.t, 11, 1, &frame), POL_ERR_NOTFOUND);
    EXPECT("counted", stats(&b).collisions, 2);
    EXPECT("pages", stats(&b).shared_pages, 2);
    close_table(&b);
}

static void changed_hint_is_replaced(void)
{
    struct bench b;
    struct pol_share_verdict v;

    open_table(&b);
    scan(&b, 10, 1, 9);
    v = scan(&b, 11, 1, 9);
    EXPECT("answer", confirm(&b, &v, POL_SHARE_CHANGED, 0), POL_SHARE_HINTED);
    v = scan(&b, 11, 2, 9);
    EXPECT("now with", v.other_vm, 11);
    EXPECT("now with", v.other_gfn, 1);
    EXPECT("hints", info(&b, 10).hints, 0);
    EXPECT("hints", info(&b, 11).hints, 1);
    close_table(&b);
}

/* A page that was hinted under one hash and is shared under another. */
static void hint_of_a_shared_page_is_void(void)
{
    struct bench b;

    open_table(&b);
    scan(&b, 10, 1, 9);
    scan(&b, 10, 2, 8);
    EXPECT("merge", share(&b, 10, 1, 8, 50), POL_SHARE_MERGED);
    EXPECT("its old hash", scan(&b, 11, 1, 9).what, POL_SHARE_HINTED);
    close_table(&b);
}

static void domains_are_apart(void)
{
    struct bench b;
    uint64_t frame;

    open_table(&b);
    scan(&b, 10, 1, 9);
    EXPECT("hint", scan(&b, 20, 1, 9).what, POL_SHARE_HINTED);
    EXPECT("1", share(&b, 11, 1, 9, 50), POL_SHARE_MERGED);
    EXPECT("2", share(&b, 20, 2, 9, 60), POL_SHARE_MERGED);
    MUST(pol_share_find(b.t, 11, 1, &frame));
    EXPECT("1", frame, 50);
    MUST(pol_share_find(b.t, 20, 2, &frame));
    EXPECT("2", frame, 60);
    EXPECT("frames", stats(&b).shared_frames, 2);
    close_table(&b);
}

/* ---- Leaving ------------------------------------------------------------ */

static void copy_on_write(void)
{
    struct bench b;
    struct pol_share_left left;

    open_table(&b);
    scan(&b, 10, 1, 9);
    share(&b, 11, 1, 9, 50);
    share(&b, 11, 2, 9, 0);
    EXPECT("private", pol_share_break(b.t, 10, 9, &left), POL_ERR_NOTFOUND);
    MUST(pol_share_break(b.t, 10, 1, &left));
    EXPECT("copy of", left.frame, 50);
    EXPECT("others", left.pages, 2);
    EXPECT("twice", pol_share_break(b.t, 10, 1, &left), POL_ERR_NOTFOUND);
    MUST(pol_share_forget(b.t, 11, 1, &left));
    EXPECT("others", left.pages, 1);
    MUST(pol_share_break(b.t, 11, 2, &left));
    EXPECT("last one keeps", left.frame, 50);
    EXPECT("last one", left.pages, 0);
    EXPECT("frames", stats(&b).shared_frames, 0);
    EXPECT("breaks", stats(&b).broken, 2);
    EXPECT("content is unknown", scan(&b, 10, 3, 9).what, POL_SHARE_HINTED);
    close_table(&b);
}

static void last_page_turns_private(void)
{
    struct bench b;
    struct pol_share_left left;
    struct pol_share_verdict v;

    open_table(&b);
    scan(&b, 10, 1, 9);
    share(&b, 11, 1, 9, 50);
    MUST(pol_share_forget(b.t, 10, 1, &left));
    v = scan(&b, 11, 1, 0 /* ignored */);
    EXPECT("alone", v.what, POL_SHARE_PRIVATE);
    EXPECT("alone", v.frame, 50);
    EXPECT("frames", stats(&b).shared_frames, 0);
    v = scan(&b, 10, 4, 9);
    EXPECT("it is a hint", v.what, POL_SHARE_COMPARE_PAGE);
    EXPECT("it is a hint", v.other_gfn, 1);
    close_table(&b);
}

static void whole_vm(void)
{
    struct bench b;
    uint64_t frames[4], gfn, alone = 0;
    size_t n;

    open_table(&b);
    for (gfn = 0; gfn < 20; gfn++) { /* 10 frames with 10, 10 within 11 */
        scan(&b, gfn < 10 ? 10 : 11, gfn + 50, 1000 + gfn);
        share(&b, 11, gfn, 1000 + gfn, 200 + gfn);
    }
    scan(&b, 11, 99, 5555);
    EXPECT("busy", pol_share_vm_remove(b.t, 11), POL_ERR_BUSY);
    EXPECT("cap", pol_share_forget_vm(b.t, 11, frames, 0, &n), POL_ERR_BUFFER);
    do {
        MUST(pol_share_forget_vm(b.t, 11, frames, ROWS(frames), &n));
        for (gfn = 0; gfn < n; gfn++) {
            EXPECT_TRUE("own", frames[gfn] >= 210 && frames[gfn] < 220);
        }
        alone += n;
    } while (n == ROWS(frames));
    EXPECT("frames freed", alone, 10);
    EXPECT("left to 10", info(&b, 10).consumed_pages, 10);
    EXPECT("its hint", info(&b, 11).hints, 1);
    MUST(pol_share_vm_remove(b.t, 11));
    EXPECT("hints", stats(&b).hints, 0);
    EXPECT("gone", pol_share_vm_remove(b.t, 11), POL_ERR_NOTFOUND);
    close_table(&b);
}

/* ---- Comparisons that come too late ------------------------------------- */

static void frame_given_up_meanwhile(void)
{
    struct bench b;
    struct pol_share_verdict v;
    struct pol_share_left left;

    open_table(&b);
    scan(&b, 10, 1, 9);
    share(&b, 10, 2, 9, 50);
    v = scan(&b, 11, 1, 9);
    EXPECT("asked", v.what, POL_SHARE_COMPARE_FRAME);
    MUST(pol_share_forget(b.t, 10, 1, &left));
    MUST(pol_share_forget(b.t, 10, 2, &left));
    /* Frame 50 is used again, for something else with the same hash. */
    scan(&b, 10, 3, 9);
    share(&b, 10, 4, 9, 50);
    EXPECT("late", confirm(&b, &v, POL_SHARE_EQUAL, 0), POL_SHARE_NOTHING);
    EXPECT("stale", stats(&b).stale, 1);
    close_table(&b);
}

static void hint_gone_meanwhile(void)
{
    struct bench b;
    struct pol_share_verdict v, w;
    uint32_t what = 0;

    open_table(&b);
    scan(&b, 10, 1, 9);
    v = scan(&b, 11, 1, 9);
    w = scan(&b, 11, 2, 9);
    EXPECT("first", confirm(&b, &v, POL_SHARE_EQUAL, 50), POL_SHARE_MERGED);
    EXPECT("same", confirm(&b, &v, POL_SHARE_EQUAL, 50), POL_SHARE_NOTHING);
    EXPECT("late", confirm(&b, &w, POL_SHARE_EQUAL, 50), POL_SHARE_NOTHING);
    EXPECT("result", pol_share_confirm(b.t, &w, 3, 50, &what), POL_ERR_INVALID);
    w.what = POL_SHARE_HINTED;
    EXPECT("question", pol_share_confirm(b.t, &w, 0, 50, &what),
           POL_ERR_INVALID);
    close_table(&b);
}

/* ---- Full tables -------------------------------------------------------- */

static void old_hints_make_room(void)
{
    struct bench b;
    uint64_t gfn;

    open_sized(&b, 4, 300);
    scan(&b, 10, 90, 100);
    EXPECT("share", share(&b, 10, 91, 100, 50), POL_SHARE_MERGED);
    for (gfn = 0; gfn < 10; gfn++) {
        EXPECT("hint", scan(&b, 10, gfn, gfn).what, POL_SHARE_HINTED);
    }
    EXPECT("hints", stats(&b).hints, 3);
    EXPECT("evicted", stats(&b).evicted, 7);
    EXPECT("newest", scan(&b, 11, 0, 9).what, POL_SHARE_COMPARE_PAGE);
    EXPECT("frame stays", scan(&b, 11, 1, 100).what, POL_SHARE_COMPARE_FRAME);
    EXPECT("oldest", scan(&b, 11, 2, 0).what, POL_SHARE_HINTED);
    close_table(&b);
}

static void nothing_but_frames(void)
{
    struct bench b;
    uint64_t gfn;

    open_sized(&b, 2, 300);
    for (gfn = 0; gfn < 2; gfn++) {
        scan(&b, 10, gfn, gfn);
        EXPECT("share", share(&b, 11, gfn, gfn, gfn), POL_SHARE_MERGED);
    }
    EXPECT("no hint", scan(&b, 10, 9, 9).what, POL_SHARE_NOTHING);
    EXPECT("full", stats(&b).full, 1);
    EXPECT("sharing goes on", share(&b, 10, 8, 1, 0), POL_SHARE_MERGED);
    close_table(&b);
}

static void no_room_for_pages(void)
{
    struct bench b;
    struct pol_share_left left;

    open_sized(&b, 300, 3);
    scan(&b, 10, 0, 1);
    EXPECT("two", share(&b, 10, 1, 1, 50), POL_SHARE_MERGED);
    scan(&b, 10, 5, 2);
    EXPECT("needs two", scan(&b, 10, 6, 2).what, POL_SHARE_NOTHING);
    EXPECT("three", share(&b, 10, 2, 1, 0), POL_SHARE_MERGED);
    EXPECT("four", scan(&b, 10, 3, 1).what, POL_SHARE_NOTHING);
    EXPECT("full", stats(&b).full, 2);
    MUST(pol_share_break(b.t, 10, 0, &left));
    EXPECT("room again", share(&b, 10, 3, 1, 0), POL_SHARE_MERGED);
    close_table(&b);
}

/* ---- Who consumes what -------------------------------------------------- */

/* Columns: pages of VM 10, 11 and 20 on a frame; repeated so many times. */
static const struct {
    const char *row;
    uint32_t times, pages[2];
    uint64_t want[2];
} fractions[] = {
    { "alone", 7, { 3, 0 }, { 7, 0 } },
    { "half each", 8, { 1, 1 }, { 4, 4 } },
    { "half each, odd: the first's part is rounded up", 9, { 1, 1 }, { 5, 4 } },
    { "one in three", 9, { 1, 2 }, { 3, 6 } },
    { "one in three, two frames", 2, { 1, 2 }, { 1, 1 } },
    { "one in ten", 10, { 9, 1 }, { 9, 1 } },
};

static void consumed_adds_up(void)
{
    size_t i;

    for (i = 0; i < ROWS(fractions); i++) {
        const char *row = fractions[i].row;
        uint64_t gfn[2] = { 0, 0 };
        struct bench b;
        uint32_t k, v, p;

        open_table(&b);
        for (k = 0; k < fractions[i].times; k++) {
            for (v = 0; v < 2; v++) {
                for (p = 0; p < fractions[i].pages[v]; p++) {
                    share(&b, 10 + v, gfn[v]++, k, k);
                }
            }
        }
        for (v = 0; v < 2; v++) {
            EXPECT(row, info(&b, 10 + v).shared_pages,
                   fractions[i].times * fractions[i].pages[v]);
            EXPECT(row, info(&b, 10 + v).consumed_pages, fractions[i].want[v]);
        }
        EXPECT(row, stats(&b).shared_frames,
               fractions[i].want[0] + fractions[i].want[1]);
        close_table(&b);
    }
}

/* ---- Scanning ----------------------------------------------------------- */

static void every_page_once_per_pass(void)
{
    uint32_t order;

    for (order = 0; order < POL_SHARE_ORDERS; order++) {
        struct bench b;
        uint8_t seen[3][100];
        uint64_t vm, gfn, budget, now = 0, pages = 0;
        uint32_t pass;

        pol_share_config_init(&b.config, 3, 300);
        b.config.order = order;
        b.config.run_pages = 7;
        create(&b);
        MUST(pol_share_vm_add(b.t, 0, 1, 100));
        MUST(pol_share_vm_add(b.t, 1, 1, 3));
        MUST(pol_share_vm_add(b.t, 2, 1, 57));
        MUST(pol_share_tick(b.t, now, 1, NULL));
        for (pass = 1; pass <= 3; pass++) {
            memset(seen, 0, sizeof(seen));
            while (stats(&b).passes < pass) {
                now += 130;
                MUST(pol_share_tick(b.t, now, 100, &budget));
                EXPECT("13 a tick", budget, 13);
                while (stats(&b).passes < pass &&
                       pol_share_next(b.t, &vm, &gfn) == POL_OK) {
                    seen[vm][gfn]++;
                    pages++;
                }
            }
            for (gfn = 0; gfn < 100; gfn++) {
                EXPECT("vm 0", seen[0][gfn], 1);
                EXPECT("vm 1", seen[1][gfn], gfn < 3);
                EXPECT("vm 2", seen[2][gfn], gfn < 57);
            }
            EXPECT("pages", pages, 160 * pass);
        }
        close_table(&b);
    }
}

/* A full scan takes the time it should: 300 pages in so many ms. */
static void rate_fits_scan_time(void)
{
    static const uint64_t scan_ms[] = { 600, 10000, 3600000, 100000000 };
    static const uint64_t tick_ms[] = { 1, 250, 1000, 60000 };
    size_t i, k;

    for (i = 0; i < ROWS(scan_ms); i++) {
        for (k = 0; k < ROWS(tick_ms); k++) {
            uint64_t rate = (300 * 1000 + scan_ms[i] - 1) / scan_ms[i];
            uint64_t now = 0, vm, gfn, least = 300 * 1000 / rate;
            struct bench b;

            open_table(&b);
            MUST(pol_share_tick(b.t, 0, rate, NULL));
            while (stats(&b).passes == 0) {
                now += tick_ms[k];
                MUST(pol_share_tick(b.t, now, rate, NULL));
                while (stats(&b).passes == 0 &&
                       pol_share_next(b.t, &vm, &gfn) == POL_OK) {
                }
            }
            EXPECT_TRUE("not late", now <= scan_ms[i] + tick_ms[k]);
            EXPECT_TRUE("not early", now >= least);
            close_table(&b);
        }
    }
}

static void clock_and_budget(void)
{
    struct bench b;
    uint64_t budget = 9, vm, gfn;

    open_table(&b);
    MUST(pol_share_tick(b.t, 5000, 100, &budget));
    EXPECT("sets the clock", budget, 0);
    EXPECT("none", pol_share_next(b.t, &vm, &gfn), POL_ERR_NOTFOUND);
    MUST(pol_share_tick(b.t, 5005, 100, &budget));
    EXPECT("half a page", budget, 0);
    MUST(pol_share_tick(b.t, 5010, 100, &budget));
    EXPECT("and half", budget, 1);
    MUST(pol_share_tick(b.t, 5010, 100, &budget));
    EXPECT("no time: what was left is lost", budget, 0);
    MUST(pol_share_tick(b.t, 5000000, 100, &budget));
    EXPECT("all pages at most", budget, 300);
    EXPECT("back", pol_share_tick(b.t, 4999999, 100, NULL), POL_ERR_CLOCK);
    EXPECT("rate", pol_share_tick(b.t, 5000001, POL_MAX_PAGES + 1, NULL),
           POL_ERR_RANGE);
    MUST(pol_share_tick(b.t, UINT64_MAX, POL_MAX_PAGES, &budget));
    EXPECT("no overflow", budget, 300);
    close_table(&b);
}

/* VMs come and go in the middle of a pass. */
static void vms_change_during_a_pass(void)
{
    struct bench b;
    uint64_t vm, gfn, n, of[32] = { 0 };

    open_table(&b);
    MUST(pol_share_tick(b.t, 0, 0, NULL));
    MUST(pol_share_tick(b.t, 1000, 150, NULL));
    for (n = 0; pol_share_next(b.t, &vm, &gfn) == POL_OK; n++) {
        of[vm]++;
    }
    EXPECT("first", of[10], 100);
    EXPECT("second", of[20], 50);
    MUST(pol_share_vm_remove(b.t, 20));
    MUST(pol_share_vm_add(b.t, 12, 1, 30));
    MUST(pol_share_tick(b.t, 2000, 130, NULL));
    for (n = 0; pol_share_next(b.t, &vm, &gfn) == POL_OK; n++) {
        of[vm]++;
    }
    EXPECT("gone", of[20], 50);
    EXPECT("new", of[12], 30);
    EXPECT("third", of[11], 100);
    EXPECT("passes", stats(&b).passes, 1);
    close_table(&b);
}

/* ---- Making a table ----------------------------------------------------- */

static const struct {
    const char *field;
    size_t at;
    uint32_t value;
    int want;
} wrong[] = {
#define FIELD(name) #name, offsetof(struct pol_share_config, name)
    { FIELD(max_vms), 0, POL_ERR_RANGE },
    { FIELD(max_vms), POL_MAX_VMS + 1, POL_ERR_RANGE },
    { FIELD(max_entries), 1, POL_ERR_RANGE },
    { FIELD(max_entries), POL_SHARE_MAX + 1, POL_ERR_RANGE },
    { FIELD(max_pages), 1, POL_ERR_RANGE },
    { FIELD(max_pages), POL_SHARE_MAX + 1, POL_ERR_RANGE },
    { FIELD(order), 2, POL_ERR_RANGE },
    { FIELD(run_pages), 0, POL_ERR_RANGE },
    { FIELD(zeroed), 2, POL_ERR_RANGE },
    { FIELD(size), 3, POL_ERR_VERSION },
#undef FIELD
};

static void wrong_configurations(void)
{
    size_t i, bytes;

    for (i = 0; i < ROWS(wrong); i++) {
        struct pol_share_config config;
        const char *field = NULL;

        pol_share_config_init(&config, 4, 300);
        memcpy((char *)&config + wrong[i].at, &wrong[i].value,
               sizeof(wrong[i].value));
        EXPECT(wrong[i].field, pol_share_config_check(&config, &field),
               wrong[i].want);
        EXPECT_TEXT(wrong[i].field, field, wrong[i].field);
        EXPECT(wrong[i].field, pol_share_size(&config, &bytes), wrong[i].want);
    }
}

static void wrong_calls(void)
{
    struct bench b;
    struct pol_share *t;
    struct pol_share_verdict v;
    struct pol_share_vm_info i;
    struct pol_share_left left;
    size_t bytes;

    open_table(&b);
    MUST(pol_share_size(&b.config, &bytes));
    EXPECT("small", pol_share_init(b.block, bytes - 1, &b.config, &t),
           POL_ERR_NOMEM);
    EXPECT("askew", pol_share_init((char *)b.block + 8, bytes, &b.config, &t),
           POL_ERR_INVALID);
    EXPECT("vm", pol_share_scan(b.t, 99, 0, 0, &v), POL_ERR_NOTFOUND);
    EXPECT("gfn", pol_share_scan(b.t, 10, 100, 0, &v), POL_ERR_RANGE);
    EXPECT("gfn", pol_share_break(b.t, 10, 100, &left), POL_ERR_RANGE);
    EXPECT("vm", pol_share_forget(b.t, 99, 1, &left), POL_ERR_NOTFOUND);
    EXPECT("vm", pol_share_vm_get(b.t, 99, &i), POL_ERR_NOTFOUND);
    EXPECT("twice", pol_share_vm_add(b.t, 10, 1, 5), POL_ERR_EXISTS);
    EXPECT("size", pol_share_vm_add(b.t, 30, 1, 0), POL_ERR_RANGE);
    EXPECT("size", pol_share_vm_add(b.t, 30, 1, POL_SHARE_MAX_GFN + 1),
           POL_ERR_RANGE);
    MUST(pol_share_vm_add(b.t, 30, 1, POL_SHARE_MAX_GFN));
    EXPECT("fifth", pol_share_vm_add(b.t, 31, 1, 5), POL_ERR_NOMEM);
    scan(&b, 30, POL_SHARE_MAX_GFN - 1, 4);
    v = scan(&b, 10, 0, 4);
    EXPECT("highest page", v.other_gfn, POL_SHARE_MAX_GFN - 1);
    close_table(&b);
}

/* 32 bytes per entry, 16 per shared page, 100 per VM, and a fixed part; with
 * defaults 32 per guest page. */
static void memory_is_as_stated(void)
{
    struct pol_share_config config;
    size_t none, some;

    pol_share_config_init(&config, 1, 2);
    MUST(pol_share_size(&config, &none));
    config.max_entries = 2 + 3000000;
    MUST(pol_share_size(&config, &some));
    EXPECT_TRUE("entries", some - none <= 3000000u * 32 + 128);
    config.max_entries = 2;
    config.max_pages += 3000000;
    MUST(pol_share_size(&config, &some));
    EXPECT_TRUE("pages", some - none <= 3000000u * 16 + 128);
    config.max_pages = 2;
    config.max_vms = 65536;
    MUST(pol_share_size(&config, &some));
    EXPECT_TRUE("VMs", some - none <= 65536u * 100 + 256);
    EXPECT_TRUE("fixed part", none <= 2048);
    pol_share_config_init(&config, 1, 3000000);
    MUST(pol_share_size(&config, &some));
    EXPECT_TRUE("unless told otherwise", some <= 3000000u * 32 + 4096);
}

static void zeroed_block(void)
{
    struct bench b;

    pol_share_config_init(&b.config, 4, 300);
    b.config.zeroed = 1;
    create(&b);
    MUST(pol_share_vm_add(b.t, 1, 0, 10));
    scan(&b, 1, 0, 3);
    EXPECT("works", share(&b, 1, 1, 3, 5), POL_SHARE_MERGED);
    close_table(&b);
}

static void move_to_another_block(void)
{
    struct bench b, larger;
    size_t bytes;
    uint64_t frame, vm, gfn;

    open_sized(&b, 4, 3);
    scan(&b, 10, 0, 1);
    share(&b, 11, 0, 1, 50);
    share(&b, 11, 1, 1, 0);
    scan(&b, 20, 7, 9);
    MUST(pol_share_tick(b.t, 0, 0, NULL));
    MUST(pol_share_tick(b.t, 1000, 5, NULL));
    MUST(pol_share_next(b.t, &vm, &gfn));
    larger = b;
    larger.config.max_pages = 2;
    MUST(pol_share_size(&b.config, &bytes));
    larger.block = aligned_alloc(64, 4 * bytes);
    EXPECT(
        "pages",
        pol_share_move(b.t, larger.block, 4 * bytes, &larger.config, &larger.t),
        POL_ERR_RANGE);
    larger.config.max_pages = 10;
    larger.config.max_vms = 2;
    EXPECT(
        "VMs",
        pol_share_move(b.t, larger.block, 4 * bytes, &larger.config, &larger.t),
        POL_ERR_RANGE);
    larger.config.max_vms = 8;
    EXPECT("block",
           pol_share_move(b.t, larger.block, bytes, &larger.config, &larger.t),
           POL_ERR_NOMEM);
    MUST(pol_share_move(b.t, larger.block, 4 * bytes, &larger.config,
                        &larger.t));
    close_table(&b);
    MUST(pol_share_find(larger.t, 11, 1, &frame));
    EXPECT("frame", frame, 50);
    EXPECT("full before", share(&larger, 10, 2, 1, 0), POL_SHARE_MERGED);
    EXPECT("hint", scan(&larger, 20, 7, 9).what, POL_SHARE_NOTHING);
    MUST(pol_share_next(larger.t, &vm, &gfn));
    EXPECT("goes on", gfn, 1);
    MUST(pol_share_vm_add(larger.t, 30, 1, 10));
    close_table(&larger);
}

static const struct test_case cases[] = {
    { "a hint, then a shared frame", hint_then_frame },
    { "unequal pages are never shared", unequal_is_never_shared },
    { "a hint that has changed is replaced", changed_hint_is_replaced },
    { "the hint of a shared page is void", hint_of_a_shared_page_is_void },
    { "domains do not share", domains_are_apart },
    { "copy on write", copy_on_write },
    { "the last page turns private", last_page_turns_private },
    { "a whole VM goes", whole_vm },
    { "a frame given up while it is compared", frame_given_up_meanwhile },
    { "a hint gone while it is compared", hint_gone_meanwhile },
    { "old hints make room", old_hints_make_room },
    { "nothing but shared frames", nothing_but_frames },
    { "no room for more shared pages", no_room_for_pages },
    { "what VMs consume adds up", consumed_adds_up },
    { "every page once per pass", every_page_once_per_pass },
    { "a full scan takes its time", rate_fits_scan_time },
    { "clock and budget", clock_and_budget },
    { "VMs change during a pass", vms_change_during_a_pass },
    { "wrong configurations", wrong_configurations },
    { "wrong calls", wrong_calls },
    { "memory is as stated", memory_is_as_stated },
    { "a block that is zero already", zeroed_block },
    { "moving to another block", move_to_another_block },
};

EXPECT_MAIN("share", cases)
