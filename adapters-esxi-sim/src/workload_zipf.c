/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Zipf's law without floating point. Ranks 1..N are cut into at most 256
 * pieces: the first eight ranks alone, then eight pieces per octave. Within a
 * piece all ranks are alike, with the density of its middle rank: density is
 * off by at most s / 16 at a piece's edge. A piece is drawn in constant time
 * by the alias method.
 */
#include <stdlib.h>

#include "engine_int.h"

#define PIECES    256u
#define FRAC_BITS 16u
#define ONE       (UINT64_C(1) << FRAC_BITS)

struct piece {
    uint32_t start; /* first rank, from 0 */
    uint32_t count;
    uint32_t cut; /* of 2^32: stay here below it */
    uint32_t alias;
};

struct zipf {
    unsigned made;
    struct piece piece[PIECES];
};

struct zipf *simx_zipf_new(void)
{
    return calloc(1, sizeof(struct zipf));
}

/* log2 of x >= 1 with 16 fractional bits, by repeated squaring. */
static uint64_t log2_fixed(uint64_t x)
{
    unsigned whole = 63 - (unsigned)__builtin_clzll(x);
    uint64_t m = whole > 31 ? x >> (whole - 31) : x << (31 - whole);
    uint64_t frac = 0;
    unsigned i;

    for (i = 0; i < FRAC_BITS; i++) {
        m = (m * m) >> 31; /* in [1, 4) with 31 fractional bits */
        frac <<= 1;
        if (m >> 32 != 0) {
            m >>= 1;
            frac |= 1;
        }
    }
    return (uint64_t)whole << FRAC_BITS | frac;
}

/* 2^-x with 62 fractional bits; 0 when too small. */
static uint64_t exp2_minus(uint64_t x)
{
    /* 2^-(2^-i) for i = 1..16, with 32 fractional bits. */
    static const uint32_t root[FRAC_BITS] = {
        3037000500u, 3611622603u, 3938502376u, 4112874773u,
        4202935003u, 4248701965u, 4271771996u, 4283353945u,
        4289156690u, 4292061010u, 4293513907u, 4294240540u,
        4294603903u, 4294785595u, 4294876445u, 4294921870u
    };
    uint64_t whole = x >> FRAC_BITS;
    uint64_t r = UINT64_C(1) << 31;
    unsigned i;

    if (whole > 60) {
        return 0;
    }
    for (i = 0; i < FRAC_BITS; i++) {
        if (x >> (FRAC_BITS - 1 - i) & 1) {
            r = r * root[i] >> 32;
        }
    }
    return r << 31 >> whole;
}

/* Cut the ranks; weights have a sum below 2^63. @return pieces made */
static unsigned cut_ranks(struct zipf *z, uint64_t n, uint32_t s_bp,
                          uint64_t *weight)
{
    unsigned made = 0;
    uint64_t first = 1;
    uint64_t len = 1;

    while (first <= n && made < PIECES) {
        uint64_t count = len < n - first + 1 ? len : n - first + 1;
        uint64_t log = log2_fixed(first * 2 + count - 1) - ONE;
        uint64_t density = exp2_minus(log * s_bp / 10000);

        z->piece[made].start = (uint32_t)(first - 1);
        z->piece[made].count = (uint32_t)count;
        /* count <= 2^27, and 256 of them: keep 26 bits of density. */
        weight[made++] = (density >> 36) * count + 1;
        first += count;
        if (first >= 8 && (first & (first - 1)) == 0) {
            len = first / 8;
        }
    }
    return made;
}

/* Vose's alias method in integers: each slot holds total/made of weight. */
static void build_alias(struct zipf *z, unsigned made, uint64_t *weight)
{
    uint8_t small[PIECES];
    uint8_t large[PIECES];
    unsigned smalls = 0;
    unsigned larges = 0;
    uint64_t total = 0;
    unsigned i;

    for (i = 0; i < made; i++) {
        total += weight[i];
    }
    for (i = 0; i < made; i++) {
        /* total < 2^62 / made leaves room for the factor. */
        weight[i] *= made;
        if (weight[i] < total) {
            small[smalls++] = (uint8_t)i;
        } else {
            large[larges++] = (uint8_t)i;
        }
        z->piece[i].cut = UINT32_MAX;
        z->piece[i].alias = i;
    }
    while (smalls > 0 && larges > 0) {
        unsigned s = small[--smalls];
        unsigned l = large[larges - 1];
        unsigned __int128 part = (unsigned __int128)weight[s] << 32;

        z->piece[s].cut = (uint32_t)(part / total);
        z->piece[s].alias = l;
        weight[l] -= total - weight[s];
        if (weight[l] < total) {
            larges--;
            small[smalls++] = (uint8_t)l;
        }
    }
}

void simx_zipf_set(struct zipf *zipf, uint64_t n, uint32_t exponent_bp)
{
    uint64_t weight[PIECES];
    unsigned made = cut_ranks(zipf, n != 0 ? n : 1, exponent_bp, weight);

    build_alias(zipf, made, weight);
    zipf->made = made;
}

uint32_t simx_zipf_draw(const struct zipf *zipf, struct sim_rng *rng)
{
    uint64_t r = sim_rng_next(rng);
    unsigned __int128 wide = (unsigned __int128)r * zipf->made;
    const struct piece *p = &zipf->piece[(uint64_t)(wide >> 64)];

    /* The rest of the product is as good as a second draw. */
    if ((uint32_t)((uint64_t)wide >> 32) > p->cut) {
        p = &zipf->piece[p->alias];
    }
    if (p->count == 1) {
        return p->start;
    }
    return p->start + (uint32_t)sim_rng_below(rng, p->count);
}
