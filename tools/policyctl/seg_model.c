/* SPDX-License-Identifier: BSD-2-Clause */
/* The library as a model, and what models with whole pieces share. */
#include "seg_model.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

/* VMs of a host, and holes between them, each up to a few pieces: enough for
 * 256 MiB each. The block is not touched before it is needed. */
#define PAGES_PER_EXTENT UINT64_C(65536)

void seg_held_clear(struct seg_held *held)
{
    free(held->blocks);
    if (held->pieces != held->few) {
        free(held->pieces);
    }
    memset(held, 0, sizeof *held);
}

void seg_no_prepare(struct seg_held *held, uint64_t pages)
{
    (void)pages;
    held->pieces = held->few;
}

uint32_t seg_pieces_n(const struct seg_held *held)
{
    return held->pieces_n;
}

uint32_t seg_pieces_ranges(const struct seg_held *held, struct pol_segment *out,
                           uint32_t most)
{
    uint32_t n = held->pieces_n < most ? held->pieces_n : most;

    memcpy(out, held->pieces, n * sizeof *out);
    return n;
}

uint32_t seg_pieces_describe(const struct seg_held *held, uint64_t *out)
{
    uint64_t guest = 0;

    for (uint32_t i = 0; i < held->pieces_n; i++) {
        out[3 * i] = guest;
        out[3 * i + 1] = held->pieces[i].start_page;
        out[3 * i + 2] = held->pieces[i].pages;
        guest += held->pieces[i].pages;
    }
    return held->pieces_n;
}

void seg_pieces_keep(struct seg_held *held, const struct pol_segment *list,
                     uint32_t n)
{
    held->pieces =
        n <= POL_SEGMENT_DEFAULT ? held->few : must_alloc(n, sizeof *list);
    memcpy(held->pieces, list, n * sizeof *list);
    held->pieces_n = n;
}

static void *policy_create(uint64_t pages)
{
    uint64_t extents = pages / PAGES_PER_EXTENT + 64;
    struct pol_segments *s = NULL;
    size_t bytes;
    void *block;

    if (extents > POL_SEGMENT_MAX_EXTENTS) {
        extents = POL_SEGMENT_MAX_EXTENTS;
    }
    bytes = pol_segments_size(1, (uint32_t)extents);
    block = must_alloc(1, bytes);
    if (pol_segments_init(block, bytes, 1, (uint32_t)extents, &s) != POL_OK ||
        pol_segments_add(s, 0, 0, pages) != POL_OK) {
        free(block);
        return NULL;
    }
    return s;
}

static struct pol_segment_request request_for(const struct seg_want *want)
{
    return (struct pol_segment_request){
        .owner = want->owner,
        .pages = want->pages,
        .lifetime_ms = want->lifetime_ms,
        .max_segments = want->max_segments,
        .node = POL_SEGMENT_ANY_NODE,
    };
}

static bool policy_fit(const void *host, const struct seg_want *want,
                       struct pol_segment_fit *out)
{
    struct pol_segment_request request = request_for(want);

    return pol_segments_fit(host, &request, out) == POL_OK;
}

static bool policy_alloc(void *host, const struct seg_want *want,
                         struct seg_held *held)
{
    struct pol_segment_request request = request_for(want);
    struct pol_segment many[POL_SEGMENT_MAX_COUNT];
    uint32_t n;

    if (want->max_segments <= POL_SEGMENT_DEFAULT) {
        return pol_segments_alloc(host, &request, held->few, &held->pieces_n) ==
               POL_OK;
    }
    if (pol_segments_alloc(host, &request, many, &n) != POL_OK) {
        return false;
    }
    seg_pieces_keep(held, many, n);
    return true;
}

static void policy_free(void *host, uint64_t owner, const struct seg_held *held)
{
    if (pol_segments_free(host, owner, held->pieces, held->pieces_n) !=
        POL_OK) {
        abort(); /* this replay's own bookkeeping is wrong */
    }
}

const struct seg_model seg_model_policy = {
    "libpolicy",         true,
    policy_create,       free,
    policy_fit,          seg_no_prepare,
    policy_alloc,        policy_free,
    seg_pieces_n,        seg_pieces_ranges,
    seg_pieces_describe,
};
