/* SPDX-License-Identifier: BSD-2-Clause */
#include "rng.h"

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void sim_rng_init(struct sim_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t state = stream;
    int i;

    state = seed ^ splitmix(&state);
    for (i = 0; i < 4; i++) {
        rng->s[i] = splitmix(&state);
    }
}
