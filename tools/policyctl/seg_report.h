/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file seg_report.h
 * Results of segment replays for people and for programs.
 */
#ifndef POLICYCTL_SEG_REPORT_H
#define POLICYCTL_SEG_REPORT_H

#include <json-c/json.h>
#include <stdio.h>

#include "seg_replay.h"

#define SEG_STARTS 5u

/** All that one command has found out. */
struct seg_report {
    const char *trace_file;
    const struct seg_trace *trace;
    const struct seg_setup *setup;
    struct seg_result *results;
    size_t results_n;
    const struct seg_model *start_models[2]; /**< the library's, buddy */
    struct seg_start starts[2][SEG_STARTS];
    size_t starts_n; /**< 0: not measured */
};

void seg_report_table(const struct seg_report *report, FILE *out);
/** An object of the caller's. */
struct json_object *seg_report_json(const struct seg_report *report);
/** One HTML file with tables and pictures. @return an exit status */
int seg_report_html(const struct seg_report *report, const char *path);

struct table;
/** The tables of both; tables of the caller's. */
struct table *seg_results_table(const struct seg_report *report);
struct table *seg_starts_table(const struct seg_report *report);

#endif /* POLICYCTL_SEG_REPORT_H */
