/* SPDX-License-Identifier: BSD-2-Clause */
/* The section groups. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"

#define GROUP(key, kind, member, min, max, required)                           \
    {                                                                          \
        key, kind, offsetof(struct sim_group_spec, member), min, max,          \
            required, NULL                                                     \
    }

static const struct sim_field fields[] = {
    GROUP("name", SIM_F_TEXT, name, 1, SIM_NAME_BYTES, true),
    { "parent", SIM_F_OTHER, 0, 0, 0, false, NULL },
    GROUP("shares", SIM_F_U64, shares, 1, POL_MAX_SHARES, false),
    GROUP("reservation", SIM_F_PAGES, reservation_pages, 0, SIM_MAX_PAGES,
          false),
    GROUP("limit", SIM_F_LIMIT, limit_pages, 1, SIM_MAX_PAGES, false),
    GROUP("tax", SIM_F_PERCENT, tax_bp, 0, POL_MAX_TAX_BP, false),
};

uint64_t sim_group_id(const struct sim_scenario *scenario, const char *name)
{
    for (size_t i = 0; i < scenario->groups_n; i++) {
        if (scenario->groups[i].name != NULL &&
            strcmp(scenario->groups[i].name, name) == 0) {
            return i + 1;
        }
    }
    return SIM_NONE;
}

static int read_group(struct sim_reading *rd, const struct sim_node *map,
                      struct sim_scenario *scenario, size_t index)
{
    struct sim_group_spec *group = &scenario->groups[index];
    struct pol_group_params defaults;
    int rc;

    pol_group_params_init(&defaults);
    group->shares = defaults.shares;
    group->limit_pages = POL_NO_LIMIT;
    group->tax_bp = POL_TAX_DEFAULT;
    group->line = map->line;
    sim_reading_enter(rd, "groups", index);
    rc = sim_fields_read(rd, map, fields, SIM_COUNT(fields), group);
    if (rc != POL_OK) {
        return rc;
    }
    if (sim_group_id(scenario, group->name) != index + 1) {
        return sim_reading_fail(rd, map->line, "name",
                                "\"%s\" is the name of another group",
                                group->name);
    }
    if (group->reservation_pages > group->limit_pages) {
        return sim_reading_fail(rd, map->line, "reservation",
                                "exceeds the limit (accepted: 0 to limit)");
    }
    return POL_OK;
}

/* Parents may come later in the list than their children. */
static int read_parent(struct sim_reading *rd, const struct sim_node *map,
                       struct sim_scenario *scenario, size_t index)
{
    static const struct sim_field field = { "parent",       SIM_F_TEXT, 0,   1,
                                            SIM_NAME_BYTES, false,      NULL };
    const struct sim_node *node = sim_yaml_member(map, "parent");
    char *name = NULL;
    uint64_t parent;
    int rc;

    if (node == NULL) {
        return POL_OK;
    }
    sim_reading_enter(rd, "groups", index);
    rc = sim_field_read(rd, node, &field, &name);
    if (rc != POL_OK) {
        return rc;
    }
    parent = sim_group_id(scenario, name);
    if (parent == SIM_NONE) {
        rc = sim_reading_fail(rd, node->line, "parent",
                              "there is no group \"%s\"", name);
    } else {
        scenario->groups[index].parent = parent;
    }
    free(name);
    return rc;
}

/* Walk to the root; more steps than are allowed mean a cycle or a tower. */
static int check_ancestry(struct sim_reading *rd,
                          const struct sim_scenario *scenario, size_t index)
{
    uint64_t id = index + 1;
    unsigned depth = 0;

    sim_reading_enter(rd, "groups", index);
    while (id != 0) {
        id = scenario->groups[id - 1].parent;
        if (id == index + 1) {
            return sim_reading_fail(rd, scenario->groups[index].line, "parent",
                                    "the group is its own ancestor");
        }
        if (++depth > POL_MAX_DEPTH) {
            /* A cycle among its ancestors is reported for them first only
             * when they come first; here both cases are wrong. */
            return sim_reading_fail(rd, scenario->groups[index].line, "parent",
                                    "nested too deeply or in a cycle "
                                    "(accepted: up to %u levels)",
                                    POL_MAX_DEPTH);
        }
    }
    return POL_OK;
}

int sim_groups_section(struct sim_reading *rd, const struct sim_node *list,
                       struct sim_scenario *scenario)
{
    const struct sim_node *node;
    size_t i = 0;
    int rc;

    sim_reading_enter(rd, "groups", SIZE_MAX);
    rc = sim_expect_kind(rd, list, SIM_NODE_LIST, "");
    if (rc != POL_OK || list->n == 0) {
        return rc;
    }
    if (list->n > SIM_MAX_LIST) {
        return sim_reading_fail(rd, list->line, "",
                                "too many (accepted: up to %u)", SIM_MAX_LIST);
    }
    scenario->groups = calloc(list->n, sizeof(*scenario->groups));
    if (scenario->groups == NULL) {
        return sim_fail_memory(rd->err, rd->file);
    }
    scenario->groups_n = list->n;
    for (node = list->first; node != NULL && rc == POL_OK; node = node->next) {
        rc = read_group(rd, node, scenario, i++);
    }
    i = 0;
    for (node = list->first; node != NULL && rc == POL_OK; node = node->next) {
        rc = read_parent(rd, node, scenario, i++);
    }
    for (i = 0; i < list->n && rc == POL_OK; i++) {
        rc = check_ancestry(rd, scenario, i);
    }
    return rc;
}
