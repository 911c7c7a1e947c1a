/* SPDX-License-Identifier: BSD-2-Clause */
#include "solve_curve.h"

/*
 * Which bend lambda * shares lies between, by comparing whole numbers:
 * pages are brought to lambda's binary point and, in the idle part, to
 * ten-thousandths.  The largest, 2^52 * 10000 * 2^62, has 128 bits.
 */
uint32_t polx_piece_at(const struct polx_node *n, struct polx_lambda at)
{
    polx_u128 v = polx_mul(polx_shares(n), at.mantissa);
    uint64_t min = n->level[POLX_AT_MIN];
    uint64_t max = n->level[POLX_AT_MAX];
    uint64_t active = n->level[POLX_IDLE];
    uint32_t unit = 1;
    uint32_t piece = POLX_ACTIVE;

    if (v > (polx_u128)active << at.shift) {
        unit = POLX_UNIT;
        piece = POLX_IDLE;
        v = v * (uint32_t)(POLX_UNIT - n->tax_bp) +
            (polx_mul(active, n->tax_bp) << at.shift);
    }
    if (v <= polx_mul(min, unit) << at.shift) {
        return POLX_AT_MIN;
    }
    if (v >= polx_mul(max, unit) << at.shift) {
        return POLX_AT_MAX;
    }
    return piece;
}

struct polx_bracket polx_bracket_open(uint64_t lo, uint64_t hi)
{
    struct polx_bracket b = { .lo = lo, .hi = hi, .is_wide = true };
    struct polx_lambda end = polx_lambda_open(hi);
    polx_u128 more;
    uint64_t rest;

    b.at = polx_lambda_open(lo);
    if (b.at.shift - end.shift > 2) {
        return b;
    }
    more = (polx_u128)end.mantissa << (b.at.shift - end.shift);
    more -= b.at.mantissa;
    if (more < b.at.mantissa) {
        b.growth = polx_div(more << 64, b.at.mantissa, &rest);
        b.growth += b.growth != UINT64_MAX;
        b.is_wide = false;
    }
    return b;
}

/* mantissa / 2^shift as a code, rounded up if anything was lost. */
static uint64_t lambda_code(uint64_t mantissa, int32_t shift, bool lost)
{
    if (shift > POLX_CODE_SHIFT) {
        uint32_t excess = (uint32_t)(shift - POLX_CODE_SHIFT);

        if (excess > 63) {
            lost = lost || mantissa != 0;
            mantissa = 0;
        } else {
            lost = lost || (mantissa & ((UINT64_C(1) << excess) - 1)) != 0;
            mantissa >>= excess;
        }
        shift = POLX_CODE_SHIFT;
    }
    mantissa += lost;
    if (mantissa == POLX_CODE_ONE << 1) {
        mantissa >>= 1;
        shift--;
    }
    if (shift < 0) {
        return POLX_CODE_MAX;
    }
    if (mantissa < POLX_CODE_ONE) {
        return mantissa;
    }
    return (uint64_t)(POLX_CODE_SHIFT + 1 - shift) << POLX_CODE_BITS |
           (mantissa & (POLX_CODE_ONE - 1));
}

/*
 * The quotient is taken with 59 or 60 significant bits, so that the exact
 * fraction survives as the "lost" bit and rounding up is exact.  (Beyond 64
 * bits of denominator, as in a short group of enormous minima, it is exact
 * to 2^-63.)
 */
uint64_t polx_lambda_ceil(polx_u128 num, polx_u128 den)
{
    int32_t extra = 0;
    int32_t shift;
    uint64_t quotient, rest;
    bool lost = false;

    if (num == 0) {
        return 0;
    }
    if (polx_bits(den) > 64) {
        extra = (int32_t)polx_bits(den) - 64;
        den >>= extra;
    }
    shift =
        POLX_CODE_BITS + 1 + (int32_t)polx_bits(den) - (int32_t)polx_bits(num);
    if (shift >= 0) {
        num <<= shift;
    } else {
        lost = (num & (((polx_u128)1 << -shift) - 1)) != 0;
        num >>= -shift;
    }
    quotient = polx_div(num, (uint64_t)den, &rest);
    lost = lost || rest != 0;
    if (quotient >= POLX_CODE_ONE << 1) {
        lost = lost || (quotient & 1) != 0;
        quotient >>= 1;
        shift--;
    }
    return lambda_code(quotient, shift + extra, lost);
}
