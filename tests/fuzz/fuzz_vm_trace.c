/* SPDX-License-Identifier: BSD-2-Clause */
/* The reader of request traces, plain and gzip, against any bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vm_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever gets through is in order and in range. */
static int check_row(void *user, const struct sim_request *request)
{
    uint64_t *last = user;

    if (request->start_ms < *last || request->memory_mib == 0 ||
        request->stop_ms < request->start_ms) {
        abort();
    }
    *last = request->start_ms;
    return POL_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sim_error err = { .text = "" };
    uint64_t last = 0;
    int rc = sim_vm_trace_parse(data, size, "t", check_row, &last, &err);

    if ((rc != POL_OK) != (err.text[0] != '\0') ||
        strpbrk(err.text, "\r\n") != NULL) {
        abort();
    }
    return 0;
}
