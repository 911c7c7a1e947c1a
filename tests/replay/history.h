/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file history.h
 * Random histories of a context: every call of the library, with arguments
 * that are mostly sensible and sometimes absurd, recorded.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdint.h>

#include "policy/policy.h"
#include "trace_buffer.h"

#define HISTORY_VMS    10u
#define HISTORY_GROUPS 5u
#define HISTORY_HOLDS  4u
/* Less than there are names for, so that capacity runs out. */
#define HISTORY_MAX_VMS    8u
#define HISTORY_MAX_GROUPS 4u
#define HISTORY_MAX_HOLDS  3u
#define HISTORY_ACTIONS    128u
#define HISTORY_BLOCK      (48u * 1024u)

/** Kinds of calls, for counting. */
enum history_call {
    CALL_TUNE = 0,
    CALL_VM_ADD,
    CALL_VM_SET,
    CALL_VM_REMOVE,
    CALL_VM_RELEASE,
    CALL_GROUP_ADD,
    CALL_GROUP_SET,
    CALL_GROUP_REMOVE,
    CALL_HOST_OBS,
    CALL_VM_OBS,
    CALL_WS_BEGIN,
    CALL_WS_REPORT,
    CALL_PLAN,
    CALL_REPORT,
    CALL_HOLD_ADD,
    CALL_HOLD_TAKE,
    CALL_HOLD_RELEASE,
    HISTORY_CALLS
};

/** How often each kind of call succeeded and failed. */
struct history_counts {
    uint64_t ok[HISTORY_CALLS];
    uint64_t failed[HISTORY_CALLS];
    uint64_t actions[POL_ACTION_KINDS];
    uint64_t states[POL_STATES];
};

/** What the history knows of a VM it may have added. */
struct history_vm {
    uint64_t size_pages;
    uint64_t actual_pages;
    uint64_t asked_pages;
    uint64_t vm_time_ms;
    uint64_t swap_ins;
    uint32_t touched;
};

struct history {
    struct pol_ctx *ctx;
    struct history_counts *counts; /* of all histories together */
    uint64_t random;
    uint64_t now_ms;
    uint64_t total_pages;
    uint64_t free_pages;
    struct history_vm vm[HISTORY_VMS + 1];
    struct pol_action actions[HISTORY_ACTIONS];
    size_t actions_n;
    _Alignas(64) uint8_t block[HISTORY_BLOCK];
};

extern const char *const history_call_names[HISTORY_CALLS];

/** A random number; equal seeds give equal sequences. */
uint64_t history_random(struct history *h);

/** Make a context and live through so many steps, recording all of it.
 *  @return POL_OK, or what making the context said */
int history_run(struct history *h, struct history_counts *counts, uint64_t seed,
                uint32_t steps, struct trace_buffer *trace);

#endif /* HISTORY_H */
