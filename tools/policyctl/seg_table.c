/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as a table, and as JSON. */
#include "policy/version.h"
#include "seg_report.h"
#include "table.h"
#include "text.h"

static double pair_ns(const struct seg_result *r)
{
    return r->alloc_ns + r->free_ns;
}

static double gib(uint64_t pages)
{
    return (double)pages / (double)(1024 * SEG_PAGES_PER_MIB);
}

struct table *seg_results_table(const struct seg_report *report)
{
    static const char *const headers[] = {
        "rule",  "model",    "one",     "<= 3",           "mean",
        "p99",   "max",      "refused", "refused memory", "use",
        "hosts", "alloc ns", "free ns"
    };
    struct table *table = table_new(headers, 13, 3);
    char count[TEXT_MAX];

    for (size_t i = 0; i < report->results_n; i++) {
        const struct seg_result *r = &report->results[i];

        table_cell(table, "%s", seg_rule_name(r->rule));
        table_cell(table, "%s", r->model->name);
        table_cell(table, "%.3f %%", 100 * seg_share(r, 1));
        table_cell(table, "%.3f %%", 100 * seg_share(r, 3));
        table_cell(table, "%.3f",
                   (double)r->segments / (double)(r->placed ? r->placed : 1));
        table_cell(table, "%u", seg_quantile(r, 0.99));
        table_cell(table, "%u", r->most);
        table_cell(table, "%s", text_count(count, r->refused));
        table_cell(table, "%.2f %%",
                   100.0 * (double)r->refused_pages / (double)r->asked_pages);
        table_cell(table, "%.1f %%", 100 * r->utilisation);
        table_cell(table, "%u", r->hosts_used);
        table_cell(table, "%.0f", r->alloc_ns);
        table_cell(table, "%.0f", r->free_ns);
    }
    return table;
}

struct table *seg_starts_table(const struct seg_report *report)
{
    static const char *const headers[] = { "VM",           "segments",
                                           "libpolicy ns", "mappings",
                                           "buddy ns",     "ratio" };
    struct table *table = table_new(headers, 6, 0);

    for (size_t i = 0; i < report->starts_n; i++) {
        const struct seg_start *ours = &report->starts[0][i];
        const struct seg_start *theirs = &report->starts[1][i];
        double ours_ns = ours->alloc_ns + ours->describe_ns;
        double theirs_ns = theirs->alloc_ns + theirs->describe_ns;

        table_cell(table, "%.0f GiB", gib(ours->pages));
        table_cell(table, "%u", ours->segments);
        table_cell(table, "%.0f", ours_ns);
        table_cell(table, "%u", theirs->mappings);
        table_cell(table, "%.0f", theirs_ns);
        table_cell(table, "%.0f", ours_ns > 0 ? theirs_ns / ours_ns : 0);
    }
    return table;
}

/* How our time compares, for each rule that has both. */
static void print_ratios(const struct seg_report *report, FILE *out)
{
    for (size_t i = 0; i < report->results_n; i++) {
        const struct seg_result *ours = &report->results[i];

        if (ours->model != &seg_model_policy) {
            continue;
        }
        for (size_t j = 0; j < report->results_n; j++) {
            const struct seg_result *theirs = &report->results[j];

            if (theirs->rule == ours->rule && theirs->model != ours->model) {
                fprintf(out,
                        "%s: allocating and freeing takes %s %.2f times as "
                        "long as libpolicy (%.0f ns)\n",
                        seg_rule_name(ours->rule), theirs->model->name,
                        pair_ns(theirs) / pair_ns(ours), pair_ns(ours));
            }
        }
    }
}

void seg_report_table(const struct seg_report *report, FILE *out)
{
    struct table *table = seg_results_table(report);
    char count[TEXT_MAX];

    fprintf(out, "%s requests, %u hosts of %.0f GiB\n\n",
            text_count(count, report->trace->n), report->setup->hosts,
            gib(report->setup->host_pages));
    table_print(table, out);
    table_free(table);
    putc('\n', out);
    print_ratios(report, out);
    if (report->starts_n > 0) {
        fputs("\nStarting a VM: allocating and describing, on a host half in "
              "use\n\n",
              out);
        table = seg_starts_table(report);
        table_print(table, out);
        table_free(table);
    }
}

static void put(struct json_object *to, const char *key,
                struct json_object *value)
{
    json_object_object_add(to, key, value);
}

static void put_number(struct json_object *to, const char *key, double value)
{
    put(to, key, json_object_new_double(value));
}

static void put_count(struct json_object *to, const char *key, uint64_t value)
{
    put(to, key, json_object_new_int64((int64_t)value));
}

static struct json_object *json_result(const struct seg_result *r)
{
    struct json_object *o = json_object_new_object();

    put(o, "rule", json_object_new_string(seg_rule_name(r->rule)));
    put(o, "model", json_object_new_string(r->model->name));
    put_count(o, "placed", r->placed);
    put_count(o, "refused", r->refused);
    put_count(o, "refused_pages", r->refused_pages);
    put_count(o, "asked_pages", r->asked_pages);
    put_number(o, "one_segment_share", seg_share(r, 1));
    put_number(o, "at_most_three_share", seg_share(r, 3));
    put_number(o, "mean_segments",
               (double)r->segments / (double)(r->placed ? r->placed : 1));
    put_count(o, "p99_segments", seg_quantile(r, 0.99));
    put_count(o, "max_segments", r->most);
    put_number(o, "utilisation", r->utilisation);
    put_count(o, "hosts_used", r->hosts_used);
    put_number(o, "alloc_ns", r->alloc_ns);
    put_number(o, "free_ns", r->free_ns);
    put_number(o, "seconds", r->seconds);
    return o;
}

static struct json_object *json_starts(const struct seg_report *report)
{
    struct json_object *list = json_object_new_array();

    for (size_t m = 0; m < 2; m++) {
        for (size_t i = 0; i < report->starts_n; i++) {
            const struct seg_start *start = &report->starts[m][i];
            struct json_object *o = json_object_new_object();

            put(o, "model",
                json_object_new_string(report->start_models[m]->name));
            put_count(o, "pages", start->pages);
            put_number(o, "alloc_ns", start->alloc_ns);
            put_number(o, "describe_ns", start->describe_ns);
            put_count(o, "segments", start->segments);
            put_count(o, "mappings", start->mappings);
            json_object_array_add(list, o);
        }
    }
    return list;
}

struct json_object *seg_report_json(const struct seg_report *report)
{
    struct json_object *o = json_object_new_object();
    struct json_object *list = json_object_new_array();

    put(o, "schema", json_object_new_string("policyctl-segments-1"));
    put(o, "version", json_object_new_string(POL_VERSION_STRING));
    put(o, "trace", json_object_new_string(report->trace_file));
    put_count(o, "requests", report->trace->n);
    put_count(o, "hosts", report->setup->hosts);
    put_count(o, "host_pages", report->setup->host_pages);
    put_count(o, "usable_pages_per_host", report->setup->cap_pages);
    put_count(o, "one_segment_goal_bp", report->setup->goal_bp);
    put_count(o, "max_segments", report->setup->max_segments);
    put(o, "lifetimes_known",
        json_object_new_boolean(report->setup->lifetimes));
    for (size_t i = 0; i < report->results_n; i++) {
        json_object_array_add(list, json_result(&report->results[i]));
    }
    put(o, "results", list);
    put(o, "starts", json_starts(report));
    return o;
}
