/* SPDX-License-Identifier: BSD-2-Clause */
#include "solve_int.h"

static uint32_t node_count(const struct polx_solver *s)
{
    return s->max_groups + 1 + s->max_vms;
}

static uint64_t *used_word(struct polx_solver *s, uint32_t node)
{
    return &s->used_words[(node - s->max_groups - 1) / 64];
}

/* Two levels of bits say which VMs are attached, for passes in order. */
static void mark_used(struct polx_solver *s, uint32_t node)
{
    uint32_t slot = node - s->max_groups - 1;

    *used_word(s, node) |= UINT64_C(1) << slot % 64;
    s->used_summary[slot / 4096] |= UINT64_C(1) << slot / 64 % 64;
}

static void mark_unused(struct polx_solver *s, uint32_t node)
{
    uint32_t slot = node - s->max_groups - 1;

    *used_word(s, node) &= ~(UINT64_C(1) << slot % 64);
    if (*used_word(s, node) == 0) {
        s->used_summary[slot / 4096] &= ~(UINT64_C(1) << slot / 64 % 64);
    }
}

void polx_mark(struct polx_solver *s, uint32_t group)
{
    s->stored_stale = true;
    while (group != POLX_NONE && !s->groups[group].dirty) {
        s->groups[group].dirty = true;
        group = s->nodes[group].parent;
    }
}

bool polx_solver_is_attached(const struct polx_solver *s, uint32_t node)
{
    return node == 0 ||
           (node < node_count(s) && s->nodes[node].parent != POLX_NONE);
}

/* Levels from the root; only for attached nodes. */
static uint32_t depth(const struct polx_solver *s, uint32_t node)
{
    uint32_t levels = 0;

    while (node != 0) {
        node = s->nodes[node].parent;
        levels++;
    }
    return levels;
}

uint32_t polx_next_group(const struct polx_solver *s, uint32_t group,
                         uint32_t top)
{
    if (s->groups[group].first_group != POLX_NONE) {
        return s->groups[group].first_group;
    }
    while (group != top) {
        if (s->nodes[group].next != POLX_NONE) {
            return s->nodes[group].next;
        }
        group = s->nodes[group].parent;
    }
    return POLX_NONE;
}

/* Levels of groups below one. */
static uint32_t height(const struct polx_solver *s, uint32_t group)
{
    uint32_t own = depth(s, group);
    uint32_t most = 0;

    for (uint32_t g = group; g != POLX_NONE; g = polx_next_group(s, g, group)) {
        uint32_t levels = depth(s, g) - own;

        most = levels > most ? levels : most;
    }
    return most;
}

/* Groups stay sorted, since the rounding goes by their order. */
static void link_group(struct polx_solver *s, uint32_t node,
                       struct polx_group *g)
{
    uint32_t prev = POLX_NONE;
    uint32_t next = g->first_group;

    while (next != POLX_NONE && next < node) {
        prev = next;
        next = s->nodes[next].next;
    }
    s->nodes[node].prev = prev;
    s->nodes[node].next = next;
    if (prev == POLX_NONE) {
        g->first_group = node;
    } else {
        s->nodes[prev].next = node;
    }
    if (next != POLX_NONE) {
        s->nodes[next].prev = node;
    }
}

/* VMs go last, so that a walk mostly runs with the memory. */
static void link_vm(struct polx_solver *s, uint32_t node, struct polx_group *g)
{
    s->nodes[node].prev = g->last_vm;
    s->nodes[node].next = POLX_NONE;
    if (g->last_vm == POLX_NONE) {
        g->first_vm = node;
    } else {
        s->nodes[g->last_vm].next = node;
    }
    g->last_vm = node;
}

static void link_node(struct polx_solver *s, uint32_t node, uint32_t parent)
{
    struct polx_group *g = &s->groups[parent];

    s->nodes[node].parent = parent;
    if (polx_is_group(s, node)) {
        link_group(s, node, g);
    } else {
        link_vm(s, node, g);
    }
    polx_group_add(g, s->nodes, node);
    polx_mark(s, parent);
}

static void unlink_node(struct polx_solver *s, uint32_t node)
{
    struct polx_node *n = &s->nodes[node];
    struct polx_group *g = &s->groups[n->parent];

    polx_group_remove(g, s->nodes, node);
    polx_mark(s, n->parent);
    if (n->next != POLX_NONE) {
        s->nodes[n->next].prev = n->prev;
    } else if (!polx_is_group(s, node)) {
        g->last_vm = n->prev;
    }
    if (n->prev != POLX_NONE) {
        s->nodes[n->prev].next = n->next;
    } else if (polx_is_group(s, node)) {
        g->first_group = n->next;
    } else {
        g->first_vm = n->next;
    }
    n->parent = POLX_NONE;
}

static bool may_be_parent(const struct polx_solver *s, uint32_t parent)
{
    return parent <= s->max_groups && polx_solver_is_attached(s, parent);
}

bool polx_solver_attach(struct polx_solver *s, uint32_t node, uint32_t parent)
{
    if (node >= node_count(s) || polx_solver_is_attached(s, node) ||
        !may_be_parent(s, parent) ||
        (polx_is_group(s, node) && depth(s, parent) >= POLX_MAX_DEPTH)) {
        return false;
    }
    s->nodes[node] = (struct polx_node){ .parent = parent };
    if (polx_is_group(s, node)) {
        s->groups[node] = (struct polx_group){
            .first_group = POLX_NONE,
            .first_vm = POLX_NONE,
            .last_vm = POLX_NONE,
        };
    } else {
        mark_used(s, node);
    }
    link_node(s, node, parent);
    if (polx_is_group(s, node)) {
        polx_mark(s, node);
    }
    return true;
}

bool polx_solver_detach(struct polx_solver *s, uint32_t node)
{
    if (node == 0 || !polx_solver_is_attached(s, node) ||
        (polx_is_group(s, node) && s->groups[node].children != 0)) {
        return false;
    }
    unlink_node(s, node);
    s->nodes[node].target = 0;
    if (!polx_is_group(s, node)) {
        mark_unused(s, node);
    }
    return true;
}

bool polx_solver_move(struct polx_solver *s, uint32_t node, uint32_t parent)
{
    if (node == 0 || !polx_solver_is_attached(s, node) ||
        !may_be_parent(s, parent)) {
        return false;
    }
    if (polx_is_group(s, node)) {
        for (uint32_t up = parent; up != 0; up = s->nodes[up].parent) {
            if (up == node) {
                return false;
            }
        }
        if (depth(s, parent) + 1 + height(s, node) > POLX_MAX_DEPTH) {
            return false;
        }
    }
    unlink_node(s, node);
    link_node(s, node, parent);
    return true;
}

uint32_t polx_solver_first_child(const struct polx_solver *s, uint32_t group)
{
    const struct polx_group *g = &s->groups[group];

    return g->first_group != POLX_NONE ? g->first_group : g->first_vm;
}

uint32_t polx_solver_next_child(const struct polx_solver *s, uint32_t node)
{
    const struct polx_node *n = &s->nodes[node];

    if (n->next == POLX_NONE && node != 0 && polx_is_group(s, node)) {
        return s->groups[n->parent].first_vm;
    }
    return n->next;
}

uint32_t polx_solver_parent(const struct polx_solver *s, uint32_t node)
{
    return s->nodes[node].parent;
}

uint32_t polx_solver_child_count(const struct polx_solver *s, uint32_t group)
{
    return s->groups[group].children;
}
