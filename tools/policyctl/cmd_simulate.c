/* SPDX-License-Identifier: BSD-2-Clause */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "csv.h"
#include "json.h"
#include "policy-esxi-sim/sim_run.h"
#include "progress.h"
#include "record.h"
#include "report.h"
#include "settings.h"
#include "summary.h"
#include "text.h"

#define EXPLAIN_MAX 16

enum {
    KEY_JSON = 1000,
    KEY_REPORT,
    KEY_RECORD,
    KEY_CSV,
    KEY_EXPLAIN,
    KEY_UNTIL
};

/* "VM@TIME": which VM's situation to put into words, and when. */
struct question {
    const char *text;
    char *vm;
    uint64_t at_ms; /**< SIM_NONE: at the end */
    bool answered;
};

struct options {
    const char *scenario;
    struct settings settings;
    struct question questions[EXPLAIN_MAX];
    size_t questions_n;
    const char *json; /**< NULL: none, "-": standard output */
    const char *report;
    const char *trace;
    const char *csv;
    bool quiet;
};

/* Files that are written while a scenario runs. */
struct outputs {
    FILE *trace;
    FILE *csv;
};

static const struct argp_option option_table[] = {
    { "set", 's', "KEY=VALUE", 0,
      "Override a value of the scenario, e.g. policy.idle_tax=0%", 0 },
    { "seed", 'S', "N", 0, "Use another seed", 0 },
    { "until", KEY_UNTIL, "TIME", 0,
      "End after this simulated time, e.g. 90s, 10m, 2h", 0 },
    { "json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL,
      "Write the result as JSON to FILE, or instead of the table", 0 },
    { "report", KEY_REPORT, "FILE", 0,
      "Write a report, one HTML file that needs nothing else", 0 },
    { "record", KEY_RECORD, "FILE", 0,
      "Record the policy's trace, for `policyctl replay'", 0 },
    { "csv", KEY_CSV, "FILE", 0,
      "Write every VM in every tick as comma-separated values", 0 },
    { "explain", KEY_EXPLAIN, "VM[@TIME]", 0,
      "Say why a VM has what it has, at the end or at a time", 0 },
    { "quiet", 'q', NULL, 0, "No progress and no table", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static void add_question(struct argp_state *state, const char *arg)
{
    struct options *options = state->input;
    struct question *question;
    char *at;

    if (options->questions_n == EXPLAIN_MAX) {
        argp_failure(state, STATUS_USAGE, 0, "more than %d times --explain",
                     EXPLAIN_MAX);
        return;
    }
    question = &options->questions[options->questions_n++];
    question->text = arg;
    question->vm = must_copy(arg);
    question->at_ms = SIM_NONE;
    at = strrchr(question->vm, '@');
    if (at != NULL) {
        if (text_parse_time(at + 1, &question->at_ms) != 0) {
            argp_failure(state, STATUS_USAGE, 0,
                         "--explain %s: '%s' is no time "
                         "(accepted: e.g. 90s, 10m, 1h30m)",
                         arg, at + 1);
        }
        *at = '\0';
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 's':
        settings_add(&options->settings, state, "", arg);
        return 0;
    case 'S':
        settings_add(&options->settings, state, "seed=", arg);
        return 0;
    case KEY_UNTIL:
        settings_add_until(&options->settings, state, arg);
        return 0;
    case KEY_JSON:
        options->json = arg == NULL ? "-" : arg;
        return 0;
    case KEY_REPORT:
        options->report = arg;
        return 0;
    case KEY_RECORD:
        options->trace = arg;
        return 0;
    case KEY_CSV:
        options->csv = arg;
        return 0;
    case KEY_EXPLAIN:
        add_question(state, arg);
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        if (options->scenario != NULL) {
            argp_failure(state, STATUS_USAGE, 0, "more than one scenario: %s",
                         arg);
        }
        options->scenario = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_failure(state, STATUS_USAGE, 0, "the scenario is missing");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    option_table, parse,
    "SCENARIO",   "Run a scenario on the simulated host and say how it went.",
    NULL,         NULL,
    NULL
};

static void answer(struct question *question, struct sim_run *run)
{
    uint64_t vm = sim_run_vm_find(run, question->vm);
    struct pol_explanation explanation;
    char sentence[512];
    char span[TEXT_MAX];
    char safe[256];

    question->answered = true;
    text_safe(safe, sizeof safe, question->vm);
    text_span(span, sim_run_now_ms(run));
    if (vm == 0 || pol_explain(sim_run_ctx(run), vm, &explanation) != POL_OK ||
        pol_explain_text(&explanation, sentence, sizeof sentence) != POL_OK) {
        printf("%s at %s: not running\n", safe, span);
        return;
    }
    printf("%s at %s: %s\n", safe, span, sentence);
}

static void answer_due(struct options *options, struct sim_run *run, bool ended)
{
    uint64_t now = sim_run_now_ms(run);

    for (size_t i = 0; i < options->questions_n; i++) {
        struct question *question = &options->questions[i];

        if (!question->answered && (ended || now >= question->at_ms)) {
            answer(question, run);
        }
    }
}

static void write_trace(void *user, const uint8_t *bytes, size_t n)
{
    /* A failure is kept by the stream until it is closed. */
    fwrite(bytes, 1, n, user);
}

/* Tick by tick to the end of the scenario. */
static int run_all(struct options *options, struct sim_run *run,
                   struct record *record, const struct outputs *outputs)
{
    struct progress progress;

    progress_start(&progress, !options->quiet);
    while (!sim_run_done(run)) {
        int result = sim_run_step(run);

        if (result == POL_ERR_HOST) {
            record->unread_ticks++;
        } else if (result != POL_OK) {
            return fail(
                STATUS_FAILED, "%s: after %llu ms: %s", options->scenario,
                (unsigned long long)sim_run_now_ms(run), pol_strerror(result));
        }
        record_tick(record);
        if (outputs->csv != NULL) {
            csv_tick(outputs->csv, run);
        }
        progress_tick(&progress, run);
        answer_due(options, run, false);
    }
    progress_end(&progress, run);
    answer_due(options, run, true);
    return STATUS_OK;
}

static int write_json(const struct record *record, const char *path)
{
    struct json_object *object = json_run(record);
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

static int write_results(const struct options *options,
                         const struct record *record)
{
    int status = STATUS_OK;

    if (options->json != NULL) {
        status = write_json(record, options->json);
    }
    if (status == STATUS_OK && options->report != NULL) {
        status = report_write(record, options->report);
    }
    if (status == STATUS_OK && !options->quiet &&
        (options->json == NULL || strcmp(options->json, "-") != 0)) {
        summary_print(record, stdout);
        if (options->report != NULL) {
            printf("\nreport: %s\n", options->report);
        }
    }
    return status;
}

static int open_outputs(const struct options *options, struct sim_run *run,
                        struct outputs *outputs)
{
    if (options->csv != NULL) {
        outputs->csv = open_output(options->csv);
        if (outputs->csv == NULL) {
            return STATUS_FAILED;
        }
        csv_header(outputs->csv);
    }
    if (options->trace != NULL) {
        outputs->trace = open_output(options->trace);
        if (outputs->trace == NULL) {
            return STATUS_FAILED;
        }
        if (sim_run_record(run, write_trace, outputs->trace) != POL_OK) {
            return fail(STATUS_FAILED, "%s: a trace cannot be recorded",
                        options->trace);
        }
    }
    return STATUS_OK;
}

/* The first failure counts. */
static int close_outputs(const struct options *options,
                         const struct outputs *outputs, int status)
{
    int closed = STATUS_OK;

    if (outputs->csv != NULL) {
        closed = close_output(outputs->csv, options->csv);
        status = status == STATUS_OK ? closed : status;
    }
    if (outputs->trace != NULL) {
        closed = close_output(outputs->trace, options->trace);
        status = status == STATUS_OK ? closed : status;
    }
    return status;
}

static int simulate(struct options *options,
                    const struct sim_scenario *scenario)
{
    struct sim_error error = { "" };
    struct outputs outputs = { NULL, NULL };
    struct sim_run *run = NULL;
    struct record record;
    int status;
    int result = sim_run_new(scenario, &run, &error);

    if (result != POL_OK) {
        return fail(STATUS_USAGE, "%s",
                    error.text[0] != '\0' ? error.text : pol_strerror(result));
    }
    record_start(&record, run, options->report != NULL);
    status = open_outputs(options, run, &outputs);
    if (status == STATUS_OK) {
        status = run_all(options, run, &record, &outputs);
    }
    status = close_outputs(options, &outputs, status);
    record_finish(&record);
    if (status == STATUS_OK) {
        status = write_results(options, &record);
    }
    record_clear(&record);
    sim_run_free(run);
    return status;
}

/* Nothing is written over the scenario, and no two outputs into one file. */
static int check_outputs(const struct options *options)
{
    const char *files[] = { options->scenario, options->json, options->report,
                            options->trace, options->csv };
    size_t n = sizeof files / sizeof files[0];

    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            if (same_file(files[i], files[j]) ||
                (i > 0 && files[i] != NULL && files[j] != NULL &&
                 strcmp(files[i], files[j]) == 0)) {
                return fail(STATUS_USAGE, "%s: would be written over by %s",
                            files[i], files[j]);
            }
        }
    }
    return STATUS_OK;
}

int cmd_simulate(int argc, char **argv)
{
    struct sim_scenario *scenario = NULL;
    struct options options = { 0 };
    int status = STATUS_USAGE;

    if (argp_parse(&argp, argc, argv, 0, NULL, &options) == 0) {
        if (options.report != NULL && !report_available()) {
            status = fail(STATUS_USAGE, "this policyctl was built without "
                                        "reports");
        } else {
            status =
                settings_load(&options.settings, options.scenario, &scenario);
        }
    }
    if (status == STATUS_OK) {
        status = check_outputs(&options);
    }
    if (status == STATUS_OK) {
        status = simulate(&options, scenario);
    }
    sim_scenario_free(scenario);
    settings_clear(&options.settings);
    for (size_t i = 0; i < options.questions_n; i++) {
        free(options.questions[i].vm);
    }
    return status;
}
