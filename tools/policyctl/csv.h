/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file csv.h
 * Every VM in every tick as lines of comma-separated values (RFC 4180), for
 * spreadsheets and scripts.
 */
#ifndef POLICYCTL_CSV_H
#define POLICYCTL_CSV_H

#include <stdio.h>

#include "policy-esxi-sim/sim_run.h"

void csv_header(FILE *out);
void csv_tick(FILE *out, struct sim_run *run);

#endif /* POLICYCTL_CSV_H */
