/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file trace_record.h
 * Records of a trace as bytes and as the calls they stand for.
 * The format is described in libpolicy/doc/trace-format.md.
 */
#ifndef POLX_TRACE_RECORD_H
#define POLX_TRACE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"
#include "record.h"
#include "trace_bytes.h"

/** Goes up with every change of the format. */
#define POLX_TRACE_VERSION 1u

/** Arguments of any recorded call; a type of record uses some of them. */
struct polx_call {
    uint64_t id; /* of the VM, group or hold */
    uint64_t vm_time_ms;
    uint64_t done_pages;
    uint32_t touched;
    uint32_t error; /* see polx_error_fold() */
    union {
        struct pol_config config;
        struct pol_vm_params vm;
        struct pol_group_params group;
        struct pol_host_obs host_obs;
        struct pol_vm_obs vm_obs;
        struct pol_action action;
        struct pol_hold hold; /* owner, pages, deadline_ms, vm, flags */
    } u;
};

/** An int as a small unsigned number: 0, -1, 1, -2 ... become 0, 1, 2, 3. */
uint32_t polx_error_fold(int error);
int polx_error_unfold(uint32_t folded);

/** Write the head of a trace. */
void polx_header_write(pol_trace_sink *sink, void *user,
                       const struct pol_config *config);
/** Write any record but a plan. */
void polx_record_write(pol_trace_sink *sink, void *user, enum polx_record type,
                       const struct polx_call *call);
/** Write a plan, in as many pieces as it takes. */
void polx_plan_write(pol_trace_sink *sink, void *user,
                     const struct pol_action *actions, size_t n);

/**
 * Read the head of a trace; config->size is set, nothing else is checked.
 * On failure the reader stays at the beginning.
 * @return POL_OK, POL_ERR_TRUNCATED, POL_ERR_CORRUPT, POL_ERR_VERSION
 */
int polx_header_read(struct polx_reader *r, struct pol_config *config);

/** A record whose checksum is right. Points into the trace. */
struct polx_frame {
    const uint8_t *bytes; /* all of it */
    size_t size;
    struct polx_reader payload;
    uint32_t type; /* enum polx_record */
};

/**
 * Read the next record; at the end of the trace there is none. On failure the
 * reader stays at the record's beginning.
 * @return POL_OK, POL_ERR_TRUNCATED, POL_ERR_CORRUPT
 */
int polx_frame_read(struct polx_reader *r, struct polx_frame *frame);

/**
 * Decode any record but a plan. Numbers must fit, and nothing may be left.
 * @return POL_OK, POL_ERR_CORRUPT
 */
int polx_record_decode(const struct polx_frame *frame, struct polx_call *call);

/** Is a plan well formed, with nothing left over? @param n  its actions
 *  @return POL_OK, POL_ERR_CORRUPT */
int polx_plan_check(const struct polx_frame *frame, uint64_t *n);

/**
 * Walk a plan: polx_plan_open() gives a reader and the number of actions,
 * polx_plan_next() one after the other.
 * @return POL_OK, POL_ERR_CORRUPT
 */
int polx_plan_open(const struct polx_frame *frame, struct polx_reader *r,
                   uint64_t *n);
int polx_plan_next(struct polx_reader *r, struct pol_action *action);

#endif /* POLX_TRACE_RECORD_H */
