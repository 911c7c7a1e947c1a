/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The curve of one claim: target as a function of lambda, and lambda itself.
 *
 * A lambda is a 64-bit code that sorts as the value does: 6 bits of exponent
 * e, 58 bits of fraction f, worth
 *     e = 0:  f * 2^-62         e > 0:  (2^58 + f) * 2^(e - 63)
 * Consecutive codes are consecutive values; code + 1 is the next one up.
 * The largest exceeds cost(POLX_MAX_PAGES) at the highest tax for 1 share.
 */
#ifndef POLX_SOLVE_CURVE_H
#define POLX_SOLVE_CURVE_H

#include "solve_int.h"

#define POLX_CODE_BITS  58
#define POLX_CODE_ONE   (UINT64_C(1) << POLX_CODE_BITS)
#define POLX_CODE_MAX   UINT64_MAX
#define POLX_CODE_SHIFT 62

/*
 * In a short group a child's claim is its minimum, not its shares, and
 * lambda is pages / sum of minima, scaled up by this to keep its precision.
 */
#define POLX_SHORT_SHIFT 20

/* A number of pages with 64 bits of fraction. */
struct polx_fixed {
    uint64_t whole;
    uint64_t part;
};

static inline struct polx_lambda polx_lambda_open(uint64_t code)
{
    uint64_t exponent = code >> POLX_CODE_BITS;
    uint64_t mantissa = code & (POLX_CODE_ONE - 1);
    uint32_t shift = POLX_CODE_SHIFT;
    struct polx_lambda at;

    if (exponent != 0) {
        mantissa |= POLX_CODE_ONE;
        shift = (uint32_t)(POLX_CODE_SHIFT + 1 - exponent);
    }
    at.whole = mantissa >> shift;
    at.part = (mantissa << 1) << (63 - shift);
    at.mantissa = mantissa;
    at.shift = shift;
    return at;
}

/* v, or UINT64_MAX where the upper half says that it does not fit. */
static inline uint64_t polx_saturate(uint64_t v, uint64_t upper)
{
    return v | (0 - (uint64_t)(upper != 0));
}

/*
 * floor(lambda * shares), or UINT64_MAX where that does not fit.  It fits
 * unless lambda is beyond all reason, which is the same for all children of
 * a group: a jump that is predicted saves more than it costs.
 */
static inline uint64_t polx_scale_whole(struct polx_lambda at, uint64_t shares)
{
    uint64_t more = polx_mulhi(at.part, shares);
    polx_u128 v;

    if (at.whole < UINT64_MAX / POLX_MAX_SHARES) {
        return at.whole * shares + more;
    }
    v = polx_mul(at.whole, shares) + more;
    return polx_saturate((uint64_t)v, (uint64_t)(v >> 64));
}

/* lambda * shares; where it does not fit, at least 2^64 - 1. */
static inline struct polx_fixed polx_scale(struct polx_lambda at,
                                           uint64_t shares)
{
    struct polx_fixed x;

    x.whole = polx_scale_whole(at, shares);
    x.part = at.part * shares;
    return x;
}

/*
 * The exact share at lambda, clamped: the inverse cost is x up to the active
 * pages and x - tax * (x - active) above.
 */
static inline struct polx_fixed polx_share_at(const struct polx_node *n,
                                              struct polx_lambda at)
{
    struct polx_fixed x = polx_scale(at, polx_shares(n));
    uint64_t min = n->level[POLX_AT_MIN];
    uint64_t max = n->level[POLX_AT_MAX];
    uint64_t active = n->level[POLX_IDLE];
    uint64_t tax = n->level[3] & (0 - (uint64_t)(x.whole >= active));
    polx_u128 t = (polx_u128)x.whole << 64 | x.part;

    t -= polx_mul(x.whole - active, tax) + polx_mulhi(x.part, tax);
    x.whole = (uint64_t)(t >> 64);
    /* The fraction counts only from min up to, but not at, max. */
    x.part = polx_pick(x.whole - min < max - min, (uint64_t)t, 0);
    x.whole = polx_min(polx_max(x.whole, min), max);
    return x;
}

/*
 * A child's whole pages, by running sum: its own and the one that its
 * fraction completes.
 */
static inline uint64_t polx_carry(struct polx_fixed x, uint64_t *carry)
{
    uint64_t sum = *carry + x.part;

    *carry = sum;
    return x.whole + (sum < x.part);
}

/* The same in a short group: min * lambda, never more than min. */
static inline struct polx_fixed polx_short_share_at(const struct polx_node *n,
                                                    struct polx_lambda at)
{
    uint64_t min = n->level[POLX_AT_MIN];
    polx_u128 v = polx_mul(min, at.mantissa) >> POLX_SHORT_SHIFT;
    struct polx_fixed x;

    x.whole = (uint64_t)(v >> at.shift);
    x.part = ((uint64_t)v << 1) << (63 - at.shift);
    if (x.whole >= min) {
        x.whole = min;
        x.part = 0;
    }
    return x;
}

/*
 * What the inverse cost at a bracket's upper end may exceed the floor of
 * that at its lower end by, beside lo.growth times it: 1 for that floor, 1
 * for its own growth (a bracket that is folded never doubles), 1 for the
 * floor of the product.
 */
#define POLX_BRACKET_SLACK 3

/*
 * The piece on which a child stays from lo to (1 + growth / 2^64) * lo, or
 * POLX_IN_PLAY if it may not stay on one.  Works in whole pages, with every
 * rounding away from the inside, so a piece is only named where it holds;
 * near a bend a child may be called in play though it is not.
 */
static inline uint32_t polx_fold(const struct polx_node *n,
                                 struct polx_lambda lo, uint64_t growth)
{
    uint64_t min = n->level[POLX_AT_MIN];
    uint64_t max = n->level[POLX_AT_MAX];
    uint64_t active = n->level[POLX_IDLE];
    uint64_t x_lo = polx_scale_whole(lo, polx_shares(n));
    /* May wrap around, but then t_lo is above every max. */
    uint64_t more = polx_mulhi(x_lo, growth) + POLX_BRACKET_SLACK;
    uint64_t idle = (x_lo - active) & (0 - (uint64_t)(x_lo > active));
    uint64_t taxed = polx_mulhi(idle, n->level[3]);
    uint64_t t_lo, t_hi, piece;
    bool inside;

    /* The tax is rounded down: two pages make up for that and the floor. */
    t_lo = x_lo - taxed - polx_min(idle - taxed, 2);
    t_hi = x_lo - taxed + more;
    inside = (t_lo >= min) & (t_hi <= max);
    piece = polx_pick(inside & (x_lo >= active), POLX_IDLE, POLX_IN_PLAY);
    piece = polx_pick(inside & (x_lo + more <= active), POLX_ACTIVE, piece);
    piece = polx_pick(t_hi <= min, POLX_AT_MIN, piece);
    piece = polx_pick(t_lo >= max, POLX_AT_MAX, piece);
    return (uint32_t)piece;
}

/* The same over a bracket. */
static inline uint32_t polx_fold_bracket(const struct polx_node *n,
                                         const struct polx_bracket *b)
{
    if (b->is_wide) {
        return POLX_IN_PLAY;
    }
    return polx_fold(n, b->at, b->growth);
}

/* Adds a child on a piece to the sums; by tables, again to avoid jumps. */
static inline void polx_sums_add(struct polx_sums *sums,
                                 const struct polx_node *n, uint32_t piece)
{
    static const uint16_t scale[] = { POLX_UNIT, POLX_UNIT, 0, 0, 0 };
    static const uint16_t weight[] = { 0, 0, POLX_UNIT, POLX_UNIT, 0 };
    static const uint16_t taxed[] = { 0, 0, UINT16_MAX, 0, 0 };
    uint32_t tax = n->tax_bp & taxed[piece];

    sums->base += polx_mul(n->level[piece & 3], scale[piece] + tax);
    sums->slope += polx_shares(n) * (weight[piece] - tax);
}

/* Takes a child on a piece out of the sums again. */
static inline void polx_sums_remove(struct polx_sums *sums,
                                    const struct polx_node *n, uint32_t piece)
{
    struct polx_sums part = { 0, 0 };

    polx_sums_add(&part, n, piece);
    sums->base -= part.base;
    sums->slope -= part.slope;
}

/* The piece a child is on at one lambda, exactly. */
uint32_t polx_piece_at(const struct polx_node *n, struct polx_lambda at);

/* Makes a bracket of the codes of its ends. */
struct polx_bracket polx_bracket_open(uint64_t lo, uint64_t hi);

/* The code of the smallest lambda >= num / den; num < 2^96, den > 0. */
uint64_t polx_lambda_ceil(polx_u128 num, polx_u128 den);

#endif
