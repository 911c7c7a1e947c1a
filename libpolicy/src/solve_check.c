/* SPDX-License-Identifier: BSD-2-Clause */
/* The solver's invariants, recomputed from nothing but the claims. */
#include "solve_curve.h"

static bool node_is_valid(const struct polx_solver *s, uint32_t node)
{
    const struct polx_node *n = &s->nodes[node];
    uint32_t next = n->next;

    return n->level[POLX_AT_MIN] <= n->level[POLX_AT_MAX] &&
           n->level[POLX_AT_MAX] <= POLX_MAX_PAGES &&
           n->level[POLX_IDLE] <= POLX_MAX_PAGES &&
           n->tax_bp <= POLX_MAX_TAX_BP && n->piece <= POLX_IN_PLAY &&
           (next == POLX_NONE || s->nodes[next].prev == node);
}

/* The piece a child is folded to must hold at both ends of the bracket. */
static bool fold_is_valid(const struct polx_group *g,
                          const struct polx_node *nodes, uint32_t child)
{
    const struct polx_node *n = &nodes[child];
    struct polx_sums as_folded, as_is;

    if (n->piece == POLX_IN_PLAY) {
        return n->play_index < g->in_play && g->play[n->play_index] == child;
    }
    for (int end = 0; end < 2; end++) {
        struct polx_lambda at =
            polx_lambda_open(end == 0 ? g->bracket.lo : g->bracket.hi);

        as_folded = (struct polx_sums){ 0, 0 };
        as_is = as_folded;
        polx_sums_add(&as_folded, n, n->piece);
        polx_sums_add(&as_is, n, polx_piece_at(n, at));
        /* At a bend two pieces hold: compare their values. */
        if (as_folded.slope != as_is.slope &&
            (as_folded.base << at.shift) +
                    polx_mul(as_folded.slope, at.mantissa) !=
                (as_is.base << at.shift) + polx_mul(as_is.slope, at.mantissa)) {
            return false;
        }
    }
    return true;
}

static bool totals_are_valid(const struct polx_solver *s, uint32_t group)
{
    const struct polx_group *g = &s->groups[group];
    struct polx_group seen = { .children = 0 };
    uint32_t c;

    for (c = polx_solver_first_child(s, group); c != POLX_NONE;
         c = polx_solver_next_child(s, c)) {
        const struct polx_node *n = &s->nodes[c];

        if (n->parent != group || !node_is_valid(s, c)) {
            return false;
        }
        seen.children++;
        seen.sum_min += n->level[POLX_AT_MIN];
        seen.sum_max += n->level[POLX_AT_MAX];
        seen.sum_active += polx_min(n->level[POLX_IDLE], n->level[POLX_AT_MAX]);
        if (g->folded) {
            polx_sums_add(&seen.sums, n, n->piece);
            seen.in_play += n->piece == POLX_IN_PLAY;
            if (!fold_is_valid(g, s->nodes, c)) {
                return false;
            }
        }
    }
    return seen.children == g->children && seen.sum_min == g->sum_min &&
           seen.sum_max == g->sum_max && seen.sum_active == g->sum_active &&
           (!g->folded ||
            (seen.in_play == g->in_play && seen.sums.base == g->sums.base &&
             seen.sums.slope == g->sums.slope));
}

/* Whether the sum of exact shares at a lambda reaches what a group has. */
static bool reaches(const struct polx_solver *s, uint32_t group,
                    uint64_t lambda)
{
    struct polx_lambda at = polx_lambda_open(lambda);
    struct polx_field none = { .pages = s->groups[group].available };
    uint32_t c;

    for (c = polx_solver_first_child(s, group); c != POLX_NONE;
         c = polx_solver_next_child(s, c)) {
        polx_sums_add(&none.sums, &s->nodes[c],
                      polx_piece_at(&s->nodes[c], at));
    }
    return polx_field_reaches(&none, lambda);
}

static bool lambda_is_valid(const struct polx_solver *s, uint32_t group)
{
    const struct polx_group *g = &s->groups[group];

    if (g->dirty) {
        return true;
    }
    if (g->is_short != (g->available < g->sum_min)) {
        return false;
    }
    if (g->is_short) {
        return true;
    }
    if (g->available >= g->sum_max) {
        return g->lambda == POLX_CODE_MAX;
    }
    return reaches(s, group, g->lambda) &&
           (g->lambda == 0 || !reaches(s, group, g->lambda - 1));
}

static bool targets_are_valid(const struct polx_solver *s, uint32_t group)
{
    const struct polx_group *g = &s->groups[group];
    polx_u128 sum = 0;
    uint32_t c;

    for (c = polx_solver_first_child(s, group); c != POLX_NONE;
         c = polx_solver_next_child(s, c)) {
        const struct polx_node *n = &s->nodes[c];
        uint64_t peeked = polx_solver_peek(s, c);

        if (n->target > n->level[POLX_AT_MAX] ||
            (!g->is_short && n->target < n->level[POLX_AT_MIN]) ||
            (g->is_short && n->target > n->level[POLX_AT_MIN]) ||
            n->target < peeked || n->target > peeked + 1) {
            return false;
        }
        sum += n->target;
    }
    return s->nodes[group].target == g->available &&
           sum == polx_narrow(g->sum_max, g->available);
}

bool polx_solver_check(const struct polx_solver *s)
{
    for (uint32_t g = 0; g != POLX_NONE; g = polx_next_group(s, g, 0)) {
        if (!totals_are_valid(s, g) || !lambda_is_valid(s, g)) {
            return false;
        }
        if (!s->stored_stale && !targets_are_valid(s, g)) {
            return false;
        }
        if (g != 0 && s->groups[g].dirty &&
            !s->groups[s->nodes[g].parent].dirty) {
            return false;
        }
    }
    return true;
}
