/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <stdlib.h>
#include <string.h>

#include "assets.h"
#include "command.h"
#include "policy/version.h"
#include "report_page.h"
#include "summary.h"
#include "text.h"

/* Decisions that are also readable without a mouse. */
#define LISTED 40u

static double percent(double part, double whole)
{
    return whole > 0 ? 100.0 * part / whole : 0.0;
}

/* What is seen, in a paragraph. */
static void write_about(const struct record *record, FILE *out)
{
    const struct sim_scenario *scenario = sim_run_scenario(record->run);
    uint32_t page_bytes = scenario->host.page_bytes;
    struct sim_run_totals t;
    char a[TEXT_MAX];
    char b[TEXT_MAX];
    double all = 0;

    sim_run_totals(record->run, &t);
    for (int i = 0; i < POL_STATES; i++) {
        all += (double)t.state_ms[i];
    }
    fprintf(out, "<p>A simulated host with %s of memory ran %s VMs for ",
            text_pages(a, scenario->host.memory_pages, page_bytes),
            text_count(b, record->vms_n));
    fprintf(out,
            "%s; at most %s of its memory was configured in VMs at "
            "once. ",
            text_span(a, sim_run_now_ms(record->run)),
            text_bp(b, t.peak_overcommit_bp));
    fprintf(out,
            "Free memory was in state high for %.1f %% of the time, soft "
            "for %.1f %%, hard for %.1f %% and low for %.1f %%. ",
            percent((double)t.state_ms[POL_STATE_HIGH] +
                        (double)t.state_ms[POL_STATE_CLEAR],
                    all),
            percent((double)t.state_ms[POL_STATE_SOFT], all),
            percent((double)t.state_ms[POL_STATE_HARD], all),
            percent((double)t.state_ms[POL_STATE_LOW], all));
    fprintf(out,
            "Under an idle-memory tax of %s the policy took %s from "
            "VMs by their balloons ",
            text_bp(a, scenario->config.idle_tax_bp),
            text_pages(b, t.moved_down_pages, page_bytes));
    fprintf(out, "and gave %s back; ",
            text_pages(a, t.moved_up_pages, page_bytes));
    fprintf(out,
            "the host swapped %s out. VMs lost %s of their time to "
            "waiting for memory.</p>\n",
            text_pages(a, t.swap_out_pages, page_bytes),
            text_bp(b, t.slowdown_bp));
}

static void write_chart(const char *id, const char *label, bool tall, FILE *out)
{
    fprintf(out,
            "<div class=\"chart%s\"><canvas id=\"%s\" role=\"img\" "
            "aria-label=\"%s\"></canvas></div>\n",
            tall ? " tall" : "", id, label);
}

static void write_memory(const struct record *record, FILE *out)
{
    fputs("<h2>Memory per VM</h2>\n<p class=\"note\">Host memory that each "
          "VM consumes",
          out);
    if (record->vms_n > REPORT_LAYERS) {
        fprintf(out, "; the %u VMs that held most have layers of their own",
                REPORT_LAYERS);
    }
    fputs(".</p>\n", out);
    write_chart("layers",
                "Stacked areas: memory consumed by each VM over "
                "time, and free memory",
                true, out);
    fputs("<h2>Free memory and states</h2>\n<p class=\"note\">The strip on "
          "top shows the state over time. The bands are the states that "
          "free memory leads to; between bands the state stays what it was. "
          "<label><input type=\"checkbox\" id=\"whole\"> whole range"
          "</label></p>\n<p class=\"key\">",
          out);
    for (int i = 0; i < POL_STATES; i++) {
        if (i != POL_STATE_CLEAR ||
            sim_run_scenario(record->run)->config.thresholds.clear_bp !=
                sim_run_scenario(record->run)->config.thresholds.soft_bp) {
            fprintf(out, "<span class=\"s%d\">%s</span>", i, pol_state_name(i));
        }
    }
    fputs("</p>\n", out);
    write_chart("free",
                "Line: free host memory over time, on bands of the "
                "free-memory states",
                false, out);
}

static void write_one_vm(const struct record *record, FILE *out)
{
    fputs("<h2>Target against consumed</h2>\n<p class=\"note\"><label>VM "
          "<select id=\"pick\"></select></label> <span id=\"facts\"></span>",
          out);
    if (record->vms_n > REPORT_DETAILS) {
        fprintf(out, " The %u VMs that held most memory can be chosen.",
                REPORT_DETAILS);
    }
    fputs("</p>\n", out);
    write_chart("vm",
                "Lines: target, consumed, active and balloon of the "
                "chosen VM",
                false, out);
}

static int heavier(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return a > b ? -1 : a < b;
}

static bool is_listed(const struct decision *decision)
{
    return decision->action.kind != POL_ACT_NOTE;
}

/* The weight from which decisions are among the LISTED heaviest. */
static double listed_weight(const struct decisions *decisions)
{
    double *weights = must_alloc(decisions->count, sizeof *weights);
    double bound = 0;
    size_t n = 0;

    for (size_t i = 0; i < decisions->count; i++) {
        if (is_listed(&decisions->list[i])) {
            weights[n++] = decisions->list[i].weight;
        }
    }
    if (n > LISTED) {
        qsort(weights, n, sizeof *weights, heavier);
        bound = weights[LISTED - 1];
    }
    free(weights);
    return bound;
}

static void write_decision_list(const struct record *record, FILE *out)
{
    const struct decisions *decisions = &record->decisions;
    double bound = listed_weight(decisions);
    size_t shown = 0;
    char span[TEXT_MAX];
    char safe[512];

    fprintf(out, "<details><summary>The decisions that moved most, in "
                 "words</summary>\n<div class=\"wide\"><table>\n<thead><tr>"
                 "<th>time</th><th class=\"left\">VM</th>"
                 "<th class=\"left\">what and why</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < decisions->count && shown < LISTED; i++) {
        const struct decision *decision = &decisions->list[i];
        const char *name = sim_run_vm_name(record->run, decision->action.vm);

        if (!is_listed(decision) || decision->weight < bound) {
            continue;
        }
        shown++;
        fprintf(out, "<tr><td>%s</td><td class=\"left\">",
                text_span(span, decision->now_ms));
        text_html(out,
                  text_safe(safe, sizeof safe, name == NULL ? "host" : name));
        fputs("</td><td class=\"left why\">", out);
        text_html(out, decision->text);
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div></details>\n", out);
}

static void write_decisions(const struct record *record, FILE *out)
{
    char a[TEXT_MAX];
    char b[TEXT_MAX];

    fprintf(out,
            "<h2>Decisions</h2>\n<p class=\"note\">%s of %s decisions are "
            "shown%s. Each kind has its lane, larger marks moved more "
            "memory; hovering over one says what was done and why. "
            "<label><input type=\"checkbox\" id=\"only\"> only the VM "
            "chosen above</label></p>\n",
            text_count(a, record->decisions.count),
            text_count(b, record->decisions.seen),
            record->decisions.count < record->decisions.seen
                ? ", those that say most"
                : "");
    write_chart("decisions", "Points: decisions over time, by kind", false,
                out);
    write_decision_list(record, out);
}

static void write_table(struct table *table, const char *caption, FILE *out)
{
    table_html(table, caption, out);
    table_free(table);
}

static void write_tables(const struct record *record, const uint64_t *by_rank,
                         FILE *out)
{
    const struct sim_scenario *scenario = sim_run_scenario(record->run);

    fputs("<h2>Figures</h2>\n", out);
    write_table(summary_vms(record, by_rank, REPORT_DETAILS),
                record->vms_n > REPORT_DETAILS
                    ? "The VMs that held most memory, at the end"
                    : "VMs, at the end",
                out);
    if (record->vms_n > REPORT_LAYERS) {
        write_table(summary_sizes(record), "All VMs by configured size", out);
    }
    fputs("<div class=\"two\">\n", out);
    write_table(summary_host(record), "Host", out);
    write_table(summary_policy(&scenario->config), "Policy", out);
    fputs("</div>\n", out);
}

static void write_foot(const struct record *record, FILE *out)
{
    const struct sim_scenario *scenario = sim_run_scenario(record->run);

    fputs("<footer>Scenario ", out);
    text_html(out, scenario->file == NULL ? "" : scenario->file);
    fprintf(out,
            ", seed %llu, a tick every %llu ms, pages of %u bytes; libpolicy "
            "%s. Charts by Chart.js.</footer>\n",
            (unsigned long long)scenario->seed,
            (unsigned long long)scenario->tick_ms, scenario->host.page_bytes,
            POL_VERSION_STRING);
}

static void write_scripts(const struct record *record, const uint64_t *by_rank,
                          FILE *out)
{
    struct json_object *data = report_data(record, by_rank);

    report_scripts(data, &asset_report_js, out);
    json_object_put(data);
}

int report_write(const struct record *record, const char *path)
{
    FILE *out = open_output(path);
    uint64_t *by_rank;
    char *title;

    if (out == NULL) {
        return STATUS_FAILED;
    }
    by_rank = record_rank(record);
    title = summary_title(record);
    report_head(title, out);
    fputs("<h1>", out);
    text_html(out, title);
    fputs("</h1>\n", out);
    write_about(record, out);
    write_memory(record, out);
    write_one_vm(record, out);
    write_decisions(record, out);
    write_tables(record, by_rank, out);
    write_foot(record, out);
    write_scripts(record, by_rank, out);
    free(title);
    free(by_rank);
    return close_output(out, path);
}
