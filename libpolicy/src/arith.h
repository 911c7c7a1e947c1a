/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Integer helpers wider than 64 bits.
 *
 * The core may not call the compiler's run-time library, so 128-bit values
 * are only ever added, multiplied, shifted and compared by the compiler;
 * division by hand is here.  Every function is total: no input overflows
 * into undefined behaviour.
 */
#ifndef POLX_ARITH_H
#define POLX_ARITH_H

#include <stdbool.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 polx_u128;

/*
 * a if yes, else b, by arithmetic: for conditions that no processor could
 * predict, where compilers like to put a jump.
 */
static inline uint64_t polx_pick(bool yes, uint64_t a, uint64_t b)
{
    return b ^ ((a ^ b) & (0 - (uint64_t)yes));
}

/* Smaller of two. */
static inline uint64_t polx_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Larger of two. */
static inline uint64_t polx_max(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* a + b, or UINT64_MAX where that does not fit. */
static inline uint64_t polx_sat_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* a - b, or 0 where b is larger. */
static inline uint64_t polx_sat_sub(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* How far apart two numbers are. */
static inline uint64_t polx_distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Spreads whatever it is given over 64 bits (the finaliser of
 * SplitMix64: Steele, Lea and Flood, OOPSLA 2014). */
static inline uint64_t polx_spread(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The full product. */
static inline polx_u128 polx_mul(uint64_t a, uint64_t b)
{
    return (polx_u128)a * b;
}

/* The upper half of the product: floor(a * b / 2^64). */
static inline uint64_t polx_mulhi(uint64_t a, uint64_t b)
{
    return (uint64_t)(polx_mul(a, b) >> 64);
}

/* a * b, or UINT64_MAX where that does not fit. */
static inline uint64_t polx_sat_mul(uint64_t a, uint64_t b)
{
    polx_u128 p = polx_mul(a, b);

    return (uint64_t)(p >> 64) != 0 ? UINT64_MAX : (uint64_t)p;
}

/* v as 64 bits, or cap where v is larger. */
static inline uint64_t polx_narrow(polx_u128 v, uint64_t cap)
{
    return v > cap ? cap : (uint64_t)v;
}

/* How many bits v needs; 0 for v = 0. */
static inline uint32_t polx_bits(polx_u128 v)
{
    uint64_t upper = (uint64_t)(v >> 64);

    if (upper != 0) {
        return 128 - (uint32_t)__builtin_clzll(upper);
    }
    if ((uint64_t)v != 0) {
        return 64 - (uint32_t)__builtin_clzll((uint64_t)v);
    }
    return 0;
}

/*
 * One 32-bit digit of a long division: floor((rest * 2^32 + next) / d) for a
 * divisor d with its top bit set and rest < d.  The guess from d's upper
 * half is at most two too large.
 */
static inline uint64_t polx_div_digit(uint64_t *rest, uint32_t next, uint64_t d)
{
    uint64_t upper = d >> 32;
    uint64_t lower = d & UINT32_MAX;
    uint64_t digit = *rest / upper;
    uint64_t left = *rest - digit * upper;

    while (digit > UINT32_MAX || digit * lower > ((left << 32) | next)) {
        digit--;
        left += upper;
        if (left > UINT32_MAX) {
            break;
        }
    }
    *rest = (*rest << 32 | next) - digit * d;
    return digit;
}

/*
 * floor(n / d) and, by *rest, n - d * floor(n / d).  UINT64_MAX (rest 0)
 * where the quotient needs more than 64 bits or d is 0.
 */
static inline uint64_t polx_div(polx_u128 n, uint64_t d, uint64_t *rest)
{
    uint64_t r, upper_digit, lower_digit;
    uint32_t shift;

    if ((uint64_t)(n >> 64) >= d) {
        *rest = 0;
        return UINT64_MAX;
    }
    if ((uint64_t)(n >> 64) == 0) {
        *rest = (uint64_t)n % d;
        return (uint64_t)n / d;
    }
    shift = (uint32_t)__builtin_clzll(d);
    d <<= shift;
    n <<= shift;
    r = (uint64_t)(n >> 64);
    upper_digit = polx_div_digit(&r, (uint32_t)((uint64_t)n >> 32), d);
    lower_digit = polx_div_digit(&r, (uint32_t)n, d);
    *rest = r >> shift;
    return upper_digit << 32 | lower_digit;
}

/* floor(a * b / c), or UINT64_MAX where that does not fit or c is 0. */
static inline uint64_t polx_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t rest;

    return polx_div(polx_mul(a, b), c, &rest);
}

#endif
