/* SPDX-License-Identifier: BSD-2-Clause */
#include <argp.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "comparator.h"
#include "compare.h"
#include "json.h"
#include "policy/version.h"
#include "settings.h"
#include "table.h"
#include "text.h"

#define POLICIES_MAX 16

enum {
    KEY_JSON = 1000,
    KEY_UNTIL
};

struct options {
    const char *scenario;
    struct settings settings;
    int policies[POLICIES_MAX];
    size_t policies_n;
    const char *json; /**< NULL: none, "-": standard output */
    bool quiet;
};

static const struct argp_option option_table[] = {
    { "policies", 'p', "A,B,...", 0,
      "Only these of libpolicy, none, mom, squeezed, qmemman, proxmox", 0 },
    { "set", 's', "KEY=VALUE", 0,
      "Override a value of the scenario, e.g. policy.idle_tax=0%", 0 },
    { "seed", 'S', "N", 0, "Use another seed", 0 },
    { "until", KEY_UNTIL, "TIME", 0, "End after this simulated time", 0 },
    { "json", KEY_JSON, "FILE", OPTION_ARG_OPTIONAL,
      "Write the result as JSON to FILE, or instead of the table", 0 },
    { "quiet", 'q', NULL, 0, "No progress", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static void set_policies(struct argp_state *state, const char *arg)
{
    struct options *options = state->input;
    char *list = must_copy(arg);
    char *rest = list;

    options->policies_n = 0;
    while (rest != NULL) {
        char *name = rest;
        int policy;

        rest = strchr(rest, ',');
        if (rest != NULL) {
            *rest++ = '\0';
        }
        policy =
            strcmp(name, "libpolicy") == 0 ? COMPARE_LIBPOLICY : cmp_find(name);
        if (policy < 0 && strcmp(name, "libpolicy") != 0) {
            argp_failure(state, STATUS_USAGE, 0,
                         "--policies: no such policy: '%s' (accepted: "
                         "libpolicy, none, mom, squeezed, qmemman, proxmox)",
                         name);
        } else if (options->policies_n == POLICIES_MAX) {
            argp_failure(state, STATUS_USAGE, 0, "--policies: more than %d",
                         POLICIES_MAX);
        } else {
            options->policies[options->policies_n++] = policy;
        }
    }
    free(list);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'p':
        set_policies(state, arg);
        return 0;
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
    option_table,
    parse,
    "SCENARIO",
    "Run a scenario under libpolicy and under the policies of other "
    "programs, and show how it went for the VMs.",
    NULL,
    NULL,
    NULL
};

/* ---- Results ----------------------------------------------------------- */

static const char *const headers[] = {
    "policy",    "time lost",  "work done",      "OOM kills",
    "host swap", "guest swap", "swung",          "back and forth",
    "unfair",    "least free", "balloons moved",
};
#define COLUMNS 11

static const char *part(char buf[TEXT_MAX], uint64_t done, uint64_t whole)
{
    snprintf(buf, TEXT_MAX, "%.1f %%",
             whole == 0 ? 100.0 : (double)done * 100.0 / (double)whole);
    return buf;
}

static void row(struct table *table, const struct compare_result *r,
                uint32_t page_bytes)
{
    const struct sim_run_totals *t = &r->totals;
    char a[TEXT_MAX];

    table_cell(table, "%s", compare_name(r->policy));
    table_cell(table, "%.1f s", (double)r->lost_ms / 1000.0);
    table_cell(table, "%s", part(a, t->accesses, r->accesses_wanted));
    table_cell(table, "%s", text_count(a, t->oom_kills));
    table_cell(table, "%s",
               text_pages(a, t->swap_in_pages + t->swap_out_pages, page_bytes));
    table_cell(table, "%s",
               text_pages(a, t->guest_swap_in_pages + t->guest_swap_out_pages,
                          page_bytes));
    table_cell(table, "%s", text_pages(a, r->swung_pages, page_bytes));
    table_cell(table, "%s", text_pages(a, r->returned_pages, page_bytes));
    table_cell(table, "%s",
               r->unfair_bp == SIM_NONE ? "-" : part(a, r->unfair_bp, 10000));
    table_cell(table, "%s", text_pages(a, t->min_free_pages, page_bytes));
    table_cell(table, "%s", text_count(a, r->moves));
}

/* Less than a hundredth more, or a second, is no difference. */
static bool is_worse(uint64_t ours, uint64_t theirs, uint64_t grain)
{
    return ours > theirs + theirs / 100 + grain;
}

/* Where libpolicy, the first of them, does worse than another. */
static void print_worse(const struct compare_result *results, size_t n,
                        uint32_t page_bytes)
{
    const struct compare_result *own = &results[0];
    uint64_t mib = page_bytes > 1u << 20 ? 1 : (1u << 20) / page_bytes;

    for (size_t i = 1; own->policy == COMPARE_LIBPOLICY && i < n; i++) {
        const struct compare_result *r = &results[i];
        bool lost = is_worse(own->lost_ms, r->lost_ms, 1000);
        bool kills = own->totals.oom_kills > r->totals.oom_kills;
        bool swung = is_worse(own->swung_pages, r->swung_pages, mib);

        if (lost || kills || swung) {
            printf("libpolicy is worse than %s in:%s%s%s\n",
                   compare_name(r->policy), lost ? " time lost" : "",
                   kills ? " OOM kills" : "", swung ? " swung" : "");
        }
    }
}

static void print_table(const struct sim_scenario *scenario,
                        const struct compare_result *results, size_t n)
{
    struct table *table = table_new(headers, COLUMNS, 1u);
    char name[256];
    char span[TEXT_MAX];

    for (size_t i = 0; i < n; i++) {
        row(table, &results[i], scenario->host.page_bytes);
    }
    printf("%s: %s, seed %llu\n\n",
           text_safe(name, sizeof name, scenario->name),
           text_span(span, scenario->duration_ms),
           (unsigned long long)scenario->seed);
    table_print(table, stdout);
    table_free(table);
    print_worse(results, n, scenario->host.page_bytes);
}

static struct json_object *result_json(const struct compare_result *r)
{
    struct json_object *o = json_object_new_object();
    const struct sim_run_totals *t = &r->totals;

    json_put_text(o, "policy", compare_name(r->policy));
    json_put_u64(o, "lost_ms", r->lost_ms);
    json_put_u64(o, "missed_ms", r->missed_ms);
    json_put_u64(o, "stall_ms", t->stall_ms);
    json_put_u64(o, "run_ms", t->run_ms);
    json_put_u64(o, "slowdown_bp", t->slowdown_bp);
    json_put_u64(o, "accesses", t->accesses);
    json_put_u64(o, "accesses_wanted", r->accesses_wanted);
    json_put_u64(o, "oom_kills", t->oom_kills);
    json_put_u64(o, "refused", t->refused);
    json_put_u64(o, "swap_in_pages", t->swap_in_pages);
    json_put_u64(o, "swap_out_pages", t->swap_out_pages);
    json_put_u64(o, "guest_swap_in_pages", t->guest_swap_in_pages);
    json_put_u64(o, "guest_swap_out_pages", t->guest_swap_out_pages);
    json_put_u64(o, "taken_pages", r->taken_pages);
    json_put_u64(o, "given_pages", r->given_pages);
    json_put_u64(o, "returned_pages", r->returned_pages);
    json_put_u64(o, "swung_pages", r->swung_pages);
    if (r->unfair_bp == SIM_NONE) {
        json_put(o, "unfair_bp", NULL);
    } else {
        json_put_u64(o, "unfair_bp", r->unfair_bp);
    }
    json_put_u64(o, "min_free_pages", t->min_free_pages);
    json_put_u64(o, "moves", r->moves);
    json_put_u64(o, "failures", t->failures);
    json_put_u64(o, "unread_ticks", r->unread_ticks);
    return o;
}

static int write_json(const struct sim_scenario *scenario,
                      const struct compare_result *results, size_t n,
                      const char *path)
{
    struct json_object *object = json_object_new_object();
    struct json_object *list = json_object_new_array();
    FILE *out = open_output(path);

    if (out == NULL) {
        json_object_put(object);
        json_object_put(list);
        return STATUS_FAILED;
    }
    json_put_text(object, "schema", "policyctl.compare/1");
    json_put_text(object, "version", POL_VERSION_STRING);
    json_put_text(object, "scenario", scenario->name);
    json_put_text(object, "file", scenario->file);
    json_put_u64(object, "seed", scenario->seed);
    json_put_u64(object, "page_bytes", scenario->host.page_bytes);
    json_put_u64(object, "duration_ms", scenario->duration_ms);
    json_put_u64(object, "swing_ms", COMPARE_SWING_MS);
    for (size_t i = 0; i < n; i++) {
        json_object_array_add(list, result_json(&results[i]));
    }
    json_put(object, "policies", list);
    fputs(json_object_to_json_string_ext(
              object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
                          JSON_C_TO_STRING_NOSLASHESCAPE),
          out);
    putc('\n', out);
    json_object_put(object);
    return close_output(out, path);
}

static int compare(const struct options *options,
                   const struct sim_scenario *scenario)
{
    struct compare_result results[POLICIES_MAX];
    int status = STATUS_OK;

    for (size_t i = 0; i < options->policies_n; i++) {
        if (!options->quiet) {
            fprintf(stderr, "%zu/%zu %s\n", i + 1, options->policies_n,
                    compare_name(options->policies[i]));
        }
        status = compare_run(scenario, options->policies[i], &results[i]);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (options->json != NULL) {
        status =
            write_json(scenario, results, options->policies_n, options->json);
    }
    if (options->json == NULL || strcmp(options->json, "-") != 0) {
        print_table(scenario, results, options->policies_n);
    }
    return status;
}

int cmd_compare(int argc, char **argv)
{
    struct options options = { 0 };
    struct sim_scenario *scenario = NULL;
    int status = STATUS_USAGE;

    for (int i = COMPARE_LIBPOLICY; i < CMP_KINDS; i++) {
        options.policies[options.policies_n++] = i;
    }
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) == 0) {
        status = settings_load(&options.settings, options.scenario, &scenario);
    }
    if (status == STATUS_OK) {
        status = compare(&options, scenario);
    }
    sim_scenario_free(scenario);
    settings_clear(&options.settings);
    return status;
}
