/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Request traces: which VMs were asked for, and when. CSV, plain or gzip, with
 * a header line; columns start_s, end_s and memory_mib must be there, vcpus
 * and tenant_batch may be, others are skipped. Rows are in order of start_s;
 * an empty end_s means: still there when the trace ends.
 */
#ifndef SIM_VM_TRACE_H
#define SIM_VM_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "scenario_error.h"

#define SIM_TRACE_MAX_BYTES ((size_t)256 << 20) /* of the file */
#define SIM_TRACE_MAX_ROWS  5000000u
#define SIM_TRACE_MAX_LINE  4096u
#define SIM_TRACE_MAX_S     UINT64_C(3153600000) /* 100 years */
#define SIM_TRACE_MAX_MIB   UINT64_C(1073741824) /* a PiB */

/* Called for every row; times in ms since the trace's origin. @return POL_OK
 * to go on; anything else stops and is returned. */
typedef int sim_trace_row(void *user, const struct sim_request *request);

/*
 * Read and check a whole trace in memory.
 * @param name  for errors
 * @return POL_OK, POL_ERR_INVALID with *err "name:line: column: ...", or what
 *         row() said
 */
int sim_vm_trace_parse(const uint8_t *bytes, size_t n, const char *name,
                       sim_trace_row *row, void *user, struct sim_error *err);

/* The same for a file. */
int sim_vm_trace_read(const char *path, sim_trace_row *row, void *user,
                      struct sim_error *err);

/* Read a file into memory of the caller's, at most `most` bytes. */
int sim_file_read(const char *path, size_t most, uint8_t **bytes, size_t *n,
                  struct sim_error *err);

#endif /* SIM_VM_TRACE_H */
