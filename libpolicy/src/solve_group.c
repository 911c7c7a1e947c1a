/* SPDX-License-Identifier: BSD-2-Clause */
#include "solve_curve.h"

static void totals_add(struct polx_group *g, const struct polx_node *n)
{
    g->sum_min += n->level[POLX_AT_MIN];
    g->sum_max += n->level[POLX_AT_MAX];
    g->sum_active += polx_capped_active(n);
}

static void totals_remove(struct polx_group *g, const struct polx_node *n)
{
    g->sum_min -= n->level[POLX_AT_MIN];
    g->sum_max -= n->level[POLX_AT_MAX];
    g->sum_active -= polx_capped_active(n);
}

static void play_remove(struct polx_group *g, struct polx_node *nodes,
                        uint32_t child)
{
    uint32_t hole = nodes[child].play_index;
    uint32_t last = g->play[--g->in_play];

    g->play[hole] = last;
    nodes[last].play_index = hole;
}

/* With no room left the bracket is of no more use: fold anew when solving. */
static void play_add(struct polx_group *g, struct polx_node *nodes,
                     uint32_t child)
{
    if (g->in_play == POLX_PLAY_MAX) {
        g->folded = false;
        return;
    }
    nodes[child].play_index = g->in_play;
    g->play[g->in_play++] = child;
}

void polx_group_replay(struct polx_group *g, struct polx_node *nodes,
                       uint32_t child, uint32_t old)
{
    bool is_in_play = nodes[child].piece == POLX_IN_PLAY;

    if (old == POLX_IN_PLAY && !is_in_play) {
        play_remove(g, nodes, child);
    } else if (old != POLX_IN_PLAY && is_in_play) {
        play_add(g, nodes, child);
    }
}

void polx_group_add(struct polx_group *g, struct polx_node *nodes,
                    uint32_t child)
{
    struct polx_node *n = &nodes[child];

    g->children++;
    totals_add(g, n);
    if (g->folded) {
        n->piece = (uint8_t)polx_fold_bracket(n, &g->bracket);
        polx_sums_add(&g->sums, n, n->piece);
        if (n->piece == POLX_IN_PLAY) {
            play_add(g, nodes, child);
        }
    }
}

void polx_group_remove(struct polx_group *g, struct polx_node *nodes,
                       uint32_t child)
{
    struct polx_node *n = &nodes[child];

    g->children--;
    totals_remove(g, n);
    if (g->folded) {
        polx_sums_remove(&g->sums, n, n->piece);
        if (n->piece == POLX_IN_PLAY) {
            play_remove(g, nodes, child);
        }
    }
}

/* Lists shorter than this are searched as they are. */
#define NEAR_WORTH 24

/*
 * Most changes move lambda by little: those in play are first folded, for
 * this once, about the last lambda, which leaves very few to search in.
 */
static bool solve_near(struct polx_group *g, const struct polx_node *nodes)
{
    uint32_t list[POLX_PLAY_MAX];
    uint64_t reach = polx_group_reach(g) / 8;
    uint64_t lo = polx_max(g->bracket.lo, polx_sat_sub(g->guess, reach));
    uint64_t hi = polx_min(g->bracket.hi, polx_sat_add(g->guess, reach));
    struct polx_bracket b = polx_bracket_open(lo, hi);
    struct polx_field f = {
        .nodes = nodes,
        .list = list,
        .sums = g->sums,
        .pages = g->available,
    };

    for (uint32_t i = 0; i < g->in_play; i++) {
        uint32_t piece = polx_fold_bracket(&nodes[g->play[i]], &b);

        polx_sums_add(&f.sums, &nodes[g->play[i]], piece);
        list[f.count] = g->play[i];
        f.count += piece == POLX_IN_PLAY;
    }
    return polx_field_search(&f, lo, hi, g->guess, &g->lambda) == POLX_HIT;
}

/* Lambda from the children in play, if it still is in the bracket. */
static enum polx_hit solve_bracket(struct polx_group *g,
                                   const struct polx_node *nodes)
{
    struct polx_field f = {
        .nodes = nodes,
        .list = g->play,
        .count = g->in_play,
        .sums = g->sums,
        .pages = g->available,
    };

    if (g->in_play >= NEAR_WORTH && g->guess > g->bracket.lo &&
        g->guess < g->bracket.hi && solve_near(g, nodes)) {
        return POLX_HIT;
    }
    return polx_field_search(&f, g->bracket.lo, g->bracket.hi, g->guess,
                             &g->lambda);
}

/*
 * The first bracket to try.  Where lambda left the old one, its end bounds
 * the new one; otherwise the last lambda is as good a guess as any.
 */
static void first_bracket(const struct polx_group *g, enum polx_hit hit,
                          uint64_t *lo, uint64_t *hi)
{
    uint64_t reach = polx_group_reach(g);

    if (hit == POLX_ABOVE) {
        *lo = g->bracket.hi;
        *hi = polx_sat_add(*lo, reach * 4);
    } else if (hit == POLX_BELOW) {
        *hi = g->bracket.lo;
        *lo = polx_sat_sub(*hi, reach * 4);
    } else {
        *lo = polx_sat_sub(g->guess, reach * 4);
        *hi = polx_sat_add(g->guess, reach * 4);
    }
}

static void solve_between(struct polx_solver *s, struct polx_group *g,
                          uint32_t group)
{
    enum polx_hit hit = POLX_HIT;
    uint64_t lo, hi;
    bool again = false;

    /* A small group that grew. */
    g->folded =
        g->folded && (!g->bracket.is_wide || g->children <= 2 * POLX_SMALL);
    if (g->folded) {
        hit = solve_bracket(g, s->nodes);
        if (hit == POLX_HIT) {
            g->guess = g->lambda;
            return;
        }
    } else if (g->guess == 0) {
        g->guess = polx_group_guess(s, g);
    }
    first_bracket(g, hit, &lo, &hi);
    while ((hit = polx_group_fold(s, group, lo, hi)) != POLX_HIT) {
        /* Twice missed on a side: all that is left of that side. */
        if (hit == POLX_ABOVE) {
            lo = hi;
            hi = again ? POLX_CODE_MAX : polx_sat_add(hi, POLX_CODE_ONE / 4);
        } else {
            hi = lo;
            lo = again ? 0 : polx_sat_sub(lo, POLX_CODE_ONE / 4);
        }
        again = true;
    }
    g->guess = g->lambda;
}

void polx_group_solve(struct polx_solver *s, uint32_t group)
{
    struct polx_group *g = &s->groups[group];

    g->stale = true;
    g->is_short = g->available < g->sum_min;
    if (g->is_short) {
        g->lambda = polx_lambda_ceil(
            (polx_u128)g->available << POLX_SHORT_SHIFT, g->sum_min);
    } else if (g->available >= g->sum_max) {
        g->lambda = POLX_CODE_MAX;
    } else if (g->available == g->sum_min) {
        g->lambda = 0;
    } else {
        solve_between(s, g, group);
    }
    g->at = polx_lambda_open(g->lambda);
}
