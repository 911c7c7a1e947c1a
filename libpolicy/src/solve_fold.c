/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Folding all children of a group about a new bracket, and narrowing the
 * bracket until few children are left in play (prune and search).
 */
#include "solve_curve.h"

/* Children looked at to guess lambda for a long list. */
#define SAMPLE 64
/* Rounds that leave more than 3/4 in play before narrowing is given up. */
#define PATIENCE 3

/* A list being narrowed; field.list is the same memory as list. */
struct narrowing {
    struct polx_field field;
    struct polx_node *nodes;
    uint32_t *list;
    uint64_t lo;
    uint64_t hi;
};

/* What a pass gathers, apart from memory that the stores could change. */
struct gathered {
    struct polx_sums sums;
    uint32_t count;
};

static inline void fold_one(struct polx_node *n, uint32_t child,
                            const struct polx_bracket *b, uint32_t *list,
                            struct gathered *got)
{
    uint32_t piece = polx_fold_bracket(n, b);

    n->piece = (uint8_t)piece;
    polx_sums_add(&got->sums, n, piece);
    /* Written always, kept only if in play. */
    list[got->count] = child;
    got->count += piece == POLX_IN_PLAY;
}

static void fold_siblings(struct narrowing *w, uint32_t child)
{
    struct polx_bracket b = polx_bracket_open(w->lo, w->hi);
    struct polx_node *nodes = w->nodes;
    uint32_t *list = w->list;
    struct gathered got = { w->field.sums, w->field.count };

    while (child != POLX_NONE) {
        struct polx_node *n = &nodes[child];

        fold_one(n, child, &b, list, &got);
        child = n->next;
    }
    w->field.sums = got.sums;
    w->field.count = got.count;
}

/* Folds those in play again after the bracket became narrower. */
static void fold_list(struct narrowing *w)
{
    struct polx_bracket b = polx_bracket_open(w->lo, w->hi);
    struct polx_node *nodes = w->nodes;
    uint32_t *list = w->list;
    uint32_t count = w->field.count;
    struct gathered got = { w->field.sums, 0 };

    for (uint32_t i = 0; i < count; i++) {
        fold_one(&nodes[list[i]], list[i], &b, list, &got);
    }
    w->field.sums = got.sums;
    w->field.count = got.count;
}

uint64_t polx_group_reach(const struct polx_group *g)
{
    return (POLX_CODE_ONE / 4 * 3) >> (polx_bits(g->children) / 2);
}

uint64_t polx_group_guess(const struct polx_solver *s,
                          const struct polx_group *g)
{
    uint32_t sample[SAMPLE];
    struct polx_field f = { .nodes = s->nodes, .list = sample };
    uint64_t lambda, shares = 0;
    uint32_t child = g->first_group != POLX_NONE ? g->first_group : g->first_vm;

    while (child != POLX_NONE && f.count < SAMPLE) {
        sample[f.count++] = child;
        shares += polx_shares(&s->nodes[child]);
        child = polx_solver_next_child(s, child);
    }
    f.pages = polx_muldiv(g->available, f.count, g->children);
    polx_field_search(&f, 0, POLX_CODE_MAX, polx_lambda_ceil(f.pages, shares),
                      &lambda);
    return lambda;
}

/* Lambda of a smaller group made of every so-manieth child in play. */
static uint64_t guess_by_sample(const struct narrowing *w, uint64_t guess)
{
    uint32_t sample[SAMPLE];
    uint32_t count = w->field.count;
    struct polx_field f = w->field;
    uint64_t lambda, rest;

    f.list = sample;
    f.count = SAMPLE;
    for (uint32_t i = 0; i < SAMPLE; i++) {
        sample[i] = w->list[(uint64_t)i * count / SAMPLE];
    }
    f.pages = polx_muldiv(w->field.pages, SAMPLE, count);
    f.sums.base = polx_mul(polx_div(w->field.sums.base, count, &rest), SAMPLE);
    f.sums.slope = polx_muldiv(w->field.sums.slope, SAMPLE, count);
    polx_field_search(&f, w->lo, w->hi, guess, &lambda);
    return lambda;
}

/* Makes p one end of the bracket, if it lies inside. */
static void cut(struct narrowing *w, uint64_t p)
{
    if (p <= w->lo || p >= w->hi) {
        return;
    }
    if (polx_field_reaches(&w->field, p)) {
        w->hi = p;
    } else {
        w->lo = p;
    }
}

static void narrow(struct narrowing *w, uint64_t guess)
{
    uint32_t stalled = 0;

    while (w->field.count > POLX_PLAY_WANTED && w->hi - w->lo > 4 &&
           stalled < PATIENCE) {
        uint32_t before = w->field.count;
        uint64_t width =
            polx_muldiv(w->hi - w->lo, POLX_PLAY_WANTED, (uint64_t)before * 3);

        /* Not narrower than the guess is good, nor ever wide. */
        width = polx_max(width, (w->hi - w->lo) / 16);
        width = polx_min(width, POLX_CODE_ONE / 4);
        if (before > SAMPLE) {
            guess = guess_by_sample(w, guess);
        }
        cut(w, polx_sat_sub(guess, width));
        cut(w, polx_sat_add(guess, width));
        if (stalled != 0) {
            cut(w, w->lo + (w->hi - w->lo) / 2);
        }
        fold_list(w);
        stalled = w->field.count > before - before / 4 ? stalled + 1 : 0;
    }
}

/*
 * Around a known lambda a bracket of the usual reach is enough: what is
 * farther away can be folded too.
 */
static void trim(struct narrowing *w, const struct polx_group *g)
{
    uint64_t reach = polx_group_reach(g);

    w->lo = polx_max(w->lo, polx_sat_sub(g->lambda, reach));
    w->hi = polx_min(w->hi, polx_sat_add(g->lambda, reach));
    fold_list(w);
}

/*
 * Keeps the bracket for later changes, if its list is short enough to grow
 * by half.
 */
static void keep(const struct narrowing *w, struct polx_group *g)
{
    uint32_t count = w->field.count;

    g->bracket = polx_bracket_open(w->lo, w->hi);
    g->folded = count <= POLX_PLAY_WANTED &&
                (!g->bracket.is_wide || g->children <= POLX_SMALL);
    if (!g->folded) {
        return;
    }
    g->sums = w->field.sums;
    g->in_play = count;
    for (uint32_t i = 0; i < count; i++) {
        g->play[i] = w->list[i];
        w->nodes[w->list[i]].play_index = i;
    }
}

enum polx_hit polx_group_fold(struct polx_solver *s, uint32_t group,
                              uint64_t lo, uint64_t hi)
{
    struct polx_group *g = &s->groups[group];
    struct narrowing w = {
        .field = { .nodes = s->nodes,
                   .list = s->scratch,
                   .pages = g->available },
        .nodes = s->nodes,
        .list = s->scratch,
        .lo = lo,
        .hi = hi,
    };
    enum polx_hit hit;

    if (g->children <= POLX_SMALL) {
        w.lo = 0;
        w.hi = POLX_CODE_MAX;
    }
    g->folded = false;
    fold_siblings(&w, g->first_group);
    fold_siblings(&w, g->first_vm);
    narrow(&w, g->guess);
    hit = polx_field_search(&w.field, w.lo, w.hi, g->guess, &g->lambda);
    if (hit == POLX_HIT) {
        if (g->children > POLX_SMALL) {
            trim(&w, g);
        }
        keep(&w, g);
    }
    return hit;
}
