/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file summary.h
 * How a run went, as tables for the terminal and the report. Each function
 * gives a table of the caller's.
 */
#ifndef POLICYCTL_SUMMARY_H
#define POLICYCTL_SUMMARY_H

#include <stddef.h>

#include "policy/config.h"
#include "record.h"
#include "table.h"

/** VMs up to which each gets a line; of more, so many that held most. */
#define SUMMARY_VMS 24u

/** The host: name and figure. */
struct table *summary_host(const struct record *record);

/**
 * A line for each of the first `most` VMs by memory held, in the order they
 * were started.
 * @param by_rank  ids as record_rank() gives them
 */
struct table *summary_vms(const struct record *record, const uint64_t *by_rank,
                          size_t most);

/** All VMs, a line for each configured size, and totals. */
struct table *summary_sizes(const struct record *record);

/** Parameters of the policy: name and value. */
struct table *summary_policy(const struct pol_config *config);

/** "two-vm: 2 VMs on a 4 GiB host for 20 min 00 s, seed 1". A block of the
 *  caller's. */
char *summary_title(const struct record *record);

/** All of it for a terminal. */
void summary_print(const struct record *record, FILE *out);

#endif /* POLICYCTL_SUMMARY_H */
