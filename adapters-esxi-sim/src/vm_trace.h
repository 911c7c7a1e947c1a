/* SPDX-License-Identifier: BSD-2-Clause */
/* Request traces in memory, for the reader of files and for tests. */
#ifndef SIM_VM_TRACE_H
#define SIM_VM_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "policy-esxi-sim/vm_trace.h"
#include "scenario_error.h"

#define SIM_TRACE_MAX_BYTES ((size_t)256 << 20) /* of the file */
#define SIM_TRACE_MAX_ROWS  5000000u
#define SIM_TRACE_MAX_LINE  4096u
#define SIM_TRACE_MAX_S     UINT64_C(3153600000) /* 100 years */
#define SIM_TRACE_MAX_MIB   UINT64_C(1073741824) /* a PiB */

/*
 * Read and check a whole trace in memory.
 * @param name  for errors
 * @return POL_OK, POL_ERR_INVALID with *err "name:line: column: ...", or what
 *         row() said
 */
int sim_vm_trace_parse(const uint8_t *bytes, size_t n, const char *name,
                       sim_trace_row *row, void *user, struct sim_error *err);

/* Read a file into memory of the caller's, at most `most` bytes. */
int sim_file_read(const char *path, size_t most, uint8_t **bytes, size_t *n,
                  struct sim_error *err);

#endif /* SIM_VM_TRACE_H */
