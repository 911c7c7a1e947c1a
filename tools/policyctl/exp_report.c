/* SPDX-License-Identifier: BSD-2-Clause */
/* Experiments as one HTML file, a chart and a table for each. */
#include "exp.h"
#include "json.h"
#include "policy/version.h"
#include "report_page.h"
#include "table.h"
#include "text.h"

static void write_experiment(const struct experiment *experiment,
                             const struct exp_result *result, size_t i,
                             FILE *out)
{
    struct table *table = exp_table(result);

    fputs("<h2>", out);
    text_html(out, experiment->title);
    fputs("</h2>\n<p class=\"note\">", out);
    text_html(out, experiment->source);
    fprintf(out, "; scenario %s.yaml</p>\n", experiment->name);
    fprintf(out,
            "<div class=\"chart\"><canvas id=\"chart%zu\" role=\"img\" "
            "aria-label=\"Lines: %s over %s\"></canvas></div>\n",
            i, experiment->y_label, experiment->x_label);
    table_html(table, "Published and simulated", out);
    table_free(table);
}

int exp_report_write(const struct experiment *const *list,
                     const struct exp_result *results, size_t n,
                     const char *path)
{
    FILE *out = open_output(path);
    struct json_object *data;

    if (out == NULL) {
        return STATUS_FAILED;
    }
    data = json_object_new_array();
    report_head("Published experiments, repeated", out);
    fputs("<h1>Published experiments, repeated</h1>\n<p>Crosses are published "
          "figures, as far as they are known; lines are the simulated host "
          "under libpolicy " POL_VERSION_STRING ". No constant changes from "
          "point to point.</p>\n",
          out);
    for (size_t i = 0; i < n; i++) {
        write_experiment(list[i], &results[i], i, out);
        json_object_array_add(data, exp_json(list[i], &results[i]));
    }
    fputs("<footer>Charts by Chart.js.</footer>\n", out);
    report_scripts(data, &asset_experiments_js, out);
    json_object_put(data);
    return close_output(out, path);
}
