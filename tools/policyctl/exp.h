/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file exp.h
 * Published experiments repeated on the simulated host: what was published,
 * what came out here, and whether that agrees. Scenarios and constants are in
 * examples/experiments; nothing here changes a constant from point to point.
 */
#ifndef POLICYCTL_EXP_H
#define POLICYCTL_EXP_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "assets.h"
#include "command.h"
#include "policy-esxi-sim/sim_run.h"

/** No figure was published. */
#define EXP_UNKNOWN NAN

enum exp_verdict {
    EXP_CLOSE = 0, /**< near the published figure */
    EXP_ORDERING,  /**< what was more is more here */
    EXP_CLIFF,     /**< it breaks down where it did */
    EXP_SHAPE,     /**< other behaviour that was described */
    EXP_NO_FIGURE, /**< nothing was published for this point */
    EXP_NOT        /**< not reproduced */
};
#define EXP_VERDICTS 6

/** A verdict as one word, for JSON; "?" for other values. */
const char *exp_verdict_name(int verdict);

/** A line of the comparison. Texts are the row's own. */
struct exp_row {
    char *what;
    char *published;
    char *simulated;
    char *reason; /**< NULL: none needed */
    double published_value;
    double simulated_value; /**< or EXP_UNKNOWN */
    enum exp_verdict verdict;
    bool in_points; /**< percentages: compared by their difference */
};

/** "within 10 points", "ordering holds" ...; "" when nothing is known. */
const char *exp_verdict_text(const struct exp_row *row);

struct exp_xy {
    double x;
    double y;
};

/** A curve of a figure. */
struct exp_curve {
    const char *name; /**< static */
    bool published;   /**< points from the source, else simulated */
    struct exp_xy *points;
    size_t n;
};

#define EXP_CURVES 6

/** What came out of an experiment. */
struct exp_result {
    struct exp_row *rows;
    size_t rows_n;
    struct exp_curve curves[EXP_CURVES];
    size_t curves_n;
};

struct experiment;

/** @return an exit status; a line says what went wrong */
typedef int exp_function(const struct experiment *experiment, bool quick,
                         struct exp_result *result);

struct experiment {
    const char *name;   /**< on the command line; the scenario's, too */
    const char *source; /**< "ESX09 figure 10" */
    const char *title;
    const char *x_label, *y_label; /**< of its chart */
    const char *unit;              /**< of the y axis: "%", "ms", "MiB" */
    const struct asset *scenario;
    exp_function *run;
};

/* ---- exp_limits.c, exp_hosts.c, exp_estimates.c ------------------------- */

exp_function exp_compile;
exp_function exp_database;
exp_function exp_specjbb;
exp_function exp_exchange;
exp_function exp_page_sharing;
exp_function exp_memory_upgrade;
exp_function exp_working_set;
exp_function exp_idle_tax;

/* ---- exp_list.c --------------------------------------------------------- */

/** All of them, in the order they are reported. */
extern const struct experiment exp_list[];
extern const size_t exp_list_n;

/* ---- exp_result.c ------------------------------------------------------- */

/** A point of a curve. Curves come into being with their first point. */
void exp_point(struct exp_result *result, const char *curve, bool published,
               double x, double y);

/** Compare two percentages: close when at most 10 points apart. `published`
 *  may be EXP_UNKNOWN. `what` becomes the row's. */
void exp_percent(struct exp_result *result, char *what, double published,
                 double simulated, const char *reason);

/** Compare two amounts: close when at most a tenth apart. */
void exp_amount(struct exp_result *result, char *what, const char *unit,
                double published, double simulated, const char *reason);

/** Something that was described in words. `what` and `simulated` become the
 *  row's.
 *  @param verdict  when it holds
 *  @param reason  why not, when it does not */
void exp_check(struct exp_result *result, bool holds, enum exp_verdict verdict,
               char *what, const char *published, char *simulated,
               const char *reason);

/** How many rows have this verdict. */
size_t exp_count(const struct exp_result *result, enum exp_verdict verdict);

void exp_result_clear(struct exp_result *result);

/* ---- exp_run.c ---------------------------------------------------------- */

/** How a VM fared between two times. */
struct exp_measure {
    double per_s;         /**< accesses a second */
    double ms_per_access; /**< what one took, waiting included */
    double shed;          /**< part of those wanted that were given up, % */
    double swap_in_per_s; /**< pages, by the host */
};

/** The experiment's scenario; NULL after a line about what is wrong. */
struct sim_scenario *exp_load(const struct experiment *experiment);

/** A run of a scenario; NULL after a line about what is wrong. */
struct sim_run *exp_start(const struct sim_scenario *scenario);

/** Let a run go on to this time. @return an exit status */
int exp_run_to(struct sim_run *run, uint64_t until_ms);

/** Run a scenario and measure its first VM from a time to the end. */
int exp_measure(const struct sim_scenario *scenario, uint64_t from_ms,
                struct exp_measure *out);

/* ---- exp_print.c, exp_report.c ------------------------------------------ */

struct table;

/** The rows of an experiment; table_free() frees it. */
struct table *exp_table(const struct exp_result *result);

void exp_print(const struct experiment *experiment,
               const struct exp_result *result, FILE *out);

/** An object of the caller's, with what the charts need, too. */
struct json_object *exp_json(const struct experiment *experiment,
                             const struct exp_result *result);

/** One HTML file about these experiments. @return an exit status */
int exp_report_write(const struct experiment *const *list,
                     const struct exp_result *results, size_t n,
                     const char *path);

#endif /* POLICYCTL_EXP_H */
