/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace_file.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

#define BLOCK_ALIGN 64u

int trace_load(struct trace_file *trace, const char *path)
{
    int status;
    int result;

    memset(trace, 0, sizeof *trace);
    trace->path = path;
    status = read_whole(path, &trace->bytes, &trace->size);
    if (status != STATUS_OK) {
        return status;
    }
    result = pol_trace_scan(trace->bytes, trace->size, &trace->info);
    if (result != POL_OK) {
        return fail(STATUS_USAGE, "%s: byte %zu of %zu: %s", path,
                    trace->info.bad_offset, trace->size, pol_strerror(result));
    }
    return STATUS_OK;
}

int trace_replay(const struct trace_file *trace,
                 const struct pol_config *config, pol_replay_plan *on_plan,
                 void *user, struct pol_replay_result *result)
{
    const struct pol_config *used =
        config == NULL ? &trace->info.config : config;
    size_t cap = pol_replay_bound(used);
    size_t bytes = 0;
    struct pol_action *actions;
    void *block;
    int code;

    memset(result, 0, sizeof *result);
    code = pol_replay_size(used, &bytes);
    if (code != POL_OK) {
        return code;
    }
    bytes = (bytes + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
    block = aligned_alloc(BLOCK_ALIGN, bytes);
    actions = malloc(cap * sizeof *actions);
    code = block == NULL || actions == NULL
               ? POL_ERR_NOMEM
               : pol_trace_replay(trace->bytes, trace->size, config, block,
                                  bytes, actions, cap, on_plan, user, result);
    free(actions);
    free(block);
    return code;
}

void trace_free(struct trace_file *trace)
{
    free(trace->bytes);
    memset(trace, 0, sizeof *trace);
}
