/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Data of the target solver, shared by solve*.c only.
 *
 * How a group finds its lambda.  The group keeps a bracket [lo, hi] of
 * lambda.  A child's target as a function of lambda is made of straight
 * pieces: at min, inside its active pages, in its idle pages, at max.  A
 * child that stays on one piece over the whole bracket is "folded": its
 * piece is added to two sums,
 *
 *     10000 * sum of targets = base + slope * lambda,
 *
 * in ten-thousandths of a page, so that taxes in basis points stay whole
 * numbers.  The few other children are "in play" and listed.  To find lambda
 * is then a matter of the sums and that list.  When a claim changes, its old
 * part of the sums is taken out and the new one put in.  When lambda leaves
 * the bracket, all children are folded again about a new one.
 */
#ifndef POLX_SOLVE_INT_H
#define POLX_SOLVE_INT_H

#include "arith.h"
#include "solve.h"

/* Ten-thousandths: the unit of tax, and of a page in the sums. */
#define POLX_UNIT 10000

/* A bracket is narrowed until at most this many children are in play. */
#define POLX_PLAY_WANTED 320
/* And is given up when changes bring more than this into play. */
#define POLX_PLAY_MAX 400

/* Groups of up to this many children have all of them in play, always. */
#define POLX_SMALL 32

/* Pieces; the first three are also indices into polx_node.level. */
enum polx_piece {
    POLX_AT_MIN = 0,
    POLX_AT_MAX = 1,
    POLX_IDLE = 2,
    POLX_ACTIVE = 3,
    POLX_IN_PLAY = 4
};

/* One claim: exactly a cache line on today's machines. */
struct polx_node {
    /* Pages: min, max, active; then the tax as a fraction of 2^64. */
    uint64_t level[4];
    uint64_t target;
    uint32_t shares_less_1;
    uint32_t parent;
    uint16_t tax_bp;
    uint8_t piece;
    uint8_t unused;
    /* Position in the parent's list of children in play. */
    uint32_t play_index;
    uint32_t next;
    uint32_t prev;
};

_Static_assert(sizeof(struct polx_node) == 64, "one cache line per node");

/* The sums over folded children. */
struct polx_sums {
    polx_u128 base;
    uint64_t slope;
};

/* lambda, as whole + part / 2^64 and as mantissa / 2^shift. */
struct polx_lambda {
    uint64_t whole;
    uint64_t part;
    uint64_t mantissa;
    uint32_t shift;
};

/*
 * Lambda from lo to hi = (1 + growth / 2^64) * lo, rounded up.  A bracket is
 * wide if hi is not less than twice lo; then all children are in play.
 */
struct polx_bracket {
    uint64_t lo;
    uint64_t hi;
    struct polx_lambda at;
    uint64_t growth;
    bool is_wide;
};

struct polx_group {
    /* For the pass over all VMs. */
    struct polx_lambda at;
    uint64_t carry;
    bool is_short;
    /* Solved since targets were last stored. */
    bool stale;

    /* Something in or below this group changed since the last refresh. */
    bool dirty;
    /* bracket, sums and play are valid; if it is wide, sums are 0. */
    bool folded;
    struct polx_bracket bracket;
    struct polx_sums sums;

    /* Code of lambda, see solve_curve.h; a first guess for the next. */
    uint64_t lambda;
    uint64_t guess;
    uint64_t available;

    /* Over all children; active is capped at each child's max. */
    polx_u128 sum_min;
    polx_u128 sum_max;
    polx_u128 sum_active;

    /* As set by the caller, before the children bound it. */
    uint64_t reservation;
    uint64_t limit;

    uint32_t first_group;
    uint32_t first_vm;
    uint32_t last_vm;
    uint32_t children;
    uint32_t in_play;
    uint32_t play[POLX_PLAY_MAX];
};

static inline uint64_t polx_shares(const struct polx_node *n)
{
    return (uint64_t)n->shares_less_1 + 1;
}

static inline bool polx_is_group(const struct polx_solver *s, uint32_t node)
{
    return node <= s->max_groups;
}

/* Active pages that a child could hold. */
static inline uint64_t polx_capped_active(const struct polx_node *n)
{
    return polx_min(n->level[POLX_IDLE], n->level[POLX_AT_MAX]);
}

/* solve_set.c: claims. */

/* Gives an attached node a claim, which must be in range; O(1). */
void polx_change(struct polx_solver *s, uint32_t node,
                 const struct polx_claim *c);
/* The claim of a group on its parent: see the rules in solve.h. */
void polx_group_claim(const struct polx_solver *s, uint32_t group,
                      struct polx_claim *claim_out);

/* solve_group.c: one group and its children. */

/* Brings the list of those in play in line after a child's piece changed. */
void polx_group_replay(struct polx_group *g, struct polx_node *nodes,
                       uint32_t child, uint32_t old);
/* Adds or removes a child's claim; the lists of siblings are not touched. */
void polx_group_add(struct polx_group *g, struct polx_node *nodes,
                    uint32_t child);
void polx_group_remove(struct polx_group *g, struct polx_node *nodes,
                       uint32_t child);
/* Finds the group's lambda for g->available. */
void polx_group_solve(struct polx_solver *s, uint32_t group);

/* solve_search.c: finding lambda within a bracket. */

/* A set of children: some folded into sums, some listed. */
struct polx_field {
    const struct polx_node *nodes;
    const uint32_t *list;
    uint32_t count;
    struct polx_sums sums;
    uint64_t pages;
};

enum polx_hit {
    POLX_HIT,
    POLX_BELOW,
    POLX_ABOVE
};

/* Whether the sum of targets reaches f->pages at lambda. */
bool polx_field_reaches(const struct polx_field *f, uint64_t lambda);
/*
 * The smallest lambda of [lo, hi] that reaches f->pages; BELOW if lo already
 * does (and is not 0), ABOVE if hi does not.
 */
enum polx_hit polx_field_search(const struct polx_field *f, uint64_t lo,
                                uint64_t hi, uint64_t guess,
                                uint64_t *lambda_out);

/* solve_fold.c: folding all children anew. */

/*
 * How far from a guess lambda is looked for first, in codes.  If all claims
 * of n children change independently, lambda changes in proportion to
 * 1 / sqrt(n).  This is some 15 % for 10 children, 0.5 % for 10,000.
 */
uint64_t polx_group_reach(const struct polx_group *g);
/* A first guess, from some of the children. */
uint64_t polx_group_guess(const struct polx_solver *s,
                          const struct polx_group *g);
/*
 * Finds a group's lambda in [lo, hi], whatever it had before, and keeps a
 * narrow bracket about it.  BELOW and ABOVE as in polx_field_search().
 */
enum polx_hit polx_group_fold(struct polx_solver *s, uint32_t group,
                              uint64_t lo, uint64_t hi);

/* solve_tree.c: who is under whom. */

/* Marks a group and all above it for the next refresh. */
void polx_mark(struct polx_solver *s, uint32_t group);
/*
 * The group after one in the order parents before children, in the tree
 * below top; POLX_NONE after the last.
 */
uint32_t polx_next_group(const struct polx_solver *s, uint32_t group,
                         uint32_t top);

#endif
