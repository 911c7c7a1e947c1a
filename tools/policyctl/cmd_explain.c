/* SPDX-License-Identifier: BSD-2-Clause */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "command.h"
#include "policy/policy.h"
#include "text.h"
#include "trace_file.h"

enum {
    KEY_AT = 1000
};

struct options {
    const char *trace;
    uint64_t vm;
    uint64_t at_ms; /**< UINT64_MAX: the last plan that knows the VM */
};

static const struct argp_option option_table[] = {
    { "at", KEY_AT, "TIME", 0,
      "The last plan up to this time of the trace, e.g. 90s, 10m, 1h30m", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    char *end;

    switch (key) {
    case KEY_AT:
        if (text_parse_time(arg, &options->at_ms) != 0) {
            argp_failure(state, STATUS_USAGE, 0,
                         "--at %s is no time "
                         "(accepted: e.g. 90s, 10m, 1h30m)",
                         arg);
        }
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0) {
            options->trace = arg;
            return 0;
        }
        if (state->arg_num > 1) {
            argp_failure(state, STATUS_USAGE, 0, "more than one VM: %s", arg);
        }
        errno = 0;
        options->vm = strtoull(arg, &end, 10);
        if (*arg < '0' || *arg > '9' || *end != '\0' || errno != 0) {
            argp_failure(state, STATUS_USAGE, 0,
                         "VM %s: traces know VMs by their numbers "
                         "(accepted: 0..2^64-1)",
                         arg);
        }
        return 0;
    case ARGP_KEY_END:
        if (state->arg_num < 2) {
            argp_failure(state, STATUS_USAGE, 0, "%s is missing",
                         state->arg_num == 0 ? "the trace" : "the VM");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    option_table, parse,
    "TRACE VM",   "Say why a VM has what it has, from a recorded policy trace.",
    NULL,         NULL,
    NULL
};

/* The last explanation found so far. */
struct search {
    const struct options *options;
    bool found;
    uint64_t found_ms;
    struct pol_explanation explanation;
};

static int look(void *user, const struct pol_ctx *ctx,
                const struct pol_action *actions, size_t n)
{
    struct search *search = user;
    struct pol_host_status host;

    (void)actions;
    (void)n;
    if (pol_host_get(ctx, &host) == POL_OK &&
        host.now_ms <= search->options->at_ms &&
        pol_explain(ctx, search->options->vm, &search->explanation) == POL_OK) {
        search->found = true;
        search->found_ms = host.now_ms;
    }
    return POL_OK;
}

static int explain(const struct options *options,
                   const struct trace_file *trace)
{
    struct search search = { .options = options };
    struct pol_replay_result result;
    char sentence[512];
    char span[TEXT_MAX];
    int code;

    code = trace_replay(trace, NULL, look, &search, &result);
    if (code != POL_OK && code != POL_ERR_MISMATCH) {
        return fail(STATUS_USAGE, "%s: byte %zu: %s", trace->path,
                    result.bad_offset, pol_strerror(code));
    }
    if (code == POL_ERR_MISMATCH) {
        fail(STATUS_FAILED,
             "%s: byte %zu: plans differ from the recorded "
             "ones",
             trace->path, result.bad_offset);
    }
    if (!search.found || pol_explain_text(&search.explanation, sentence,
                                          sizeof sentence) != POL_OK) {
        return fail(STATUS_FAILED, "%s: no plan up to then knows VM %llu",
                    trace->path, (unsigned long long)options->vm);
    }
    printf("VM %llu at %s: %s\n", (unsigned long long)options->vm,
           text_span(span, search.found_ms), sentence);
    return code == POL_OK ? STATUS_OK : STATUS_FAILED;
}

int cmd_explain(int argc, char **argv)
{
    struct options options = { .at_ms = UINT64_MAX };
    struct trace_file trace;
    int status;

    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0) {
        return STATUS_USAGE;
    }
    status = trace_load(&trace, options.trace);
    if (status == STATUS_OK) {
        status = explain(&options, &trace);
    }
    trace_free(&trace);
    return status;
}
