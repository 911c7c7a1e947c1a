/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scenario reader against any bytes: it takes them or says in one line
 * what is wrong. What it takes, it also lets itself be changed.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy-esxi-sim/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_scenario *scenario = NULL;
    struct sim_error err;
    /* Without a name: a trace section must not open files. */
    int rc =
        sim_scenario_parse((const char *)data, size, NULL, &scenario, &err);

    if (rc != POL_OK) {
        if (scenario != NULL || err.text[0] == '\0' ||
            strpbrk(err.text, "\r\n") != NULL) {
            abort();
        }
        return 0;
    }
    if (scenario->duration_ms == 0 || scenario->config.max_vms == 0 ||
        pol_config_check(&scenario->config, NULL) != POL_OK ||
        sim_scenario_set(scenario, "policy.idle_tax=0%", &err) != POL_OK) {
        abort();
    }
    sim_scenario_free(scenario);
    return 0;
}
