/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file record.h
 * Recording of calls that have succeeded. Every function here does nothing
 * when no sink is set. They are called by the public function of the same
 * purpose, after it has taken effect.
 */
#ifndef POLX_RECORD_H
#define POLX_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

/** Types of records; values are part of the trace format. */
enum polx_record {
    POLX_REC_TUNE = 1,
    POLX_REC_VM_ADD = 2,
    POLX_REC_VM_SET = 3,
    POLX_REC_VM_REMOVE = 4,
    POLX_REC_VM_RELEASE = 5,
    POLX_REC_GROUP_ADD = 6,
    POLX_REC_GROUP_SET = 7,
    POLX_REC_GROUP_REMOVE = 8,
    POLX_REC_HOST_OBS = 9,
    POLX_REC_VM_OBS = 10,
    POLX_REC_WS_BEGIN = 11,
    POLX_REC_WS_REPORT = 12,
    POLX_REC_PLAN = 13,
    POLX_REC_REPORT = 14,
    POLX_REC_HOLD_ADD = 15,
    POLX_REC_HOLD_TAKE = 16,
    POLX_REC_HOLD_RELEASE = 17
};

void polx_trace_tune(struct pol_ctx *ctx);
/** VM_ADD and VM_SET. */
void polx_trace_vm(struct pol_ctx *ctx, enum polx_record type, uint64_t vm,
                   const struct pol_vm_params *params);
/** GROUP_ADD and GROUP_SET. */
void polx_trace_group(struct pol_ctx *ctx, enum polx_record type,
                      uint64_t group, const struct pol_group_params *params);
/** VM_REMOVE, VM_RELEASE and GROUP_REMOVE. */
void polx_trace_id(struct pol_ctx *ctx, enum polx_record type, uint64_t id);
void polx_trace_host_obs(struct pol_ctx *ctx, const struct pol_host_obs *obs);
void polx_trace_vm_obs(struct pol_ctx *ctx, uint64_t vm,
                       const struct pol_vm_obs *obs);
void polx_trace_ws_begin(struct pol_ctx *ctx, uint64_t vm, uint64_t vm_time_ms);
void polx_trace_ws_report(struct pol_ctx *ctx, uint64_t vm, uint32_t touched);
void polx_trace_plan(struct pol_ctx *ctx, const struct pol_action *actions,
                     size_t n);
void polx_trace_report(struct pol_ctx *ctx, const struct pol_action *action,
                       uint64_t done_pages, int error);
void polx_trace_hold_add(struct pol_ctx *ctx, const struct pol_hold *hold);
/** HOLD_TAKE; HOLD_RELEASE with vm 0. */
void polx_trace_hold_end(struct pol_ctx *ctx, enum polx_record type,
                         uint64_t hold, uint64_t owner, uint64_t vm);

#endif /* POLX_RECORD_H */
