/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace_buffer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void trace_buffer_sink(void *user, const uint8_t *bytes, size_t n)
{
    struct trace_buffer *b = user;

    if (b->room - b->used < n) {
        b->room = 2 * b->room + n + 4096;
        b->bytes = realloc(b->bytes, b->room);
        if (b->bytes == NULL) {
            perror("trace buffer");
            exit(1);
        }
    }
    memcpy(b->bytes + b->used, bytes, n);
    b->used += n;
}

void trace_buffer_free(struct trace_buffer *b)
{
    free(b->bytes);
    memset(b, 0, sizeof(*b));
}

int trace_buffer_read(struct trace_buffer *b, const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t piece[4096];
    size_t n;

    if (file == NULL) {
        perror(path);
        return -1;
    }
    while ((n = fread(piece, 1, sizeof(piece), file)) > 0) {
        trace_buffer_sink(b, piece, n);
    }
    fclose(file);
    return 0;
}

int trace_buffer_write(const struct trace_buffer *b, const char *path)
{
    FILE *file = fopen(path, "wb");
    size_t n;

    if (file == NULL) {
        perror(path);
        return -1;
    }
    n = fwrite(b->bytes, 1, b->used, file);
    if (fclose(file) != 0 || n != b->used) {
        perror(path);
        return -1;
    }
    return 0;
}
