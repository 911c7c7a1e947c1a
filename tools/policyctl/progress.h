/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file progress.h
 * How far a run is, on standard error: on a terminal one line that refreshes
 * itself, otherwise a line every tenth.
 */
#ifndef POLICYCTL_PROGRESS_H
#define POLICYCTL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "policy-esxi-sim/sim_run.h"

struct progress {
    bool on;
    bool tty;
    uint32_t shown;   /**< tenths already said */
    uint64_t last_ms; /**< wall clock of the last refreshing */
    uint64_t begun_ms;
};

void progress_start(struct progress *progress, bool on);
void progress_tick(struct progress *progress, struct sim_run *run);
void progress_end(struct progress *progress, struct sim_run *run);

#endif /* POLICYCTL_PROGRESS_H */
