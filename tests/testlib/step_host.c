/* SPDX-License-Identifier: BSD-2-Clause */
#include "step_host.h"

#include <stdlib.h>
#include <string.h>

#include "expect.h"

#define HUGE_NUMBER UINT64_MAX

/* Count a call; is it one that fails? */
static int call(struct step_host *h, enum step_op op)
{
    h->calls++;
    h->by_op[op]++;
    if (h->fail_at != 0 &&
        (h->calls == h->fail_at || (h->for_ever && h->calls > h->fail_at))) {
        return h->error;
    }
    return POL_OK;
}

static uint64_t number(const struct step_host *h, uint64_t sound)
{
    return h->garbage == GARBAGE_HUGE   ? HUGE_NUMBER
           : h->garbage == GARBAGE_ZERO ? 0
                                        : sound;
}

static int read_host(void *host, struct pol_host_obs *o)
{
    struct step_host *h = host;

    o->now_ms = h->now_ms;
    o->total_pages = 100000;
    o->free_pages = h->free_pages;
    o->swap_total_pages = o->swap_free_pages = 50000;
    return call(h, OP_READ_HOST);
}

static int next_vm(void *host, uint64_t *cursor, uint64_t *vm,
                   struct pol_vm_params *p)
{
    struct step_host *h = host;
    int rc = call(h, OP_NEXT_VM);
    uint64_t i;

    if (rc != POL_OK) {
        return rc;
    }
    if (h->garbage == GARBAGE_ENDLESS) {
        *vm = (*cursor)++;
        return POL_OK;
    }
    for (;;) {
        i = h->garbage == GARBAGE_DUPLICATE ? *cursor / 2 : *cursor;
        ++*cursor;
        if (i >= STEP_VMS) {
            return POL_ERR_NOTFOUND;
        }
        if (h->vms[i].there) {
            break;
        }
    }
    *vm = i + 1;
    *p = h->vms[i].params;
    if (h->garbage == GARBAGE_HUGE || h->garbage == GARBAGE_ZERO) {
        memset(p, h->garbage == GARBAGE_HUGE ? 0xff : 0, sizeof(*p));
        p->size = sizeof(*p);
    }
    return POL_OK;
}

static int read_vm(void *host, uint64_t vm, struct pol_vm_obs *o)
{
    struct step_host *h = host;
    size_t size = o->size;
    int rc = call(h, OP_READ_VM);

    if (h->vms[vm - 1].gone_when_read) {
        return POL_ERR_NOTFOUND;
    }
    o->valid = POL_OBS_CONSUMED | POL_OBS_ACTUAL | POL_OBS_TARGET;
    o->lifecycle = POL_LIFE_RUNNING;
    o->driver = POL_DRIVER_PRESENT;
    o->blocked = h->vms[vm - 1].blocked;
    o->consumed_pages = h->vms[vm - 1].consumed;
    o->actual_pages = h->vms[vm - 1].actual;
    o->target_seen_pages = h->vms[vm - 1].record;
    if (h->vms[vm - 1].swapped > 0) {
        o->valid |= POL_OBS_SWAPPED;
        o->swapped_pages = h->vms[vm - 1].swapped;
    }
    if (h->garbage == GARBAGE_HUGE || h->garbage == GARBAGE_ZERO) {
        memset(o, h->garbage == GARBAGE_HUGE ? 0xff : 0, sizeof(*o));
        o->size = size;
    }
    return rc;
}

static int set_balloon(void *host, uint64_t vm, uint64_t pages, uint64_t *done)
{
    struct step_host *h = host;
    int rc = call(h, OP_SET_BALLOON);

    if (rc == POL_OK) {
        h->vms[vm - 1].record = pages;
    }
    *done = number(h, pages);
    return rc;
}

static int swap_out(void *host, uint64_t vm, uint64_t pages, uint64_t *done)
{
    (void)vm;
    *done = number(host, pages);
    return call(host, OP_SWAP_OUT);
}

static int swap_in(void *host, uint64_t vm, uint64_t pages, uint64_t *done)
{
    (void)vm;
    *done = number(host, pages);
    return call(host, OP_SWAP_IN);
}

static int set_blocked(void *host, uint64_t vm, int blocked)
{
    struct step_host *h = host;
    int rc = call(h, OP_SET_BLOCKED);

    if (rc == POL_OK) {
        h->vms[vm - 1].blocked = (uint8_t)blocked;
    }
    return rc;
}

static int set_share_rate(void *host, uint64_t pages_per_s)
{
    (void)pages_per_s;
    return call(host, OP_SET_SHARE_RATE);
}

static int set_hard_cap(void *host, uint64_t vm, uint64_t pages)
{
    (void)vm;
    (void)pages;
    return call(host, OP_SET_HARD_CAP);
}

static int sample_begin(void *host, uint64_t vm, const uint64_t *pages,
                        size_t n)
{
    (void)vm;
    (void)pages;
    (void)n;
    return call(host, OP_SAMPLE_BEGIN);
}

static int sample_read(void *host, uint64_t vm, uint32_t *touched,
                       uint64_t *vm_time_ms)
{
    struct step_host *h = host;

    (void)vm;
    *touched = (uint32_t)number(h, 0);
    *vm_time_ms = number(h, h->now_ms);
    return call(h, OP_SAMPLE_READ);
}

static void on_action(void *host, const struct pol_action *action,
                      uint64_t done_pages, int error)
{
    struct step_host *h = host;

    (void)action;
    (void)done_pages;
    h->told++;
    h->told_errors += error != POL_OK;
}

static const struct pol_host_ops all_ops = {
    .size = sizeof(struct pol_host_ops),
    .name = "step",
    .read_host = read_host,
    .next_vm = next_vm,
    .read_vm = read_vm,
    .set_balloon = set_balloon,
    .swap_out = swap_out,
    .swap_in = swap_in,
    .set_blocked = set_blocked,
    .set_share_rate = set_share_rate,
    .set_hard_cap = set_hard_cap,
    .sample_begin = sample_begin,
    .sample_read = sample_read,
    .on_action = on_action,
};

void step_open(struct step_host *h)
{
    struct pol_config c;
    size_t bytes = 0, i;

    memset(h, 0, sizeof(*h));
    pol_config_init(&c, 8, 2);
    c.max_holds = 2;
    MUST(pol_ctx_size(&c, &bytes));
    h->block = aligned_alloc(64, bytes);
    MUST(pol_ctx_init(h->block, bytes, &c, &h->ctx));
    h->ops = all_ops;
    h->error = POL_ERR_HOST;
    h->now_ms = 1000000;
    h->free_pages = 3000;
    for (i = 0; i < 3; i++) {
        h->vms[i].there = 1;
        pol_vm_params_init(&h->vms[i].params, 30000);
        h->vms[i].consumed = h->vms[i].actual = h->vms[i].record = 30000;
    }
    h->loop.size = sizeof(h->loop);
    h->loop.ops = &h->ops;
    h->loop.host = h;
    h->loop.actions = h->actions;
    h->loop.actions_cap = STEP_ACTIONS;
    h->loop.sample_pages = h->samples;
}

void step_close(struct step_host *h)
{
    free(h->block);
    memset(h, 0, sizeof(*h));
}

int step_once(struct step_host *h)
{
    h->now_ms += 1000;
    return pol_host_step(h->ctx, &h->loop);
}

struct pol_vm_status step_status(const struct step_host *h, uint64_t vm)
{
    struct pol_vm_status s;

    MUST(pol_vm_status(h->ctx, vm, &s));
    return s;
}
