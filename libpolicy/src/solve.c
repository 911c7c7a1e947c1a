/* SPDX-License-Identifier: BSD-2-Clause */
#include "solve_curve.h"

#include <string.h>

/* Where running sums start: at half a page, so that they round to nearest. */
#define CARRY_START (UINT64_C(1) << 63)
#define CACHE_LINE  64

static size_t round_up(size_t bytes)
{
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

/* Sizes of the parts of the block, in the order they lie there. */
struct layout {
    uint32_t nodes;
    uint32_t words;
    uint32_t summary_words;
    size_t node_bytes;
    size_t group_bytes;
    size_t scratch_bytes;
    size_t bit_bytes;
};

static struct layout lay_out(uint32_t max_vms, uint32_t max_groups)
{
    struct layout l = { .nodes = max_groups + 1 + max_vms };

    l.words = max_vms / 64 + 1;
    l.summary_words = l.words / 64 + 1;
    l.node_bytes = (size_t)l.nodes * sizeof(struct polx_node);
    l.group_bytes =
        round_up(((size_t)max_groups + 1) * sizeof(struct polx_group));
    l.scratch_bytes = round_up((size_t)l.nodes * sizeof(uint32_t));
    l.bit_bytes = ((size_t)l.words + l.summary_words) * sizeof(uint64_t);
    return l;
}

size_t polx_solver_size(uint32_t max_vms, uint32_t max_groups)
{
    struct layout l;

    if ((uint64_t)max_vms + max_groups + 1 > POLX_MAX_NODES) {
        return 0;
    }
    l = lay_out(max_vms, max_groups);
    return l.node_bytes + l.group_bytes + l.scratch_bytes + l.bit_bytes +
           CACHE_LINE;
}

void polx_solver_init(struct polx_solver *s, void *mem, uint32_t max_vms,
                      uint32_t max_groups)
{
    struct layout l = lay_out(max_vms, max_groups);
    char *at = mem;

    at += (CACHE_LINE - (uintptr_t)at % CACHE_LINE) % CACHE_LINE;
    memset(at, 0, l.node_bytes + l.group_bytes + l.scratch_bytes + l.bit_bytes);
    memset(s, 0, sizeof(*s));
    s->nodes = (void *)at;
    at += l.node_bytes;
    s->groups = (void *)at;
    at += l.group_bytes;
    s->scratch = (void *)at;
    at += l.scratch_bytes;
    s->used_words = (void *)at;
    s->used_summary = s->used_words + l.words;
    s->summary_words = l.summary_words;
    s->max_vms = max_vms;
    s->max_groups = max_groups;
    for (uint32_t i = 0; i < l.nodes; i++) {
        s->nodes[i].parent = POLX_NONE;
        s->nodes[i].next = POLX_NONE;
        s->nodes[i].prev = POLX_NONE;
    }
    s->groups[0].first_group = POLX_NONE;
    s->groups[0].first_vm = POLX_NONE;
    s->groups[0].last_vm = POLX_NONE;
    polx_mark(s, 0);
}

void polx_solver_set_available(struct polx_solver *s, uint64_t pages)
{
    pages = polx_min(pages, POLX_MAX_PAGES);
    if (s->available_pages != pages) {
        s->available_pages = pages;
        polx_mark(s, 0);
    }
}

/* The first group of a list of siblings that changed. */
static uint32_t first_dirty(const struct polx_solver *s, uint32_t group)
{
    while (group != POLX_NONE && !s->groups[group].dirty) {
        group = s->nodes[group].next;
    }
    return group;
}

static uint32_t deepest_dirty(const struct polx_solver *s, uint32_t group)
{
    uint32_t child;

    while ((child = first_dirty(s, s->groups[group].first_group)) !=
           POLX_NONE) {
        group = child;
    }
    return group;
}

/* Children first: what changed below becomes each group's own claim. */
static void claims_up(struct polx_solver *s)
{
    uint32_t group = deepest_dirty(s, 0);

    while (group != 0) {
        struct polx_claim c;
        uint32_t parent = s->nodes[group].parent;
        uint32_t sibling = first_dirty(s, s->nodes[group].next);

        polx_group_claim(s, group, &c);
        polx_change(s, group, &c);
        group = sibling == POLX_NONE ? parent : deepest_dirty(s, sibling);
    }
}

/* Tells the groups in a group what they have. */
static void hand_down(struct polx_solver *s, struct polx_group *g)
{
    g->carry = CARRY_START;
    for (uint32_t c = g->first_group; c != POLX_NONE; c = s->nodes[c].next) {
        const struct polx_node *n = &s->nodes[c];
        uint64_t pages = polx_carry(g->is_short ? polx_short_share_at(n, g->at)
                                                : polx_share_at(n, g->at),
                                    &g->carry);

        if (s->groups[c].available != pages) {
            s->groups[c].available = pages;
            s->groups[c].dirty = true;
        }
    }
}

/* The next group to solve: below first, then beside, then beside parents. */
static uint32_t next_dirty(const struct polx_solver *s, uint32_t group)
{
    uint32_t next = first_dirty(s, s->groups[group].first_group);

    while (next == POLX_NONE && group != 0) {
        next = first_dirty(s, s->nodes[group].next);
        group = s->nodes[group].parent;
    }
    return next;
}

void polx_solver_refresh(struct polx_solver *s)
{
    uint32_t group = 0;

    if (!s->groups[0].dirty) {
        return;
    }
    claims_up(s);
    s->groups[0].available = s->available_pages;
    while (group != POLX_NONE) {
        struct polx_group *g = &s->groups[group];

        polx_group_solve(s, group);
        hand_down(s, g);
        g->dirty = false;
        group = next_dirty(s, group);
    }
}

uint64_t polx_solver_peek(const struct polx_solver *s, uint32_t node)
{
    const struct polx_node *n = &s->nodes[node];
    const struct polx_group *g;

    if (!polx_solver_is_attached(s, node)) {
        return 0;
    }
    if (polx_is_group(s, node)) {
        return s->groups[node].available;
    }
    g = &s->groups[n->parent];
    return g->is_short ? polx_short_share_at(n, g->at).whole
                       : polx_share_at(n, g->at).whole;
}

/*
 * Stores targets for VMs of one group, as long as the bits lead to such, and
 * returns the bits left.
 */
static uint64_t store_run(struct polx_node *base, uint64_t bits,
                          uint32_t parent, struct polx_group *g)
{
    struct polx_lambda at = g->at;
    uint64_t carry = g->carry;
    struct polx_node *n = &base[__builtin_ctzll(bits)];

    do {
        struct polx_fixed x = polx_share_at(n, at);

        n->target = polx_carry(x, &carry);
        bits &= bits - 1;
        if (bits == 0) {
            break;
        }
        n = &base[__builtin_ctzll(bits)];
    } while (n->parent == parent);
    g->carry = carry;
    return bits;
}

/* The same, one VM only, for a group that is short or up to date. */
static uint64_t store_odd(struct polx_node *base, uint64_t bits,
                          struct polx_group *g)
{
    struct polx_node *n = &base[__builtin_ctzll(bits)];

    if (g->stale) {
        n->target = polx_carry(polx_short_share_at(n, g->at), &g->carry);
    }
    return bits & (bits - 1);
}

/*
 * The VMs of 64 slots.  Shares are exact to far less than a page in total:
 * lambda is at most 2^-58 of itself too large, so that the sum is at most
 * 2^-6 of a page too large; the tax is a fraction of 2^64 too small, for up
 * to 2^59 pages, which makes 2^-5; and what is cut off makes the sum of
 * 2^18 children at most 2^-12 too small.  Starting at half a page, the
 * running sum therefore ends on the group's pages exactly.
 */
static void store_word(struct polx_solver *s, uint32_t word)
{
    uint64_t bits = s->used_words[word];
    struct polx_node *base = &s->nodes[s->max_groups + 1 + word * 64];

    while (bits != 0) {
        uint32_t parent = base[__builtin_ctzll(bits)].parent;
        struct polx_group *g = &s->groups[parent];

        if (g->stale && !g->is_short) {
            bits = store_run(base, bits, parent, g);
        } else {
            bits = store_odd(base, bits, g);
        }
    }
}

void polx_solver_materialise(struct polx_solver *s)
{
    polx_solver_refresh(s);
    if (!s->stored_stale) {
        return;
    }
    for (uint32_t i = 0; i < s->summary_words; i++) {
        for (uint64_t bits = s->used_summary[i]; bits != 0; bits &= bits - 1) {
            store_word(s, i * 64 + (uint32_t)__builtin_ctzll(bits));
        }
    }
    for (uint32_t g = 0; g != POLX_NONE; g = polx_next_group(s, g, 0)) {
        s->nodes[g].target = s->groups[g].available;
        s->groups[g].stale = false;
    }
    s->stored_stale = false;
}

uint64_t polx_solver_target(const struct polx_solver *s, uint32_t node)
{
    return s->nodes[node].target;
}

bool polx_solver_is_short(const struct polx_solver *s, uint32_t group)
{
    return s->groups[group].is_short;
}

/*
 * shares / cost(held); with the idle pages' cost 10000 / (10000 - tax_bp)
 * both sides are multiplied by 10000 - tax_bp to stay whole numbers.
 */
uint64_t polx_solver_rho(const struct polx_solver *s, uint32_t node,
                         uint64_t held_pages)
{
    const struct polx_node *n = &s->nodes[node];
    uint64_t held = polx_min(held_pages, POLX_MAX_PAGES);
    uint64_t busy = polx_min(held, n->level[POLX_IDLE]);
    uint32_t untaxed = (uint32_t)(POLX_UNIT - n->tax_bp);
    polx_u128 cost = polx_mul(busy, untaxed) + polx_mul(held - busy, POLX_UNIT);
    polx_u128 gain = polx_mul(polx_shares(n), untaxed) << 32;
    uint64_t rest;

    /* At most three bits beyond 64: 2^52 * 10000. */
    while ((uint64_t)(cost >> 64) != 0) {
        cost >>= 1;
        gain >>= 1;
    }
    return polx_div(gain, (uint64_t)cost, &rest);
}
