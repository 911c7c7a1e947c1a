/* SPDX-License-Identifier: BSD-2-Clause */
/* Errors of scenario and trace files: one line each, the first one wins. */
#ifndef SIM_SCENARIO_ERROR_H
#define SIM_SCENARIO_ERROR_H

#include <stdarg.h>

#include "policy-esxi-sim/scenario.h"

#if defined(__GNUC__) || defined(__clang__)
#define SIM_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define SIM_PRINTF(a, b)
#endif

/**
 * Fill *err with "file:line: field: message"; file may be NULL, line 0, field
 * empty: then that part is left out. Control characters become "?".
 * @return POL_ERR_INVALID, for `return sim_fail(...)`
 */
int sim_fail(struct sim_error *err, const char *file, unsigned long line,
             const char *field, const char *format, ...) SIM_PRINTF(5, 6);

int sim_fail_v(struct sim_error *err, const char *file, unsigned long line,
               const char *field, const char *format, va_list args);

/** @return POL_ERR_NOMEM, with *err filled */
int sim_fail_memory(struct sim_error *err, const char *file);

#endif /* SIM_SCENARIO_ERROR_H */
