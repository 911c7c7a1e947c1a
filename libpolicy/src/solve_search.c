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

/* From one code to the next, lambda grows by less than 2^-56 of itself. */
#define CODE_GROWTH (UINT64_C(1) << 8)

/*
 * Whether the sum reaches the pages at lambda, and whether the sums, which
 * it returns, hold up to the next lambda too.
 */
static bool reaches(const struct polx_field *f, struct polx_lambda at,
                    struct polx_sums *sums_out, bool *straight_out)
{
    struct polx_sums sums = f->sums;
    bool straight = true;

    for (uint32_t i = 0; i < f->count; i++) {
        const struct polx_node *n = &f->nodes[f->list[i]];
        uint32_t piece = polx_fold(n, at, CODE_GROWTH);

        if (piece == POLX_IN_PLAY) {
            piece = polx_piece_at(n, at);
            straight = false;
        }
        polx_sums_add(&sums, n, piece);
    }
    *sums_out = sums;
    *straight_out = straight;
    return sums_reach(&sums, f->pages, at);
}

bool polx_field_reaches(const struct polx_field *f, uint64_t lambda)
{
    struct polx_sums sums;
    bool straight;

    return reaches(f, polx_lambda_open(lambda), &sums, &straight);
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

/* Newton's steps that are tried before half of the steps are halvings. */
#define NEWTON_STEPS 8

/*
 * Newton's steps inside an interval that only shrinks; as the curve bends
 * both ways they could crawl, so later every second step halves the interval
 * of codes instead.  At most 8 + 2 * 64 steps, three to five in practice.
 */
enum polx_hit polx_field_search(const struct polx_field *f, uint64_t lo,
                                uint64_t hi, uint64_t guess,
                                uint64_t *lambda_out)
{
    uint64_t low = lo;
    uint64_t high = hi;
    uint64_t p = polx_min(polx_max(guess, lo), hi);
    bool high_known = false;
    uint32_t step = 0;

    while (low < high || !high_known) {
        struct polx_sums sums;
        bool straight;

        if (reaches(f, polx_lambda_open(p), &sums, &straight)) {
            high = p;
            high_known = true;
            p = follow(f, &sums, true, low, high);
        } else if (p == high) {
            *lambda_out = hi;
            return POLX_ABOVE;
        } else {
            low = p + 1;
            if (straight &&
                sums_reach(&sums, f->pages, polx_lambda_open(low))) {
                high = low;
                high_known = true;
            }
            p = follow(f, &sums, false, low, high);
        }
        if (++step >= NEWTON_STEPS && step % 2 == 0) {
            p = low + (high - low) / 2;
        }
        /* Next to look at is the one before the line's answer. */
        p = p > low ? p - 1 : low;
        p = polx_min(p, high_known && high > low ? high - 1 : high);
    }
    *lambda_out = low;
    return low == lo && lo != 0 ? POLX_BELOW : POLX_HIT;
}
