/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target solver against its oracle, page-by-page min-funding revocation
 * (ESX02 5.2), and against itself: however a state was reached, its targets
 * are the same bytes.
 *
 * How near the oracle can be: revocation in whole pages is biased.  Every
 * claim ends on a whole grain below the common price, and what all of them
 * lose that way, up to one grain each, goes to those with the most shares.
 * So with n children it is up to n grains from the exact solution.  The
 * solver is less than one page from it.  Hence the bounds below: with grains
 * of 1/32 page, 1 page and n grains; with whole pages n pages.
 */
#include <CUnit/Basic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solve.h"

#ifndef POL_TEST_DIVISOR
#define POL_TEST_DIVISOR 1
#endif

#define SEED      UINT64_C(0x5eed0001)
#define MAX_PLAIN 8
#define VMS       40
#define GROUPS    10

__extension__ typedef unsigned __int128 u128;

static uint64_t random_state;

/* splitmix64: any seed will do, every value is used. */
static uint64_t rnd(void)
{
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint64_t between(uint64_t low, uint64_t high)
{
    return low + rnd() % (high - low + 1);
}

static uint32_t pick(uint32_t count)
{
    return (uint32_t)(rnd() % count);
}

static void start(const char *name)
{
    random_state = SEED;
    printf("\n    %s: seed 0x%llx ", name, (unsigned long long)SEED);
}

/* --- the oracle ------------------------------------------------------- */

/* cost * (10000 - tax): whole numbers in place of the division by 1 - t. */
static u128 cost(const struct polx_claim *c, uint64_t grains, uint64_t held)
{
    uint64_t active = c->active_pages * grains;
    uint64_t busy = held < active ? held : active;

    return (u128)busy * (10000 - c->tax_bp) + (u128)(held - busy) * 10000;
}

/* Whether a holder pays less per grain than another: rho_a < rho_b. */
static bool pays_less(const struct polx_claim *a, uint64_t held_a,
                      const struct polx_claim *b, uint64_t held_b,
                      uint64_t grains)
{
    u128 gain_a = (u128)a->shares * (10000 - a->tax_bp);
    u128 gain_b = (u128)b->shares * (10000 - b->tax_bp);

    return gain_a * cost(b, grains, held_b) < gain_b * cost(a, grains, held_a);
}

/*
 * Everybody starts at max; one grain at a time is taken from whoever pays
 * the least for what it holds and is above its min.
 */
static void revoke(const struct polx_claim *c, uint32_t n, uint64_t pages,
                   uint64_t grains, uint64_t *held)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < n; i++) {
        held[i] = c[i].max_pages * grains;
        sum += held[i];
    }
    while (sum > pages * grains) {
        uint32_t least = UINT32_MAX;

        for (uint32_t i = 0; i < n; i++) {
            if (held[i] > c[i].min_pages * grains &&
                (least == UINT32_MAX ||
                 pays_less(&c[i], held[i], &c[least], held[least], grains))) {
                least = i;
            }
        }
        if (least == UINT32_MAX) {
            return;
        }
        held[least]--;
        sum--;
    }
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* --- random claims ---------------------------------------------------- */

static struct polx_claim small_claim(uint64_t most)
{
    static const uint32_t taxes[] = { 0, 7500, 7500, 7500, 9900, 5000 };
    struct polx_claim c;

    c.max_pages = between(0, most);
    c.min_pages = pick(3) == 0 ? between(0, c.max_pages) : 0;
    c.active_pages = between(0, most);
    c.shares = pick(2) == 0 ? between(1, 4) : between(1, 1000);
    c.tax_bp = pick(4) == 0 ? pick(9901) : taxes[pick(6)];
    return c;
}

/* Any magnitude, with a liking for the extremes. */
static uint64_t any_pages(void)
{
    switch (pick(8)) {
    case 0:
        return 0;
    case 1:
        return POLX_MAX_PAGES;
    case 2:
        return between(0, 20);
    default:
        return rnd() >> (12 + pick(52));
    }
}

static struct polx_claim any_claim(uint32_t kind)
{
    struct polx_claim c;

    if (kind == 0) {
        return small_claim(1000);
    }
    if (kind == 1) {
        c = small_claim(1 << 20);
        c.min_pages /= 8;
        return c;
    }
    c.min_pages = pick(2) == 0 ? 0 : any_pages() >> pick(30);
    c.max_pages = any_pages();
    c.active_pages = any_pages();
    c.shares = pick(6) == 0 ? POLX_MAX_SHARES : (rnd() >> (32 + pick(32))) + 1;
    c.tax_bp = pick(9901);
    return c;
}

/* --- solver and oracle, one group ------------------------------------- */

struct host {
    struct polx_solver solver;
    void *memory;
};

static void host_open(struct host *h, uint32_t vms, uint32_t groups)
{
    size_t bytes = polx_solver_size(vms, groups);

    h->memory = malloc(bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(h->memory);
    memset(h->memory, 0xa5, bytes);
    polx_solver_init(&h->solver, h->memory, vms, groups);
}

static void plain_targets(const struct polx_claim *c, uint32_t n,
                          uint64_t pages, uint64_t *targets)
{
    struct host h;

    host_open(&h, MAX_PLAIN, 0);
    for (uint32_t i = 0; i < n; i++) {
        polx_solver_attach(&h.solver, 1 + i, 0);
        polx_solver_set(&h.solver, 1 + i, &c[i]);
    }
    polx_solver_set_available(&h.solver, pages);
    polx_solver_materialise(&h.solver);
    CU_ASSERT_FATAL(polx_solver_check(&h.solver));
    for (uint32_t i = 0; i < n; i++) {
        targets[i] = polx_solver_target(&h.solver, 1 + i);
    }
    free(h.memory);
}

/* Pages between the sum of minima and a little above the sum of maxima. */
static uint64_t enough_pages(const struct polx_claim *c, uint32_t n)
{
    uint64_t low = 0;
    uint64_t high = 2;

    for (uint32_t i = 0; i < n; i++) {
        low += c[i].min_pages;
        high += c[i].max_pages;
    }
    return between(low, high);
}

static void test_oracle_fine(void)
{
    const uint64_t grains = 32;
    uint32_t hosts = 8000 / POL_TEST_DIVISOR;
    uint64_t farthest = 0;

    start("revocation in grains of 1/32 page");
    for (uint32_t run = 0; run < hosts; run++) {
        struct polx_claim c[MAX_PLAIN];
        uint64_t held[MAX_PLAIN], got[MAX_PLAIN], pages;
        uint32_t n = 2 + pick(MAX_PLAIN - 1);

        for (uint32_t i = 0; i < n; i++) {
            c[i] = small_claim(40);
        }
        pages = enough_pages(c, n);
        revoke(c, n, pages, grains, held);
        plain_targets(c, n, pages, got);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t off = distance(got[i] * grains, held[i]);

            farthest = off > farthest ? off : farthest;
            CU_ASSERT_FATAL(off <= grains + n);
        }
    }
    printf("%u hosts, farthest %.2f pages ", hosts,
           (double)farthest / (double)grains);
}

static void test_oracle_whole_pages(void)
{
    uint32_t hosts = 20000 / POL_TEST_DIVISOR;
    uint64_t farthest = 0, near = 0, all = 0;

    start("revocation in whole pages");
    for (uint32_t run = 0; run < hosts; run++) {
        struct polx_claim c[MAX_PLAIN];
        uint64_t held[MAX_PLAIN], got[MAX_PLAIN], pages;
        uint32_t n = 2 + pick(MAX_PLAIN - 1);

        for (uint32_t i = 0; i < n; i++) {
            c[i] = small_claim(300);
        }
        pages = enough_pages(c, n);
        revoke(c, n, pages, 1, held);
        plain_targets(c, n, pages, got);
        for (uint32_t i = 0; i < n; i++) {
            uint64_t off = distance(got[i], held[i]);

            farthest = off > farthest ? off : farthest;
            near += off <= 1;
            all++;
            CU_ASSERT_FATAL(off <= (n == 2 ? 1 : n));
        }
    }
    printf("%u hosts, %.2f %% of targets within 1 page, farthest %u ", hosts,
           100.0 * (double)near / (double)all, (unsigned)farthest);
}

/* --- trees: a model that keeps the claims, two ways to the solver ------ */

/* What was told to the solver, by node; parent UINT32_MAX: detached. */
struct model {
    struct polx_claim claim[GROUPS + 1 + VMS];
    uint32_t parent[GROUPS + 1 + VMS];
    uint64_t available;
};

static const uint32_t nodes = GROUPS + 1 + VMS;

static void model_open(struct model *m)
{
    memset(m, 0, sizeof(*m));
    for (uint32_t i = 1; i < nodes; i++) {
        m->parent[i] = UINT32_MAX;
    }
}

static void build_below(const struct model *m, struct polx_solver *s,
                        uint32_t parent)
{
    /* Backwards, so that the order of attaching differs from most. */
    for (uint32_t i = nodes - 1; i > 0; i--) {
        if (m->parent[i] == parent) {
            CU_ASSERT_FATAL(polx_solver_attach(s, i, parent));
            polx_solver_set(s, i, &m->claim[i]);
            if (i <= GROUPS) {
                build_below(m, s, i);
            }
        }
    }
}

static void same_as_from_scratch(const struct model *m,
                                 const struct polx_solver *s)
{
    struct host h;

    host_open(&h, VMS, GROUPS);
    polx_solver_set_available(&h.solver, m->available);
    build_below(m, &h.solver, 0);
    polx_solver_materialise(&h.solver);
    CU_ASSERT_FATAL(polx_solver_check(&h.solver));
    for (uint32_t i = 0; i < nodes; i++) {
        CU_ASSERT_EQUAL_FATAL(polx_solver_target(s, i),
                              polx_solver_target(&h.solver, i));
        CU_ASSERT_EQUAL_FATAL(polx_solver_peek(s, i),
                              polx_solver_peek(&h.solver, i));
        CU_ASSERT_EQUAL_FATAL(i <= GROUPS && polx_solver_is_short(s, i),
                              i <= GROUPS &&
                                  polx_solver_is_short(&h.solver, i));
    }
    free(h.memory);
}

static void tell(struct model *m, struct polx_solver *s, uint32_t node,
                 const struct polx_claim *c)
{
    if (m->parent[node] != UINT32_MAX) {
        m->claim[node] = *c;
        polx_solver_set(s, node, c);
    }
}

static void come_or_go(struct model *m, struct polx_solver *s, uint32_t kind)
{
    uint32_t node = 1 + pick(nodes - 1);
    uint32_t parent = pick(3) == 0 ? 0 : pick(GROUPS + 1);
    struct polx_claim c = any_claim(kind);

    if (m->parent[node] == UINT32_MAX) {
        if (polx_solver_attach(s, node, parent)) {
            m->parent[node] = parent;
            if (node <= GROUPS && pick(2) == 0) {
                c.max_pages = POLX_MAX_PAGES;
            }
            tell(m, s, node, &c);
        }
    } else if (pick(3) == 0) {
        if (polx_solver_move(s, node, parent)) {
            m->parent[node] = parent;
        }
    } else if (pick(2) == 0 && polx_solver_detach(s, node)) {
        m->parent[node] = UINT32_MAX;
    }
}

static void claims_change(struct model *m, struct polx_solver *s, uint32_t kind)
{
    uint32_t node = 1 + pick(nodes - 1);
    struct polx_claim c = m->claim[node];

    switch (pick(8)) {
    case 0:
        c = any_claim(kind);
        tell(m, s, node, &c);
        break;
    case 1:
        c.shares = c.shares > POLX_MAX_SHARES / 4 ? 1 : c.shares * 4;
        tell(m, s, node, &c);
        break;
    case 2:
        for (node = GROUPS + 1; node < nodes; node++) {
            c = m->claim[node];
            c.active_pages = c.active_pages / 100 * between(90, 110);
            tell(m, s, node, &c);
        }
        break;
    default:
        c.active_pages = c.active_pages / 100 * between(90, 110);
        tell(m, s, node, &c);
        break;
    }
}

static uint64_t some_available(const struct polx_solver *s)
{
    struct polx_claim root;
    uint64_t low, high;

    polx_solver_claim(s, 0, &root);
    low = root.min_pages;
    high = root.max_pages > low ? root.max_pages : low;
    switch (pick(12)) {
    case 0:
        return any_pages();
    case 1:
        return low;
    case 2:
        return high;
    case 3:
        return between(0, low);
    default:
        return between(low, high);
    }
}

static void one_step(struct model *m, struct polx_solver *s, uint32_t kind)
{
    uint32_t what = pick(20);

    if (what < 8) {
        come_or_go(m, s, kind);
    } else if (what < 17) {
        claims_change(m, s, kind);
    } else {
        m->available = some_available(s);
        polx_solver_set_available(s, m->available);
    }
}

static void test_histories(void)
{
    uint32_t histories = 6000 / POL_TEST_DIVISOR;
    uint64_t compared = 0;

    start("incremental and from scratch, byte by byte");
    for (uint32_t run = 0; run < histories; run++) {
        struct model m;
        struct host h;
        uint32_t kind = run % 3;

        model_open(&m);
        host_open(&h, VMS, GROUPS);
        for (uint32_t i = 0; i < 30; i++) {
            come_or_go(&m, &h.solver, kind);
        }
        for (uint32_t i = 0; i < 60; i++) {
            one_step(&m, &h.solver, kind);
            if (pick(3) == 0) {
                polx_solver_refresh(&h.solver);
                CU_ASSERT_FATAL(polx_solver_check(&h.solver));
            }
            if (pick(6) == 0) {
                polx_solver_materialise(&h.solver);
                CU_ASSERT_FATAL(polx_solver_check(&h.solver));
                same_as_from_scratch(&m, &h.solver);
                compared++;
            }
        }
        free(h.memory);
    }
    printf("%u histories of 90 steps, %llu states compared ", histories,
           (unsigned long long)compared);
}

/* --- groups against the oracle ---------------------------------------- */

/* A node's claim by the rules of solve.h, from the raw claims alone. */
static struct polx_claim model_claim(const struct model *m, uint32_t node)
{
    struct polx_claim c = m->claim[node];
    uint64_t min = 0, max = 0, active = 0;

    if (node > GROUPS) {
        return c;
    }
    for (uint32_t i = 1; i < nodes; i++) {
        if (m->parent[i] == node) {
            struct polx_claim child = model_claim(m, i);

            min += child.min_pages;
            max += child.max_pages;
            active += child.active_pages < child.max_pages ? child.active_pages
                                                           : child.max_pages;
        }
    }
    if (node == 0) {
        c.max_pages = max;
    }
    c.max_pages = max < c.max_pages ? max : c.max_pages;
    c.min_pages = min > c.min_pages ? min : c.min_pages;
    c.min_pages = c.min_pages < c.max_pages ? c.min_pages : c.max_pages;
    c.active_pages = active;
    return c;
}

/* Every group's children against revocation among them. */
static void compare_group(const struct model *m, const struct polx_solver *s,
                          uint32_t group, uint64_t *farthest)
{
    const uint64_t grains = 16;
    struct polx_claim c[GROUPS + VMS];
    uint32_t who[GROUPS + VMS];
    uint64_t held[GROUPS + VMS], sum_min = 0;
    uint32_t n = 0;

    for (uint32_t i = 1; i < nodes; i++) {
        if (m->parent[i] == group) {
            c[n] = model_claim(m, i);
            sum_min += c[n].min_pages;
            who[n++] = i;
        }
    }
    if (polx_solver_target(s, group) < sum_min) {
        CU_ASSERT_FATAL(polx_solver_is_short(s, group));
        return;
    }
    revoke(c, n, polx_solver_target(s, group), grains, held);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t off =
            distance(polx_solver_target(s, who[i]) * grains, held[i]);

        *farthest = off > *farthest ? off : *farthest;
        CU_ASSERT_FATAL(off <= grains + n);
    }
}

static void test_oracle_tree(void)
{
    uint32_t hosts = 1500 / POL_TEST_DIVISOR;
    uint64_t farthest = 0;

    start("nested groups, grains of 1/16 page");
    for (uint32_t run = 0; run < hosts; run++) {
        struct model m;
        struct host h;

        model_open(&m);
        host_open(&h, VMS, GROUPS);
        for (uint32_t i = 0; i < 14; i++) {
            uint32_t node = i < 4 ? 1 + i : GROUPS + 1 + i;
            uint32_t parent = i < 4 ? pick(i + 1) : pick(5);
            struct polx_claim c = small_claim(i < 4 ? 150 : 40);

            CU_ASSERT_FATAL(polx_solver_attach(&h.solver, node, parent));
            m.parent[node] = parent;
            tell(&m, &h.solver, node, &c);
        }
        m.available = model_claim(&m, 0).max_pages;
        m.available = between(m.available / 4, m.available);
        polx_solver_set_available(&h.solver, m.available);
        polx_solver_materialise(&h.solver);
        CU_ASSERT_FATAL(polx_solver_check(&h.solver));
        for (uint32_t g = 0; g <= 4; g++) {
            compare_group(&m, &h.solver, g, &farthest);
        }
        free(h.memory);
    }
    printf("%u trees, farthest %.2f pages ", hosts, (double)farthest / 16.0);
}

/* --- more is never less ----------------------------------------------- */

static void test_monotonic(void)
{
    uint32_t hosts = 20000 / POL_TEST_DIVISOR;

    start("more shares, activity or memory never mean less");
    for (uint32_t run = 0; run < hosts; run++) {
        struct polx_claim c[MAX_PLAIN];
        uint64_t before[MAX_PLAIN], after[MAX_PLAIN];
        uint64_t pages = any_pages();
        uint32_t n = 2 + pick(MAX_PLAIN - 1);
        uint32_t who = pick(n);
        uint32_t what = pick(3);

        for (uint32_t i = 0; i < n; i++) {
            c[i] = any_claim(run % 3);
        }
        plain_targets(c, n, pages, before);
        if (what == 0) {
            c[who].shares = between(c[who].shares, POLX_MAX_SHARES);
        } else if (what == 1) {
            c[who].active_pages = between(c[who].active_pages, POLX_MAX_PAGES);
        } else {
            pages = between(pages, POLX_MAX_PAGES);
        }
        plain_targets(c, n, pages, after);
        /* One page for the rounding of the running sum. */
        CU_ASSERT_FATAL(after[who] + 1 >= before[who]);
        for (uint32_t i = 0; i < n; i++) {
            CU_ASSERT_FATAL(what == 2 ? after[i] + 1 >= before[i]
                                      : i == who || after[i] <= before[i] + 1);
        }
    }
    printf("%u hosts ", hosts);
}

/* --- as large as it gets ---------------------------------------------- */

static struct polx_claim big_claim(uint32_t flavour)
{
    struct polx_claim c = any_claim(2);

    if (flavour == 0) {
        c = (struct polx_claim){ 0, POLX_MAX_PAGES, POLX_MAX_PAGES,
                                 POLX_MAX_SHARES, 9900 };
    } else if (flavour == 1) {
        c.min_pages = between(0, 1 << 20);
        c.max_pages = c.min_pages + between(0, 1 << 24);
        c.active_pages = between(0, c.max_pages);
        c.shares = 1 + pick(4000);
        c.tax_bp = 7500;
    } else if (flavour == 2) {
        c.min_pages >>= 20;
    }
    return c;
}

static void big_run(uint32_t count, uint32_t flavour)
{
    struct host a, b;

    host_open(&a, count, 3);
    host_open(&b, count, 3);
    for (uint32_t g = 1; g <= 3; g++) {
        struct polx_claim c = { 0, POLX_MAX_PAGES, 0, g, 7500 };

        polx_solver_attach(&a.solver, g, g - 1);
        polx_solver_set(&a.solver, g, &c);
        polx_solver_attach(&b.solver, g, g - 1);
        polx_solver_set(&b.solver, g, &c);
    }
    polx_solver_set_available(&a.solver, between(0, POLX_MAX_PAGES));
    for (uint32_t i = 0; i < count; i++) {
        struct polx_claim c = big_claim(flavour);

        polx_solver_attach(&a.solver, 4 + i, i % 4);
        polx_solver_set(&a.solver, 4 + i, &c);
    }
    for (uint32_t step = 0; step < 6; step++) {
        uint64_t pages =
            step < 5 ? between(0, POLX_MAX_PAGES) >> pick(16) : POLX_MAX_PAGES;

        polx_solver_set_available(&a.solver, pages);
        polx_solver_set_available(&b.solver, pages);
        for (uint32_t i = 0; i < 50; i++) {
            struct polx_claim c = big_claim(flavour);

            polx_solver_set(&a.solver, 4 + pick(count), &c);
        }
        polx_solver_materialise(&a.solver);
        CU_ASSERT_FATAL(polx_solver_check(&a.solver));
    }
    for (uint32_t i = count; i-- > 0;) {
        struct polx_claim c;

        polx_solver_claim(&a.solver, 4 + i, &c);
        polx_solver_attach(&b.solver, 4 + i, i % 4);
        polx_solver_set(&b.solver, 4 + i, &c);
    }
    polx_solver_materialise(&b.solver);
    for (uint32_t i = 0; i < count + 4; i++) {
        CU_ASSERT_EQUAL_FATAL(polx_solver_target(&a.solver, i),
                              polx_solver_target(&b.solver, i));
    }
    free(a.memory);
    free(b.memory);
}

static void test_big(void)
{
    start("2^52 pages, 2^32 shares");
    for (uint32_t flavour = 0; flavour < 4; flavour++) {
        big_run(1000, flavour);
        big_run(100000, flavour);
    }
    printf("up to 100000 VMs, 4 mixtures ");
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        { "oracle, fine grains", test_oracle_fine },
        { "oracle, whole pages", test_oracle_whole_pages },
        { "oracle, nested groups", test_oracle_tree },
        { "histories", test_histories },
        { "monotonic", test_monotonic },
        { "big numbers", test_big },
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
