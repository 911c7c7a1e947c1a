/* SPDX-License-Identifier: BSD-2-Clause */
/* Rows and curves of an experiment, and when a figure counts as close. */
#include "exp.h"

#include <stdlib.h>
#include <string.h>

#define CLOSE_POINTS 10.0
#define CLOSE_PART   0.1

static const struct {
    const char *name;
    const char *text;
} verdicts[EXP_VERDICTS] = {
    [EXP_CLOSE] = { "close", "within 10 %" },
    [EXP_ORDERING] = { "ordering", "ordering holds" },
    [EXP_CLIFF] = { "cliff", "cliff holds" },
    [EXP_SHAPE] = { "shape", "as described" },
    [EXP_NO_FIGURE] = { "no-figure", "" },
    [EXP_NOT] = { "not-reproduced", "NOT REPRODUCED" },
};

const char *exp_verdict_text(const struct exp_row *row)
{
    if (row->verdict == EXP_CLOSE && row->in_points) {
        return "within 10 points";
    }
    return (unsigned)row->verdict < EXP_VERDICTS ? verdicts[row->verdict].text
                                                 : "?";
}

const char *exp_verdict_name(int verdict)
{
    return verdict >= 0 && verdict < EXP_VERDICTS ? verdicts[verdict].name
                                                  : "?";
}

static struct exp_curve *curve_of(struct exp_result *result, const char *name,
                                  bool published)
{
    struct exp_curve *curve;

    for (size_t i = 0; i < result->curves_n; i++) {
        curve = &result->curves[i];
        if (curve->published == published && strcmp(curve->name, name) == 0) {
            return curve;
        }
    }
    if (result->curves_n == EXP_CURVES) {
        return NULL;
    }
    curve = &result->curves[result->curves_n++];
    curve->name = name;
    curve->published = published;
    return curve;
}

void exp_point(struct exp_result *result, const char *name, bool published,
               double x, double y)
{
    struct exp_curve *curve = curve_of(result, name, published);

    if (curve == NULL || isnan(y)) {
        return;
    }
    curve->points =
        must_grow(curve->points, curve->n + 1, sizeof *curve->points);
    curve->points[curve->n++] = (struct exp_xy){ x, y };
}

static void add_row(struct exp_result *result, struct exp_row row)
{
    result->rows =
        must_grow(result->rows, result->rows_n + 1, sizeof *result->rows);
    result->rows[result->rows_n++] = row;
}

/* No "-0.0". */
static double tidy(double value)
{
    return fabs(value) < 0.05 ? 0 : value;
}

static void compare(struct exp_result *result, char *what, const char *unit,
                    double published, double simulated, double tolerance,
                    const char *reason)
{
    bool known = !isnan(published);
    bool close = known && fabs(simulated - published) <= tolerance;
    struct exp_row row = {
        .what = what,
        .published =
            known ? must_format("%.4g %s", published, unit) : must_copy(""),
        .simulated = must_format("%.1f %s", tidy(simulated), unit),
        .published_value = published,
        .simulated_value = tidy(simulated),
        .in_points = strcmp(unit, "%") == 0,
        .verdict = !known  ? EXP_NO_FIGURE
                   : close ? EXP_CLOSE
                           : EXP_NOT,
    };

    if (known && reason != NULL) {
        row.reason = must_copy(reason);
    }
    add_row(result, row);
}

void exp_percent(struct exp_result *result, char *what, double published,
                 double simulated, const char *reason)
{
    compare(result, what, "%", published, simulated, CLOSE_POINTS, reason);
}

void exp_amount(struct exp_result *result, char *what, const char *unit,
                double published, double simulated, const char *reason)
{
    compare(result, what, unit, published, simulated, published * CLOSE_PART,
            reason);
}

void exp_check(struct exp_result *result, bool holds, enum exp_verdict verdict,
               char *what, const char *published, char *simulated,
               const char *reason)
{
    struct exp_row row = {
        .what = what,
        .published = must_copy(published),
        .simulated = simulated,
        .reason = holds || reason == NULL ? NULL : must_copy(reason),
        .published_value = EXP_UNKNOWN,
        .simulated_value = EXP_UNKNOWN,
        .verdict = holds ? verdict : EXP_NOT,
    };

    add_row(result, row);
}

size_t exp_count(const struct exp_result *result, enum exp_verdict verdict)
{
    size_t n = 0;

    for (size_t i = 0; i < result->rows_n; i++) {
        n += result->rows[i].verdict == verdict;
    }
    return n;
}

void exp_result_clear(struct exp_result *result)
{
    for (size_t i = 0; i < result->rows_n; i++) {
        free(result->rows[i].what);
        free(result->rows[i].published);
        free(result->rows[i].simulated);
        free(result->rows[i].reason);
    }
    for (size_t i = 0; i < result->curves_n; i++) {
        free(result->curves[i].points);
    }
    free(result->rows);
    memset(result, 0, sizeof(*result));
}
