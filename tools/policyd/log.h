/* SPDX-License-Identifier: BSD-2-Clause */
/* The daemon's log: lines on standard error, with the journal's priorities
 * when that is where they go. May be called from any thread. */
#ifndef POLICYD_LOG_H
#define POLICYD_LOG_H

#include <stddef.h>
#include <stdint.h>

#include "backend.h"

#define PD_PRINTF(a, b) __attribute__((format(printf, a, b)))

/* Lines above this level are left out; PD_INFO at first. */
void pd_log_level(int level);

/* One line; `vm` NULL: about the host or the daemon. Bytes of either that
 * could steer a terminal, or end the line, become "?". */
void pd_log(int level, const char *vm, const char *format, ...) PD_PRINTF(3, 4);

/* A copy of untrusted bytes that is valid UTF-8 without control characters;
 * cut off where there is no room. */
void pd_clean_text(const char *text, char *out, size_t cap);

/* Whether a line of this kind may be logged again: the same one once in
 * `gap_ms`. Not from other threads. */
int pd_log_due(uint64_t kind, uint64_t now_ms, uint64_t gap_ms);

#endif /* POLICYD_LOG_H */
