/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file vm_trace.h
 * Reading request traces: which VMs were asked for, and when. CSV, plain or
 * gzip, with a header line; columns start_s, end_s and memory_mib must be
 * there, vcpus and tenant_batch may be, others are skipped. Rows are in order
 * of start_s; an empty end_s means: still there when the trace ends.
 */
#ifndef POLICY_ESXI_SIM_VM_TRACE_H
#define POLICY_ESXI_SIM_VM_TRACE_H

#include "policy-esxi-sim/scenario.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Called for every row; times in ms since the trace's origin. @return POL_OK
 *  to go on; anything else stops and is returned. */
typedef int sim_trace_row(void *user, const struct sim_request *request);

/**
 * Read and check a whole file, row by row.
 * @return POL_OK; POL_ERR_INVALID with *err "file:line: column: ..."; or what
 *         row() said
 */
int sim_vm_trace_read(const char *path, sim_trace_row *row, void *user,
                      struct sim_error *err);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_ESXI_SIM_VM_TRACE_H */
