/* SPDX-License-Identifier: BSD-2-Clause */
#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "seg_report.h"

#define HOSTS_MAX      10000u
#define MODELS         3u
#define GIB_PAGES      (1024 * SEG_PAGES_PER_MIB)
#define HOST_PAGES_MAX (UINT64_C(16384) * GIB_PAGES) /* of the buddy model */

enum {
    KEY_HOSTS = 1000,
    KEY_MEMORY,
    KEY_RULE,
    KEY_MODEL,
    KEY_USE,
    KEY_MAX,
    KEY_GOAL,
    KEY_LIFETIMES,
    KEY_PICTURE,
    KEY_JSON,
    KEY_REPORT
};

struct options {
    const char *trace;
    const char *json;
    const char *report;
    struct seg_setup setup;
    uint32_t use_bp;
    bool rules[SEG_RULES];
    bool models[MODELS];
    bool starts;
    bool quiet;
    uint32_t words;
};

static const struct seg_model *const models[MODELS] = { &seg_model_policy,
                                                        &seg_model_best,
                                                        &seg_model_buddy };

static const struct argp_option option_table[] = {
    { "hosts", KEY_HOSTS, "N", 0, "How many hosts there are (200)", 0 },
    { "host-memory", KEY_MEMORY, "SIZE", 0, "Of each, e.g. 256GiB", 0 },
    { "rule", KEY_RULE, "RULE", 0,
      "Which host a VM is put on: first-fit, best-fit, segment-aware, or all",
      0 },
    { "model", KEY_MODEL, "MODEL", 0,
      "How a host's memory is given out: libpolicy, best-fit, buddy, or all",
      0 },
    { "utilisation", KEY_USE, "PERCENT", 0,
      "How much of a host is given out at most (100%)", 0 },
    { "max-segments", KEY_MAX, "N", 0, "Of a VM, segment-aware placement (3)",
      0 },
    { "one-segment", KEY_GOAL, "PERCENT", 0,
      "Refuse VMs that would push the share of those in one segment below "
      "this, segment-aware placement (99.95%); 0%: never for that reason",
      0 },
    { "lifetimes", KEY_LIFETIMES, NULL, 0,
      "Let the allocator know how long each VM will stay", 0 },
    { "picture-host", KEY_PICTURE, "N", 0,
      "Host whose extents the report shows (1)", 0 },
    { "json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL,
      "Write the result as JSON to FILE, or instead of the table", 0 },
    { "report", KEY_REPORT, "FILE", 0,
      "Write a report, one HTML file that needs nothing else", 0 },
    { "quiet", 'q', NULL, 0, "No progress and no table", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static void bad(struct argp_state *state, const char *option, const char *arg,
                const char *accepted)
{
    argp_failure(state, STATUS_USAGE, 0, "--%s %s (accepted: %s)", option, arg,
                 accepted);
}

static uint32_t number(struct argp_state *state, const char *option,
                       const char *arg, uint32_t most)
{
    char accepted[64];
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(arg, &end, 10);
    if (!isdigit((unsigned char)arg[0]) || *end != '\0' || errno != 0 ||
        value == 0 || value > most) {
        snprintf(accepted, sizeof accepted, "1 to %u", most);
        bad(state, option, arg, accepted);
    }
    return (uint32_t)value;
}

static uint64_t memory(struct argp_state *state, const char *arg)
{
    static const struct {
        const char *unit;
        uint64_t pages;
    } units[] = { { "MiB", SEG_PAGES_PER_MIB },
                  { "GiB", GIB_PAGES },
                  { "TiB", 1024 * GIB_PAGES } };
    char *end;
    unsigned long long value;

    errno = 0;
    value = strtoull(arg, &end, 10);
    for (size_t i = 0; i < 3; i++) {
        if (isdigit((unsigned char)arg[0]) && errno == 0 &&
            strcmp(end, units[i].unit) == 0 && value >= 1 &&
            value <= HOST_PAGES_MAX / units[i].pages) {
            return value * units[i].pages;
        }
    }
    bad(state, "host-memory", arg, "1MiB to 16TiB, e.g. 256GiB");
    return 0;
}

/* "99.95%" or "99.95" as basis points. */
static uint32_t percent(struct argp_state *state, const char *option,
                        const char *arg, uint32_t least)
{
    char *end;
    double value = strtod(arg, &end);

    if (!isdigit((unsigned char)arg[0]) ||
        strcmp(*end == '%' ? end + 1 : end, "") != 0 ||
        !(value * 100 >= least && value <= 100)) {
        bad(state, option, arg, least > 0 ? "1% to 100%" : "0% to 100%");
    }
    return (uint32_t)(value * 100 + 0.5);
}

static void add_rule(struct argp_state *state, const char *arg)
{
    struct options *options = state->input;
    bool known = false;

    for (int i = 0; i < SEG_RULES; i++) {
        if (strcmp(arg, "all") == 0 ||
            strcmp(arg, seg_rule_name((enum seg_rule)i)) == 0) {
            options->rules[i] = true;
            known = true;
        }
    }
    if (!known) {
        bad(state, "rule", arg, "first-fit, best-fit, segment-aware, all");
    }
}

static void add_model(struct argp_state *state, const char *arg)
{
    struct options *options = state->input;
    bool known = false;

    for (size_t i = 0; i < MODELS; i++) {
        if (strcmp(arg, "all") == 0 || strcmp(arg, models[i]->name) == 0) {
            options->models[i] = true;
            known = true;
        }
    }
    if (!known) {
        bad(state, "model", arg, "libpolicy, best-fit, buddy, all");
    }
}

static void add_word(struct argp_state *state, const char *arg)
{
    struct options *options = state->input;

    if (options->words == 0 && strcmp(arg, "replay") != 0) {
        argp_failure(state, STATUS_USAGE, 0, "%s (accepted: replay)", arg);
    }
    if (options->words == 1) {
        options->trace = arg;
    }
    if (options->words > 1) {
        argp_failure(state, STATUS_USAGE, 0, "more than one trace: %s", arg);
    }
    options->words++;
}

static error_t parse_limits(int key, const char *arg, struct argp_state *state)
{
    struct options *options = state->input;
    struct seg_setup *setup = &options->setup;

    switch (key) {
    case KEY_HOSTS:
        setup->hosts = number(state, "hosts", arg, HOSTS_MAX);
        return 0;
    case KEY_MEMORY:
        setup->host_pages = memory(state, arg);
        return 0;
    case KEY_USE:
        options->use_bp = percent(state, "utilisation", arg, 100);
        return 0;
    case KEY_MAX:
        setup->max_segments =
            number(state, "max-segments", arg, POL_SEGMENT_MAX_COUNT);
        return 0;
    case KEY_GOAL:
        setup->goal_bp = percent(state, "one-segment", arg, 0);
        return 0;
    case KEY_PICTURE:
        setup->picture_host = number(state, "picture-host", arg, HOSTS_MAX) - 1;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case KEY_RULE:
        add_rule(state, arg);
        return 0;
    case KEY_MODEL:
        add_model(state, arg);
        return 0;
    case KEY_LIFETIMES:
        options->setup.lifetimes = true;
        return 0;
    case KEY_JSON:
        options->json = arg == NULL ? "-" : arg;
        return 0;
    case KEY_REPORT:
        options->report = arg;
        options->setup.pictures = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        add_word(state, arg);
        return 0;
    case ARGP_KEY_END:
        if (options->trace == NULL) {
            argp_failure(state, STATUS_USAGE, 0, "the trace is missing");
        }
        return 0;
    default:
        return parse_limits(key, arg, state);
    }
}

static const struct argp argp = {
    option_table,
    parse,
    "replay TRACE",
    "Place the VM requests of a trace (CSV, may be gzip) on hosts, and count "
    "into how many contiguous segments their memory falls.\v"
    "Without --rule or --model all are tried, one after the other.",
    NULL,
    NULL,
    NULL
};

struct teller {
    const char *what;
    const char *model;
    bool on, tty;
    uint32_t last;
};

static void tell(void *user, uint32_t percent_done)
{
    struct teller *t = user;

    if (t->on && t->tty && percent_done != t->last) {
        fprintf(stderr, "\r%s, %s: %u %% ", t->what, t->model, percent_done);
        t->last = percent_done;
    }
}

static void told(struct teller *t, double seconds)
{
    if (t->on) {
        fprintf(stderr, "%s%s, %s: %.1f s\n", t->tty ? "\r" : "", t->what,
                t->model, seconds);
    }
}

static void run_all(const struct options *options, struct seg_report *report)
{
    for (int rule = 0; rule < SEG_RULES; rule++) {
        for (size_t m = 0; m < MODELS; m++) {
            struct seg_result *result = &report->results[report->results_n];
            struct teller t = { seg_rule_name((enum seg_rule)rule),
                                models[m]->name, !options->quiet,
                                isatty(STDERR_FILENO), 101 };

            if (options->rules[rule] && options->models[m]) {
                seg_replay(report->trace, report->setup, models[m],
                           (enum seg_rule)rule, result, tell, &t);
                told(&t, result->seconds);
                report->results_n++;
            }
        }
    }
}

static void measure_starts(const struct options *options,
                           struct seg_report *report)
{
    static const uint64_t gib[SEG_STARTS] = { 1, 4, 16, 56, 112 };

    if (!options->models[0] || !options->models[2]) {
        return;
    }
    report->start_models[0] = &seg_model_policy;
    report->start_models[1] = &seg_model_buddy;
    for (size_t i = 0; i < SEG_STARTS; i++) {
        if (gib[i] * GIB_PAGES > report->setup->host_pages / 2) {
            break;
        }
        for (size_t m = 0; m < 2; m++) {
            seg_measure_start(report->start_models[m],
                              report->setup->host_pages, gib[i] * GIB_PAGES,
                              &report->starts[m][i]);
        }
        report->starts_n++;
    }
}

static int write_json(const struct seg_report *report, const char *path)
{
    struct json_object *object = seg_report_json(report);
    FILE *out = open_output(path);

    if (out == NULL) {
        json_object_put(object);
        return STATUS_FAILED;
    }
    fputs(json_object_to_json_string_ext(
              object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                          JSON_C_TO_STRING_NOSLASHESCAPE),
          out);
    putc('\n', out);
    json_object_put(object);
    return close_output(out, path);
}

static int say(const struct options *options, const struct seg_report *report)
{
    bool json_only = options->json != NULL && strcmp(options->json, "-") == 0;
    int status = STATUS_OK;

    if (options->json != NULL) {
        status = write_json(report, options->json);
    }
    if (status == STATUS_OK && options->report != NULL) {
        status = seg_report_html(report, options->report);
    }
    if (status == STATUS_OK && !options->quiet && !json_only) {
        seg_report_table(report, stdout);
    }
    return status;
}

static void use_defaults(struct options *options)
{
    bool any_rule = false;
    bool any_model = false;

    for (int i = 0; i < SEG_RULES; i++) {
        any_rule = any_rule || options->rules[i];
    }
    for (size_t i = 0; i < MODELS; i++) {
        any_model = any_model || options->models[i];
    }
    for (int i = 0; i < SEG_RULES && !any_rule; i++) {
        options->rules[i] = true;
    }
    for (size_t i = 0; i < MODELS && !any_model; i++) {
        options->models[i] = true;
    }
    options->setup.cap_pages =
        options->setup.host_pages / 10000 * options->use_bp +
        options->setup.host_pages % 10000 * options->use_bp / 10000;
}

int cmd_segments(int argc, char **argv)
{
    struct options options = {
        .setup = { .hosts = 200,
                   .host_pages = 256 * GIB_PAGES,
                   .max_segments = POL_SEGMENT_DEFAULT,
                   .goal_bp = 9995 },
        .use_bp = 10000,
    };
    struct seg_result results[SEG_RULES * MODELS];
    struct seg_trace trace = { .vms = NULL };
    struct seg_report report = { .trace = &trace,
                                 .setup = &options.setup,
                                 .results = results };
    int status = STATUS_USAGE;

    if (argp_parse(&argp, argc, argv, 0, NULL, &options) == 0) {
        use_defaults(&options);
        report.trace_file = options.trace;
        status = seg_trace_load(&trace, options.trace);
    }
    if (status == STATUS_OK) {
        run_all(&options, &report);
        measure_starts(&options, &report);
        status = say(&options, &report);
    }
    for (size_t i = 0; i < report.results_n; i++) {
        seg_result_clear(&results[i]);
    }
    seg_trace_clear(&trace);
    return status;
}
