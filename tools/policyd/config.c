/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comparator.h"
#include "scenario_field.h"
#include "scenario_parts.h"
#include "holds.h"

#define MAX_VMS        20000u
#define DEFAULT_VMS    4096u
#define DEFAULT_SOCKET "/run/libpolicy/control"
#define DEFAULT_STATE  "/var/lib/libpolicy"

#define FIELD(type, key, kind, member, min, max)                               \
    {                                                                          \
        key, kind, offsetof(struct type, member), min, max, false, NULL        \
    }
#define OTHER(key)                                                             \
    {                                                                          \
        key, SIM_F_OTHER, 0, 0, 0, false, NULL                                 \
    }

static const char *const backend_words[] = { "kvm", "xen", "sim", NULL };
static const char *const use_words[] = { "libpolicy", "mom",     "squeezed",
                                         "qmemman",   "proxmox", NULL };
static const char *const level_words[] = { "error", "warning", "info", "debug",
                                           NULL };
static const char *const yes_words[] = { "no", "yes", NULL };

static const struct sim_field root_fields[] = {
    FIELD(pd_config, "backend", SIM_F_TEXT, backend, 1, 32),
    FIELD(pd_config, "interval", SIM_F_TIME, interval_ms, 10, 3600000),
    FIELD(pd_config, "dry-run", SIM_F_BOOL, dry_run, 0, 0),
    FIELD(pd_config, "max-vms", SIM_F_U32, max_vms, 1, MAX_VMS),
    FIELD(pd_config, "state-dir", SIM_F_TEXT, state_dir, 1, 200),
    OTHER("policy"),
    OTHER("defaults"),
    OTHER("vms"),
    OTHER("control"),
    OTHER("log"),
    OTHER("kvm"),
    OTHER("xen"),
    OTHER("sim"),
};

static const struct sim_field vm_fields[] = {
    FIELD(pd_vm_config, "shares", SIM_F_U64, shares, 1, POL_MAX_SHARES),
    FIELD(pd_vm_config, "reservation", SIM_F_PAGES, reservation_bytes, 0,
          PD_MAX_BYTES),
    FIELD(pd_vm_config, "limit", SIM_F_LIMIT, limit_bytes, 1, PD_MAX_BYTES),
    { "balloon", SIM_F_WORD, offsetof(struct pd_vm_config, balloon), 0, 0,
      false, yes_words },
    { "swap", SIM_F_WORD, offsetof(struct pd_vm_config, swap), 0, 0, false,
      yes_words },
    { "block", SIM_F_WORD, offsetof(struct pd_vm_config, block), 0, 0, false,
      yes_words },
};

static const struct sim_field log_fields[] = {
    { "level", SIM_F_WORD, offsetof(struct pd_config, log_level), 0, 0, false,
      level_words },
};

static int read_vm(struct sim_reading *rd, const struct sim_node *map,
                   struct pd_vm_config *vm)
{
    int rc = sim_fields_read(rd, map, vm_fields, SIM_COUNT(vm_fields), vm);

    if (vm->limit_bytes == POL_NO_LIMIT &&
        sim_yaml_member(map, "limit") != NULL) {
        vm->limit_bytes = PD_NO_LIMIT;
    }
    if (rc == POL_OK && vm->reservation_bytes != PD_NONE &&
        vm->limit_bytes < PD_NO_LIMIT &&
        vm->reservation_bytes > vm->limit_bytes) {
        return sim_reading_fail(rd, map->line, "reservation",
                                "exceeds limit (accepted: up to %llu bytes)",
                                (unsigned long long)vm->limit_bytes);
    }
    return rc;
}

static int read_vms(struct sim_reading *rd, const struct sim_node *map,
                    struct pd_config *config)
{
    int rc;

    sim_reading_enter(rd, "vms", SIZE_MAX);
    rc = sim_expect_kind(rd, map, SIM_NODE_MAP, "");
    for (const struct sim_node *m = map->first; rc == POL_OK && m != NULL;
         m = m->next) {
        struct pd_vm_config vm;

        pd_vm_config_init(&vm);
        vm.name = m->key;
        snprintf(rd->path, sizeof(rd->path), "vms.%.40s.", m->key);
        rc = read_vm(rd, m, &vm);
        if (rc == POL_OK && pd_vm_list_put(&config->vms, &vm) != POL_OK) {
            rc = sim_fail_memory(rd->err, rd->file);
        }
    }
    return rc;
}

/* An octal number, as chmod(1) has it. */
static int read_mode(struct sim_reading *rd, const struct sim_node *node,
                     struct pd_config *config)
{
    char *end = NULL;
    unsigned long mode;

    errno = 0;
    mode = strtoul(node->text, &end, 8);
    if (errno != 0 || end == node->text || *end != '\0' || mode > 0777 ||
        node->text[0] < '0' || node->text[0] > '7') {
        return sim_reading_fail(rd, node->line, "mode",
                                "is no octal mode (accepted: 0 to 0777)");
    }
    config->mode = (uint32_t)mode;
    return POL_OK;
}

static int read_control(struct sim_reading *rd, const struct sim_node *map,
                        struct pd_config *config)
{
    static const struct sim_field fields[] = {
        FIELD(pd_config, "socket", SIM_F_TEXT, socket, 1, 100),
        FIELD(pd_config, "group", SIM_F_TEXT, group, 1, 64),
        OTHER("mode"),
    };
    const struct sim_node *mode;
    int rc;

    sim_reading_enter(rd, "control", SIZE_MAX);
    rc = sim_fields_read(rd, map, fields, SIM_COUNT(fields), config);
    mode = rc == POL_OK ? sim_yaml_member(map, "mode") : NULL;
    if (mode != NULL) {
        rc = sim_expect_kind(rd, mode, SIM_NODE_SCALAR, "mode");
        rc = rc == POL_OK ? read_mode(rd, mode, config) : rc;
    }
    if (rc == POL_OK && config->socket != NULL && config->socket[0] != '/') {
        return sim_reading_fail(rd, map->line, "socket",
                                "is no absolute path (accepted: /...)");
    }
    return rc;
}

/* `use` is the daemon's; the others are the same as in a scenario. */
static int read_policy(struct sim_reading *rd, struct sim_node *map,
                       struct pd_config *config)
{
    static const struct sim_field use_field = { "use", SIM_F_WORD, 0,        0,
                                                0,     false,      use_words };
    struct sim_node **link = &map->first;
    struct sim_node *use;
    int rc;

    sim_reading_enter(rd, "policy", SIZE_MAX);
    rc = sim_expect_kind(rd, map, SIM_NODE_MAP, "");
    while (rc == POL_OK && *link != NULL && strcmp((*link)->key, "use") != 0) {
        link = &(*link)->next;
    }
    if (rc != POL_OK || *link == NULL) {
        return rc == POL_OK ? sim_policy_section(rd, map, &config->policy) : rc;
    }
    use = *link;
    *link = use->next;
    rc = sim_policy_section(rd, map, &config->policy);
    *link = use;
    return rc == POL_OK ? sim_field_read(rd, use, &use_field, &config->use)
                        : rc;
}

static int add_setting(struct sim_reading *rd, const struct sim_node *node,
                       const char *key, struct pd_config *config)
{
    size_t i = config->settings_n;
    int rc = sim_expect_kind(rd, node, SIM_NODE_SCALAR, key);

    if (rc != POL_OK) {
        return rc;
    }
    if (i == PD_MAX_SETTINGS) {
        return sim_reading_fail(rd, node->line, key,
                                "is one too many (accepted: up to %u values)",
                                PD_MAX_SETTINGS);
    }
    config->settings[i].key = strdup(key);
    config->settings[i].value = strdup(node->text);
    config->setting_lines[i] = node->line;
    config->settings_n++;
    return config->settings[i].key == NULL || config->settings[i].value == NULL
               ? sim_fail_memory(rd->err, rd->file)
               : POL_OK;
}

static int read_settings(struct sim_reading *rd, const struct sim_node *map,
                         struct pd_config *config)
{
    int rc;

    sim_reading_enter(rd, config->backend, SIZE_MAX);
    rc = sim_expect_kind(rd, map, SIM_NODE_MAP, "");
    for (const struct sim_node *m = map->first; rc == POL_OK && m != NULL;
         m = m->next) {
        if (m->kind != SIM_NODE_LIST) {
            rc = add_setting(rd, m, m->key, config);
            continue;
        }
        for (const struct sim_node *one = m->first; rc == POL_OK && one != NULL;
             one = one->next) {
            rc = add_setting(rd, one, m->key, config);
        }
    }
    return rc;
}

static int check_backend(struct sim_reading *rd, const struct sim_node *root,
                         struct pd_config *config)
{
    const struct sim_node *node = sim_yaml_member(root, "backend");

    for (size_t i = 0; config->backend != NULL && backend_words[i] != NULL;
         i++) {
        if (strcmp(backend_words[i], config->backend) == 0) {
            return POL_OK;
        }
    }
    return sim_reading_fail(rd, node == NULL ? root->line : node->line,
                            "backend", "%s (accepted: kvm, xen, sim)",
                            config->backend == NULL ? "is missing"
                                                    : "is unknown");
}

/* What the file leaves out. */
static int complete(struct sim_reading *rd, struct pd_config *config)
{
    if (config->socket == NULL) {
        config->socket = strdup(DEFAULT_SOCKET);
    }
    if (config->state_dir == NULL) {
        config->state_dir = strdup(DEFAULT_STATE);
    }
    config->policy.max_vms = config->max_vms;
    config->policy.max_holds = PD_MAX_HOLDS;
    return config->socket == NULL || config->state_dir == NULL
               ? sim_fail_memory(rd->err, rd->file)
               : POL_OK;
}

static int read_root(struct sim_reading *rd, struct sim_node *root,
                     const char *backend, struct pd_config *config)
{
    int rc =
        sim_fields_read(rd, root, root_fields, SIM_COUNT(root_fields), config);

    if (rc == POL_OK && backend != NULL) {
        free(config->backend);
        config->backend = strdup(backend);
    }
    rc = rc == POL_OK ? check_backend(rd, root, config) : rc;
    for (struct sim_node *m = root->first; rc == POL_OK && m != NULL;
         m = m->next) {
        if (strcmp(m->key, "policy") == 0) {
            rc = read_policy(rd, m, config);
        } else if (strcmp(m->key, "defaults") == 0) {
            sim_reading_enter(rd, "defaults", SIZE_MAX);
            rc = read_vm(rd, m, &config->defaults);
        } else if (strcmp(m->key, "vms") == 0) {
            rc = read_vms(rd, m, config);
        } else if (strcmp(m->key, "control") == 0) {
            rc = read_control(rd, m, config);
        } else if (strcmp(m->key, "log") == 0) {
            sim_reading_enter(rd, "log", SIZE_MAX);
            rc = sim_fields_read(rd, m, log_fields, SIM_COUNT(log_fields),
                                 config);
        } else if (strcmp(m->key, config->backend) == 0) {
            rc = read_settings(rd, m, config);
        }
        sim_reading_enter(rd, "", SIZE_MAX);
    }
    if (rc == POL_OK && config->state_dir != NULL &&
        config->state_dir[0] != '/') {
        return sim_reading_fail(rd, root->line, "state-dir",
                                "is no absolute path (accepted: /...)");
    }
    return rc;
}

int pd_config_parse(const char *text, size_t bytes, const char *name,
                    const char *backend, struct pd_config *config, char *why)
{
    struct sim_error err = { "" };
    struct sim_reading rd = { .file = name, .err = &err, .page_bytes = 1 };
    struct sim_node *root = NULL;
    int rc;

    memset(config, 0, sizeof(*config));
    config->interval_ms = 1000;
    config->max_vms = DEFAULT_VMS;
    config->mode = 0660;
    config->log_level = PD_INFO;
    pd_vm_config_init(&config->defaults);
    pol_config_init(&config->policy, DEFAULT_VMS, 0);
    rc = sim_yaml_read(text, bytes, name, &root, &err);
    rc = rc == POL_OK ? read_root(&rd, root, backend, config) : rc;
    sim_yaml_free(root);
    rc = rc == POL_OK ? complete(&rd, config) : rc;
    if (rc != POL_OK) {
        snprintf(why, PD_WHY_BYTES, "%s", err.text);
        pd_config_clear(config);
    }
    return rc;
}

int pd_config_load(const char *path, const char *backend,
                   struct pd_config *config, char *why)
{
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t n = 0;
    int rc = POL_ERR_INVALID;

    if (file == NULL) {
        snprintf(why, PD_WHY_BYTES, "%s: %s", path, strerror(errno));
        return rc;
    }
    text = malloc(SIM_YAML_MAX_BYTES + 1);
    n = text == NULL ? 0 : fread(text, 1, SIM_YAML_MAX_BYTES + 1, file);
    if (text == NULL || ferror(file)) {
        snprintf(why, PD_WHY_BYTES, "%s: cannot be read", path);
    } else if (n > SIM_YAML_MAX_BYTES) {
        snprintf(why, PD_WHY_BYTES, "%s: too large (accepted: up to %zu bytes)",
                 path, SIM_YAML_MAX_BYTES);
    } else {
        rc = pd_config_parse(text, n, path, backend, config, why);
    }
    free(text);
    fclose(file);
    return rc;
}

void pd_config_clear(struct pd_config *config)
{
    for (size_t i = 0; i < config->settings_n; i++) {
        free((char *)config->settings[i].key);
        free((char *)config->settings[i].value);
    }
    pd_vm_list_clear(&config->vms);
    free(config->backend);
    free(config->socket);
    free(config->state_dir);
    free(config->group);
    memset(config, 0, sizeof(*config));
}
