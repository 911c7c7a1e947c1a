/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections faults and events: what happens during a run. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"

/* ---- Faults ------------------------------------------------------------ */

static const char *const fault_words[SIM_TROUBLES + 1] = {
    "balloon-stuck",
    "balloon-slow",
    "driver-absent",
    "stats-frozen",
    "stats-missing",
    "stats-absurd",
    "foreign-target",
    "die",
    "vm-unreadable",
    "slow-disk",
    "memory-loss",
    "host-unreadable",
    NULL,
};

/* What the value of each kind of fault is; SIM_F_OTHER: it has none. */
static const struct sim_field fault_values[SIM_TROUBLES] = {
    [SIM_TROUBLE_BALLOON_SLOW] = { "value", SIM_F_PERCENT64, 0, 1, 9999, true,
                                   NULL },
    [SIM_TROUBLE_STATS_ABSURD] = { "value", SIM_F_U64, 0, 1, 3, true, NULL },
    [SIM_TROUBLE_FOREIGN_TARGET] = { "value", SIM_F_PAGES, 0, 0, SIM_MAX_PAGES,
                                     true, NULL },
    [SIM_TROUBLE_SLOW_DISK] = { "value", SIM_F_PERCENT64, 0, 10001, 10000000,
                                true, NULL },
    [SIM_TROUBLE_MEMORY_LOSS] = { "value", SIM_F_PAGES, 0, 1, SIM_MAX_PAGES,
                                  true, NULL },
};

static const struct sim_field fault_fields[] = {
    { "at", SIM_F_TIME, offsetof(struct sim_fault_spec, at_ms), 0, SIM_MAX_TIME,
      true, NULL },
    { "until", SIM_F_TIME, offsetof(struct sim_fault_spec, until_ms), 1,
      SIM_MAX_TIME, false, NULL },
    { "kind", SIM_F_WORD, offsetof(struct sim_fault_spec, kind), 0, 0, true,
      fault_words },
    { "vm", SIM_F_OTHER, 0, 0, 0, false, NULL },
    { "value", SIM_F_OTHER, 0, 0, 0, false, NULL },
};

const char *sim_trouble_name(int kind)
{
    return kind >= 0 && kind < SIM_TROUBLES ? fault_words[kind] : "?";
}

/* The VMs that a name stands for: all of a spec, or one of several. */
static int find_vm(struct sim_reading *rd, const struct sim_node *node,
                   const struct sim_scenario *scenario, size_t *target,
                   uint64_t *instance)
{
    int rc = sim_expect_kind(rd, node, SIM_NODE_SCALAR, node->key);

    if (rc != POL_OK) {
        return rc;
    }
    for (size_t i = 0; i < scenario->vms_n; i++) {
        const struct sim_vm_spec *vm = &scenario->vms[i];
        size_t n = strlen(vm->name);
        char *end = NULL;

        *target = i;
        *instance = 0;
        if (strcmp(node->text, vm->name) == 0) {
            return POL_OK;
        }
        if (vm->count > 1 && strncmp(node->text, vm->name, n) == 0 &&
            node->text[n] == '-' && node->text[n + 1] >= '1' &&
            node->text[n + 1] <= '9') {
            *instance = strtoull(node->text + n + 1, &end, 10);
            if (*end == '\0' && *instance <= vm->count) {
                return POL_OK;
            }
        }
    }
    return sim_reading_fail(rd, node->line, node->key,
                            "there is no VM \"%.60s\"", node->text);
}

static int check_until(struct sim_reading *rd, unsigned line,
                       const struct sim_scenario *scenario, uint64_t at_ms,
                       uint64_t until_ms)
{
    if (at_ms >= scenario->duration_ms) {
        return sim_reading_fail(rd, line, "at",
                                "is not before the end (accepted: less than "
                                "the duration)");
    }
    if (until_ms != SIM_NONE &&
        (until_ms <= at_ms || until_ms > scenario->duration_ms)) {
        return sim_reading_fail(rd, line, "until",
                                "is not between at and the end (accepted: "
                                "after at, up to the duration)");
    }
    return POL_OK;
}

static int read_value(struct sim_reading *rd, const struct sim_node *map,
                      struct sim_fault_spec *fault)
{
    const struct sim_field *field = &fault_values[fault->kind];
    const struct sim_node *value = sim_yaml_member(map, "value");

    if (field->kind == SIM_F_OTHER) {
        fault->value = 1;
        return value == NULL ? POL_OK
                             : sim_reading_fail(rd, value->line, "value",
                                                "is not accepted for %s",
                                                fault_words[fault->kind]);
    }
    if (value == NULL) {
        return sim_reading_fail(rd, map->line, "value", "is missing for %s",
                                fault_words[fault->kind]);
    }
    return sim_field_read(rd, value, field, &fault->value);
}

static int read_fault(struct sim_reading *rd, const struct sim_node *map,
                      struct sim_scenario *scenario,
                      struct sim_fault_spec *fault)
{
    const struct sim_node *vm;
    bool of_host;
    int rc;

    fault->until_ms = SIM_NONE;
    fault->target = SIZE_MAX;
    fault->line = map->line;
    rc = sim_fields_read(rd, map, fault_fields, SIM_COUNT(fault_fields), fault);
    if (rc != POL_OK) {
        return rc;
    }
    of_host = fault->kind >= SIM_TROUBLE_SLOW_DISK;
    vm = sim_yaml_member(map, "vm");
    if ((vm == NULL) != of_host) {
        return sim_reading_fail(rd, map->line, "vm", "%s %s",
                                of_host ? "is not accepted for"
                                        : "is missing for",
                                fault_words[fault->kind]);
    }
    if (vm != NULL) {
        rc = find_vm(rd, vm, scenario, &fault->target, &fault->instance);
    }
    if (rc == POL_OK) {
        rc = read_value(rd, map, fault);
    }
    return rc != POL_OK ? rc
                        : check_until(rd, map->line, scenario, fault->at_ms,
                                      fault->until_ms);
}

/* ---- Events ------------------------------------------------------------ */

static const char *const do_words[] = { "pause", "resume",  "reboot",
                                        "stop",  "release", NULL };

/* An event while it is read. */
struct event_text {
    struct sim_event_spec event;
    int what;
};

static const struct sim_field event_fields[] = {
    { "at", SIM_F_TIME, offsetof(struct event_text, event.at_ms), 0,
      SIM_MAX_TIME, true, NULL },
    { "vm", SIM_F_OTHER, 0, 0, 0, false, NULL },
    { "group", SIM_F_OTHER, 0, 0, 0, false, NULL },
    { "set", SIM_F_OTHER, 0, 0, 0, false, NULL },
    { "do", SIM_F_WORD, offsetof(struct event_text, what), 0, 0, false,
      do_words },
    { "hold", SIM_F_PAGES, offsetof(struct event_text, event.hold_pages), 1,
      SIM_MAX_PAGES, false, NULL },
    { "until", SIM_F_TIME, offsetof(struct event_text, event.until_ms), 1,
      SIM_MAX_TIME, false, NULL },
    { "urgent", SIM_F_BOOL, offsetof(struct event_text, event.urgent), 0, 0,
      false, NULL },
};

static const struct sim_field set_fields[] = {
    { "shares", SIM_F_U64, offsetof(struct sim_changes, shares), 1,
      POL_MAX_SHARES, false, NULL },
    { "reservation", SIM_F_AMOUNT, offsetof(struct sim_changes, reservation), 0,
      SIM_MAX_PAGES, false, NULL },
    { "limit", SIM_F_AMOUNT_NONE, offsetof(struct sim_changes, limit), 1,
      SIM_MAX_PAGES, false, NULL },
    { "tax", SIM_F_PERCENT64, offsetof(struct sim_changes, tax_bp), 0,
      POL_MAX_TAX_BP, false, NULL },
};

static int read_set(struct sim_reading *rd, const struct sim_node *map,
                    struct sim_changes *set)
{
    static const struct sim_changes unchanged = {
        .shares = SIM_NONE,
        .reservation = { .pages = SIM_NONE },
        .limit = { .pages = SIM_NONE },
        .tax_bp = SIM_NONE,
    };

    *set = unchanged;
    if (map->kind == SIM_NODE_MAP && map->n == 0) {
        return sim_reading_fail(rd, map->line, "set", "is empty");
    }
    return sim_fields_read(rd, map, set_fields, SIM_COUNT(set_fields), set);
}

/* Which VM or group; exactly one of the two. */
static int read_target(struct sim_reading *rd, const struct sim_node *map,
                       const struct sim_scenario *scenario,
                       struct sim_event_spec *event)
{
    const struct sim_node *vm = sim_yaml_member(map, "vm");
    const struct sim_node *group = sim_yaml_member(map, "group");
    uint64_t id;
    int rc;

    if ((vm == NULL) == (group == NULL)) {
        return sim_reading_fail(rd, map->line, "vm",
                                "or group: exactly one of them is needed");
    }
    if (vm != NULL) {
        return find_vm(rd, vm, scenario, &event->target, &event->instance);
    }
    rc = sim_expect_kind(rd, group, SIM_NODE_SCALAR, "group");
    if (rc != POL_OK) {
        return rc;
    }
    id = sim_group_id(scenario, group->text);
    if (id == SIM_NONE) {
        return sim_reading_fail(rd, group->line, "group",
                                "there is no group \"%.48s\"", group->text);
    }
    event->target = (size_t)id - 1;
    event->kind = SIM_EVENT_SET_GROUP;
    return POL_OK;
}

static int check_group_set(struct sim_reading *rd, unsigned line,
                           const struct sim_changes *set)
{
    if (set->reservation.relative_bp != 0 || set->limit.relative_bp != 0) {
        return sim_reading_fail(rd, line, "set",
                                "a group's memory is no percentage "
                                "(accepted: sizes)");
    }
    return POL_OK;
}

/* Exactly one of set, do and hold. */
static int read_deed(struct sim_reading *rd, const struct sim_node *map,
                     struct event_text *text)
{
    const struct sim_node *set = sim_yaml_member(map, "set");
    bool does = sim_yaml_member(map, "do") != NULL;
    bool holds = sim_yaml_member(map, "hold") != NULL;
    bool of_group = text->event.kind == SIM_EVENT_SET_GROUP;
    int rc;

    if ((set != NULL) + does + holds != 1) {
        return sim_reading_fail(rd, map->line, "",
                                "needs exactly one of set, do, hold");
    }
    if (of_group && set == NULL) {
        return sim_reading_fail(rd, map->line, "group",
                                "is not accepted with do or hold");
    }
    if (set != NULL) {
        rc = read_set(rd, set, &text->event.set);
        return rc == POL_OK && of_group
                   ? check_group_set(rd, set->line, &text->event.set)
                   : rc;
    }
    if (does) {
        text->event.kind = (enum sim_event_kind)(SIM_EVENT_PAUSE + text->what);
        return POL_OK;
    }
    text->event.kind = SIM_EVENT_HOLD;
    if (text->event.until_ms == SIM_NONE) {
        return sim_reading_fail(rd, map->line, "until",
                                "is missing: a hold needs a deadline");
    }
    return POL_OK;
}

static int read_event(struct sim_reading *rd, const struct sim_node *map,
                      const struct sim_scenario *scenario,
                      struct sim_event_spec *event)
{
    struct event_text text;
    int rc;

    memset(&text, 0, sizeof(text));
    text.event.until_ms = SIM_NONE;
    text.event.line = map->line;
    rc = sim_fields_read(rd, map, event_fields, SIM_COUNT(event_fields), &text);
    if (rc == POL_OK) {
        rc = read_target(rd, map, scenario, &text.event);
    }
    if (rc == POL_OK) {
        rc = read_deed(rd, map, &text);
    }
    if (rc == POL_OK) {
        rc = check_until(rd, map->line, scenario, text.event.at_ms,
                         text.event.until_ms);
    }
    if (rc == POL_OK && text.event.kind != SIM_EVENT_HOLD &&
        (text.event.until_ms != SIM_NONE || text.event.urgent)) {
        rc = sim_reading_fail(rd, map->line, "until",
                              "and urgent are accepted with hold only");
    }
    *event = text.event;
    return rc;
}

/* ---- Both -------------------------------------------------------------- */

static int begin_list(struct sim_reading *rd, const struct sim_node *list,
                      const char *name, size_t item, void **out)
{
    int rc;

    sim_reading_enter(rd, name, SIZE_MAX);
    rc = sim_expect_kind(rd, list, SIM_NODE_LIST, "");
    if (rc != POL_OK) {
        return rc;
    }
    if (list->n > SIM_MAX_LIST) {
        return sim_reading_fail(rd, list->line, "",
                                "too many (accepted: up to %u)", SIM_MAX_LIST);
    }
    *out = calloc(list->n + 1, item);
    return *out == NULL ? sim_fail_memory(rd->err, rd->file) : POL_OK;
}

/* In order of time; of equal times, in order of the file. */
static int fault_order(const void *a, const void *b)
{
    const struct sim_fault_spec *x = a;
    const struct sim_fault_spec *y = b;

    return x->at_ms != y->at_ms ? (x->at_ms < y->at_ms ? -1 : 1)
                                : (int)x->line - (int)y->line;
}

static int event_order(const void *a, const void *b)
{
    const struct sim_event_spec *x = a;
    const struct sim_event_spec *y = b;

    return x->at_ms != y->at_ms ? (x->at_ms < y->at_ms ? -1 : 1)
                                : (int)x->line - (int)y->line;
}

int sim_faults_section(struct sim_reading *rd, const struct sim_node *list,
                       struct sim_scenario *scenario)
{
    void *items = NULL;
    size_t i = 0;
    int rc = begin_list(rd, list, "faults", sizeof(*scenario->faults), &items);

    if (rc != POL_OK) {
        return rc;
    }
    scenario->faults = items;
    scenario->faults_n = list->n;
    for (const struct sim_node *node = list->first;
         node != NULL && rc == POL_OK; node = node->next) {
        sim_reading_enter(rd, "faults", i);
        rc = read_fault(rd, node, scenario, &scenario->faults[i++]);
    }
    qsort(scenario->faults, scenario->faults_n, sizeof(*scenario->faults),
          fault_order);
    return rc;
}

/* Go through the changes in order of time: each must fit what is then. */
static int check_changes(struct sim_reading *rd,
                         const struct sim_scenario *scenario)
{
    struct sim_vm_spec *vms = calloc(scenario->vms_n + 1, sizeof(*vms));
    struct sim_group_spec *groups =
        calloc(scenario->groups_n + 1, sizeof(*groups));
    int rc = vms == NULL || groups == NULL ? sim_fail_memory(rd->err, rd->file)
                                           : POL_OK;

    sim_reading_enter(rd, "events", SIZE_MAX);
    if (rc == POL_OK && scenario->vms_n > 0) {
        memcpy(vms, scenario->vms, scenario->vms_n * sizeof(*vms));
    }
    if (rc == POL_OK && scenario->groups_n > 0) {
        memcpy(groups, scenario->groups, scenario->groups_n * sizeof(*groups));
    }
    for (size_t i = 0; rc == POL_OK && i < scenario->events_n; i++) {
        const struct sim_event_spec *event = &scenario->events[i];
        const struct sim_changes *set = &event->set;

        if (event->kind == SIM_EVENT_SET_VM) {
            struct sim_vm_spec *vm = &vms[event->target];

            if (sim_amount_pages(set->reservation, 1, SIM_NONE) != SIM_NONE) {
                vm->reservation = set->reservation;
            }
            if (sim_amount_pages(set->limit, 1, SIM_NONE) != SIM_NONE) {
                vm->limit = set->limit;
            }
            rc = sim_bounds_check(rd, event->line, vm->size_pages,
                                  vm->reservation, vm->limit);
        } else if (event->kind == SIM_EVENT_SET_GROUP) {
            struct sim_group_spec *group = &groups[event->target];

            if (set->reservation.pages != SIM_NONE) {
                group->reservation_pages = set->reservation.pages;
            }
            if (set->limit.pages != SIM_NONE) {
                group->limit_pages = set->limit.pages == SIM_NO_LIMIT
                                         ? POL_NO_LIMIT
                                         : set->limit.pages;
            }
            if (group->reservation_pages > group->limit_pages) {
                rc = sim_reading_fail(rd, event->line, "reservation",
                                      "exceeds the group's limit");
            }
        }
    }
    free(vms);
    free(groups);
    return rc;
}

int sim_events_section(struct sim_reading *rd, const struct sim_node *list,
                       struct sim_scenario *scenario)
{
    void *items = NULL;
    size_t i = 0;
    int rc = begin_list(rd, list, "events", sizeof(*scenario->events), &items);

    if (rc != POL_OK) {
        return rc;
    }
    scenario->events = items;
    scenario->events_n = list->n;
    for (const struct sim_node *node = list->first;
         node != NULL && rc == POL_OK; node = node->next) {
        sim_reading_enter(rd, "events", i);
        rc = read_event(rd, node, scenario, &scenario->events[i++]);
    }
    if (rc != POL_OK) {
        return rc;
    }
    qsort(scenario->events, scenario->events_n, sizeof(*scenario->events),
          event_order);
    return check_changes(rd, scenario);
}
