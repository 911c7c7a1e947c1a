/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The policies that libpolicy is compared with, by the vectors of their own
 * projects where there are some, on a host of 1 MiB pages whose balloons obey
 * at once.
 */
#include <string.h>

#include "comparator.h"
#include "expect.h"

#define VMS_MAX 4

struct toy_vm {
    uint64_t id;
    uint64_t shares, min, size;
    uint64_t actual, used; /* the rest of actual is free in the guest */
    uint64_t cache;        /* of used; goes first when the balloon grows */
    uint64_t target;       /* of the balloon, 0: none yet */
    int no_stats;
    int stuck;
};

struct toy_host {
    uint64_t total, own;
    struct toy_vm vms[VMS_MAX];
    size_t n;
    int unreadable;
    int endless;
    uint64_t lie; /* added to what guests say is free */
    unsigned set; /* balloons set */
};

static uint64_t toy_free(const struct toy_host *h)
{
    uint64_t used = h->own;

    for (size_t i = 0; i < h->n; i++) {
        used += h->vms[i].actual;
    }
    return used < h->total ? h->total - used : 0;
}

static int read_host(void *host, struct pol_host_obs *obs)
{
    struct toy_host *h = host;

    obs->total_pages = h->total;
    obs->free_pages = toy_free(h);
    return h->unreadable ? POL_ERR_HOST : POL_OK;
}

static int next_vm(void *host, uint64_t *cursor, uint64_t *vm,
                   struct pol_vm_params *params)
{
    struct toy_host *h = host;
    const struct toy_vm *v;

    if (*cursor >= h->n && !h->endless) {
        return POL_ERR_NOTFOUND;
    }
    v = &h->vms[*cursor % h->n];
    ++*cursor;
    *vm = v->id;
    pol_vm_params_init(params, v->size);
    params->shares = v->shares;
    params->reservation_pages = v->min;
    return POL_OK;
}

static struct toy_vm *toy_find(struct toy_host *h, uint64_t id)
{
    for (size_t i = 0; i < h->n; i++) {
        if (h->vms[i].id == id) {
            return &h->vms[i];
        }
    }
    return NULL;
}

static int read_vm(void *host, uint64_t vm, struct pol_vm_obs *obs)
{
    struct toy_host *h = host;
    const struct toy_vm *v = toy_find(h, vm);
    uint64_t guest_free = v->actual > v->used ? v->actual - v->used : 0;

    obs->lifecycle = POL_LIFE_RUNNING;
    obs->driver = POL_DRIVER_PRESENT;
    obs->valid = POL_OBS_ACTUAL | POL_OBS_CONSUMED;
    obs->actual_pages = v->actual;
    obs->consumed_pages = v->actual;
    if (v->target != 0) {
        obs->valid |= POL_OBS_TARGET;
        obs->target_seen_pages = v->target;
    }
    if (!v->no_stats) {
        obs->valid |=
            POL_OBS_GUEST_FREE | POL_OBS_GUEST_AVAILABLE | POL_OBS_GUEST_TOTAL;
        obs->guest_free_pages = guest_free + h->lie;
        obs->guest_available_pages = guest_free + v->cache + h->lie;
        obs->guest_total_pages = v->actual;
    }
    return POL_OK;
}

static int set_balloon(void *host, uint64_t vm, uint64_t actual, uint64_t *done)
{
    struct toy_host *h = host;
    struct toy_vm *v = toy_find(h, vm);

    h->set++;
    v->target = actual;
    if (!v->stuck) {
        v->actual = actual;
    }
    if (v->cache > 0 && v->used > v->actual) {
        uint64_t gone = v->used - v->actual;

        gone = gone < v->cache ? gone : v->cache;
        v->cache -= gone;
        v->used -= gone;
    }
    *done = actual;
    return POL_OK;
}

static const struct pol_host_ops ops = {
    .size = sizeof(struct pol_host_ops),
    .name = "toy",
    .read_host = read_host,
    .next_vm = next_vm,
    .read_vm = read_vm,
    .set_balloon = set_balloon,
};

static struct comparator *make(int kind)
{
    struct cmp_config config;
    struct comparator *cmp = NULL;

    cmp_config_init(&config);
    config.page_bytes = 1u << 20;
    MUST(cmp_new(kind, &config, &cmp));
    return cmp;
}

/* So many seconds, once a second from `from` on. */
static void run(struct comparator *cmp, struct toy_host *h, uint64_t from,
                unsigned seconds)
{
    for (unsigned i = 0; i < seconds; i++) {
        MUST(cmp_step(cmp, &ops, h, (from + i) * 1000));
    }
}

/* ---- Proxmox ----------------------------------------------------------- */

/* Two VMs of 2000 and 1000 shares, at their minimum of 1000 of 2000; nothing
 * is free in them at first. The goal is set by the host's size. */
static void proxmox_two(struct toy_host *h, int goal)
{
    static const struct toy_vm vms[2] = {
        { .id = 100,
          .shares = 2000,
          .min = 1000,
          .size = 2000,
          .actual = 1000,
          .used = 1000 },
        { .id = 101,
          .shares = 1000,
          .min = 1000,
          .size = 2000,
          .actual = 1000,
          .used = 1000 },
    };

    memset(h, 0, sizeof(*h));
    memcpy(h->vms, vms, sizeof(vms));
    h->n = 2;
    h->total = 10000;
    h->own = (uint64_t)(8000 - 2000 - goal);
}

static void proxmox_one_round(void)
{
    static const struct {
        const char *row;
        int goal;
        uint64_t a, b;
    } table[] = {
        { "nothing to do", 0, 1000, 1000 },
        { "too small", 10, 1000, 1000 },
        { "by shares", 90, 1060, 1030 },
        { "by shares, to the step", 150, 1100, 1050 },
        { "one at its step", 270, 1100, 1090 },
        { "both at their step", 600, 1100, 1100 },
    };

    for (size_t i = 0; i < ROWS(table); i++) {
        struct comparator *cmp = make(CMP_PROXMOX);
        struct toy_host h;

        proxmox_two(&h, table[i].goal);
        run(cmp, &h, 0, 1);
        EXPECT(table[i].row, h.vms[0].actual, table[i].a);
        EXPECT(table[i].row, h.vms[1].actual, table[i].b);
        cmp_free(cmp);
    }
}

/* The end depends on the steps: a VM with a quarter of its minimum free is no
 * longer first, so the other one gets what its shares would not give it. */
static void proxmox_to_the_end(void)
{
    static const struct {
        const char *row;
        int goal;
        uint64_t a, b;
    } table[] = {
        { "+180", 180, 1120, 1060 },
        { "+270", 270, 1180, 1090 },
        { "+600 over shares 2:1", 600, 1300, 1300 },
        { "+900 over shares 2:1", 900, 1600, 1300 },
    };

    for (size_t i = 0; i < ROWS(table); i++) {
        struct comparator *cmp = make(CMP_PROXMOX);
        struct toy_host h;

        proxmox_two(&h, table[i].goal);
        run(cmp, &h, 0, 120);
        EXPECT(table[i].row, h.vms[0].actual, table[i].a);
        EXPECT(table[i].row, h.vms[1].actual, table[i].b);
        cmp_free(cmp);
    }
}

static void proxmox_shrinks(void)
{
    struct comparator *cmp = make(CMP_PROXMOX);
    struct toy_host h;

    proxmox_two(&h, 0);
    h.vms[0].actual = 1300; /* 300 free: comfortable */
    h.vms[1].actual = 1100; /* 100 free: short */
    run(cmp, &h, 0, 1);
    EXPECT("from the comfortable one", h.vms[0].actual, 1200);
    EXPECT("not from the other", h.vms[1].actual, 1100);
    cmp_free(cmp);
}

/* ---- MOM --------------------------------------------------------------- */

static void mom_round(void)
{
    static const struct {
        const char *row;
        uint64_t host_free, actual, used, min, want;
    } table[] = {
        { "plenty free: grows by 5 %", 2500, 1000, 500, 250, 1050 },
        { "plenty free: at least 20 % for the guest", 2500, 1000, 900, 250,
          1100 },
        { "pressure: shrinks by 5 %", 1000, 1000, 500, 250, 950 },
        { "pressure: leaves 10 % free at half the threshold", 1000, 1000, 880,
          250, 980 },
        { "pressure: uses all, stays", 1000, 1000, 1000, 250, 1000 },
        { "critical: 2 % below what is used", 300, 1000, 990, 250, 970 },
        { "not below its minimum", 1000, 1000, 500, 990, 990 },
        { "too small a change", 1000, 1000, 500, 998, 1000 },
    };

    for (size_t i = 0; i < ROWS(table); i++) {
        struct comparator *cmp = make(CMP_MOM);
        struct toy_host h = { .total = 10000, .n = 1 };

        h.vms[0] = (struct toy_vm){ .id = 1,
                                    .shares = 1,
                                    .size = 2000,
                                    .min = table[i].min,
                                    .actual = table[i].actual,
                                    .used = table[i].used };
        h.own = h.total - table[i].actual - table[i].host_free;
        run(cmp, &h, 0, 10);
        EXPECT(table[i].row, h.vms[0].actual, table[i].want);
        cmp_free(cmp);
    }
}

static void mom_without_statistics(void)
{
    struct comparator *cmp = make(CMP_MOM);
    struct toy_host h = { .total = 10000, .own = 9000, .n = 1 };

    h.vms[0] = (struct toy_vm){ .id = 1,
                                .shares = 1,
                                .size = 2000,
                                .actual = 1000,
                                .used = 100,
                                .no_stats = 1 };
    run(cmp, &h, 0, 60);
    EXPECT("left alone", h.vms[0].actual, 1000);
    cmp_free(cmp);
}

/* ---- squeezed ---------------------------------------------------------- */

static void squeezed_hosts(struct toy_host *h)
{
    static const struct toy_vm vms[2] = {
        { .id = 1, .shares = 1, .min = 1000, .size = 2000, .actual = 1700 },
        { .id = 2, .shares = 1, .min = 500, .size = 1000, .actual = 500 },
    };

    memset(h, 0, sizeof(*h));
    memcpy(h->vms, vms, sizeof(vms));
    h->n = 2;
    /* Half of both ranges, 9 MiB of slack, and 2 not counted on. */
    h->total = 1500 + 750 + 9 + 2;
}

static void squeezed_same_part(void)
{
    struct comparator *cmp = make(CMP_SQUEEZED);
    struct toy_host h;

    squeezed_hosts(&h);
    run(cmp, &h, 0, 1);
    EXPECT("first phase: half of its range", h.vms[0].actual, 1500);
    EXPECT("first phase: only giving", h.vms[1].actual, 500);
    run(cmp, &h, 1, 1);
    EXPECT("second phase: half of its range", h.vms[1].actual, 750);
    run(cmp, &h, 2, 60);
    EXPECT_TRUE("settles", h.set <= 6);
    cmp_free(cmp);
}

/* The third VM as the first, but the first does not move. */
static void squeezed_stuck(void)
{
    struct comparator *cmp = make(CMP_SQUEEZED);
    struct toy_host h;

    squeezed_hosts(&h);
    h.n = 3;
    h.vms[2] = h.vms[0];
    h.vms[2].id = 3;
    h.vms[0].stuck = 1;
    h.total = 1700 + 500 + 1700 + 50 + 9;
    run(cmp, &h, 0, 5);
    EXPECT("1446 of all ranges, 2500", h.vms[0].target, 1578);
    EXPECT("the same part", h.vms[2].actual, 1578);
    EXPECT("waits for the stuck one", h.vms[1].actual, 500);
    run(cmp, &h, 5, 4);
    EXPECT_TRUE("goes on without it: half of a range of 1000",
                h.vms[2].actual >= 1495 && h.vms[2].actual <= 1500);
    EXPECT_TRUE("and of 500", h.vms[1].actual >= 745 && h.vms[1].actual <= 750);
    cmp_free(cmp);
}

/* ---- qmemman ----------------------------------------------------------- */

static void qmemman_hosts(struct toy_host *h)
{
    static const struct toy_vm vms[3] = {
        { .id = 1,
          .shares = 1,
          .min = 1,
          .size = 4000,
          .actual = 1800,
          .used = 1000 }, /* prefers 1300 */
        { .id = 2,
          .shares = 1,
          .min = 1,
          .size = 4000,
          .actual = 2000,
          .used = 3000,
          .cache = 0 }, /* prefers 2600 */
        { .id = 3,
          .shares = 1,
          .min = 1,
          .size = 4000,
          .actual = 700,
          .used = 100,
          .no_stats = 1 },
    };

    memset(h, 0, sizeof(*h));
    memcpy(h->vms, vms, sizeof(vms));
    h->n = 3;
}

static void qmemman_shortage(void)
{
    struct comparator *cmp = make(CMP_QMEMMAN);
    struct toy_host h;

    qmemman_hosts(&h);
    h.total = 4500 + 50; /* 50 MiB stay free */
    run(cmp, &h, 0, 5);
    EXPECT("donor at what it prefers", h.vms[0].actual, 1300);
    EXPECT_TRUE("acceptor gets the rest but a thousandth",
                h.vms[1].actual >= 2490 && h.vms[1].actual <= 2505);
    EXPECT("without statistics: as it was", h.vms[2].actual, 700);
    cmp_free(cmp);
}

static void qmemman_plenty(void)
{
    struct comparator *cmp = make(CMP_QMEMMAN);
    struct toy_host h;

    qmemman_hosts(&h);
    h.vms[1].actual = 1800;
    h.vms[1].used = 500; /* prefers 650 */
    h.total = 700 + 50 + 3900;
    run(cmp, &h, 0, 20);
    EXPECT_TRUE("two thirds",
                h.vms[0].actual >= 2590 && h.vms[0].actual <= 2600);
    EXPECT_TRUE("one third",
                h.vms[1].actual >= 1295 && h.vms[1].actual <= 1300);
    h.set = 0;
    h.vms[0].used += 40;
    run(cmp, &h, 20, 20);
    EXPECT("too small a change", h.set, 0);
    cmp_free(cmp);
}

static void qmemman_caches_are_free(void)
{
    struct comparator *cmp = make(CMP_QMEMMAN);
    struct toy_host h;

    qmemman_hosts(&h);
    h.vms[0].used = 1800;
    h.vms[0].cache = 800;
    h.total = 4500 + 50;
    run(cmp, &h, 0, 5);
    EXPECT("donor in spite of its cache", h.vms[0].actual, 1300);
    cmp_free(cmp);
}

/* ---- All --------------------------------------------------------------- */

static void names(void)
{
    for (int i = 0; i < CMP_KINDS; i++) {
        EXPECT(cmp_name(i), cmp_find(cmp_name(i)), i);
    }
    EXPECT("unknown", cmp_find("libpolicy"), -1);
    EXPECT_TEXT("unknown", cmp_name(CMP_KINDS), "?");
}

static void refused(void)
{
    struct comparator *cmp = NULL;
    struct cmp_config config;

    cmp_config_init(&config);
    EXPECT("kind", cmp_new(CMP_KINDS, &config, &cmp), POL_ERR_INVALID);
    config.page_bytes = 5000;
    EXPECT("page", cmp_new(CMP_MOM, &config, &cmp), POL_ERR_RANGE);
    cmp_config_init(&config);
    config.dynamic_min_bp = 0;
    EXPECT("minimum", cmp_new(CMP_MOM, &config, &cmp), POL_ERR_RANGE);
}

static void hostile_hosts(void)
{
    for (int kind = 0; kind < CMP_KINDS; kind++) {
        struct comparator *cmp = make(kind);
        struct toy_host h;
        int bad = kind == CMP_NONE ? POL_OK : POL_ERR_HOST;

        qmemman_hosts(&h);
        h.total = 5000;
        h.unreadable = 1;
        EXPECT(cmp_name(kind), cmp_step(cmp, &ops, &h, 0), bad);
        h.unreadable = 0;
        h.endless = 1;
        EXPECT(cmp_name(kind), cmp_step(cmp, &ops, &h, 0), bad);
        h.endless = 0;
        h.vms[2].id = 1; /* listed twice */
        h.lie = UINT64_MAX / 2;
        h.vms[1].size = UINT64_MAX;
        h.vms[1].shares = UINT64_MAX;
        for (unsigned i = 1; i < 60; i++) {
            EXPECT(cmp_name(kind), cmp_step(cmp, &ops, &h, i * 1000), POL_OK);
        }
        h.n = 0; /* all gone */
        EXPECT(cmp_name(kind), cmp_step(cmp, &ops, &h, 100000), POL_OK);
        cmp_free(cmp);
    }
}

static void none_does_nothing(void)
{
    struct comparator *cmp = make(CMP_NONE);
    struct toy_host h;

    qmemman_hosts(&h);
    run(cmp, &h, 0, 100);
    EXPECT("nothing set", h.set, 0);
    cmp_free(cmp);
}

static const struct test_case cases[] = {
    { "Proxmox: one round", proxmox_one_round },
    { "Proxmox: where it ends", proxmox_to_the_end },
    { "Proxmox: who gives first", proxmox_shrinks },
    { "MOM: one decision", mom_round },
    { "MOM: guests without statistics", mom_without_statistics },
    { "squeezed: the same part of every range", squeezed_same_part },
    { "squeezed: a stuck balloon", squeezed_stuck },
    { "qmemman: not enough for everybody", qmemman_shortage },
    { "qmemman: enough for everybody", qmemman_plenty },
    { "qmemman: caches can be given", qmemman_caches_are_free },
    { "names", names },
    { "what cannot be made", refused },
    { "hosts and guests that lie", hostile_hosts },
    { "none does nothing", none_does_nothing },
};

EXPECT_MAIN("comparators", cases)
