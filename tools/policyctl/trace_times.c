/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When each plan of a trace was made. A replayed context does not tell the
 * time, so it is read from the records themselves (libpolicy/doc/
 * trace-format.md): a plan is made at the time of the host observation before
 * it. The trace has been checked by pol_trace_scan() before.
 */
#include "trace_file.h"

#include <stdbool.h>

#include "command.h"

#define MAGIC_BYTES 8u
#define CRC_BYTES   4u

/* Types of records. */
enum {
    RECORD_HOST = 9,
    RECORD_PLAN = 13
};

/* False at the end. */
static bool take_number(const struct trace_file *trace, size_t *at,
                        uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; *at < trace->size && shift < 64; shift += 7) {
        uint8_t byte = trace->bytes[(*at)++];

        *number |= (uint64_t)(byte & 0x7fu) << shift;
        if (byte < 0x80u) {
            return true;
        }
    }
    return false;
}

/* Past a length, so many bytes and a checksum; *payload is where they are. */
static bool take_framed(const struct trace_file *trace, size_t *at,
                        size_t *payload)
{
    uint64_t length;

    if (!take_number(trace, at, &length) || length > trace->size - *at ||
        trace->size - *at - length < CRC_BYTES) {
        return false;
    }
    *payload = *at;
    *at += length + CRC_BYTES;
    return true;
}

uint64_t *trace_plan_times(const struct trace_file *trace)
{
    uint64_t *times = must_alloc(trace->info.plans, sizeof *times);
    size_t at = MAGIC_BYTES;
    uint64_t version;
    uint64_t now = 0;
    uint64_t plans = 0;
    size_t payload;

    if (!take_number(trace, &at, &version) ||
        !take_framed(trace, &at, &payload)) {
        return times;
    }
    while (at < trace->size && plans < trace->info.plans) {
        uint8_t type = trace->bytes[at++];

        if (!take_framed(trace, &at, &payload)) {
            break;
        }
        if (type == RECORD_HOST) {
            take_number(trace, &payload, &now);
        } else if (type == RECORD_PLAN) {
            times[plans++] = now;
        }
    }
    return times;
}
