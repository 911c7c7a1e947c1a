/* SPDX-License-Identifier: BSD-2-Clause */
/* What it costs to hand memory to a VM that starts. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "seg_replay.h"

#define REPEATS    25u
#define SMALL_MIB  1792u
#define OWNER      UINT64_C(1) << 40
#define GUESTS_MAX 4096u

static int less(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Half of the host in VMs of 1792 MiB, every fourth of which has gone again:
 * what a host looks like that has been in use. */
static uint32_t fill(const struct seg_model *model, void *host,
                     uint64_t host_pages, struct seg_held *guests)
{
    struct seg_want want = { .pages = SMALL_MIB * SEG_PAGES_PER_MIB,
                             .max_segments = 1 };
    uint64_t n = host_pages / 2 / want.pages;

    n = n > GUESTS_MAX ? GUESTS_MAX : n;
    for (uint32_t i = 0; i < n; i++) {
        want.owner = i + 1;
        model->prepare(&guests[i], want.pages);
        if (!model->alloc(host, &want, &guests[i])) {
            return i;
        }
    }
    for (uint32_t i = 0; i < n; i += 4) {
        model->free(host, i + 1, &guests[i]);
        seg_held_clear(&guests[i]);
    }
    return (uint32_t)n;
}

static bool once(const struct seg_model *model, void *host, uint64_t pages,
                 uint64_t *room, uint64_t ns[2], struct seg_start *out)
{
    struct seg_want want = { .owner = OWNER,
                             .pages = pages,
                             .max_segments = POL_SEGMENT_MAX_COUNT };
    struct seg_held held = { .blocks = NULL };
    uint64_t t[3];

    model->prepare(&held, pages);
    t[0] = seg_now_ns();
    if (!model->alloc(host, &want, &held)) {
        seg_held_clear(&held);
        return false;
    }
    t[1] = seg_now_ns();
    out->mappings = model->describe(&held, room);
    t[2] = seg_now_ns();
    out->segments = model->segments(&held);
    ns[0] = t[1] - t[0];
    ns[1] = t[2] - t[1];
    model->free(host, want.owner, &held);
    seg_held_clear(&held);
    return true;
}

void seg_measure_start(const struct seg_model *model, uint64_t host_pages,
                       uint64_t pages, struct seg_start *out)
{
    struct seg_held *guests = must_alloc(GUESTS_MAX, sizeof *guests);
    uint64_t *room = must_alloc(pages / 512 + 64, 3 * sizeof *room);
    uint64_t alloc_ns[REPEATS] = { 0 };
    uint64_t describe_ns[REPEATS] = { 0 };
    void *host = model->create(host_pages);
    uint32_t n = fill(model, host, host_pages, guests);
    uint64_t ns[2];

    memset(out, 0, sizeof *out);
    out->pages = pages;
    for (uint32_t i = 0; i < REPEATS; i++) {
        if (!once(model, host, pages, room, ns, out)) {
            break;
        }
        alloc_ns[i] = ns[0];
        describe_ns[i] = ns[1];
    }
    qsort(alloc_ns, REPEATS, sizeof *alloc_ns, less);
    qsort(describe_ns, REPEATS, sizeof *describe_ns, less);
    out->alloc_ns = (double)alloc_ns[REPEATS / 2];
    out->describe_ns = (double)describe_ns[REPEATS / 2];
    for (uint32_t i = 0; i < n; i++) {
        seg_held_clear(&guests[i]);
    }
    model->destroy(host);
    free(guests);
    free(room);
}
