/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file report_page.h
 * What all pages with charts have in common.
 */
#ifndef POLICYCTL_REPORT_PAGE_H
#define POLICYCTL_REPORT_PAGE_H

#include <stdio.h>

#include "assets.h"
#include "json.h"

/** Write a page up to the beginning of its body. */
void report_head(const char *title, FILE *out);

/** Write a file that is inside the program. */
void report_asset(const struct asset *asset, FILE *out);

/** Write the data, Chart.js and the page's own script, and end the page.
 *  @param data  the caller's */
void report_scripts(struct json_object *data, const struct asset *script,
                    FILE *out);

#endif /* POLICYCTL_REPORT_PAGE_H */
