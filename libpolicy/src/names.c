/* SPDX-License-Identifier: BSD-2-Clause */
/* Names and texts of everything that has a number. */
#include "policy/error.h"
#include "policy/types.h"
#include "policy/working_set.h"

#include <stddef.h>

const char *pol_strerror(int code)
{
    switch (code) {
    case POL_OK:
        return "success";
#define CASE(name, value, text)                                                \
    case name:                                                                 \
        return text;
        POL_ERRORS(CASE)
#undef CASE
    default:
        return "unknown error";
    }
}

const char *pol_error_name(int code)
{
    switch (code) {
    case POL_OK:
        return "POL_OK";
#define CASE(name, value, text)                                                \
    case name:                                                                 \
        return #name;
        POL_ERRORS(CASE)
#undef CASE
    default:
        return "POL_ERR_UNKNOWN";
    }
}

const char *pol_reason_name(int reason)
{
    switch (reason) {
#define CASE(name, value, token, text)                                         \
    case name:                                                                 \
        return token;
        POL_REASONS(CASE)
#undef CASE
    default:
        return "?";
    }
}

const char *pol_reason_text(int reason)
{
    switch (reason) {
#define CASE(name, value, token, text)                                         \
    case name:                                                                 \
        return text;
        POL_REASONS(CASE)
#undef CASE
    default:
        return "?";
    }
}

static const char *pick(const char *const *names, int n, int i)
{
    return i >= 0 && i < n && names[i] != NULL ? names[i] : "?";
}

const char *pol_state_name(int state)
{
    static const char *const names[POL_STATES] = {
        [POL_STATE_HIGH] = "high", [POL_STATE_CLEAR] = "clear",
        [POL_STATE_SOFT] = "soft", [POL_STATE_HARD] = "hard",
        [POL_STATE_LOW] = "low",
    };

    return pick(names, POL_STATES, state);
}

const char *pol_lifecycle_name(int lifecycle)
{
    static const char *const names[POL_LIFECYCLES] = {
        [POL_LIFE_BUILDING] = "building",
        [POL_LIFE_RUNNING] = "running",
        [POL_LIFE_PAUSED] = "paused",
        [POL_LIFE_MIGRATING] = "migrating",
        [POL_LIFE_REBOOTING] = "rebooting",
        [POL_LIFE_SHUTTING_DOWN] = "shutting-down",
        [POL_LIFE_PINNED] = "pinned",
    };

    return pick(names, POL_LIFECYCLES, lifecycle);
}

const char *pol_driver_name(int driver)
{
    static const char *const names[POL_DRIVERS] = {
        [POL_DRIVER_UNKNOWN] = "unknown",
        [POL_DRIVER_ABSENT] = "absent",
        [POL_DRIVER_BOOTING] = "booting",
        [POL_DRIVER_PRESENT] = "present",
    };

    return pick(names, POL_DRIVERS, driver);
}

const char *pol_action_name(int kind)
{
    static const char *const names[POL_ACTION_KINDS] = {
        [POL_ACT_BALLOON] = "balloon",   [POL_ACT_SWAP_OUT] = "swap-out",
        [POL_ACT_SWAP_IN] = "swap-in",   [POL_ACT_BLOCK] = "block",
        [POL_ACT_UNBLOCK] = "unblock",   [POL_ACT_SHARE_RATE] = "share-rate",
        [POL_ACT_HARD_CAP] = "hard-cap", [POL_ACT_NOTE] = "note",
    };

    return pick(names, POL_ACTION_KINDS, kind);
}

const char *pol_evidence_name(int evidence)
{
    static const char *const names[] = {
        [POL_EVIDENCE_NONE] = "none",
        [POL_EVIDENCE_SAMPLED] = "sampled",
        [POL_EVIDENCE_MEASURED] = "measured",
        [POL_EVIDENCE_GUEST] = "guest",
    };

    return pick(names, 4, evidence);
}
