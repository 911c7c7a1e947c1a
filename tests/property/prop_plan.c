/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random histories of a small host: VMs come, go, change, lie, get stuck and
 * are meddled with, while plans are carried out well or badly. After every
 * plan the rules of plan_check.h must hold; every history gives the same plans
 * in a second context; and a lying guest takes nothing from the others.
 *
 * Usage: property_plan [seed [histories]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "model_host.h"
#include "plan_check.h"

#ifndef POL_TEST_DIVISOR
#define POL_TEST_DIVISOR 1
#endif

#define HISTORIES 100000u
#define PLANS     12u
#define ACTIONS   128u
#define HOLDS     3u

struct history {
    struct pol_config config;
    struct pol_ctx *ctx;
    struct model_host host;
    uint64_t seed;
    uint64_t ids;
    uint64_t hash; /* of everything the library has said */
    struct pol_action actions[ACTIONS];
    size_t n; /* of the last plan */
};

static _Alignas(64) uint8_t block[32 * 1024];
static _Alignas(64) uint8_t other_block[32 * 1024];
/* What the histories have reached, to show that the rules had work. */
static uint64_t kinds[POL_ACTION_KINDS], states[POL_STATES], plans, stuck;
static uint64_t foreign, distressed, short_plans, lies_compared;

static uint64_t any(struct history *h, uint64_t n)
{
    return model_below(&h->seed, n);
}

/* One in n. */
static int one_in(struct history *h, uint64_t n)
{
    return any(h, n) == 0;
}

static void absorb(struct history *h, const void *data, size_t n)
{
    const uint8_t *p = data;
    size_t i;

    for (i = 0; i < n; i++) {
        h->hash = (h->hash ^ p[i]) * UINT64_C(0x100000001b3);
    }
}

/* Sizes of every magnitude, as the host is. */
static uint64_t some_size(struct history *h)
{
    uint64_t size = h->host.total >> any(h, 6);

    return 1 + any(h, size < 8 ? 8 : size);
}

static struct pol_vm_params some_params(struct history *h)
{
    static const uint32_t taxes[] = { POL_TAX_DEFAULT, 0, 5000, 9900 };
    struct pol_vm_params p;

    pol_vm_params_init(&p, some_size(h));
    p.shares = one_in(h, 8) ? 1 + any(h, POL_MAX_SHARES) : 1 + any(h, 4000);
    if (one_in(h, 4)) {
        p.limit_pages = 1 + any(h, p.size_pages);
    }
    if (one_in(h, 2)) {
        uint64_t top =
            p.limit_pages < p.size_pages ? p.limit_pages : p.size_pages;

        p.reservation_pages = any(h, top + 1) >> any(h, 4);
    }
    p.overhead_pages = p.size_pages >> 7;
    p.granule_pages = one_in(h, 4) ? 1u << any(h, 10) : 1;
    p.tax_bp = taxes[any(h, 4)];
    p.flags = one_in(h, 6) ? (uint32_t)any(h, 8) : 0;
    p.group = one_in(h, 2) ? 0 : any(h, PLAN_GROUPS + 1);
    return p;
}

static void temper(struct history *h, struct model_vm *vm)
{
    uint64_t size = vm->params.size_pages;

    vm->wants = any(h, size + 1);
    vm->active = vm->wants >> any(h, 4);
    vm->speed = one_in(h, 5) ? 0 : (size >> any(h, 6)) + 1;
    vm->offset = one_in(h, 8)
                     ? (int64_t)any(h, (size >> 5) + 1) - (int64_t)(size >> 6)
                     : 0;
    vm->fail_bp = one_in(h, 6) ? (uint32_t)any(h, 10001) : 0;
    vm->lies = one_in(h, 4);
    vm->honest = one_in(h, 2);
    vm->measure = one_in(h, 2);
    vm->driver =
        one_in(h, 3) ? (uint8_t)any(h, POL_DRIVERS) : POL_DRIVER_PRESENT;
    vm->lifecycle =
        one_in(h, 5) ? (uint8_t)any(h, POL_LIFECYCLES) : POL_LIFE_RUNNING;
}

static void add_vm(struct history *h)
{
    size_t i = any(h, MODEL_VMS);
    struct model_vm *vm = &h->host.vms[i];

    if (vm->alive) {
        return;
    }
    memset(vm, 0, sizeof(*vm));
    vm->alive = 1;
    vm->id = ++h->ids;
    vm->params = some_params(h);
    vm->actual = vm->record = vm->params.size_pages;
    temper(h, vm);
    if (vm->params.overhead_pages > model_free(&h->host)) {
        vm->params.overhead_pages = 0;
    }
    MUST(pol_vm_add(h->ctx, vm->id, &vm->params));
}

static void remove_vm(struct history *h)
{
    struct model_vm *vm = &h->host.vms[any(h, MODEL_VMS)];

    if (vm->alive) {
        MUST(pol_vm_remove(h->ctx, vm->id));
        vm->alive = 0;
    }
}

static void change_vm(struct history *h)
{
    struct model_vm *vm = &h->host.vms[any(h, MODEL_VMS)];
    struct pol_vm_params p = some_params(h);

    if (!vm->alive) {
        return;
    }
    /* Sizes and overheads stay: hotplug has tests of its own. */
    p.size_pages = vm->params.size_pages;
    p.overhead_pages = vm->params.overhead_pages;
    if (p.limit_pages > p.size_pages) {
        p.limit_pages = POL_NO_LIMIT;
    }
    if (pol_vm_params_check(&p, NULL) == POL_OK) {
        MUST(pol_vm_set(h->ctx, vm->id, &p));
        vm->params = p;
    }
    temper(h, vm);
}

static void meddle(struct history *h)
{
    struct model_vm *vm = &h->host.vms[any(h, MODEL_VMS)];

    if (vm->alive && one_in(h, 2)) {
        vm->record = any(h, vm->params.size_pages + 1);
    } else if (vm->alive) {
        MUST(pol_vm_release(h->ctx, vm->id));
    }
}

/* Errors are as good as success here. */
static void use_hold(struct history *h)
{
    uint64_t hold = any(h, HOLDS), owner = any(h, 2), deadline;
    struct model_vm *vm = &h->host.vms[any(h, MODEL_VMS)];
    int rc;

    switch (any(h, 3)) {
    case 0:
        deadline = h->host.now_ms + any(h, 20000);
        rc = pol_hold_add(h->ctx, hold, owner, some_size(h), deadline,
                          (uint32_t)any(h, 2));
        break;
    case 1:
        rc = pol_hold_take(h->ctx, hold, owner, vm->id);
        break;
    default:
        rc = pol_hold_release(h->ctx, hold, owner);
        break;
    }
    absorb(h, &rc, sizeof(rc));
}

static void change_group(struct history *h)
{
    uint64_t id = 1 + any(h, PLAN_GROUPS);
    struct pol_group_params g;

    MUST(pol_group_get(h->ctx, id, &g));
    g.shares = 1 + any(h, 4000);
    g.limit_pages = one_in(h, 2) ? POL_NO_LIMIT : 1 + any(h, h->host.total);
    g.reservation_pages = one_in(h, 2) ? 0 : any(h, h->host.total / 4 + 1);
    g.tax_bp = one_in(h, 2) ? POL_TAX_DEFAULT : (uint32_t)any(h, 9901);
    if (pol_group_params_check(&g, NULL) == POL_OK) {
        MUST(pol_group_set(h->ctx, id, &g));
    }
}

/* The host's own use changes so that 0 to 10 % are free, if it can. */
static void press(struct history *h)
{
    uint64_t want = h->host.total / 1000 * any(h, 100);
    uint64_t other = h->host.own + model_free(&h->host);

    h->host.own = other > want ? other - want : 0;
}

static void happen(struct history *h)
{
    switch (any(h, 12)) {
    case 0:
    case 1:
        add_vm(h);
        break;
    case 2:
        remove_vm(h);
        break;
    case 3:
    case 4:
        change_vm(h);
        break;
    case 5:
        meddle(h);
        break;
    case 6:
        use_hold(h);
        break;
    case 7:
        change_group(h);
        break;
    case 8:
    case 9:
        press(h);
        break;
    default:
        break;
    }
}

static void begin(struct history *h, uint64_t seed, uint8_t *memory)
{
    struct pol_group_params g;
    uint64_t i;
    size_t bytes = 0;

    memset(h, 0, sizeof(*h));
    h->seed = seed;
    h->host.seed = seed ^ 1;
    h->hash = UINT64_C(0xcbf29ce484222325);
    pol_config_init(&h->config, MODEL_VMS, PLAN_GROUPS);
    h->config.max_holds = HOLDS;
    MUST(pol_config_preset(&h->config, (int)any(h, POL_PRESETS)));
    h->config.idle_tax_bp = (uint32_t)any(h, 9901);
    h->config.balloon_cap_bp = one_in(h, 4) ? 10000 : 6500;
    h->config.balloon_step_bp = 1 + (uint32_t)any(h, 10000);
    h->config.promise_ms = one_in(h, 4) ? 0 : 5000;
    h->config.stuck_ms = 3000;
    h->config.retry_ms = 3000;
    h->config.block_max_ms = 2000;
    MUST(pol_ctx_size(&h->config, &bytes));
    if (bytes > sizeof(block)) {
        abort();
    }
    MUST(pol_ctx_init(memory, bytes, &h->config, &h->ctx));
    h->host.total = UINT64_C(1) << (one_in(h, 8) ? 52 : 8 + any(h, 20));
    h->host.own = h->host.total / 16;
    h->host.swap_total = h->host.total >> any(h, 4);
    h->host.caps =
        one_in(h, 2) ? POL_CAPS_ALL : (uint32_t)any(h, POL_CAPS_ALL + 1);
    for (i = 1; i <= PLAN_GROUPS; i++) {
        pol_group_params_init(&g);
        g.parent = i == 3 ? 1 : 0;
        MUST(pol_group_add(h->ctx, i, &g));
    }
    for (i = 0; i < MODEL_VMS; i++) {
        add_vm(h);
    }
}

static void count(const struct history *h, const struct plan_seen *p)
{
    size_t i;

    plans++;
    states[p->status.state]++;
    short_plans += p->status.short_of_reservations;
    for (i = 0; i < p->n; i++) {
        kinds[p->actions[i].kind]++;
    }
    for (i = 0; i < MODEL_VMS; i++) {
        if (h->host.vms[i].alive) {
            stuck += p->after[i].stuck;
            foreign += p->after[i].foreign;
            distressed += p->after[i].distress;
        }
    }
}

static const char *one_plan(struct history *h, int checked)
{
    struct plan_seen p;
    const char *wrong = NULL;
    size_t i;

    model_run(&h->host, 200 + any(h, 3000));
    model_observe(&h->host, h->ctx);
    plan_before(&p, &h->host, h->ctx);
    MUST(pol_plan(h->ctx, h->actions, ACTIONS, &h->n));
    if (checked) {
        wrong = plan_check(&p, h->actions, h->n);
        count(h, &p);
    }
    absorb(h, h->actions, h->n * sizeof(h->actions[0]));
    for (i = 0; i < MODEL_VMS; i++) {
        struct pol_vm_status s;

        if (h->host.vms[i].alive) {
            MUST(pol_vm_status(h->ctx, h->host.vms[i].id, &s));
            absorb(h, &s, sizeof(s));
        }
    }
    if (wrong == NULL) {
        model_act(&h->host, h->ctx, h->actions, h->n);
    }
    return wrong;
}

/* The targets in a new context of VMs that are as they are now, with what
 * liars say, or with nothing known about them. */
static void fresh_targets(struct history *h, int silent, uint64_t *targets)
{
    struct model_host copy = h->host;
    struct pol_host_obs host = model_host_obs(&copy);
    struct pol_ctx *ctx;
    struct pol_group_params g;
    size_t i, n, bytes = 0;

    MUST(pol_ctx_size(&h->config, &bytes));
    MUST(pol_ctx_init(other_block, bytes, &h->config, &ctx));
    for (i = 1; i <= PLAN_GROUPS; i++) {
        MUST(pol_group_get(h->ctx, i, &g));
        MUST(pol_group_add(ctx, i, &g));
    }
    MUST(pol_observe_host(ctx, &host));
    for (i = 0; i < MODEL_VMS; i++) {
        struct model_vm *vm = &copy.vms[i];
        struct pol_vm_obs o = model_obs(&copy, vm);

        if (!vm->alive) {
            continue;
        }
        if (vm->lies && silent) {
            o.valid &= POL_OBS_MEASURED - 1u;
        }
        MUST(pol_vm_add(ctx, vm->id, &vm->params));
        MUST(pol_observe_vm(ctx, vm->id, &o));
    }
    MUST(pol_plan(ctx, h->actions, ACTIONS, &n));
    for (i = 0; i < MODEL_VMS; i++) {
        struct pol_vm_status s;

        if (copy.vms[i].alive) {
            MUST(pol_vm_status(ctx, copy.vms[i].id, &s));
            targets[i] = s.target_pages;
        }
    }
}

/* The child of the root that a VM is in; 0: it is one itself. */
static uint64_t top_group(const struct model_vm *vm)
{
    return vm->params.group == 3 ? 1 : vm->params.group;
}

/* A group stands before others with what its members use together, so a
 * member that feigns idleness makes its own group smaller. That is no matter
 * between groups. */
static int beside_liar(const struct history *h, const struct model_vm *vm)
{
    size_t i;

    for (i = 0; i < MODEL_VMS; i++) {
        const struct model_vm *other = &h->host.vms[i];

        if (other->alive && other->lies && top_group(vm) != 0 &&
            top_group(other) == top_group(vm)) {
            return 1;
        }
    }
    return 0;
}

static const char *lies_gain_nothing(struct history *h)
{
    uint64_t with_lies[MODEL_VMS], all_active[MODEL_VMS];
    size_t i;

    fresh_targets(h, 0, with_lies);
    fresh_targets(h, 1, all_active);
    for (i = 0; i < MODEL_VMS; i++) {
        /* a page of rounding on each of three levels */
        if (h->host.vms[i].alive && !h->host.vms[i].lies &&
            !beside_liar(h, &h->host.vms[i])) {
            lies_compared++;
            if (with_lies[i] + 3 < all_active[i]) {
                printf("vm %" PRIu64 ": %" PRIu64 " beside a liar, %" PRIu64
                       " beside an active VM\n",
                       h->host.vms[i].id, with_lies[i], all_active[i]);
                return "a liar takes no more than if all of it were active";
            }
        }
    }
    return NULL;
}

/* The last plan of a history that broke a rule. */
static void show(const struct history *h)
{
    size_t i;

    printf("  total %" PRIu64 ", free %" PRIu64 ", caps %x\n", h->host.total,
           model_free(&h->host), h->host.caps);
    for (i = 0; i < h->n; i++) {
        const struct pol_action *a = &h->actions[i];

        printf("  vm %" PRIu64 ": %s %" PRIu64 " (%s)\n", a->vm,
               pol_action_name((int)a->kind), a->pages,
               pol_reason_name((int)a->reason));
    }
    for (i = 0; i < MODEL_VMS; i++) {
        const struct model_vm *vm = &h->host.vms[i];
        struct pol_vm_status s;

        if (vm->alive && pol_vm_status(h->ctx, vm->id, &s) == POL_OK) {
            printf("  vm %" PRIu64 ": %s, driver %s, size %" PRIu64
                   ", target %" PRIu64 " in %" PRIu64 "..%" PRIu64
                   ", reservation %" PRIu64 ", consumed %" PRIu64
                   ", actual %" PRIu64 ", asked %" PRIu64 "%s%s%s%s%s\n",
                   vm->id, pol_lifecycle_name(s.lifecycle),
                   pol_driver_name(s.driver), vm->params.size_pages,
                   s.target_pages, s.min_pages, s.max_pages,
                   vm->params.reservation_pages, s.consumed_pages,
                   s.actual_pages, s.asked_pages, s.stuck ? " stuck" : "",
                   s.foreign ? " foreign" : "", s.blocked ? " blocked" : "",
                   s.distress ? " distress" : "", vm->lies ? " lies" : "");
        }
    }
}

static const char *run(struct history *h, uint64_t seed, uint8_t *memory,
                       int checked, uint32_t *at)
{
    const char *wrong = NULL;

    begin(h, seed, memory);
    for (*at = 0; *at < PLANS && wrong == NULL; ++*at) {
        happen(h);
        happen(h);
        wrong = one_plan(h, checked);
    }
    return wrong;
}

static void report(uint64_t seed, uint32_t histories)
{
    int i;

    printf("seed=%" PRIu64 " histories=%u plans=%" PRIu64 "\n", seed, histories,
           plans);
    for (i = 0; i < POL_STATES; i++) {
        printf("  state %-5s %" PRIu64 "\n", pol_state_name(i), states[i]);
    }
    for (i = 1; i < POL_ACTION_KINDS; i++) {
        printf("  %-10s %" PRIu64 "\n", pol_action_name(i), kinds[i]);
    }
    printf("  VMs stuck %" PRIu64 ", foreign %" PRIu64 ", in distress %" PRIu64
           "; short plans %" PRIu64 "; beside liars %" PRIu64 "\n",
           stuck, foreign, distressed, short_plans, lies_compared);
}

static int one_history(uint64_t seed, uint32_t number)
{
    static struct history h, again;
    uint64_t mixed = seed + number;
    uint32_t at = 0;
    const char *wrong = run(&h, model_random(&mixed), block, 1, &at);

    if (wrong == NULL && number % 4 == 0) {
        mixed = seed + number;
        memset(other_block, (int)number & 0xff, sizeof(other_block));
        (void)run(&again, model_random(&mixed), other_block, 0, &at);
        wrong = again.hash == h.hash ? NULL : "the same plans a second time";
    }
    if (wrong == NULL) {
        wrong = lies_gain_nothing(&h);
    }
    if (wrong != NULL) {
        printf("FAILED seed=%" PRIu64 " history=%u plan=%u: broken: %s\n", seed,
               number, at, wrong);
        show(&h);
    }
    return wrong != NULL;
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 20260301;
    uint32_t histories =
        argc > 2 ? (uint32_t)atol(argv[2]) : HISTORIES / POL_TEST_DIVISOR;
    uint32_t i, failed = 0;

    for (i = 0; i < histories && failed < 10; i++) {
        failed += (uint32_t)one_history(seed, i);
    }
    report(seed, i);
    printf("%s: bounds, sums, floors and permissions after each plan; the same "
           "plans twice; lies gain nothing\n",
           failed == 0 ? "ok" : "FAILED");
    return failed != 0;
}
