/* SPDX-License-Identifier: BSD-2-Clause */
/* Whole files into memory, with errors that name the file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vm_trace.h"

/* Grow the buffer to at least `room` bytes. */
static int reserve(uint8_t **bytes, size_t *cap, size_t room)
{
    size_t wanted = *cap;
    uint8_t *grown;

    while (wanted < room) {
        wanted *= 2;
    }
    grown = realloc(*bytes, wanted);
    if (grown == NULL) {
        return POL_ERR_NOMEM;
    }
    *bytes = grown;
    *cap = wanted;
    return POL_OK;
}

static int read_all(FILE *file, const char *path, size_t most, uint8_t **bytes,
                    size_t *n, struct sim_error *err)
{
    size_t cap = 65536;

    *n = 0;
    for (;;) {
        size_t got;

        if (reserve(bytes, &cap, *n + 65536) != POL_OK) {
            return sim_fail_memory(err, path);
        }
        got = fread(*bytes + *n, 1, 65536, file);
        *n += got;
        if (*n > most) {
            return sim_fail(err, path, 0, "",
                            "is too large (accepted: up to %zu bytes)", most);
        }
        if (got == 0) {
            break;
        }
    }
    if (ferror(file)) {
        return sim_fail(err, path, 0, "", "cannot be read: %s",
                        strerror(errno));
    }
    return POL_OK;
}

int sim_file_read(const char *path, size_t most, uint8_t **bytes, size_t *n,
                  struct sim_error *err)
{
    FILE *file = fopen(path, "rb");
    uint8_t *buffer = NULL;
    int rc;

    if (file == NULL) {
        return sim_fail(err, path, 0, "", "cannot be opened: %s",
                        strerror(errno));
    }
    rc = read_all(file, path, most, &buffer, n, err);
    fclose(file);
    if (rc != POL_OK) {
        free(buffer);
        return rc;
    }
    *bytes = buffer;
    return POL_OK;
}

int sim_vm_trace_read(const char *path, sim_trace_row *row, void *user,
                      struct sim_error *err)
{
    uint8_t *bytes = NULL;
    size_t n = 0;
    int rc = sim_file_read(path, SIM_TRACE_MAX_BYTES, &bytes, &n, err);

    if (rc == POL_OK) {
        rc = sim_vm_trace_parse(bytes, n, path, row, user, err);
    }
    free(bytes);
    return rc;
}
