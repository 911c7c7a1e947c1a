/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target solver: how much memory every VM and every group should have.
 *
 * Internal to libpolicy; nothing here is exported.
 *
 * A node is a claim on its parent.  Node 0 is the root group, 1..max_groups
 * are groups, max_groups + 1 + slot are VMs.  Groups nest up to
 * POLX_MAX_DEPTH levels below the root.
 *
 * For a claim with active pages A and idle tax t, holding T pages costs
 *
 *     cost(T) = min(T, A) + max(0, T - A) / (1 - t)        (ESX02 5.2)
 *
 * and the children of one group get the targets for which cost(T) / shares
 * is the same value, lambda, for all children that are not held at their
 * minimum or maximum, and whose sum is what the group has:
 *
 *     T(lambda) = clamp(inverse cost(lambda * shares), min, max)
 *
 * Rules at the edges, all independent of the order of earlier calls:
 *
 * - lambda is the smallest value on a fixed grid (59 significant bits, never
 *   finer than 2^-62) at which the sum reaches the group's pages.
 * - Fractions: in the order of node numbers, each child gets the floor or
 *   the ceiling of its exact share, such that the running sum of targets is
 *   the running sum of exact shares, rounded to nearest.  So the sum is exact
 *   and everybody is less than one page from the exact share.
 * - More pages than all maxima together: everybody gets the maximum.
 * - Fewer pages than all minima together: the group is "short" and every
 *   child gets its minimum times pages / sum of minima.
 *
 * A group stands before its parent with its own shares and tax, with
 *     max    = min(limit, sum of the children's max)
 *     min    = min(max(reservation, sum of the children's min), max)
 *     active = sum of min(active, max) of the children
 * A reservation that the children could not use is lent to others.
 *
 * Threads: calls on one solver must be serialised by the caller.
 */
#ifndef POLX_SOLVE_H
#define POLX_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Largest size of anything, in pages. */
#define POLX_MAX_PAGES (UINT64_C(1) << 52)
/* Largest number of shares of one claim. */
#define POLX_MAX_SHARES (UINT64_C(1) << 32)
/* Highest idle tax: 99 %. */
#define POLX_MAX_TAX_BP 9900
/* Levels of groups below the root. */
#define POLX_MAX_DEPTH 8
/* VMs and groups together, at most. */
#define POLX_MAX_NODES (UINT32_C(1) << 18)
/* No such node. */
#define POLX_NONE UINT32_MAX

/*
 * What a node asks for.  Values out of range are brought into it: min and
 * max to POLX_MAX_PAGES, max to at least min, shares to 1..POLX_MAX_SHARES,
 * tax_bp to POLX_MAX_TAX_BP.  For a group min is the reservation, max the
 * limit, and active is ignored.
 */
struct polx_claim {
    uint64_t min_pages;
    uint64_t max_pages;
    uint64_t active_pages;
    uint64_t shares;
    uint32_t tax_bp;
};

struct polx_node;
struct polx_group;

/* One solver.  All members are private to solve*.c. */
struct polx_solver {
    struct polx_node *nodes;
    struct polx_group *groups;
    uint32_t *scratch;
    uint64_t *used_words;
    uint64_t *used_summary;
    uint64_t available_pages;
    uint32_t max_vms;
    uint32_t max_groups;
    uint32_t summary_words;
    bool stored_stale;
};

/*
 * Bytes of memory polx_solver_init() needs, for any alignment of the block;
 * 0 if max_vms + max_groups + 1 > POLX_MAX_NODES.
 */
size_t polx_solver_size(uint32_t max_vms, uint32_t max_groups);

/*
 * Prepares an empty solver: the root group alone, nothing available.  mem
 * stays the caller's, must not move and must outlive the solver.
 */
void polx_solver_init(struct polx_solver *s, void *mem, uint32_t max_vms,
                      uint32_t max_groups);

/*
 * Puts a node under a group, with an empty claim (all 0, 1 share).  False,
 * and nothing changes, if the node is attached already, is the root, or does
 * not exist; if parent is not an attached group; or if a group would come to
 * lie deeper than POLX_MAX_DEPTH.
 */
bool polx_solver_attach(struct polx_solver *s, uint32_t node, uint32_t parent);

/*
 * Takes a node out; its stored target becomes 0.  False, and nothing
 * changes, for the root, a node that is not attached, or a group with
 * children.
 */
bool polx_solver_detach(struct polx_solver *s, uint32_t node);

/*
 * Puts an attached node, with all below it and with its claim, under another
 * group.  False, and nothing changes, where attach would refuse, or if
 * parent is the node itself or below it.
 */
bool polx_solver_move(struct polx_solver *s, uint32_t node, uint32_t parent);

/* Whether the node exists and is attached (the root always is). */
bool polx_solver_is_attached(const struct polx_solver *s, uint32_t node);

/* States a node's claim.  O(1).  Ignored if the node is not attached. */
void polx_solver_set(struct polx_solver *s, uint32_t node,
                     const struct polx_claim *c);

/* States what the root group has; at most POLX_MAX_PAGES count. */
void polx_solver_set_available(struct polx_solver *s, uint64_t pages);

/*
 * Brings every group's lambda up to date.  After the change of one VM this
 * looks at the groups above it and at groups whose pages change with them,
 * and in each at the few children near a bend of their curve.
 */
void polx_solver_refresh(struct polx_solver *s);

/*
 * A node's target by the lambdas of the last refresh: exact for groups; for
 * VMs the floor of the exact share, so the stored target is this or one
 * more.
 */
uint64_t polx_solver_peek(const struct polx_solver *s, uint32_t node);

/* Refreshes, then stores every node's target; all sums are exact. */
void polx_solver_materialise(struct polx_solver *s);

/* The target stored by the last materialise; 0 for a detached node. */
uint64_t polx_solver_target(const struct polx_solver *s, uint32_t node);

/* Whether a group cannot meet its children's minima (last refresh). */
bool polx_solver_is_short(const struct polx_solver *s, uint32_t group);

/*
 * The children of a group, for loops:
 *     for (c = first; c != POLX_NONE; c = next) ...
 * Groups come first, by number; VMs follow in no particular order.
 */
uint32_t polx_solver_first_child(const struct polx_solver *s, uint32_t group);
uint32_t polx_solver_next_child(const struct polx_solver *s, uint32_t node);

/* The group a node is in; POLX_NONE for the root and detached nodes. */
uint32_t polx_solver_parent(const struct polx_solver *s, uint32_t node);

/* How many children a group has. */
uint32_t polx_solver_child_count(const struct polx_solver *s, uint32_t group);

/*
 * The claim with which a node stands before its parent; for groups the
 * effective one of the last refresh.  The root stands with the sums.
 */
void polx_solver_claim(const struct polx_solver *s, uint32_t node,
                       struct polx_claim *claim_out);

/*
 * Adjusted shares per page (ESX02 5.2) of a node that holds held_pages, as
 * Q32 (value * 2^32), rounded down; UINT64_MAX where it does not fit, as
 * when nothing is held.
 */
uint64_t polx_solver_rho(const struct polx_solver *s, uint32_t node,
                         uint64_t held_pages);

/*
 * Checks every invariant, at O(nodes): lists, sums, folded aggregates, that
 * each lambda up to date is the smallest one, and, after a materialise, that
 * all targets are within bounds and sum up.  False if anything is wrong.
 */
bool polx_solver_check(const struct polx_solver *s);

#endif
