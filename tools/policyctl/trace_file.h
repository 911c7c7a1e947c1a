/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file trace_file.h
 * A recorded policy trace (policy/trace.h) in a file, and what its replay
 * needs.
 */
#ifndef POLICYCTL_TRACE_FILE_H
#define POLICYCTL_TRACE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "policy/trace.h"

struct trace_file {
    const char *path; /**< borrowed */
    uint8_t *bytes;
    size_t size;
    struct pol_trace_info info;
};

/**
 * Read a trace and check all of it.
 * @return STATUS_OK, or STATUS_USAGE after a line that names the byte at
 *         which it is wrong
 */
int trace_load(struct trace_file *trace, const char *path);

/**
 * Replay it.
 * @param config  as for pol_trace_replay()
 * @return what pol_trace_replay() says
 */
int trace_replay(const struct trace_file *trace,
                 const struct pol_config *config, pol_replay_plan *on_plan,
                 void *user, struct pol_replay_result *result);

void trace_free(struct trace_file *trace);

#endif /* POLICYCTL_TRACE_FILE_H */
