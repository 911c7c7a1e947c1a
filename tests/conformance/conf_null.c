/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The smallest adapter there can be: two VMs that exist in this file only,
 * with balloons that obey at once and nothing else. It passes the suite, and
 * is what a new adapter may start from.
 */
#include <stdlib.h>

#include "adapter_suite.h"

#define SIZE_PAGES  1000u
#define TOTAL_PAGES 3000u

struct null_host {
    uint64_t now_ms;
    uint64_t target[2];
    uint64_t actual[2];
};

static int null_read_host(void *host, struct pol_host_obs *obs)
{
    const struct null_host *h = host;

    obs->now_ms = h->now_ms;
    obs->total_pages = TOTAL_PAGES;
    obs->free_pages = TOTAL_PAGES - h->actual[0] - h->actual[1];
    return POL_OK;
}

static int null_next_vm(void *host, uint64_t *cursor, uint64_t *vm,
                        struct pol_vm_params *params)
{
    (void)host;
    if (*cursor == 2) {
        return POL_ERR_NOTFOUND;
    }
    *vm = ++*cursor;
    pol_vm_params_init(params, SIZE_PAGES);
    return POL_OK;
}

static int null_read_vm(void *host, uint64_t vm, struct pol_vm_obs *obs)
{
    const struct null_host *h = host;

    if (vm < 1 || vm > 2) {
        return POL_ERR_NOTFOUND;
    }
    obs->lifecycle = POL_LIFE_RUNNING;
    obs->driver = POL_DRIVER_PRESENT;
    obs->valid = POL_OBS_CONSUMED | POL_OBS_ACTUAL | POL_OBS_TARGET;
    obs->consumed_pages = h->actual[vm - 1];
    obs->actual_pages = h->actual[vm - 1];
    obs->target_seen_pages = h->target[vm - 1];
    return POL_OK;
}

static int null_set_balloon(void *host, uint64_t vm, uint64_t actual_pages,
                            uint64_t *done)
{
    struct null_host *h = host;

    if (vm < 1 || vm > 2) {
        return POL_ERR_NOTFOUND;
    }
    h->target[vm - 1] = actual_pages < SIZE_PAGES ? actual_pages : SIZE_PAGES;
    *done = h->target[vm - 1];
    return POL_OK;
}

static const struct pol_host_ops null_ops = {
    .size = sizeof(struct pol_host_ops),
    .name = "null",
    .read_host = null_read_host,
    .next_vm = null_next_vm,
    .read_vm = null_read_vm,
    .set_balloon = null_set_balloon,
};

static void *make(void)
{
    struct null_host *h = calloc(1, sizeof(*h));

    if (h != NULL) {
        h->target[0] = h->target[1] = SIZE_PAGES;
        h->actual[0] = h->actual[1] = SIZE_PAGES;
    }
    return h;
}

static void advance(void *host, uint64_t ms)
{
    struct null_host *h = host;

    h->now_ms += ms;
    h->actual[0] = h->target[0];
    h->actual[1] = h->target[1];
}

int main(void)
{
    static const struct conf_subject subject = {
        .name = "null",
        .ops = &null_ops,
        .make = make,
        .advance = advance,
        .destroy = free,
        .page_bytes = 4096,
        .settle_ms = 1000,
    };

    return conf_run(&subject);
}
