/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file record.h
 * What happened in a run, kept small enough for a report of any run: series
 * of the host and of every VM (series.h), the decisions that say most
 * (decisions.h) and what befell the host.
 */
#ifndef POLICYCTL_RECORD_H
#define POLICYCTL_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decisions.h"
#include "policy-esxi-sim/sim_run.h"
#include "policy/policy.h"
#include "series.h"

/** Fields of the host's series. Pages; the state as its number. */
enum record_host_field {
    HOST_FREE = 0,
    HOST_STATE,
    HOST_CONSUMED,
    HOST_ACTIVE,
    HOST_BALLOON,
    HOST_SWAPPED,
    HOST_VMS,
    HOST_FIELDS
};

/** Fields of a VM's series. Pages. */
enum record_vm_field {
    VM_TARGET = 0,
    VM_CONSUMED,
    VM_ACTIVE,   /**< really used */
    VM_ESTIMATE, /**< what the policy takes for active */
    VM_ACTUAL,   /**< configured size less balloon */
    VM_SWAPPED,
    VM_FIELDS
};

/** What is kept of a VM besides its statistics, which the run keeps. */
struct record_vm {
    struct series series;
    struct pol_vm_params params; /**< the last known */
    double consumed_sum;         /**< pages times milliseconds */
    uint64_t last_ms;            /**< of its last decision */
    uint32_t last_kind;
    uint32_t last_reason;
    uint64_t decisions;
};

/** A start, stop, fault or event. */
struct record_mark {
    uint64_t now_ms;
    char *text;
};

/** Most marks kept; the others are counted. */
#define RECORD_MARKS 300u

struct record {
    struct sim_run *run; /**< borrowed */
    struct series_axis axis;
    struct series host;
    struct record_vm *vms; /**< by id - 1 */
    size_t vms_n;
    size_t vms_capacity;
    struct decisions decisions;
    struct decision *tick; /**< of the running tick, not yet explained */
    size_t tick_n;
    size_t tick_capacity;
    struct record_mark *marks;
    size_t marks_n;
    uint64_t marks_left_out;
    uint64_t unread_ticks; /**< in which the host could not be read */
    bool detailed;         /**< series and decisions are kept */
};

/**
 * Observe a run from its beginning to its end.
 * @param detailed  keep series and decisions; else only what tables need
 */
void record_start(struct record *record, struct sim_run *run, bool detailed);

/** After each sim_run_step(). */
void record_tick(struct record *record);

/** After the last one. */
void record_finish(struct record *record);

void record_clear(struct record *record);

/** Ids of all VMs there ever were, those that held most memory for longest
 *  first. A block of the caller's of record->vms_n numbers. */
uint64_t *record_rank(const struct record *record);

#endif /* POLICYCTL_RECORD_H */
