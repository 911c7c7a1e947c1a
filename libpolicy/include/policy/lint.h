/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file lint.h
 * Parameters that will hurt, found by looking at a context after a plan: what
 * the advice of ESX09 section 6 comes to, with the figures of this host.
 *
 * A finding is not an error. Findings of a context that has run for a while,
 * so that working sets are known, are better ones.
 */
#ifndef POLICY_LINT_H
#define POLICY_LINT_H

#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"
#include "policy/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * X(name, value, token, text): kinds of findings. Values are ABI. In the
 * texts, "figure" is pol_finding.figure_pages and "bound" .bound_pages.
 */
#define POL_LINTS(X)                                                           \
    X(POL_LINT_LIMIT_BELOW_ACTIVE, 1, "limit-below-active",                    \
      "its limit (bound) is below its working set (figure): it is squeezed "   \
      "even on an idle host")                                                  \
    X(POL_LINT_LIMIT_BELOW_SIZE, 2, "limit-below-size",                        \
      "its limit (bound) is below its size (figure): a smaller size costs "    \
      "less than ballooning down to a limit")                                  \
    X(POL_LINT_RESERVATION_UNUSED, 3, "reservation-unused",                    \
      "its reservation (bound) is over twice its working set (figure) and "    \
      "cannot be used to admit others")                                        \
    X(POL_LINT_OVERSIZED, 4, "oversized",                                      \
      "its size (bound) is over four times its working set (figure)")          \
    X(POL_LINT_NO_BALLOON, 5, "no-balloon",                                    \
      "it has no working balloon: of its memory only reservation or swapping " \
      "decide")                                                                \
    X(POL_LINT_NO_MEANS, 6, "no-means",                                        \
      "nothing can be taken from it: no balloon and no swapping")              \
    X(POL_LINT_NO_STATISTICS, 7, "no-statistics",                              \
      "nothing is known of what it uses: all counts as active")                \
    X(POL_LINT_WORKING_SETS, 20, "working-sets-above-host",                    \
      "working sets (figure) are larger than the memory VMs share (bound)")    \
    X(POL_LINT_RESERVATIONS, 21, "reservations-near-host",                     \
      "reservations and overheads (figure) take over nine tenths of the "      \
      "host's memory (bound)")                                                 \
    X(POL_LINT_SWAP_SPACE, 22, "swap-space",                                   \
      "swap space (figure) does not cover sizes less reservations (bound)")    \
    X(POL_LINT_NO_SHARING, 23, "no-sharing", "page sharing is not available")  \
    X(POL_LINT_NO_SWAP, 24, "no-swap",                                         \
      "the host cannot swap: nothing is left when balloons do not give")

enum pol_lint_kind {
#define POL_LINT_ENUM(name, value, token, text) name = value,
    POL_LINTS(POL_LINT_ENUM)
#undef POL_LINT_ENUM
};

/** One finding. */
struct pol_finding {
    uint64_t vm; /**< 0 where `kind` is about the host (20 and up) */
    uint64_t figure_pages;
    uint64_t bound_pages;
    uint32_t kind; /**< enum pol_lint_kind */
    uint32_t reserved_0;
};

/** How many findings there can be at most. */
size_t pol_lint_bound(const struct pol_ctx *ctx);

/**
 * Look for findings, the host's first, then VM by VM, oldest slot first.
 * @param findings  room for pol_lint_bound() of them
 * @return POL_OK, POL_ERR_BUFFER, POL_ERR_INVALID (no plan yet)
 */
POL_MUST_USE int pol_lint(const struct pol_ctx *ctx,
                          struct pol_finding *findings, size_t cap, size_t *n);

/** Short token of a kind, e.g. "oversized"; "?" for other values. */
const char *pol_lint_name(int kind);
/** What it means, as above; "?" for other values. */
const char *pol_lint_text(int kind);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_LINT_H */
