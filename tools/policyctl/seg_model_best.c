/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Best fit at its plainest: the holes in an array in order of address, looked
 * through from one end to the other.
 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "seg_model.h"

struct hole {
    uint64_t start, pages;
};

struct best {
    struct hole *holes;
    size_t n, capacity;
    uint64_t free_pages;
};

static void *best_create(uint64_t pages)
{
    struct best *host = must_alloc(1, sizeof *host);

    host->capacity = 256;
    host->holes = must_alloc(host->capacity, sizeof *host->holes);
    host->holes[0] = (struct hole){ 0, pages };
    host->n = 1;
    host->free_pages = pages;
    return host;
}

static void best_destroy(void *host)
{
    free(((struct best *)host)->holes);
    free(host);
}

/* The smallest hole that holds everything; n: none does. */
static size_t smallest(const struct best *host, uint64_t pages)
{
    size_t best = host->n;

    for (size_t i = 0; i < host->n; i++) {
        if (host->holes[i].pages >= pages &&
            (best == host->n ||
             host->holes[i].pages < host->holes[best].pages)) {
            best = i;
        }
    }
    return best;
}

static size_t longest(const struct best *host)
{
    size_t best = 0;

    for (size_t i = 1; i < host->n; i++) {
        if (host->holes[i].pages > host->holes[best].pages) {
            best = i;
        }
    }
    return best;
}

static bool best_fit(const void *model, const struct seg_want *want,
                     struct pol_segment_fit *out)
{
    const struct best *host = model;
    size_t at = smallest(host, want->pages);

    if (want->pages > host->free_pages) {
        return false;
    }
    /* How many more it would be is of no matter to a caller that takes any. */
    out->segments = at < host->n ? 1 : 2;
    out->node = 0;
    out->waste_pages = at < host->n ? host->holes[at].pages - want->pages : 0;
    out->free_pages = host->free_pages;
    return true;
}

static struct pol_segment take(struct best *host, size_t at, uint64_t pages)
{
    struct hole *hole = &host->holes[at];
    struct pol_segment piece = { hole->start, pages, 0, 0 };

    host->free_pages -= pages;
    hole->start += pages;
    hole->pages -= pages;
    if (hole->pages == 0) {
        host->n--;
        memmove(hole, hole + 1, (host->n - at) * sizeof *hole);
    }
    return piece;
}

static bool best_alloc(void *model, const struct seg_want *want,
                       struct seg_held *held)
{
    struct best *host = model;
    struct pol_segment *many;
    uint64_t left = want->pages;
    size_t at = smallest(host, left);
    uint32_t n = 0;

    if (left > host->free_pages) {
        return false;
    }
    if (at < host->n) {
        held->few[0] = take(host, at, left);
        held->pieces_n = 1;
        return true;
    }
    many = must_alloc(host->n, sizeof *many);
    while (left > 0) {
        uint64_t pages = left;

        at = smallest(host, left);
        if (at == host->n) {
            at = longest(host);
            pages = host->holes[at].pages;
        }
        many[n++] = take(host, at, pages);
        left -= pages;
    }
    seg_pieces_keep(held, many, n);
    free(many);
    return true;
}

/* The first hole behind an address. */
static size_t behind(const struct best *host, uint64_t page)
{
    size_t low = 0;
    size_t high = host->n;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (host->holes[middle].start < page) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static void give(struct best *host, uint64_t start, uint64_t pages)
{
    size_t at = behind(host, start);
    struct hole *next = &host->holes[at];
    bool joins_next = at < host->n && start + pages == next->start;
    bool joins_prev = at > 0 && next[-1].start + next[-1].pages == start;

    host->free_pages += pages;
    if (joins_prev) {
        next[-1].pages += pages;
        if (joins_next) {
            next[-1].pages += next->pages;
            host->n--;
            memmove(next, next + 1, (host->n - at) * sizeof *next);
        }
        return;
    }
    if (joins_next) {
        next->start = start;
        next->pages += pages;
        return;
    }
    if (host->n == host->capacity) {
        host->capacity *= 2;
        host->holes =
            must_grow(host->holes, host->capacity, sizeof *host->holes);
        next = &host->holes[at];
    }
    memmove(next + 1, next, (host->n - at) * sizeof *next);
    *next = (struct hole){ start, pages };
    host->n++;
}

static void best_free(void *model, uint64_t owner, const struct seg_held *held)
{
    (void)owner;
    for (uint32_t i = 0; i < held->pieces_n; i++) {
        give(model, held->pieces[i].start_page, held->pieces[i].pages);
    }
}

const struct seg_model seg_model_best = {
    "best-fit",
    true,
    best_create,
    best_destroy,
    best_fit,
    seg_no_prepare,
    best_alloc,
    best_free,
    seg_pieces_n,
    seg_pieces_ranges,
    seg_pieces_describe,
};
