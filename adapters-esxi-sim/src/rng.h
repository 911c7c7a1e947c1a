/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file rng.h
 * The simulator's only source of randomness: xoshiro256**, seeded through
 * splitmix64. Integers only, equal on every platform.
 */
#ifndef SIM_RNG_H
#define SIM_RNG_H

#include <stdint.h>

struct sim_rng {
    uint64_t s[4];
};

/** Different streams of one seed are independent for all we care. */
void sim_rng_init(struct sim_rng *rng, uint64_t seed, uint64_t stream);

static inline uint64_t sim_rng_rotl(uint64_t x, unsigned k)
{
    return (x << k) | (x >> (64 - k));
}

static inline uint64_t sim_rng_next(struct sim_rng *rng)
{
    uint64_t *s = rng->s;
    uint64_t result = sim_rng_rotl(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = sim_rng_rotl(s[3], 45);
    return result;
}

/** 0..n-1. Takes the high part of a product: the bias is below n / 2^64. */
static inline uint64_t sim_rng_below(struct sim_rng *rng, uint64_t n)
{
    unsigned __int128 wide = (unsigned __int128)sim_rng_next(rng) * n;

    return (uint64_t)(wide >> 64);
}

#endif /* SIM_RNG_H */
