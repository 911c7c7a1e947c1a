/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file trace_replay.h
 * Repeating recorded calls on a context that is already there.
 */
#ifndef POLX_TRACE_REPLAY_H
#define POLX_TRACE_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"
#include "trace_bytes.h"

/** Largest config.sample_pages, which a recorded change of tuning may set. */
#define POLX_SAMPLE_MAX 1000u

/** A replay under way. */
struct polx_replay {
    struct polx_reader reader; /* behind the header */
    struct pol_ctx *ctx;
    const struct pol_config *what_if; /* NULL: exactly as recorded */
    uint64_t *pages;                  /* room for POLX_SAMPLE_MAX */
    struct pol_action *actions;
    size_t cap;
    pol_replay_plan *on_plan;
    void *user;
    struct pol_replay_result *out;
};

/** Repeat all records. @return as pol_trace_replay() */
int polx_replay_run(struct polx_replay *replay);

#endif /* POLX_TRACE_REPLAY_H */
