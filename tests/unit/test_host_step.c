/* SPDX-License-Identifier: BSD-2-Clause */
/* One round for an adapter: what is called, what comes of it. */
#include <string.h>

#include "expect.h"
#include "step_host.h"

static void ops_tables(void)
{
    struct step_host h;

    step_open(&h);
    EXPECT("all", pol_host_ops_check(&h.ops), POL_OK);
#define MISSING(op)                                                            \
    do {                                                                       \
        struct pol_host_ops ops = h.ops;                                       \
                                                                               \
        ops.op = NULL;                                                         \
        EXPECT(#op, pol_host_ops_check(&ops), POL_ERR_INVALID);                \
        h.loop.ops = &ops;                                                     \
        EXPECT(#op, step_once(&h), POL_ERR_INVALID);                           \
        h.loop.ops = &h.ops;                                                   \
    } while (0)
    MISSING(name);
    MISSING(read_host);
    MISSING(next_vm);
    MISSING(read_vm);
    MISSING(set_balloon);
#undef MISSING
    h.ops.size--;
    EXPECT("size", pol_host_ops_check(&h.ops), POL_ERR_VERSION);
    h.ops.size++;
    h.loop.size--;
    EXPECT("loop's size", step_once(&h), POL_ERR_VERSION);
    h.loop.size++;
    EXPECT("nothing was called", h.calls, 0);
    h.loop.actions_cap = 3;
    EXPECT("no room", step_once(&h), POL_ERR_BUFFER);
    step_close(&h);
}

/* Each optional op alone missing: the step works, and does without. */
static void optional_ops(void)
{
    static const struct {
        const char *row;
        size_t offset;
        enum step_op op;
        uint32_t cap; /* that is missing then */
    } rows[] = {
#define OP(name, op, cap)                                                      \
    { #name, offsetof(struct pol_host_ops, name), op, cap }
        OP(swap_out, OP_SWAP_OUT, POL_CAP_SWAP),
        OP(swap_in, OP_SWAP_IN, 0),
        OP(set_blocked, OP_SET_BLOCKED, POL_CAP_BLOCK),
        OP(set_share_rate, OP_SET_SHARE_RATE, POL_CAP_SHARE),
        OP(set_hard_cap, OP_SET_HARD_CAP, POL_CAP_HARD_CAP),
        OP(sample_begin, OP_SAMPLE_BEGIN, POL_CAP_SAMPLE),
        OP(sample_read, OP_SAMPLE_READ, POL_CAP_SAMPLE),
        OP(on_action, OP_COUNT, 0),
#undef OP
    };
    size_t i;
    int n;

    for (i = 0; i < ROWS(rows); i++) {
        struct step_host h;

        step_open(&h);
        memset((char *)&h.ops + rows[i].offset, 0, sizeof(void *));
        h.free_pages = 500; /* low: everything is used */
        for (n = 0; n < 3; n++) {
            EXPECT(rows[i].row, step_once(&h), POL_OK);
            EXPECT(rows[i].row, h.loop.vm_failures, 0);
        }
        EXPECT_TRUE("the balloon", h.by_op[OP_SET_BALLOON] > 0);
        EXPECT("swapping", h.by_op[OP_SWAP_OUT] > 0,
               rows[i].cap != POL_CAP_SWAP);
        /* Where nothing is swapped, guests must run to inflate balloons. */
        EXPECT("blocking", h.by_op[OP_SET_BLOCKED] > 0,
               rows[i].cap != POL_CAP_BLOCK && rows[i].cap != POL_CAP_SWAP);
        EXPECT("sharing", h.by_op[OP_SET_SHARE_RATE] > 0,
               rows[i].cap != POL_CAP_SHARE);
        EXPECT("caps", h.by_op[OP_SET_HARD_CAP] > 0,
               rows[i].cap != POL_CAP_HARD_CAP);
        EXPECT("sampling", h.by_op[OP_SAMPLE_READ] > 0,
               rows[i].cap != POL_CAP_SAMPLE);
        EXPECT("telling", h.told > 0, rows[i].op != OP_COUNT);
        step_close(&h);
    }
}

static void come_and_go(void)
{
    struct step_host h;

    step_open(&h);
    EXPECT(NULL, step_once(&h), POL_OK);
    EXPECT("three are there", pol_vm_count(h.ctx), 3);
    h.vms[3].there = 1;
    pol_vm_params_init(&h.vms[3].params, 1000);
    h.vms[3].actual = h.vms[3].record = 1000;
    EXPECT(NULL, step_once(&h), POL_OK);
    EXPECT("one comes", pol_vm_count(h.ctx), 4);
    EXPECT("and is read", step_status(&h, 4).lifecycle, POL_LIFE_RUNNING);
    h.vms[0].there = 0;
    EXPECT(NULL, step_once(&h), POL_OK);
    EXPECT("one goes", pol_vm_count(h.ctx), 3);
    h.vms[1].gone_when_read = 1;
    EXPECT(NULL, step_once(&h), POL_OK);
    EXPECT("one has just gone", pol_vm_count(h.ctx), 2);
    EXPECT("which is no failure", h.loop.vm_failures, 0);
    h.vms[1].gone_when_read = 0;
    EXPECT(NULL, step_once(&h), POL_OK);
    EXPECT("and is back", pol_vm_count(h.ctx), 3);
    step_close(&h);
}

static void keep_params(void)
{
    static const struct {
        int keep;
        uint64_t shares; /* after the list says 5 */
    } rows[] = { { 0, 5 }, { 1, 77 } };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct step_host h;
        struct pol_vm_params p;

        step_open(&h);
        h.loop.keep_params = rows[i].keep;
        MUST(step_once(&h));
        MUST(pol_vm_get(h.ctx, 1, &p));
        EXPECT("new VMs come with the list's", p.shares, 30000);
        p.shares = 77;
        MUST(pol_vm_set(h.ctx, 1, &p));
        h.vms[0].params.shares = 5;
        MUST(step_once(&h));
        MUST(pol_vm_get(h.ctx, 1, &p));
        EXPECT("then", p.shares, rows[i].shares);
        step_close(&h);
    }
}

/* Nothing is changed, all is told, and the targets are still nobody else's. */
static void dry_run(void)
{
    static const enum step_op changing[] = {
        OP_SET_BALLOON, OP_SWAP_OUT,       OP_SWAP_IN,
        OP_SET_BLOCKED, OP_SET_SHARE_RATE, OP_SET_HARD_CAP,
    };
    struct step_host h;
    size_t i;
    int n;

    step_open(&h);
    h.loop.dry_run = 1;
    h.free_pages = 500;
    h.vms[0].actual = 29000; /* the balloon is not where it was asked to be */
    for (n = 0; n < 30; n++) {
        EXPECT(NULL, step_once(&h), POL_OK);
        EXPECT_TRUE("there is something to tell", h.loop.actions_n > 0);
    }
    for (i = 0; i < ROWS(changing); i++) {
        EXPECT("not called", h.by_op[changing[i]], 0);
    }
    EXPECT_TRUE("told", h.told > 30);
    for (i = 1; i <= 3; i++) {
        EXPECT("not foreign", step_status(&h, i).foreign, 0);
        EXPECT("not blocked", step_status(&h, i).blocked, 0);
        EXPECT("no failures", step_status(&h, i).failures, 0);
        EXPECT("not stuck", step_status(&h, i).stuck, 0);
    }
    h.loop.dry_run = 0;
    MUST(step_once(&h));
    EXPECT_TRUE("in earnest", h.by_op[OP_SET_BALLOON] > 0);
    step_close(&h);
}

static void failures_are_counted(void)
{
    struct step_host h;
    struct pol_host_status s;
    uint32_t n;

    step_open(&h);
    MUST(step_once(&h));
    MUST(pol_host_get(h.ctx, &s));
    EXPECT("none yet", s.failures, 0);
    /* The calls before the first action: 1 + 4 + 3 + 3 + 3. */
    n = h.by_op[OP_READ_HOST] + h.by_op[OP_NEXT_VM] + h.by_op[OP_READ_VM] +
        h.by_op[OP_SAMPLE_READ];
    EXPECT_TRUE("some", n > 0);
    h.free_pages = 500;
    h.fail_at = h.calls + n + 1;
    h.for_ever = 1;
    EXPECT("the step goes on", step_once(&h), POL_OK);
    MUST(pol_host_get(h.ctx, &s));
    EXPECT_TRUE("counted", s.failures > 0);
    EXPECT("and told", h.told_errors, s.failures);
    step_close(&h);
}

/* Pages come back from swap, but not in a dry run or without the op; once in
 * earnest, as if there had been no dry run. */
static void swapping_in(void)
{
    struct step_host h;
    struct pol_host_ops without;
    int n;

    step_open(&h);
    h.free_pages = 50000;
    h.vms[0].consumed = 20000;
    h.vms[0].swapped = 500;
    h.loop.dry_run = 1;
    for (n = 0; n < 3; n++) {
        EXPECT(NULL, step_once(&h), POL_OK);
    }
    EXPECT("not in a dry run", h.by_op[OP_SWAP_IN], 0);
    without = h.ops;
    without.swap_in = NULL;
    h.loop.ops = &without;
    h.loop.dry_run = 0;
    EXPECT(NULL, step_once(&h), POL_OK);
    EXPECT("not planned without the op", step_status(&h, 1).action, 0);
    h.loop.ops = &h.ops;
    EXPECT(NULL, step_once(&h), POL_OK);
    EXPECT("in earnest", h.by_op[OP_SWAP_IN], 1);
    step_close(&h);
}

static const struct test_case cases[] = {
    { "incomplete tables are refused", ops_tables },
    { "each optional op missing", optional_ops },
    { "VMs come and go", come_and_go },
    { "whose parameters count", keep_params },
    { "a dry run changes nothing", dry_run },
    { "failures are counted and told", failures_are_counted },
    { "swapping in, after a dry run too", swapping_in },
};

EXPECT_MAIN("host_step", cases)
