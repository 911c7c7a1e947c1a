/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What page sharing costs beyond hashing and comparing, as key=value lines:
 * nanoseconds per scan step for tables of several sizes, when nothing is
 * equal, when all VMs are alike and when all is shared already; per page that
 * leaves; per page of an accounting; bytes per page. Nothing is judged here:
 * figures depend on the machine.
 *
 * With --check only the smallest table is looked at.
 */
/* for clock_gettime() */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "expect.h"
#include "policy/policy.h"

#define VMS 16u

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t spread(uint64_t z)
{
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* One pass over all pages in the table's own order; every comparison finds
 * equal pages. */
static double pass(struct pol_share *t, uint64_t now_ms, int alike)
{
    struct pol_share_verdict v;
    uint64_t vm, gfn, n;
    uint32_t what;
    double start;

    MUST(pol_share_tick(t, now_ms, POL_MAX_PAGES, NULL));
    start = now_ns();
    for (n = 0; pol_share_next(t, &vm, &gfn) == POL_OK; n++) {
        uint64_t hash = spread(alike ? gfn + 1 : gfn << 8 | (vm + 1));

        MUST(pol_share_scan(t, vm, gfn, hash, &v));
        if (v.what == POL_SHARE_COMPARE_PAGE ||
            v.what == POL_SHARE_COMPARE_FRAME) {
            MUST(pol_share_confirm(t, &v, POL_SHARE_EQUAL, gfn, &what));
        }
    }
    return (now_ns() - start) / (double)n;
}

static double leave(struct pol_share *t, uint64_t size)
{
    struct pol_share_left left;
    uint64_t gfn, n = 0;
    double start = now_ns();

    for (gfn = 0; gfn < size; gfn += 2) {
        MUST(pol_share_break(t, spread(gfn) % VMS, gfn, &left));
        n++;
    }
    return (now_ns() - start) / (double)n;
}

static void bench(uint32_t pages)
{
    struct pol_share_config config;
    struct pol_share *t;
    struct pol_share_stats s;
    size_t bytes;
    void *block;
    uint32_t vm;
    int alike;
    double cost[2], again, account, broken;

    pol_share_config_init(&config, VMS, pages);
    MUST(pol_share_size(&config, &bytes));
    block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (block == NULL) {
        printf("pages=%u skipped=no-memory\n", pages);
        return;
    }
    for (alike = 0; alike < 2; alike++) {
        MUST(pol_share_init(block, bytes, &config, &t));
        for (vm = 0; vm < VMS; vm++) {
            MUST(pol_share_vm_add(t, vm, 0, pages / VMS));
        }
        MUST(pol_share_tick(t, 0, 0, NULL));
        cost[alike] = pass(t, 1000, alike);
    }
    again = pass(t, 2000, 1);
    account = now_ns();
    pol_share_account(t);
    account = (now_ns() - account) / pages;
    broken = leave(t, pages / VMS);
    pol_share_stats(t, &s);
    printf("pages=%u vms=%u scan_unlike_ns=%.1f scan_and_merge_ns=%.1f "
           "scan_shared_ns=%.1f break_ns=%.1f account_ns=%.1f "
           "bytes_per_page=%.1f saved=%" PRIu64 "\n",
           pages, VMS, cost[0], cost[1], again, broken, account,
           (double)bytes / pages, s.saved_pages);
    free(block);
}

int main(int argc, char **argv)
{
    bench(UINT32_C(1) << 16);
    if (argc > 1 && strcmp(argv[1], "--check") == 0) {
        return 0;
    }
    bench(UINT32_C(1) << 19);
    bench(UINT32_C(1) << 22);
    return 0;
}
