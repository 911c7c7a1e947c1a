/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything that has a number has a name, and only that. */
#include <string.h>

#include "expect.h"
#include "policy/policy.h"

static void errors(void)
{
    static const struct {
        int code;
        const char *name, *text;
    } rows[] = {
#define ROW(name, value, text) { name, #name, text },
        POL_ERRORS(ROW)
#undef ROW
            { POL_OK, "POL_OK", "success" },
        { 1, "POL_ERR_UNKNOWN", "unknown error" },
        { -22, "POL_ERR_UNKNOWN", "unknown error" },
        { INT32_MIN, "POL_ERR_UNKNOWN", "unknown error" },
    };
    size_t i, j;

    for (i = 0; i < ROWS(rows); i++) {
        EXPECT_TEXT(rows[i].name, pol_error_name(rows[i].code), rows[i].name);
        EXPECT_TEXT(rows[i].name, pol_strerror(rows[i].code), rows[i].text);
        for (j = 0; j < i; j++) {
            EXPECT_TRUE(rows[i].name, rows[i].code != rows[j].code);
        }
    }
}

static void reasons(void)
{
    static const struct {
        int code;
        const char *token, *text;
    } rows[] = {
#define ROW(name, value, token, text) { name, token, text },
        POL_REASONS(ROW)
#undef ROW
            { -1, "?", "?" },
        { 255, "?", "?" },
    };
    size_t i, j;

    for (i = 0; i < ROWS(rows); i++) {
        EXPECT_TEXT(rows[i].token, pol_reason_name(rows[i].code),
                    rows[i].token);
        EXPECT_TEXT(rows[i].token, pol_reason_text(rows[i].code), rows[i].text);
        for (j = 0; j < i && rows[i].code > 0; j++) {
            EXPECT_TRUE(rows[i].token, rows[i].code != rows[j].code);
        }
    }
}

static void small_enums(void)
{
    static const struct {
        const char *(*name_of)(int);
        int value;
        const char *name;
    } rows[] = {
        { pol_state_name, POL_STATE_HIGH, "high" },
        { pol_state_name, POL_STATE_CLEAR, "clear" },
        { pol_state_name, POL_STATE_SOFT, "soft" },
        { pol_state_name, POL_STATE_HARD, "hard" },
        { pol_state_name, POL_STATE_LOW, "low" },
        { pol_state_name, POL_STATES, "?" },
        { pol_state_name, -1, "?" },
        { pol_lifecycle_name, POL_LIFE_BUILDING, "building" },
        { pol_lifecycle_name, POL_LIFE_RUNNING, "running" },
        { pol_lifecycle_name, POL_LIFE_PAUSED, "paused" },
        { pol_lifecycle_name, POL_LIFE_MIGRATING, "migrating" },
        { pol_lifecycle_name, POL_LIFE_REBOOTING, "rebooting" },
        { pol_lifecycle_name, POL_LIFE_SHUTTING_DOWN, "shutting-down" },
        { pol_lifecycle_name, POL_LIFE_PINNED, "pinned" },
        { pol_lifecycle_name, POL_LIFECYCLES, "?" },
        { pol_driver_name, POL_DRIVER_UNKNOWN, "unknown" },
        { pol_driver_name, POL_DRIVER_ABSENT, "absent" },
        { pol_driver_name, POL_DRIVER_BOOTING, "booting" },
        { pol_driver_name, POL_DRIVER_PRESENT, "present" },
        { pol_driver_name, POL_DRIVERS, "?" },
        { pol_action_name, 0, "?" },
        { pol_action_name, POL_ACT_BALLOON, "balloon" },
        { pol_action_name, POL_ACT_SWAP_OUT, "swap-out" },
        { pol_action_name, POL_ACT_SWAP_IN, "swap-in" },
        { pol_action_name, POL_ACT_BLOCK, "block" },
        { pol_action_name, POL_ACT_UNBLOCK, "unblock" },
        { pol_action_name, POL_ACT_SHARE_RATE, "share-rate" },
        { pol_action_name, POL_ACT_HARD_CAP, "hard-cap" },
        { pol_action_name, POL_ACT_NOTE, "note" },
        { pol_action_name, POL_ACTION_KINDS, "?" },
        { pol_evidence_name, POL_EVIDENCE_NONE, "none" },
        { pol_evidence_name, POL_EVIDENCE_SAMPLED, "sampled" },
        { pol_evidence_name, POL_EVIDENCE_MEASURED, "measured" },
        { pol_evidence_name, POL_EVIDENCE_GUEST, "guest" },
        { pol_evidence_name, 4, "?" },
        { pol_evidence_name, -1, "?" },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        EXPECT_TEXT(rows[i].name, rows[i].name_of(rows[i].value), rows[i].name);
    }
}

static const struct test_case cases[] = {
    { "each error has its own code, name and text", errors },
    { "each reason has its own code, token and text", reasons },
    { "states, lifecycles, drivers, actions and evidence", small_enums },
};

EXPECT_MAIN("names", cases)
