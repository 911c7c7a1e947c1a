/* SPDX-License-Identifier: BSD-2-Clause */
#include <argp.h>
#include <stdlib.h>

#include "command.h"
#include "policy-esxi-sim/scenario.h"
#include "table.h"
#include "text.h"
#include "trace_file.h"

enum {
    KEY_POLICY = 1000
};

struct options {
    const char *trace;
    const char *policy; /**< scenario whose policy is tried instead */
};

static const struct argp_option option_table[] = {
    { "policy", KEY_POLICY, "SCENARIO", 0,
      "Also plan with this scenario's policy, and compare", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case KEY_POLICY:
        options->policy = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (options->trace != NULL) {
            argp_failure(state, STATUS_USAGE, 0, "more than one trace: %s",
                         arg);
        }
        options->trace = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_failure(state, STATUS_USAGE, 0, "the trace is missing");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    option_table,
    parse,
    "TRACE",
    "Replay a policy trace, as `policyctl simulate --record' writes it, and "
    "compare every plan with the recorded one, byte by byte.",
    NULL,
    NULL,
    NULL
};

/* What plans asked for, and the states they saw. */
struct tally {
    const struct pol_replay_result *result; /**< of the running replay */
    uint64_t plans;
    uint64_t first_plan; /**< the first that differs, from 1; 0: none */
    size_t first_offset; /**< its place in the trace */
    uint64_t first_ms;   /**< and its time */
    uint64_t actions[POL_ACTION_KINDS];
    uint64_t states[POL_STATES];
    uint64_t min_free_pages;
};

static int count_plan(void *user, const struct pol_ctx *ctx,
                      const struct pol_action *actions, size_t n)
{
    struct tally *tally = user;
    struct pol_host_status host;
    uint64_t now_ms = 0;

    for (size_t i = 0; i < n; i++) {
        if (actions[i].kind < POL_ACTION_KINDS) {
            tally->actions[actions[i].kind]++;
        }
    }
    if (pol_host_get(ctx, &host) == POL_OK) {
        now_ms = host.now_ms;
        if (host.state < POL_STATES) {
            tally->states[host.state]++;
        }
        if (tally->plans == 0 || host.free_pages < tally->min_free_pages) {
            tally->min_free_pages = host.free_pages;
        }
    }
    tally->plans++;
    if (tally->first_plan == 0 && tally->result->mismatches > 0) {
        tally->first_plan = tally->plans;
        tally->first_offset = tally->result->bad_offset;
        tally->first_ms = now_ms;
    }
    return POL_OK;
}

static void count_row(struct table *table, const char *prefix, const char *name,
                      uint64_t recorded, const uint64_t *other)
{
    char a[TEXT_MAX];

    table_cell(table, "%s%s", prefix, name);
    table_cell(table, "%s", text_count(a, recorded));
    if (other != NULL) {
        table_cell(table, "%s", text_count(a, *other));
    }
}

/* One column for what was recorded, one for another policy if any. */
static void print_tally(const struct tally *recorded, const struct tally *other)
{
    static const char *const headers[] = { "", "recorded", "other policy" };
    struct table *table = table_new(headers, other == NULL ? 2 : 3, 1);

    count_row(table, "", "plans", recorded->plans,
              other == NULL ? NULL : &other->plans);
    for (int i = 0; i < POL_STATES; i++) {
        count_row(table, "plans in state ", pol_state_name(i),
                  recorded->states[i],
                  other == NULL ? NULL : &other->states[i]);
    }
    for (int i = 1; i < POL_ACTION_KINDS; i++) {
        count_row(table, "actions: ", pol_action_name(i), recorded->actions[i],
                  other == NULL ? NULL : &other->actions[i]);
    }
    table_print(table, stdout);
    table_free(table);
}

/* The scenario's policy, with the capacities that the trace needs. */
static int other_policy(const struct trace_file *trace, const char *path,
                        struct pol_config *config)
{
    const struct pol_config *recorded = &trace->info.config;
    struct sim_scenario *scenario = NULL;
    struct sim_error error = { "" };
    int code = sim_scenario_load(path, &scenario, &error);

    if (code != POL_OK) {
        return fail(STATUS_USAGE, "%s",
                    error.text[0] != '\0' ? error.text : pol_strerror(code));
    }
    *config = scenario->config;
    config->max_vms = recorded->max_vms;
    config->max_groups = recorded->max_groups;
    config->max_holds = recorded->max_holds;
    config->page_bytes = recorded->page_bytes;
    config->seed = recorded->seed;
    sim_scenario_free(scenario);
    return STATUS_OK;
}

static int say_mismatch(const struct trace_file *trace,
                        const struct tally *tally)
{
    char span[TEXT_MAX];

    return fail(
        STATUS_FAILED,
        "%s: byte %zu: plan %llu (at %s) differs from the recorded one; "
        "%llu of %llu plans do",
        trace->path, tally->first_offset, (unsigned long long)tally->first_plan,
        text_span(span, tally->first_ms),
        (unsigned long long)tally->result->mismatches,
        (unsigned long long)tally->plans);
}

static int replay_recorded(const struct trace_file *trace, struct tally *tally)
{
    struct pol_replay_result result;
    int code;

    tally->result = &result;
    code = trace_replay(trace, NULL, count_plan, tally, &result);
    if (code == POL_ERR_MISMATCH && tally->first_plan > 0) {
        return say_mismatch(trace, tally);
    }
    if (code != POL_OK) {
        return fail(STATUS_USAGE, "%s: byte %zu of %zu: %s", trace->path,
                    result.bad_offset, trace->size, pol_strerror(code));
    }
    if (tally->plans == 0) {
        return fail(STATUS_FAILED, "%s: no plan in it: nothing was compared",
                    trace->path);
    }
    return STATUS_OK;
}

static int replay_other(const struct trace_file *trace, const char *policy,
                        struct tally *tally)
{
    struct pol_replay_result result;
    struct pol_config config;
    int status = other_policy(trace, policy, &config);
    int code;

    if (status != STATUS_OK) {
        return status;
    }
    tally->result = &result;
    code = trace_replay(trace, &config, count_plan, tally, &result);
    if (code != POL_OK) {
        return fail(STATUS_FAILED, "%s under %s: byte %zu: %s", trace->path,
                    policy, result.bad_offset, pol_strerror(code));
    }
    return STATUS_OK;
}

static int replay(const struct options *options, const struct trace_file *trace)
{
    struct tally recorded = { 0 };
    struct tally other = { 0 };
    char records[TEXT_MAX];
    char plans[TEXT_MAX];
    char actions[TEXT_MAX];
    int status = replay_recorded(trace, &recorded);

    if (status == STATUS_OK && options->policy != NULL) {
        status = replay_other(trace, options->policy, &other);
    }
    if (status != STATUS_OK) {
        return status;
    }
    printf("%s: %s records, %s plans, %s actions: every plan byte-identical"
           "\n\n",
           trace->path, text_count(records, trace->info.records),
           text_count(plans, trace->info.plans),
           text_count(actions, trace->info.actions));
    print_tally(&recorded, options->policy == NULL ? NULL : &other);
    if (options->policy != NULL) {
        fputs("\nThe other policy saw the host as it was found then; what "
              "its own plans would have changed is not in the trace.\n",
              stdout);
    }
    return STATUS_OK;
}

int cmd_replay(int argc, char **argv)
{
    struct options options = { 0 };
    struct trace_file trace;
    int status;

    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0) {
        return STATUS_USAGE;
    }
    status = trace_load(&trace, options.trace);
    if (status == STATUS_OK) {
        status = replay(&options, &trace);
    }
    trace_free(&trace);
    return status;
}
