/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration file: read whole and checked whole before it is used. */
#ifndef POLICYD_CONFIG_H
#define POLICYD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend.h"

#define PD_NONE         UINT64_MAX
#define PD_MAX_SETTINGS 64u

/* Parameters of VMs as they are configured; PD_NONE: not given. Bytes. */
struct pd_vm_config {
    char *name; /* NULL: the defaults */
    uint64_t shares;
    uint64_t reservation_bytes;
    uint64_t limit_bytes;     /* POL_NO_LIMIT - 1: none */
    int balloon, swap, block; /* 0, 1; -1: not given */
};

struct pd_config {
    char *backend;
    uint64_t interval_ms;
    bool dry_run;
    int use; /* enum cmp_kind; CMP_NONE: libpolicy */
    uint32_t max_vms;
    struct pol_config policy;
    struct pd_vm_config defaults;
    struct pd_vm_config *vms;
    size_t vms_n;
    char *socket;
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

/* What the file says about a VM, applied to what its hypervisor says. */
void pd_config_apply(const struct pd_config *config, const char *name,
                     uint32_t page_bytes, struct pol_vm_params *params);

#endif /* POLICYD_CONFIG_H */
