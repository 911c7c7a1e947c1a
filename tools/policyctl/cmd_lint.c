/* SPDX-License-Identifier: BSD-2-Clause */
#include <argp.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>

#include "command.h"
#include "policy-esxi-sim/sim_run.h"
#include "progress.h"
#include "settings.h"
#include "table.h"
#include "text.h"

enum {
    KEY_JSON = 1000
};

struct options {
    const char *scenario;
    struct settings settings;
    bool json;
    bool quiet;
};

static const struct argp_option option_table[] = {
    { "set", 's', "KEY=VALUE", 0,
      "Override a value of the scenario, e.g. policy.idle_tax=0%", 0 },
    { "json", KEY_JSON, NULL, 0, "Findings as JSON on standard output", 0 },
    { "quiet", 'q', NULL, 0, "No progress", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 's':
        settings_add(&options->settings, state, "", arg);
        return 0;
    case KEY_JSON:
        options->json = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num > 0) {
            argp_failure(state, STATUS_USAGE, 0, "more than one scenario: %s",
                         arg);
        }
        options->scenario = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_failure(state, STATUS_USAGE, 0, "the scenario is missing");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    option_table,
    parse,
    "SCENARIO",
    "Run a scenario and say which parameters will hurt, and on what figures "
    "that rests. The exit status does not depend on findings.",
    NULL,
    NULL,
    NULL
};

/* Working sets are known only after a while, so the scenario is run first. */
static int run_all(const struct options *options, struct sim_run *run)
{
    struct progress progress;
    int code = POL_OK;

    progress_start(&progress, !options->quiet);
    while (!sim_run_done(run) && (code == POL_OK || code == POL_ERR_HOST)) {
        code = sim_run_step(run);
        progress_tick(&progress, run);
    }
    progress_end(&progress, run);
    if (code != POL_OK && code != POL_ERR_HOST) {
        return fail(STATUS_FAILED, "%s: %s", options->scenario,
                    pol_strerror(code));
    }
    return STATUS_OK;
}

static const char *who(const struct sim_run *run, const struct pol_finding *f)
{
    const char *name = f->vm == 0 ? NULL : sim_run_vm_name(run, f->vm);

    return name != NULL ? name : "(host)";
}

static void print_table(const struct sim_run *run,
                        const struct pol_finding *findings, size_t n)
{
    static const char *const headers[] = { "who", "finding", "figure", "bound",
                                           "what it means" };
    struct table *table = table_new(headers, 5, 0x13);
    uint32_t bytes =
        pol_ctx_config(sim_run_ctx((struct sim_run *)run))->page_bytes;
    char text[TEXT_MAX];

    for (size_t i = 0; i < n; i++) {
        const struct pol_finding *f = &findings[i];
        bool none = f->figure_pages == 0 && f->bound_pages == 0;

        table_cell(table, "%s", who(run, f));
        table_cell(table, "%s", pol_lint_name((int)f->kind));
        table_cell(table, "%s",
                   none ? "" : text_pages(text, f->figure_pages, bytes));
        table_cell(table, "%s",
                   none ? "" : text_pages(text, f->bound_pages, bytes));
        table_cell(table, "%s", pol_lint_text((int)f->kind));
    }
    table_print(table, stdout);
    table_free(table);
    printf("%zu finding%s\n", n, n == 1 ? "" : "s");
}

static void print_json(const struct sim_run *run,
                       const struct pol_finding *findings, size_t n)
{
    struct json_object *root = json_object_new_object();
    struct json_object *list = json_object_new_array();

    json_object_object_add(root, "schema",
                           json_object_new_string("policyctl.lint/1"));
    for (size_t i = 0; i < n; i++) {
        const struct pol_finding *f = &findings[i];
        struct json_object *o = json_object_new_object();
        const char *name = f->vm == 0 ? NULL : sim_run_vm_name(run, f->vm);

        json_object_object_add(
            o, "vm", name == NULL ? NULL : json_object_new_string(name));
        json_object_object_add(
            o, "kind", json_object_new_string(pol_lint_name((int)f->kind)));
        json_object_object_add(o, "figure_pages",
                               json_object_new_uint64(f->figure_pages));
        json_object_object_add(o, "bound_pages",
                               json_object_new_uint64(f->bound_pages));
        json_object_object_add(
            o, "text", json_object_new_string(pol_lint_text((int)f->kind)));
        json_object_array_add(list, o);
    }
    json_object_object_add(root, "findings", list);
    puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
    json_object_put(root);
}

static int lint(const struct options *options, struct sim_run *run)
{
    struct pol_ctx *ctx = sim_run_ctx(run);
    size_t n = 0, cap = pol_lint_bound(ctx);
    struct pol_finding *findings = must_alloc(cap, sizeof(*findings));
    int code = pol_lint(ctx, findings, cap, &n);

    if (code != POL_OK) {
        free(findings);
        return fail(STATUS_FAILED, "%s: %s", options->scenario,
                    pol_strerror(code));
    }
    if (options->json) {
        print_json(run, findings, n);
    } else {
        print_table(run, findings, n);
    }
    free(findings);
    return STATUS_OK;
}

int cmd_lint(int argc, char **argv)
{
    struct sim_scenario *scenario = NULL;
    struct sim_run *run = NULL;
    struct sim_error error = { "" };
    struct options options = { 0 };
    int status, code;

    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0) {
        return STATUS_USAGE;
    }
    status = settings_load(&options.settings, options.scenario, &scenario);
    if (status == STATUS_OK) {
        code = sim_run_new(scenario, &run, &error);
        status =
            code == POL_OK
                ? run_all(&options, run)
                : fail(STATUS_USAGE, "%s",
                       error.text[0] != '\0' ? error.text : pol_strerror(code));
    }
    if (status == STATUS_OK) {
        status = lint(&options, run);
    }
    settings_clear(&options.settings);
    sim_run_free(run);
    sim_scenario_free(scenario);
    return status;
}
