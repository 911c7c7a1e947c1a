/* SPDX-License-Identifier: BSD-2-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"
#include "vm_trace.h"

static const struct sim_field fields[] = {
    { "name", SIM_F_TEXT, offsetof(struct sim_scenario, name), 1, 200, false,
      NULL },
    { "seed", SIM_F_U64, offsetof(struct sim_scenario, seed), 0, UINT64_MAX,
      false, NULL },
    { "duration", SIM_F_TIME, offsetof(struct sim_scenario, duration_ms), 1,
      SIM_MAX_TIME, true, NULL },
    { "tick", SIM_F_TIME, offsetof(struct sim_scenario, tick_ms), 10, 3600000,
      false, NULL },
    { "host", SIM_F_OTHER, 0, 0, 0, true, NULL },
    { "policy", SIM_F_OTHER, 0, 0, 0, false, NULL },
    { "groups", SIM_F_OTHER, 0, 0, 0, false, NULL },
    { "vms", SIM_F_OTHER, 0, 0, 0, false, NULL },
    { "trace", SIM_F_OTHER, 0, 0, 0, false, NULL },
    { "faults", SIM_F_OTHER, 0, 0, 0, false, NULL },
    { "events", SIM_F_OTHER, 0, 0, 0, false, NULL },
};

typedef int section_reader(struct sim_reading *rd, const struct sim_node *node,
                           struct sim_scenario *scenario);

static int policy_of_scenario(struct sim_reading *rd,
                              const struct sim_node *node,
                              struct sim_scenario *scenario)
{
    return sim_policy_section(rd, node, &scenario->config);
}

/* In the order they need each other, not in the order of the file. */
static const struct {
    const char *key;
    section_reader *read;
} sections[] = {
    { "host", sim_host_section },     { "policy", policy_of_scenario },
    { "groups", sim_groups_section }, { "vms", sim_vms_section },
    { "trace", sim_trace_section },   { "faults", sim_faults_section },
    { "events", sim_events_section },
};

/* What pol_config needs to know of the rest of the scenario. */
static int size_config(struct sim_reading *rd, const struct sim_node *root,
                       struct sim_scenario *scenario)
{
    struct pol_config *config = &scenario->config;
    uint64_t most = sim_trace_peak(scenario);
    const char *field = NULL;

    for (size_t i = 0; i < scenario->vms_n && most < SIM_MAX_VMS; i++) {
        most += scenario->vms[i].count;
    }
    most = most < SIM_MAX_VMS ? most : SIM_MAX_VMS;
    config->max_vms = most == 0 ? 1 : (uint32_t)most;
    config->max_groups = (uint32_t)scenario->groups_n;
    config->page_bytes = scenario->host.page_bytes;
    config->host_reserve_pages = scenario->host.reserve_pages;
    config->seed = scenario->seed;
    sim_reading_enter(rd, "", SIZE_MAX);
    if (pol_config_check(config, &field) != POL_OK) {
        return sim_reading_fail(rd, root->line, field != NULL ? field : "",
                                "is not accepted by the policy");
    }
    return POL_OK;
}

static int read_root(struct sim_reading *rd, const struct sim_node *root,
                     struct sim_scenario *scenario)
{
    int rc = sim_fields_read(rd, root, fields, SIM_COUNT(fields), scenario);

    if (rc != POL_OK) {
        return rc;
    }
    if (scenario->tick_ms > scenario->duration_ms) {
        return sim_reading_fail(rd, root->line, "tick",
                                "is longer than the duration");
    }
    for (size_t i = 0; i < SIM_COUNT(sections) && rc == POL_OK; i++) {
        const struct sim_node *node = sim_yaml_member(root, sections[i].key);

        if (node != NULL) {
            rc = sections[i].read(rd, node, scenario);
        }
    }
    if (rc == POL_OK && sim_yaml_member(root, "vms") == NULL &&
        sim_yaml_member(root, "trace") == NULL) {
        sim_reading_enter(rd, "", SIZE_MAX);
        rc = sim_reading_fail(rd, root->line, "vms",
                              "is missing (accepted: vms, trace or both)");
    }
    return rc != POL_OK ? rc : size_config(rd, root, scenario);
}

static char *copy_text(const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = malloc(n);

    return copy == NULL ? NULL : memcpy(copy, text, n);
}

/* A new scenario with all its defaults. */
static struct sim_scenario *new_scenario(const char *file)
{
    struct sim_scenario *scenario = calloc(1, sizeof(*scenario));

    if (scenario == NULL) {
        return NULL;
    }
    scenario->file = copy_text(file != NULL ? file : "scenario");
    if (scenario->file == NULL) {
        free(scenario);
        return NULL;
    }
    scenario->seed = 1;
    scenario->tick_ms = 1000;
    pol_config_init(&scenario->config, 1, 0);
    return scenario;
}

/* A scenario without a name is called like its file. */
static int default_name(struct sim_scenario *scenario, struct sim_error *err)
{
    const char *slash = strrchr(scenario->file, '/');

    if (scenario->name == NULL) {
        scenario->name = copy_text(slash == NULL ? scenario->file : slash + 1);
    }
    return scenario->name == NULL ? sim_fail_memory(err, scenario->file)
                                  : POL_OK;
}

int sim_scenario_parse(const char *text, size_t bytes, const char *name,
                       struct sim_scenario **out, struct sim_error *err)
{
    struct sim_reading rd = { .file = name, .err = err, .page_bytes = 4096 };
    struct sim_scenario *scenario;
    struct sim_node *root = NULL;
    int rc;

    err->text[0] = '\0';
    rc = sim_yaml_read(text, bytes, name, &root, err);
    if (rc != POL_OK) {
        return rc;
    }
    scenario = new_scenario(name);
    rc = scenario == NULL ? sim_fail_memory(err, name)
                          : read_root(&rd, root, scenario);
    sim_yaml_free(root);
    if (rc == POL_OK) {
        rc = default_name(scenario, err);
    }
    if (rc != POL_OK) {
        sim_scenario_free(scenario);
        return rc;
    }
    *out = scenario;
    return POL_OK;
}

int sim_scenario_load(const char *path, struct sim_scenario **out,
                      struct sim_error *err)
{
    uint8_t *bytes = NULL;
    size_t n = 0;
    int rc;

    err->text[0] = '\0';
    rc = sim_file_read(path, SIM_YAML_MAX_BYTES, &bytes, &n, err);
    if (rc == POL_OK) {
        rc = sim_scenario_parse((const char *)bytes, n, path, out, err);
    }
    free(bytes);
    return rc;
}

/* ---- Changes from a command line --------------------------------------- */

static int set_policy(struct sim_reading *rd, struct sim_scenario *scenario,
                      char *key, char *value)
{
    struct sim_node member = { .kind = SIM_NODE_SCALAR,
                               .key = key,
                               .text = value };
    struct sim_node map = { .kind = SIM_NODE_MAP, .first = &member, .n = 1 };

    return sim_policy_section(rd, &map, &scenario->config);
}

static int set_root(struct sim_reading *rd, struct sim_scenario *scenario,
                    char *key, char *value)
{
    struct sim_node member = { .kind = SIM_NODE_SCALAR,
                               .key = key,
                               .text = value };
    struct sim_scenario changed = *scenario;

    for (size_t i = 1; i < 4; i++) { /* seed, duration, tick */
        int rc;

        if (strcmp(fields[i].key, key) != 0) {
            continue;
        }
        rc = sim_field_read(rd, &member, &fields[i], &changed);
        if (rc != POL_OK) {
            return rc;
        }
        if (changed.duration_ms > scenario->duration_ms ||
            changed.tick_ms > changed.duration_ms) {
            return sim_reading_fail(rd, 0, key,
                                    "\"%.40s\" (accepted: a duration up to "
                                    "the scenario's, a tick up to that)",
                                    value);
        }
        changed.config.seed = changed.seed;
        *scenario = changed;
        return POL_OK;
    }
    return sim_reading_fail(rd, 0, "",
                            "unknown key \"%.40s\" (accepted: seed, duration, "
                            "tick, policy.KEY)",
                            key);
}

int sim_scenario_set(struct sim_scenario *scenario, const char *assignment,
                     struct sim_error *err)
{
    struct sim_reading rd = { .err = err,
                              .page_bytes = scenario->host.page_bytes };
    char *key = copy_text(assignment);
    char *value;
    int rc;

    err->text[0] = '\0';
    if (key == NULL) {
        return sim_fail_memory(err, NULL);
    }
    value = strchr(key, '=');
    if (value == NULL) {
        rc = sim_fail(err, NULL, 0, "",
                      "\"%.60s\" is no assignment (accepted: KEY=VALUE)",
                      assignment);
    } else {
        *value++ = '\0';
        rc = strncmp(key, "policy.", 7) == 0
                 ? set_policy(&rd, scenario, key + 7, value)
                 : set_root(&rd, scenario, key, value);
    }
    free(key);
    return rc;
}

void sim_scenario_free(struct sim_scenario *scenario)
{
    if (scenario == NULL) {
        return;
    }
    for (size_t i = 0; i < scenario->groups_n; i++) {
        free(scenario->groups[i].name);
    }
    for (size_t i = 0; i < scenario->vms_n; i++) {
        free(scenario->vms[i].name);
        sim_workload_free(&scenario->vms[i].workload);
    }
    for (size_t i = 0; i < scenario->trace.mix_n; i++) {
        sim_workload_free(&scenario->trace.mix[i]);
    }
    free(scenario->groups);
    free(scenario->vms);
    free(scenario->trace.file);
    free(scenario->trace.mix);
    free(scenario->trace.requests);
    free(scenario->faults);
    free(scenario->events);
    free(scenario->name);
    free(scenario->file);
    free(scenario);
}
