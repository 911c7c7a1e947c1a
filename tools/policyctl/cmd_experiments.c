/* SPDX-License-Identifier: BSD-2-Clause */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "exp.h"
#include "json.h"
#include "policy/version.h"
#include "report.h"

enum {
    KEY_JSON = 1000,
    KEY_REPORT,
    KEY_QUICK,
    KEY_LIST
};

#define MOST 64

struct options {
    const struct experiment *chosen[MOST];
    size_t n;
    const char *json; /**< NULL: none, "-": standard output */
    const char *report;
    bool quick;
    bool quiet;
    bool list;
};

static const struct argp_option option_table[] = {
    { "json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL,
      "Write the results as JSON to FILE, or instead of the tables", 0 },
    { "report", KEY_REPORT, "FILE", 0,
      "Write a report with charts, one HTML file", 0 },
    { "quick", KEY_QUICK, NULL, 0,
      "Only those points that something is said about", 0 },
    { "list", KEY_LIST, NULL, 0, "Name the experiments and run none", 0 },
    { "quiet", 'q', NULL, 0, "No progress and no tables", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static void choose(struct argp_state *state, const char *name)
{
    struct options *options = state->input;

    for (size_t i = 0; i < exp_list_n; i++) {
        if (strcmp(exp_list[i].name, name) == 0) {
            if (options->n < MOST) {
                options->chosen[options->n++] = &exp_list[i];
            }
            return;
        }
    }
    argp_failure(state, STATUS_USAGE, 0,
                 "no such experiment: %s (--list names them)", name);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case KEY_JSON:
        options->json = arg == NULL ? "-" : arg;
        return 0;
    case KEY_REPORT:
        options->report = arg;
        return 0;
    case KEY_QUICK:
        options->quick = true;
        return 0;
    case KEY_LIST:
        options->list = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        choose(state, arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    option_table,
    parse,
    "[NAME...]",
    "Repeat published experiments on the simulated host and compare. Without "
    "names, all of them.\vExit status: 0 all reproduced, 1 something was not, "
    "2 bad usage.",
    NULL,
    NULL,
    NULL
};

static void print_list(void)
{
    for (size_t i = 0; i < exp_list_n; i++) {
        printf("%-16s%s: %s\n", exp_list[i].name, exp_list[i].source,
               exp_list[i].title);
    }
}

static int write_json(const struct options *options,
                      const struct exp_result *results)
{
    struct json_object *object = json_object_new_object();
    struct json_object *list = json_object_new_array();
    FILE *out = open_output(options->json);

    json_put_text(object, "schema", "policyctl.experiments/1");
    json_put_text(object, "version", POL_VERSION_STRING);
    for (size_t i = 0; i < options->n; i++) {
        json_object_array_add(list, exp_json(options->chosen[i], &results[i]));
    }
    json_put(object, "experiments", list);
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
    return close_output(out, options->json);
}

static void print_sums(const struct options *options,
                       const struct exp_result *results)
{
    size_t sums[EXP_VERDICTS] = { 0 };

    for (size_t i = 0; i < options->n; i++) {
        for (int v = 0; v < EXP_VERDICTS; v++) {
            sums[v] += exp_count(&results[i], (enum exp_verdict)v);
        }
    }
    printf("%zu figures within 10, %zu orderings, %zu cliffs and %zu other "
           "descriptions hold; %zu not reproduced; %zu points without a "
           "published figure\n",
           sums[EXP_CLOSE], sums[EXP_ORDERING], sums[EXP_CLIFF],
           sums[EXP_SHAPE], sums[EXP_NOT], sums[EXP_NO_FIGURE]);
}

static int write_results(const struct options *options,
                         const struct exp_result *results)
{
    bool tables = !options->quiet &&
                  (options->json == NULL || strcmp(options->json, "-") != 0);
    int status = STATUS_OK;

    if (options->json != NULL) {
        status = write_json(options, results);
    }
    if (status == STATUS_OK && options->report != NULL) {
        status = exp_report_write(options->chosen, results, options->n,
                                  options->report);
    }
    if (status == STATUS_OK && tables) {
        for (size_t i = 0; i < options->n; i++) {
            exp_print(options->chosen[i], &results[i], stdout);
        }
        print_sums(options, results);
    }
    return status;
}

static int run_chosen(const struct options *options, struct exp_result *results)
{
    int status = STATUS_OK;

    for (size_t i = 0; i < options->n && status == STATUS_OK; i++) {
        const struct experiment *experiment = options->chosen[i];

        if (!options->quiet) {
            fprintf(stderr, "%zu of %zu: %s\n", i + 1, options->n,
                    experiment->name);
        }
        status = experiment->run(experiment, options->quick, &results[i]);
    }
    return status;
}

static int run_and_tell(const struct options *options)
{
    struct exp_result results[MOST] = { 0 };
    int status = run_chosen(options, results);

    if (status == STATUS_OK) {
        status = write_results(options, results);
    }
    for (size_t i = 0; i < options->n; i++) {
        if (status == STATUS_OK && exp_count(&results[i], EXP_NOT) != 0) {
            status = STATUS_FAILED;
        }
        exp_result_clear(&results[i]);
    }
    return status;
}

int cmd_experiments(int argc, char **argv)
{
    struct options options = { 0 };

    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0) {
        return STATUS_USAGE;
    }
    if (options.list) {
        print_list();
        return STATUS_OK;
    }
    if (options.report != NULL && !report_available()) {
        return fail(STATUS_USAGE, "this policyctl was built without reports");
    }
    if (options.n == 0) {
        while (options.n < exp_list_n) {
            options.chosen[options.n] = &exp_list[options.n];
            options.n++;
        }
    }
    return run_and_tell(&options);
}
