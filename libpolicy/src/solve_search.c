/* SPDX-License-Identifier: BSD-2-Clause */
#include "solve_curve.h"

/* base + slope * lambda >= pages * 10000, in whole numbers. */
static bool sums_reach(const struct polx_sums *sums, uint64_t pages,
                       struct polx_lambda at)
{
    polx_u128 wanted = polx_mul(pages, POLX_UNIT);

    if (sums->base >= wanted) {
        return true;
    }
    wanted -= sums->base;
    if (wanted >> (127 - at.shift) != 0) {
        return false;
    }
    return polx_mul(sums->slope, at.mantissa) >= wanted << at.shift;
}

bool polx_field_reaches(const struct polx_field *f, uint64_t lambda,
                        struct polx_sums *sums_out)
{
    struct polx_lambda at = polx_lambda_open(lambda);
    struct polx_sums sums = f->sums;

    for (uint32_t i = 0; i < f->count; i++) {
        const struct polx_node *n = &f->nodes[f->list[i]];
        uint32_t piece = polx_fold(n, at, 0, POLX_POINT_SLACK);

        if (piece == POLX_IN_PLAY) {
            piece = polx_piece_at(n, at);
        }
        polx_sums_add(&sums, n, piece);
    }
    *sums_out = sums;
    return sums_reach(&sums, f->pages, at);
}

/*
 * Where the straight line through the sum at one lambda reaches the pages
 * (Newton's step); the end of the range if it never does.
 */
static uint64_t follow(const struct polx_field *f, const struct polx_sums *sums,
                       bool reached, uint64_t lo, uint64_t hi)
{
    polx_u128 wanted = polx_mul(f->pages, POLX_UNIT);

    if (sums->base >= wanted) {
        return lo;
    }
    if (sums->slope == 0) {
        return reached ? lo : hi;
    }
    return polx_lambda_ceil(wanted - sums->base, sums->slope);
}

/*
 * Newton's steps inside an interval that only shrinks; as the curve bends
 * both ways they could crawl, so every fourth step halves the interval of
 * codes instead.  At most 4 * 64 steps, three or four in practice.
 */
enum polx_hit polx_field_search(const struct polx_field *f, uint64_t lo,
                                uint64_t hi, uint64_t guess,
                                uint64_t *lambda_out)
{
    uint64_t low = lo;
    uint64_t high = hi;
    uint64_t p = polx_min(polx_max(guess, lo), hi);
    bool high_known = false;
    struct polx_sums sums;
    uint32_t step = 0;

    while (low < high || !high_known) {
        if (polx_field_reaches(f, p, &sums)) {
            high = p;
            high_known = true;
            p = follow(f, &sums, true, low, high);
        } else if (p == high) {
            *lambda_out = hi;
            return POLX_ABOVE;
        } else {
            low = p + 1;
            p = follow(f, &sums, false, low, high);
        }
        if (++step % 4 == 0) {
            p = low + (high - low) / 2;
        }
        p = polx_max(p, low);
        if (high_known && p >= high) {
            p = high > low ? high - 1 : low;
        }
        p = polx_min(p, high);
    }
    *lambda_out = low;
    return low == lo && lo != 0 ? POLX_BELOW : POLX_HIT;
}
