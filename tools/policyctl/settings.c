/* SPDX-License-Identifier: BSD-2-Clause */
#include "settings.h"

#include <stdlib.h>

#include "command.h"
#include "policy/policy.h"
#include "text.h"

void settings_add(struct settings *settings, struct argp_state *state,
                  const char *key, const char *value)
{
    if (settings->n == SETTINGS_MAX) {
        argp_failure(state, STATUS_USAGE, 0, "more than %d settings",
                     SETTINGS_MAX);
        return;
    }
    settings->assignments[settings->n++] = must_format("%s%s", key, value);
}

void settings_add_until(struct settings *settings, struct argp_state *state,
                        const char *time)
{
    char number[TEXT_MAX];
    uint64_t ms = 0;

    if (text_parse_time(time, &ms) != 0) {
        argp_failure(state, STATUS_USAGE, 0,
                     "--until %s is no time (accepted: e.g. 90s, 10m, 1h30m)",
                     time);
    }
    snprintf(number, sizeof number, "%llums", (unsigned long long)ms);
    settings_add(settings, state, "duration=", number);
}

void settings_clear(struct settings *settings)
{
    for (size_t i = 0; i < settings->n; i++) {
        free(settings->assignments[i]);
    }
    settings->n = 0;
}

int settings_load(const struct settings *settings, const char *path,
                  struct sim_scenario **out)
{
    struct sim_error error = { "" };
    int result = sim_scenario_load(path, out, &error);

    for (size_t i = 0; result == POL_OK && i < settings->n; i++) {
        result = sim_scenario_set(*out, settings->assignments[i], &error);
    }
    if (result != POL_OK) {
        return fail(STATUS_USAGE, "%s",
                    error.text[0] != '\0' ? error.text : pol_strerror(result));
    }
    return STATUS_OK;
}
