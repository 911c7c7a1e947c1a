/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file assets.h
 * The files that a report is made of, kept inside the program.
 */
#ifndef POLICYCTL_ASSETS_H
#define POLICYCTL_ASSETS_H

#include <stddef.h>

struct asset {
    const char *begin;
    const char *end;
};

extern const struct asset asset_chart_js; /**< Chart.js, MIT licence */
extern const struct asset asset_report_js;
extern const struct asset asset_report_css;
extern const struct asset asset_experiments_js;

#endif /* POLICYCTL_ASSETS_H */
