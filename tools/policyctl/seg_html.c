/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results as one HTML file without scripts: tables, and a picture of one
 * host's extents over time for each rule and model, as SVG.
 */
#include <inttypes.h>

#include "command.h"
#include "seg_report.h"
#include "table.h"
#include "text.h"

#define WIDTH  1100.0
#define HEIGHT 300.0
/* More patches than this would only make the file large. */
#define PATCHES_MAX 20000u

static const char style[] =
    ":root{color-scheme:light dark;--page:#fff;--text:#1c2126;--line:#d5dbe1;"
    "--free:#eef1f4}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#14181c;--text:#e4e8ec;"
    "--line:#353d45;--free:#252c33}}\n"
    "body{margin:0 auto;padding:1.5rem;max-width:76rem;background:var(--page);"
    "color:var(--text);font:16px/1.5 system-ui,sans-serif}\n"
    "table{border-collapse:collapse;font-size:.85rem}\n"
    ".wide{overflow-x:auto}\n"
    "td,th{padding:.2rem .6rem;text-align:right;border-bottom:1px solid "
    "var(--line)}\ntd.left,th.left{text-align:left}\n"
    "svg{width:100%;height:auto;background:var(--free);border:1px solid "
    "var(--line)}\n"
    "rect{stroke:var(--page);stroke-width:.3}\n"
    ".a{fill:#7aa6c2}.b{fill:#4c86a8}.c{fill:#c79a3f}.d{fill:#a4541b}"
    ".e{fill:#6b3fa0}.s{fill:#d11a2a}\n"
    ".key span{padding:0 .5rem;margin-right:.5rem;color:#fff}"
    ".key .a{background:#7aa6c2}.key .b{background:#4c86a8}"
    ".key .c{background:#c79a3f}.key .d{background:#a4541b}"
    ".key .e{background:#6b3fa0}.key .s{background:#d11a2a}\n";

static char colour(uint64_t pages)
{
    uint64_t gib = pages / (1024 * SEG_PAGES_PER_MIB);

    return gib < 3    ? 'a'
           : gib < 6  ? 'b'
           : gib < 12 ? 'c'
           : gib < 40 ? 'd'
                      : 'e';
}

/* Is a patch one of several that its VM has? They stand side by side. */
static bool is_split(const struct seg_result *r, size_t i)
{
    return (i > 0 && r->patches[i - 1].vm == r->patches[i].vm) ||
           (i + 1 < r->patches_n && r->patches[i + 1].vm == r->patches[i].vm);
}

static void write_patch(const struct seg_report *report,
                        const struct seg_result *r, size_t i, FILE *out)
{
    const struct seg_trace *trace = report->trace;
    const struct seg_patch *patch = &r->patches[i];
    uint64_t pages = trace->vms[patch->vm].pages;
    double end_ms = (double)trace->vms[trace->n - 1].start_ms + 1;
    double x = WIDTH * (double)patch->from_ms / end_ms;
    double to = patch->to_ms == UINT64_MAX
                    ? WIDTH
                    : WIDTH * (double)patch->to_ms / end_ms;
    double unit = HEIGHT / (double)report->setup->host_pages;
    bool split = is_split(r, i);

    fprintf(out,
            "<rect class=\"%c\" x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" "
            "height=\"%.2f\"><title>VM %zu: %" PRIu64 " MiB%s</title></rect>\n",
            split ? 's' : colour(pages), x,
            HEIGHT - unit * (double)(patch->start_page + patch->pages),
            to > x + 0.2 ? to - x : 0.2, unit * (double)patch->pages,
            patch->vm + 1, pages / SEG_PAGES_PER_MIB,
            split ? ", in several segments" : "");
}

static void write_picture(const struct seg_report *report,
                          const struct seg_result *r, FILE *out)
{
    size_t n = r->patches_n < PATCHES_MAX ? r->patches_n : PATCHES_MAX;

    fprintf(out,
            "<h2>%s, %s: host %u</h2>\n<svg viewBox=\"0 0 %.0f %.0f\" "
            "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Extents "
            "of one host over time\">\n",
            seg_rule_name(r->rule), r->model->name,
            report->setup->picture_host + 1, WIDTH, HEIGHT);
    for (size_t i = 0; i < n; i++) {
        write_patch(report, r, i, out);
    }
    fputs("</svg>\n", out);
    if (n < r->patches_n) {
        fprintf(out, "<p>The first %zu of %zu ranges are drawn.</p>\n", n,
                r->patches_n);
    }
}

static void write_body(const struct seg_report *report, FILE *out)
{
    struct table *table = seg_results_table(report);
    char count[TEXT_MAX];

    fputs("<h1>VMs in segments</h1>\n<p>", out);
    text_html(out, report->trace_file);
    fprintf(out,
            ": %s requests, %u hosts of %.0f GiB.</p>\n<div class=\"wide\">",
            text_count(count, report->trace->n), report->setup->hosts,
            (double)report->setup->host_pages / 262144.0);
    table_html(table, "Segments per VM", out);
    table_free(table);
    fputs("</div>\n", out);
    if (report->starts_n > 0) {
        table = seg_starts_table(report);
        table_html(table, "Starting a VM: allocating and describing", out);
        table_free(table);
    }
    fputs("<p class=\"key\">Time runs to the right, addresses upwards. VMs: "
          "<span class=\"a\">below 3 GiB</span><span class=\"b\">below "
          "6</span><span class=\"c\">below 12</span><span class=\"d\">below "
          "40</span><span class=\"e\">larger</span><span class=\"s\">any size, "
          "in several segments</span></p>\n",
          out);
    for (size_t i = 0; i < report->results_n; i++) {
        write_picture(report, &report->results[i], out);
    }
}

int seg_report_html(const struct seg_report *report, const char *path)
{
    FILE *out = open_output(path);

    if (out == NULL) {
        return STATUS_FAILED;
    }
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
          "<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\""
          "default-src 'none'; style-src 'unsafe-inline'\">\n"
          "<title>VMs in segments</title>\n<style>\n",
          out);
    fputs(style, out);
    fputs("</style>\n</head>\n<body>\n", out);
    write_body(report, out);
    fputs("</body>\n</html>\n", out);
    return close_output(out, path);
}
