/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file report.h
 * A run as one HTML file that needs nothing else: markup, tables, style,
 * scripts (Chart.js and ours) and data are all inside. Opens from a disk
 * without a network.
 */
#ifndef POLICYCTL_REPORT_H
#define POLICYCTL_REPORT_H

#include <stdbool.h>

#include "json.h"
#include "record.h"

/** VMs with a layer of their own in the chart of all memory; the others are
 *  one layer. */
#define REPORT_LAYERS 20u
/** VMs whose own figures can be looked at. */
#define REPORT_DETAILS 40u

/** Whether this build has what reports need. */
bool report_available(void);

/** Write it. @return an exit status; a line says what is wrong */
int report_write(const struct record *record, const char *path);

/** What the page's script draws; an object of the caller's. Amounts in MiB,
 *  times in seconds. */
struct json_object *report_data(const struct record *record,
                                const uint64_t *by_rank);

#endif /* POLICYCTL_REPORT_H */
