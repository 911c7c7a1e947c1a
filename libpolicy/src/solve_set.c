/* SPDX-License-Identifier: BSD-2-Clause */
/* Claims coming in: the one thing that happens to every VM at every tick. */
#include "solve_curve.h"

static void totals_change(struct polx_group *g, const struct polx_node *n,
                          const struct polx_claim *c)
{
    /* Sums wrap around in between, and are right again afterwards. */
    g->sum_active += polx_min(c->active_pages, c->max_pages);
    g->sum_active -= polx_capped_active(n);
    if (((n->level[POLX_AT_MIN] ^ c->min_pages) |
         (n->level[POLX_AT_MAX] ^ c->max_pages)) != 0) {
        g->sum_min += c->min_pages;
        g->sum_min -= n->level[POLX_AT_MIN];
        g->sum_max += c->max_pages;
        g->sum_max -= n->level[POLX_AT_MAX];
    }
}

static void claim_write(struct polx_node *n, const struct polx_claim *c)
{
    uint64_t rest;

    n->level[POLX_AT_MIN] = c->min_pages;
    n->level[POLX_AT_MAX] = c->max_pages;
    n->level[POLX_IDLE] = c->active_pages;
    n->shares_less_1 = (uint32_t)(c->shares - 1);
    if (n->tax_bp != c->tax_bp) {
        n->tax_bp = (uint16_t)c->tax_bp;
        n->level[3] = polx_div((polx_u128)c->tax_bp << 64, POLX_UNIT, &rest);
    }
}

static bool is_same(const struct polx_node *n, const struct polx_claim *c)
{
    return ((n->level[POLX_AT_MIN] ^ c->min_pages) |
            (n->level[POLX_AT_MAX] ^ c->max_pages) |
            (n->level[POLX_IDLE] ^ c->active_pages) |
            (polx_shares(n) ^ c->shares) | (n->tax_bp ^ c->tax_bp)) == 0;
}

void polx_change(struct polx_solver *s, uint32_t node,
                 const struct polx_claim *c)
{
    struct polx_node *n = &s->nodes[node];
    struct polx_group *g = &s->groups[n->parent];

    if (is_same(n, c)) {
        return;
    }
    totals_change(g, n, c);
    if (g->folded && !g->bracket.is_wide) {
        struct polx_sums sums = g->sums;
        uint32_t old = n->piece;
        uint32_t piece;

        polx_sums_remove(&sums, n, old);
        claim_write(n, c);
        piece = polx_fold_bracket(n, &g->bracket);
        polx_sums_add(&sums, n, piece);
        g->sums = sums;
        n->piece = (uint8_t)piece;
        if (old == POLX_IN_PLAY || piece == POLX_IN_PLAY) {
            polx_group_replay(g, s->nodes, node, old);
        }
    } else {
        claim_write(n, c);
    }
    if (!g->dirty || !s->stored_stale) {
        polx_mark(s, n->parent);
    }
}

static inline bool is_in_range(const struct polx_claim *c)
{
    return (c->min_pages <= c->max_pages) & (c->max_pages <= POLX_MAX_PAGES) &
           (c->active_pages <= POLX_MAX_PAGES) &
           (c->shares - 1 < POLX_MAX_SHARES) & (c->tax_bp <= POLX_MAX_TAX_BP);
}

static struct polx_claim brought_in_range(const struct polx_claim *c)
{
    struct polx_claim r;

    r.min_pages = polx_min(c->min_pages, POLX_MAX_PAGES);
    r.max_pages = polx_max(polx_min(c->max_pages, POLX_MAX_PAGES), r.min_pages);
    r.active_pages = polx_min(c->active_pages, POLX_MAX_PAGES);
    r.shares = polx_min(polx_max(c->shares, 1), POLX_MAX_SHARES);
    r.tax_bp = c->tax_bp > POLX_MAX_TAX_BP ? POLX_MAX_TAX_BP : c->tax_bp;
    return r;
}

static void set_group(struct polx_solver *s, uint32_t node,
                      const struct polx_claim *claim)
{
    struct polx_group *g = &s->groups[node];
    struct polx_claim c;

    g->reservation = claim->min_pages;
    g->limit = claim->max_pages;
    polx_group_claim(s, node, &c);
    c.shares = claim->shares;
    c.tax_bp = claim->tax_bp;
    polx_change(s, node, &c);
}

void polx_solver_set(struct polx_solver *s, uint32_t node,
                     const struct polx_claim *claim)
{
    struct polx_claim c;

    if (node == 0 || node > s->max_groups + s->max_vms ||
        s->nodes[node].parent == POLX_NONE) {
        return;
    }
    if (!is_in_range(claim)) {
        c = brought_in_range(claim);
        claim = &c;
    }
    if (polx_is_group(s, node)) {
        set_group(s, node, claim);
    } else {
        polx_change(s, node, claim);
    }
}

void polx_group_claim(const struct polx_solver *s, uint32_t group,
                      struct polx_claim *claim_out)
{
    const struct polx_group *g = &s->groups[group];
    const struct polx_node *n = &s->nodes[group];
    uint64_t min = polx_narrow(g->sum_min, POLX_MAX_PAGES);
    uint64_t limit = group == 0 ? POLX_MAX_PAGES : g->limit;
    uint64_t max = polx_narrow(g->sum_max, limit);

    claim_out->max_pages = max;
    claim_out->min_pages = polx_min(polx_max(min, g->reservation), max);
    claim_out->active_pages = polx_narrow(g->sum_active, POLX_MAX_PAGES);
    claim_out->shares = polx_shares(n);
    claim_out->tax_bp = n->tax_bp;
}

void polx_solver_claim(const struct polx_solver *s, uint32_t node,
                       struct polx_claim *claim_out)
{
    const struct polx_node *n = &s->nodes[node];

    if (node == 0) {
        polx_group_claim(s, 0, claim_out);
        return;
    }
    claim_out->min_pages = n->level[POLX_AT_MIN];
    claim_out->max_pages = n->level[POLX_AT_MAX];
    claim_out->active_pages = n->level[POLX_IDLE];
    claim_out->shares = polx_shares(n);
    claim_out->tax_bp = n->tax_bp;
}
