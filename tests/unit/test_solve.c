/* SPDX-License-Identifier: BSD-2-Clause */
/* The target solver: known results, edges, groups, and its arithmetic. */
#include <CUnit/Basic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"
#include "solve_curve.h"

#define BIG      POLX_MAX_PAGES
#define VMS      8
#define GROUPS   10
#define VM(slot) (GROUPS + 1 + (slot))

static struct polx_solver solver;
static void *memory;

static int open_solver(void)
{
    size_t bytes = polx_solver_size(VMS, GROUPS);

    memory = malloc(bytes);
    if (memory == NULL) {
        return 1;
    }
    memset(memory, 0x5a, bytes);
    polx_solver_init(&solver, memory, VMS, GROUPS);
    return 0;
}

static void close_solver(void)
{
    free(memory);
}

static void put(uint32_t node, uint32_t parent, struct polx_claim c)
{
    CU_ASSERT_TRUE(polx_solver_attach(&solver, node, parent));
    polx_solver_set(&solver, node, &c);
}

static void solve(uint64_t pages)
{
    polx_solver_set_available(&solver, pages);
    polx_solver_materialise(&solver);
    CU_ASSERT_TRUE(polx_solver_check(&solver));
}

/* --- one group -------------------------------------------------------- */

struct flat {
    uint64_t pages;
    bool is_short;
    uint32_t count;
    /* min, max, active, shares, tax */
    struct polx_claim claim[3];
    uint64_t target[3];
};

static const struct flat flats[] = {
    /* Two equal VMs, one idle: without tax they share alike. */
    { 360,
      false,
      2,
      { { 0, 256, 0, 1, 0 }, { 0, 256, 256, 1, 0 } },
      { 180, 180 } },
    { 360,
      false,
      2,
      { { 0, 256, 0, 1, 7500 }, { 0, 256, 256, 1, 7500 } },
      { 104, 256 } },
    { 360,
      false,
      2,
      { { 0, 400, 0, 1, 7500 }, { 0, 400, 256, 1, 7500 } },
      { 84, 276 } },
    { 360,
      false,
      2,
      { { 0, 400, 0, 1, 7500 }, { 0, 400, 300, 1, 7500 } },
      { 72, 288 } },
    /* Exact shares are 316 2/3, 483 1/3, 200. */
    { 1000,
      false,
      3,
      { { 50, 800, 100, 2, 7500 },
        { 50, 800, 600, 1, 7500 },
        { 200, 800, 10, 1, 7500 } },
      { 317, 483, 200 } },
    /* Tax near 1 takes nearly all idle memory: exact are 14.9, 985.1. */
    { 1000,
      false,
      2,
      { { 0, 1000, 0, 1, 9900 }, { 0, 1000, 980, 1, 9900 } },
      { 15, 985 } },
    /* Shares alone: two to one of what is there, not of what is added. */
    { 900,
      false,
      2,
      { { 0, 900, 900, 2, 0 }, { 0, 900, 900, 1, 0 } },
      { 600, 300 } },
    /* One page among three: the running sum gives it to the second. */
    { 1,
      false,
      3,
      { { 0, 9, 9, 1, 0 }, { 0, 9, 9, 1, 0 }, { 0, 9, 9, 1, 0 } },
      { 0, 1, 0 } },
    /* More than everybody can hold; exactly the minima; nothing. */
    { 5000,
      false,
      2,
      { { 0, 256, 0, 1, 0 }, { 7, 300, 256, 9, 0 } },
      { 256, 300 } },
    { 57,
      false,
      2,
      { { 50, 256, 0, 1, 0 }, { 7, 300, 256, 9, 0 } },
      { 50, 7 } },
    { 0, false, 2, { { 0, 256, 0, 1, 0 }, { 0, 300, 256, 9, 0 } }, { 0, 0 } },
    /* Short: in proportion to the minima, whatever the shares. */
    { 150,
      true,
      3,
      { { 100, 800, 100, 2, 7500 },
        { 0, 800, 600, 900, 7500 },
        { 200, 800, 10, 1, 7500 } },
      { 50, 0, 100 } },
    { BIG / 2,
      true,
      2,
      { { BIG, BIG, 0, 1, 0 }, { BIG, BIG, 0, 9, 0 } },
      { BIG / 4, BIG / 4 } },
    /* As large as it gets. */
    { BIG,
      false,
      2,
      { { 0, BIG, BIG, POLX_MAX_SHARES, 9900 },
        { 0, BIG, BIG, POLX_MAX_SHARES, 9900 } },
      { BIG / 2, BIG / 2 } },
    { BIG,
      false,
      2,
      { { 0, BIG, BIG, POLX_MAX_SHARES, 0 }, { 0, BIG, BIG, 1, 0 } },
      { BIG - 1048576, 1048576 } },
    /* Out of range: brought into it. */
    { BIG + 5,
      false,
      2,
      { { 9, 3, 1, 0, 20000 }, { 0, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0 } },
      { 9, BIG - 9 } },
};

static void test_flat(void)
{
    for (size_t i = 0; i < sizeof(flats) / sizeof(flats[0]); i++) {
        const struct flat *f = &flats[i];

        CU_ASSERT_EQUAL_FATAL(open_solver(), 0);
        for (uint32_t v = 0; v < f->count; v++) {
            put(VM(v), 0, f->claim[v]);
        }
        solve(f->pages);
        CU_ASSERT_EQUAL(polx_solver_is_short(&solver, 0), f->is_short);
        for (uint32_t v = 0; v < f->count; v++) {
            CU_ASSERT_EQUAL(polx_solver_target(&solver, VM(v)), f->target[v]);
        }
        close_solver();
    }
}

/* --- groups ------------------------------------------------------------ */

/*
 *   root -- 1 -- VM 0, VM 1        Each row gives group 1's claim and VM 2's,
 *       \-- VM 2                   VMs 0 and 1 are always the same.
 */
struct grouped {
    uint64_t pages;
    struct polx_claim group;
    struct polx_claim other;
    uint64_t target_group;
    uint64_t target[3];
    bool is_short;
};

static const struct grouped groupeds[] = {
    /* The group's shares count, not the number of its VMs. */
    { 600,
      { 0, BIG, 0, 1, 0 },
      { 0, 1000, 1000, 1, 0 },
      300,
      { 150, 150, 300 },
      false },
    { 600,
      { 0, BIG, 0, 2, 0 },
      { 0, 1000, 1000, 1, 0 },
      400,
      { 200, 200, 200 },
      false },
    /* Its reservation holds against many shares; its limit binds. */
    { 600,
      { 500, BIG, 0, 1, 0 },
      { 0, 1000, 1000, 1000, 0 },
      500,
      { 250, 250, 100 },
      false },
    { 600,
      { 0, 120, 0, 1000, 0 },
      { 0, 1000, 1000, 1, 0 },
      120,
      { 60, 60, 480 },
      false },
    /* A limit below the minima of its VMs: it is short. */
    { 600,
      { 0, 30, 0, 1, 0 },
      { 0, 1000, 1000, 1, 0 },
      30,
      { 15, 15, 570 },
      true },
    /* A reservation that its VMs cannot use is lent. */
    { 3000,
      { 2500, BIG, 0, 1, 0 },
      { 0, 1000, 1000, 1, 0 },
      2000,
      { 1000, 1000, 1000 },
      false },
};

static void test_groups(void)
{
    static const struct polx_claim vm = { 20, 1000, 1000, 1, 0 };

    for (size_t i = 0; i < sizeof(groupeds) / sizeof(groupeds[0]); i++) {
        const struct grouped *t = &groupeds[i];

        CU_ASSERT_EQUAL_FATAL(open_solver(), 0);
        put(1, 0, t->group);
        put(VM(0), 1, vm);
        put(VM(1), 1, vm);
        put(VM(2), 0, t->other);
        solve(t->pages);
        CU_ASSERT_EQUAL(polx_solver_target(&solver, 1), t->target_group);
        CU_ASSERT_EQUAL(polx_solver_is_short(&solver, 1), t->is_short);
        for (uint32_t v = 0; v < 3; v++) {
            CU_ASSERT_EQUAL(polx_solver_target(&solver, VM(v)), t->target[v]);
        }
        close_solver();
    }
}

static void test_tree(void)
{
    static const struct polx_claim any = { 0, BIG, 0, 1, 0 };

    CU_ASSERT_EQUAL_FATAL(open_solver(), 0);
    /* As deep as allowed, and no deeper. */
    for (uint32_t g = 1; g <= POLX_MAX_DEPTH; g++) {
        put(g, g - 1, any);
    }
    CU_ASSERT_FALSE(polx_solver_attach(&solver, 9, 8));
    put(9, 0, any);
    CU_ASSERT_FALSE(polx_solver_move(&solver, 1, 9));
    CU_ASSERT_FALSE(polx_solver_move(&solver, 1, 8));
    CU_ASSERT_FALSE(polx_solver_move(&solver, 1, 1));
    CU_ASSERT_FALSE(polx_solver_move(&solver, 0, 9));
    CU_ASSERT_TRUE(polx_solver_move(&solver, 8, 9));

    put(VM(0), 8, (struct polx_claim){ 0, 100, 100, 1, 0 });
    put(VM(1), 7, (struct polx_claim){ 0, 100, 100, 1, 0 });
    CU_ASSERT_FALSE(polx_solver_attach(&solver, VM(0), 0));
    CU_ASSERT_FALSE(polx_solver_attach(&solver, VM(2), VM(0)));
    CU_ASSERT_FALSE(polx_solver_attach(&solver, VM(2), 10));
    CU_ASSERT_FALSE(polx_solver_attach(&solver, VM(VMS), 0));
    CU_ASSERT_FALSE(polx_solver_attach(&solver, 0, 1));
    CU_ASSERT_FALSE(polx_solver_detach(&solver, 8));
    CU_ASSERT_FALSE(polx_solver_detach(&solver, 0));
    CU_ASSERT_FALSE(polx_solver_detach(&solver, VM(5)));
    solve(100);
    CU_ASSERT_EQUAL(polx_solver_target(&solver, VM(0)), 50);
    CU_ASSERT_EQUAL(polx_solver_target(&solver, VM(1)), 50);

    /* Group 1 first, then 9; below 9 the moved group 8. */
    CU_ASSERT_EQUAL(polx_solver_first_child(&solver, 0), 1);
    CU_ASSERT_EQUAL(polx_solver_next_child(&solver, 1), 9);
    CU_ASSERT_EQUAL(polx_solver_next_child(&solver, 9), POLX_NONE);
    CU_ASSERT_EQUAL(polx_solver_first_child(&solver, 9), 8);
    CU_ASSERT_EQUAL(polx_solver_child_count(&solver, 8), 1);
    CU_ASSERT_EQUAL(polx_solver_parent(&solver, VM(0)), 8);

    CU_ASSERT_TRUE(polx_solver_detach(&solver, VM(0)));
    CU_ASSERT_TRUE(polx_solver_detach(&solver, 8));
    CU_ASSERT_EQUAL(polx_solver_target(&solver, VM(0)), 0);
    CU_ASSERT_EQUAL(polx_solver_peek(&solver, VM(0)), 0);
    solve(100);
    CU_ASSERT_EQUAL(polx_solver_target(&solver, VM(1)), 100);
    close_solver();
}

static void test_refresh_and_peek(void)
{
    struct polx_claim c = { 0, 1000, 1000, 1, 7500 };
    struct polx_claim seen;

    CU_ASSERT_EQUAL_FATAL(open_solver(), 0);
    put(VM(0), 0, c);
    put(VM(1), 0, c);
    solve(1000);
    c.shares = 3;
    polx_solver_set(&solver, VM(1), &c);
    polx_solver_refresh(&solver);
    CU_ASSERT_EQUAL(polx_solver_peek(&solver, VM(1)), 750);
    CU_ASSERT_EQUAL(polx_solver_target(&solver, VM(1)), 500);
    polx_solver_materialise(&solver);
    CU_ASSERT_EQUAL(polx_solver_target(&solver, VM(1)), 750);
    polx_solver_claim(&solver, VM(1), &seen);
    CU_ASSERT_EQUAL(memcmp(&seen, &c, sizeof(c)), 0);
    polx_solver_claim(&solver, 0, &seen);
    CU_ASSERT_EQUAL(seen.max_pages, 2000);
    CU_ASSERT_TRUE(polx_solver_check(&solver));
    close_solver();
}

static void test_rho(void)
{
    const uint64_t one = UINT64_C(1) << 32;

    CU_ASSERT_EQUAL_FATAL(open_solver(), 0);
    put(VM(0), 0, (struct polx_claim){ 0, 1000, 100, 500, 7500 });
    CU_ASSERT_EQUAL(polx_solver_rho(&solver, VM(0), 0), UINT64_MAX);
    CU_ASSERT_EQUAL(polx_solver_rho(&solver, VM(0), 50), 10 * one);
    CU_ASSERT_EQUAL(polx_solver_rho(&solver, VM(0), 100), 5 * one);
    /* 100 active and 100 idle pages cost 100 + 4 * 100. */
    CU_ASSERT_EQUAL(polx_solver_rho(&solver, VM(0), 200), one);
    put(VM(1), 0, (struct polx_claim){ 0, BIG, 0, POLX_MAX_SHARES, 9900 });
    CU_ASSERT_EQUAL(polx_solver_rho(&solver, VM(1), BIG), (one / 100) >> 20);
    close_solver();
}

/* --- arithmetic --------------------------------------------------------- */

static void test_division(void)
{
    static const struct {
        uint64_t upper, lower, by, quotient, rest;
    } rows[] = {
        { 0, 100, 7, 14, 2 },
        { 1, 0, 2, UINT64_C(1) << 63, 0 },
        { 2, 0, 2, UINT64_MAX, 0 },
        { 0, 1, 0, UINT64_MAX, 0 },
        { UINT64_MAX - 1, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX - 1 },
    };
    uint64_t rest;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        polx_u128 n = (polx_u128)rows[i].upper << 64 | rows[i].lower;

        CU_ASSERT_EQUAL(polx_div(n, rows[i].by, &rest), rows[i].quotient);
        CU_ASSERT_EQUAL(rest, rows[i].rest);
    }
    /* Any others: quotient * divisor + rest gives the number back. */
    for (uint64_t i = 1; i < 200000; i++) {
        uint64_t a = i * UINT64_C(0x9e3779b97f4a7c15);
        uint64_t by = (a ^ a << 7) >> (i % 63) | 1;
        polx_u128 n = (polx_u128)(a % by) << 64 | a * a;
        uint64_t q = polx_div(n, by, &rest);

        if (polx_mul(q, by) + rest != n || rest >= by) {
            CU_FAIL_FATAL("quotient * divisor + rest is another number");
        }
    }
    CU_ASSERT_EQUAL(polx_muldiv(BIG, BIG, BIG), BIG);
    CU_ASSERT_EQUAL(polx_muldiv(7, 9, 10), 6);
    CU_ASSERT_EQUAL(polx_sat_add(UINT64_MAX, 1), UINT64_MAX);
    CU_ASSERT_EQUAL(polx_sat_sub(1, 2), 0);
    CU_ASSERT_EQUAL(polx_sat_mul(BIG, BIG), UINT64_MAX);
    CU_ASSERT_EQUAL(polx_bits(0), 0);
    CU_ASSERT_EQUAL(polx_bits((polx_u128)1 << 127), 128);
}

/* The code for num / den is at least that, and the one before is less. */
static void test_lambda(void)
{
    for (uint64_t i = 1; i < 100000; i++) {
        uint64_t a = i * UINT64_C(0x9e3779b97f4a7c15);
        uint64_t num = a >> (i % 50 + 5);
        uint64_t den = ((a ^ a << 9) >> (i / 50 % 50 + 5)) + 1;
        uint64_t code = polx_lambda_ceil(num, den);
        struct polx_lambda at = polx_lambda_open(code);
        polx_u128 wanted = (polx_u128)num << at.shift;

        if (polx_mul(at.mantissa, den) < wanted) {
            CU_FAIL_FATAL("too small");
        }
        at = polx_lambda_open(code - 1);
        wanted = (polx_u128)num << at.shift;
        if (code != 0 && polx_mul(at.mantissa, den) >= wanted) {
            CU_FAIL_FATAL("too large");
        }
    }
    CU_ASSERT_EQUAL(polx_lambda_ceil(0, 5), 0);
    CU_ASSERT_EQUAL(polx_lambda_ceil(1, (polx_u128)1 << 120), 1);
}

static void test_size(void)
{
    size_t many = polx_solver_size(100000, 0);

    CU_ASSERT_TRUE(many != 0 && many / 100000 < 112);
    CU_ASSERT_EQUAL(polx_solver_size(UINT32_MAX, UINT32_MAX), 0);
    CU_ASSERT_EQUAL(polx_solver_size(POLX_MAX_NODES, 0), 0);
    CU_ASSERT_TRUE(polx_solver_size(POLX_MAX_NODES - 1, 0) != 0);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        { "one group", test_flat },
        { "nested groups", test_groups },
        { "tree of groups", test_tree },
        { "refresh and peek", test_refresh_and_peek },
        { "adjusted shares per page", test_rho },
        { "division", test_division },
        { "lambda", test_lambda },
        { "memory", test_size },
    };
    CU_pSuite suite;
    unsigned failed;

    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    suite = CU_add_suite("target solver", NULL, NULL);
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        CU_add_test(suite, tests[i].name, tests[i].run);
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failed = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failed != 0;
}
