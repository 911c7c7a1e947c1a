/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file big_alloc.h
 * Large zeroed arrays that cost nothing until used, on huge pages where the
 * system has them: records are visited at random, and misses in the
 * processor's address translation would cost more than all else.
 */
#ifndef SIM_BIG_ALLOC_H
#define SIM_BIG_ALLOC_H

#include <stddef.h>

/** n * size bytes of zeros; NULL when there is no memory or n * size is too
 *  large. Freed with simx_big_free() and the same figures. */
void *simx_big_alloc(size_t n, size_t size);

void simx_big_free(void *block, size_t n, size_t size);

#endif /* SIM_BIG_ALLOC_H */
