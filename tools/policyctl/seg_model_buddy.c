/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A buddy allocator that behaves as Xen's is documented to:
 *  - free blocks in lists by zone (the position of the address's highest bit)
 *    and order, orders up to 20; the highest zone with a block that is large
 *    enough serves, from its smallest such order, from the head of the list;
 *  - a block that is too large is halved, the lower half going back to the
 *    head of its list, the upper one being used;
 *  - what is freed joins its buddy as long as that is free, of the same order
 *    and zone, and goes to the tail (it is yet to be scrubbed);
 *  - a VM's memory is asked for in extents of 1 GiB (order 18), where one is
 *    not to be had in 2 MiB (order 9), at last in 4 KiB.
 * The smallest block here is 2 MiB, as no size of the traces needs less: the
 * third step, and the cost of one struct page_info per page, are left out,
 * in its favour. So is the counting: a VM's blocks are joined into ranges
 * however its own addresses would run across them.
 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "seg_model.h"

#define UNIT_PAGES UINT64_C(512)
#define TOP        11u /* order 20, in units of order 9 */
#define GIB        9u  /* order 18 */
#define ZONES      28u
#define NOTHING    UINT32_MAX
#define NOT_FREE   UINT8_MAX
#define START_BITS 27u

struct buddy {
    uint32_t units;
    uint64_t free_units;
    uint64_t free_blocks[TOP + 1];
    uint32_t head[ZONES][TOP + 1], tail[ZONES][TOP + 1];
    uint32_t *next, *prev; /* by first unit of a free block */
    uint8_t *order;        /* of the free block that begins here */
};

static uint32_t zone_of(uint32_t unit)
{
    return unit == 0 ? 0 : 32u - (uint32_t)__builtin_clz(unit);
}

static void put(struct buddy *b, uint32_t unit, uint32_t order, bool at_head)
{
    uint32_t *head = &b->head[zone_of(unit)][order];
    uint32_t *tail = &b->tail[zone_of(unit)][order];

    b->order[unit] = (uint8_t)order;
    b->free_blocks[order]++;
    b->prev[unit] = at_head ? NOTHING : *tail;
    b->next[unit] = at_head ? *head : NOTHING;
    if (*head == NOTHING) {
        *head = unit;
        *tail = unit;
    } else if (at_head) {
        b->prev[*head] = unit;
        *head = unit;
    } else {
        b->next[*tail] = unit;
        *tail = unit;
    }
}

static void take_out(struct buddy *b, uint32_t unit)
{
    uint32_t order = b->order[unit];
    uint32_t prev = b->prev[unit];
    uint32_t next = b->next[unit];

    if (prev == NOTHING) {
        b->head[zone_of(unit)][order] = next;
    } else {
        b->next[prev] = next;
    }
    if (next == NOTHING) {
        b->tail[zone_of(unit)][order] = prev;
    } else {
        b->prev[next] = prev;
    }
    b->order[unit] = NOT_FREE;
    b->free_blocks[order]--;
}

static void give(struct buddy *b, uint32_t unit, uint32_t order)
{
    b->free_units += UINT64_C(1) << order;
    while (order < TOP) {
        uint32_t other = unit ^ (1u << order);

        if (other >= b->units || b->order[other] != order ||
            zone_of(other) != zone_of(unit)) {
            break;
        }
        take_out(b, other);
        unit = unit < other ? unit : other;
        order++;
    }
    put(b, unit, order, false);
}

static uint32_t grab(struct buddy *b, uint32_t order)
{
    for (uint32_t zone = ZONES; zone-- > 0;) {
        for (uint32_t k = order; k <= TOP; k++) {
            uint32_t unit = b->head[zone][k];

            if (unit == NOTHING) {
                continue;
            }
            take_out(b, unit);
            while (k > order) {
                k--;
                put(b, unit, k, true);
                unit += 1u << k;
            }
            b->free_units -= UINT64_C(1) << order;
            return unit;
        }
    }
    return NOTHING;
}

static void *buddy_create(uint64_t pages)
{
    struct buddy *b = must_alloc(1, sizeof *b);
    uint32_t unit = 0;

    b->units = (uint32_t)(pages / UNIT_PAGES);
    b->next = must_alloc(b->units, sizeof *b->next);
    b->prev = must_alloc(b->units, sizeof *b->prev);
    b->order = must_alloc(b->units, 1);
    memset(b->order, NOT_FREE, b->units);
    memset(b->head, 0xff, sizeof b->head);
    memset(b->tail, 0xff, sizeof b->tail);
    while (unit < b->units) {
        uint32_t order = unit == 0 ? TOP : (uint32_t)__builtin_ctz(unit);

        order = order > TOP ? TOP : order;
        while (
            (UINT64_C(1) << order) > b->units - unit ||
            (order > 0 && zone_of(unit) != zone_of(unit + (1u << order) - 1))) {
            order--;
        }
        give(b, unit, order);
        unit += 1u << order;
    }
    return b;
}

static void buddy_destroy(void *host)
{
    struct buddy *b = host;

    free(b->next);
    free(b->prev);
    free(b->order);
    free(b);
}

/* Odd sizes take the whole of their last 2 MiB. */
static uint32_t units_of(uint64_t pages)
{
    return (uint32_t)((pages + UNIT_PAGES - 1) / UNIT_PAGES);
}

/* In how many pieces at most, by the free blocks of 1 GiB and more. */
static bool buddy_fit(const void *host, const struct seg_want *want,
                      struct pol_segment_fit *out)
{
    const struct buddy *b = host;
    uint32_t units = units_of(want->pages);
    uint32_t whole = units >> GIB;
    uint64_t large = 0;

    if (units > b->free_units) {
        return false;
    }
    for (uint32_t k = GIB; k <= TOP; k++) {
        large += b->free_blocks[k] << (k - GIB);
    }
    out->segments = whole <= large ? 1 : 2;
    out->node = 0;
    out->waste_pages = (b->free_units - units) * UNIT_PAGES;
    out->free_pages = b->free_units * UNIT_PAGES;
    return true;
}

static void buddy_prepare(struct seg_held *held, uint64_t pages)
{
    held->blocks = must_alloc(units_of(pages), sizeof *held->blocks);
    memset(held->blocks, 0, units_of(pages) * sizeof *held->blocks);
}

static bool buddy_alloc(void *host, const struct seg_want *want,
                        struct seg_held *held)
{
    struct buddy *b = host;
    uint32_t units = units_of(want->pages);
    uint32_t at = 0;
    uint32_t n = 0;

    if (units > b->free_units) {
        return false;
    }
    while (at < units) {
        bool whole = at % (1u << GIB) == 0 && units - at >= 1u << GIB;
        uint32_t unit = whole ? grab(b, GIB) : NOTHING;
        uint32_t end;

        if (unit != NOTHING) {
            held->blocks[n++] = unit | GIB << START_BITS;
            at += 1u << GIB;
            continue;
        }
        /* To the next whole GiB in small steps. */
        end = (at | ((1u << GIB) - 1)) + 1;
        for (end = end < units ? end : units; at < end; at++) {
            held->blocks[n++] = grab(b, 0);
        }
    }
    held->pieces_n = n;
    return true;
}

static void buddy_free(void *host, uint64_t owner, const struct seg_held *held)
{
    (void)owner;
    for (uint32_t i = 0; i < held->pieces_n; i++) {
        give(host, held->blocks[i] & ((1u << START_BITS) - 1),
             held->blocks[i] >> START_BITS);
    }
}

static int by_start(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a & ((1u << START_BITS) - 1);
    uint32_t y = *(const uint32_t *)b & ((1u << START_BITS) - 1);

    return x < y ? -1 : x > y;
}

static uint32_t buddy_ranges(const struct seg_held *held,
                             struct pol_segment *out, uint32_t most)
{
    uint32_t *sorted = must_alloc(held->pieces_n, sizeof *sorted);
    uint64_t end = UINT64_MAX;
    uint32_t n = 0;

    memcpy(sorted, held->blocks, held->pieces_n * sizeof *sorted);
    qsort(sorted, held->pieces_n, sizeof *sorted, by_start);
    for (uint32_t i = 0; i < held->pieces_n; i++) {
        uint64_t start = sorted[i] & ((1u << START_BITS) - 1);
        uint64_t units = UINT64_C(1) << (sorted[i] >> START_BITS);

        if (start != end) {
            if (n < most) {
                out[n] = (struct pol_segment){ start * UNIT_PAGES, 0, 0, 0 };
            }
            n++;
        }
        if (n <= most) {
            out[n - 1].pages += units * UNIT_PAGES;
        }
        end = start + units;
    }
    free(sorted);
    return most == 0 ? n : n < most ? n : most;
}

static uint32_t buddy_segments(const struct seg_held *held)
{
    return buddy_ranges(held, NULL, 0);
}

static uint32_t buddy_describe(const struct seg_held *held, uint64_t *out)
{
    uint64_t guest = 0;

    for (uint32_t i = 0; i < held->pieces_n; i++) {
        uint64_t pages = UNIT_PAGES << (held->blocks[i] >> START_BITS);

        out[3 * i] = guest;
        out[3 * i + 1] =
            (held->blocks[i] & ((1u << START_BITS) - 1)) * UNIT_PAGES;
        out[3 * i + 2] = pages;
        guest += pages;
    }
    return held->pieces_n;
}

const struct seg_model seg_model_buddy = {
    "buddy",        false,         buddy_create,   buddy_destroy,
    buddy_fit,      buddy_prepare, buddy_alloc,    buddy_free,
    buddy_segments, buddy_ranges,  buddy_describe,
};
