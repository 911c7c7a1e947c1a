/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file trace.h
 * Recording everything a context is told and everything it plans, and
 * replaying it.
 *
 * The trace is a sequence of bytes, the same on every platform:
 *   header: "POLTRACE", version, length, the configuration, CRC-32 of these;
 *   records: type, length, payload, CRC-32 of the three.
 * Numbers are LEB128 varints. libpolicy/doc/trace-format.md has the details.
 *
 * Recorded are the calls that succeeded and change a context, pol_plan() with
 * the plan it made among them. Calls that failed have changed nothing, and
 * those that only read are not needed to repeat the others.
 */
#ifndef POLICY_TRACE_H
#define POLICY_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "policy/config.h"
#include "policy/error.h"
#include "policy/plan.h"
#include "policy/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Takes bytes of a trace, in order; called from within the call that is
 * recorded, on its thread. The bytes are borrowed until it returns. A small
 * record is one call, a large plan several; where pieces end means nothing. It
 * must not call into the same context, and cannot refuse: one that has run out
 * of room stops keeping, and the trace so far is whole up to its last complete
 * record.
 */
typedef void pol_trace_sink(void *user, const uint8_t *bytes, size_t n);

/**
 * Start recording into a sink, from the header on; the header is written
 * before this returns. Recording lasts until it is stopped or the context
 * ends; there is nothing to finish. Only a new context can start: one that
 * has, or ever had, VMs or groups, or whose host has been observed, was told
 * things that the trace would not have. pol_ctx_tune() may come before.
 * @param sink  NULL stops recording, at any time
 * @param user  first argument of the sink
 * @return POL_OK, POL_ERR_BUSY (the context is not new)
 */
POL_MUST_USE int pol_trace_start(struct pol_ctx *ctx, pol_trace_sink *sink,
                                 void *user);

/** What a trace contains, found by pol_trace_scan(). */
struct pol_trace_info {
    uint64_t records;  /**< whole and well-formed ones, plans included */
    uint64_t plans;    /**< how many of them are plans */
    uint64_t actions;  /**< in all plans */
    size_t bad_offset; /**< where the header or record begins that could not
                            be read; the trace's length when all could */
    struct pol_config config; /**< the one recording began with */
};

/**
 * Check a whole trace without replaying it: header, checksums, and that every
 * record is well formed. Whether its calls make sense together only a replay
 * can tell.
 * @param trace  any bytes
 * @param out    filled as far as reading got
 * @return POL_OK; POL_ERR_TRUNCATED (ends within the header or a record; all
 *         before bad_offset is usable); POL_ERR_CORRUPT; POL_ERR_VERSION
 *         (format of another release); or what pol_config_check() says of the
 *         recorded configuration
 */
POL_MUST_USE int pol_trace_scan(const uint8_t *trace, size_t bytes,
                                struct pol_trace_info *out);

/** Called for every plan replayed; may look at the context, not change it.
 *  The actions are borrowed until it returns.
 *  @return POL_OK to go on, anything else stops and is returned */
typedef int pol_replay_plan(void *user, const struct pol_ctx *ctx,
                            const struct pol_action *actions, size_t n);

/** How a replay went. */
struct pol_replay_result {
    uint64_t records;    /**< that were repeated */
    uint64_t plans;      /**< that were made */
    uint64_t mismatches; /**< plans that differ from the recorded ones */
    uint64_t skipped;    /**< what-if: calls that another policy refused */
    size_t bad_offset;   /**< as in struct pol_trace_info */
};

/**
 * Replay a trace: make a context from its header, repeat every call and
 * compare every plan with the recorded one, byte by byte. Differing plans are
 * counted and the replay goes on.
 *
 * With another configuration this asks "what if": what would that policy have
 * planned at each moment, had the host been found as it was? What was observed
 * stays as recorded, so the plans' effects are not seen: it is not a
 * simulation. In particular
 * - the host does what the recorded plans say: balloons are taken to have got
 *   the recorded targets, whatever the other policy planned;
 * - sample_pages is taken from the trace, because touched pages were counted
 *   among so many; changes of tuning in the trace change nothing else;
 * - a target somebody else set for a VM goes unnoticed;
 * - a call that the other policy refuses, such as a hold for which it has no
 *   room, is left out and counted.
 *
 * @param config       NULL: the recorded one. Otherwise another policy; its
 *                     capacities must be at least the recorded ones,
 *                     page_bytes must be the same
 * @param block        memory for the context, aligned to 64 bytes
 * @param block_bytes  its size, at least what pol_replay_size() says
 * @param actions      room for as many actions as a plan can have
 * @param cap          how many; at least what pol_replay_bound() says
 * @param on_plan      may be NULL
 * @param user         first argument of on_plan
 * @param out          filled as far as the replay got; bad_offset is where
 *                     the record begins that stopped it
 * @return POL_OK; POL_ERR_MISMATCH (config is NULL and plans differ);
 *         POL_ERR_INVALID (config does not fit the trace, or alignment);
 *         POL_ERR_NOMEM (block); POL_ERR_BUFFER (actions); POL_ERR_CORRUPT
 *         also when a recorded call fails (config is NULL); what on_plan
 *         returned; otherwise as pol_trace_scan()
 */
POL_MUST_USE int pol_trace_replay(const uint8_t *trace, size_t bytes,
                                  const struct pol_config *config, void *block,
                                  size_t block_bytes,
                                  struct pol_action *actions, size_t cap,
                                  pol_replay_plan *on_plan, void *user,
                                  struct pol_replay_result *out);

/**
 * How many bytes a replay needs: a context for this configuration, and room
 * for sampled pages. With config NULL use that of pol_trace_scan().
 * @return POL_OK or what pol_config_check() says
 */
POL_MUST_USE int pol_replay_size(const struct pol_config *config,
                                 size_t *bytes);

/** Most actions a plan of a context with this configuration can have. */
size_t pol_replay_bound(const struct pol_config *config);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_TRACE_H */
