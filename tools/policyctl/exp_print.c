/* SPDX-License-Identifier: BSD-2-Clause */
/* Experiments on a terminal and as JSON. */
#include <json-c/json.h>

#include "exp.h"
#include "json.h"
#include "table.h"

static const char *dash(const char *text)
{
    return text == NULL || text[0] == '\0' ? "-" : text;
}

struct table *exp_table(const struct exp_result *result)
{
    static const char *const headers[] = { "what", "published", "simulated",
                                           "verdict", "remark" };
    struct table *table = table_new(headers, 5, 1u << 0 | 1u << 3 | 1u << 4);

    for (size_t i = 0; i < result->rows_n; i++) {
        const struct exp_row *row = &result->rows[i];

        table_cell(table, "%s", row->what);
        table_cell(table, "%s", dash(row->published));
        table_cell(table, "%s", row->simulated);
        table_cell(table, "%s", dash(exp_verdict_text(row)));
        table_cell(table, "%s", row->reason == NULL ? "" : row->reason);
    }
    return table;
}

void exp_print(const struct experiment *experiment,
               const struct exp_result *result, FILE *out)
{
    struct table *table = exp_table(result);

    fprintf(out, "%s: %s (%s)\n\n", experiment->name, experiment->title,
            experiment->source);
    table_print(table, out);
    fputc('\n', out);
    table_free(table);
}

/* Numbers that are not known are null. */
static struct json_object *number(double value)
{
    return isnan(value) ? NULL : json_tenths(value);
}

static struct json_object *row_json(const struct exp_row *row)
{
    struct json_object *object = json_object_new_object();

    json_put_text(object, "what", row->what);
    json_put_text(object, "published",
                  row->published[0] == '\0' ? NULL : row->published);
    json_put_text(object, "simulated", row->simulated);
    json_put(object, "published_value", number(row->published_value));
    json_put(object, "simulated_value", number(row->simulated_value));
    json_put_text(object, "verdict", exp_verdict_name((int)row->verdict));
    json_put_text(object, "reason", row->reason);
    return object;
}

static struct json_object *curves_json(const struct exp_result *result)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < result->curves_n; i++) {
        const struct exp_curve *curve = &result->curves[i];
        struct json_object *object = json_object_new_object();
        struct json_object *points = json_object_new_array();

        for (size_t k = 0; k < curve->n; k++) {
            struct json_object *point = json_object_new_array();

            json_object_array_add(point, json_tenths(curve->points[k].x));
            json_object_array_add(point, json_tenths(curve->points[k].y));
            json_object_array_add(points, point);
        }
        json_put_text(object, "name", curve->name);
        json_put(object, "published",
                 json_object_new_boolean(curve->published));
        json_put(object, "points", points);
        json_object_array_add(list, object);
    }
    return list;
}

struct json_object *exp_json(const struct experiment *experiment,
                             const struct exp_result *result)
{
    struct json_object *object = json_object_new_object();
    struct json_object *rows = json_object_new_array();

    for (size_t i = 0; i < result->rows_n; i++) {
        json_object_array_add(rows, row_json(&result->rows[i]));
    }
    json_put_text(object, "name", experiment->name);
    json_put_text(object, "source", experiment->source);
    json_put_text(object, "title", experiment->title);
    json_put_text(object, "x", experiment->x_label);
    json_put_text(object, "y", experiment->y_label);
    json_put_text(object, "unit", experiment->unit);
    json_put(object, "rows", rows);
    json_put(object, "curves", curves_json(result));
    return object;
}
