/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file check.h
 * Assertions at two prices, chosen by POL_ASSERT_LEVEL (0: none, 1: those
 * that cost next to nothing, 2: also those that look at everything). A failed
 * one traps: a context that contradicts itself must not go on deciding.
 * Wrong arguments are never asserted but answered with an error.
 */
#ifndef POLX_CHECK_H
#define POLX_CHECK_H

#include <stdbool.h>

#ifndef POL_ASSERT_LEVEL
#define POL_ASSERT_LEVEL 0
#endif

#if POL_ASSERT_LEVEL >= 1
#define POLX_ASSERT(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define POLX_ASSERT(condition) ((void)0)
#endif

#if POL_ASSERT_LEVEL >= 2
#define POLX_ASSERT_DEAR(condition) POLX_ASSERT(condition)
#else
#define POLX_ASSERT_DEAR(condition) ((void)0)
#endif

struct pol_ctx;

/** Does everything in a context fit together? Looks at every VM, group and
 *  hold, and at the solver. */
bool polx_ctx_is_valid(const struct pol_ctx *ctx);

#endif /* POLX_CHECK_H */
