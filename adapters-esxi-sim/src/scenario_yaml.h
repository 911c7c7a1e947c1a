/* SPDX-License-Identifier: BSD-2-Clause */
/* A YAML document as a tree that knows the line of everything in it. */
#ifndef SIM_SCENARIO_YAML_H
#define SIM_SCENARIO_YAML_H

#include <stddef.h>

#include "scenario_error.h"

/* Bounds that keep hostile input cheap; far beyond any honest scenario. */
#define SIM_YAML_MAX_BYTES  ((size_t)1 << 20)
#define SIM_YAML_MAX_DEPTH  12u
#define SIM_YAML_MAX_NODES  100000u
#define SIM_YAML_MAX_KEYS   256u /* in one map */
#define SIM_YAML_MAX_SCALAR 4096u

enum sim_node_kind {
    SIM_NODE_SCALAR,
    SIM_NODE_LIST,
    SIM_NODE_MAP
};

struct sim_node {
    enum sim_node_kind kind;
    unsigned line;          /* from 1 */
    char *key;              /* in a map; else NULL */
    char *text;             /* of a scalar */
    struct sim_node *first; /* members, in order */
    struct sim_node *next;  /* the next member of the same parent */
    size_t n;               /* how many members */
};

/*
 * Read one document. Aliases, anchors, tags, keys that are not scalars,
 * duplicate keys and anything after the document are errors.
 * @return POL_OK, POL_ERR_INVALID, POL_ERR_NOMEM with *err filled
 */
int sim_yaml_read(const char *text, size_t bytes, const char *file,
                  struct sim_node **out, struct sim_error *err);

/* Free it; NULL is allowed. */
void sim_yaml_free(struct sim_node *node);

/* The member of that name, or NULL. */
const struct sim_node *sim_yaml_member(const struct sim_node *map,
                                       const char *key);

#endif /* SIM_SCENARIO_YAML_H */
