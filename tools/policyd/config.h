/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration file: read whole and checked whole before it is used. */
#ifndef POLICYD_CONFIG_H
#define POLICYD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"
#include "vm_config.h"

#define PD_MAX_SETTINGS 64u

struct pd_config {
    char *backend;
    uint64_t interval_ms;
    bool dry_run;
    int use; /* enum cmp_kind; CMP_NONE: libpolicy */
    uint32_t max_vms;
    struct pol_config policy;
    struct pd_vm_config defaults;
    struct pd_vm_list vms;
    char *socket;
    char *state_dir;
    char *group; /* NULL: none */
    uint32_t mode;
    int log_level;
    struct pd_setting settings[PD_MAX_SETTINGS];
    unsigned setting_lines[PD_MAX_SETTINGS];
    size_t settings_n;
};

/*
 * Read a file.
 * @param backend  the one to take the settings of; NULL: the file's own
 * @param why      PD_WHY_BYTES; one line that names file, line and field
 * @return POL_OK, POL_ERR_INVALID; on failure nothing is to be cleared
 */
int pd_config_load(const char *path, const char *backend,
                   struct pd_config *config, char *why);

/* The same for text in memory; `name` stands for the file in errors. */
int pd_config_parse(const char *text, size_t bytes, const char *name,
                    const char *backend, struct pd_config *config, char *why);

void pd_config_clear(struct pd_config *config);

#endif /* POLICYD_CONFIG_H */
