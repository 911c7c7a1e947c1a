/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file settings.h
 * A scenario with values overridden on the command line: --set, --seed and
 * --until of every subcommand that runs one.
 */
#ifndef POLICYCTL_SETTINGS_H
#define POLICYCTL_SETTINGS_H

#include <argp.h>
#include <stddef.h>

#include "policy-esxi-sim/scenario.h"

#define SETTINGS_MAX 64

/** All zero at first; clear with settings_clear(). */
struct settings {
    char *assignments[SETTINGS_MAX]; /**< for sim_scenario_set() */
    size_t n;
};

/** Add the assignment `key` `value`, such as "seed=" "7"; one too many ends
 *  the program through argp_failure(). */
void settings_add(struct settings *settings, struct argp_state *state,
                  const char *key, const char *value);

/** Add the time at which the run ends; what is no time ends the program. */
void settings_add_until(struct settings *settings, struct argp_state *state,
                        const char *time);

void settings_clear(struct settings *settings);

/**
 * Read a scenario and override its values.
 * @param out  NULL when it could not be read; free with sim_scenario_free()
 * @return STATUS_OK, or STATUS_USAGE after a line about what is wrong
 */
int settings_load(const struct settings *settings, const char *path,
                  struct sim_scenario **out);

#endif /* POLICYCTL_SETTINGS_H */
