/* SPDX-License-Identifier: BSD-2-Clause */
/** @file trace_buffer.h
 *  A sink that keeps everything, and files of it. */
#ifndef TRACE_BUFFER_H
#define TRACE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

/** Begins as all zero. */
struct trace_buffer {
    uint8_t *bytes;
    size_t used;
    size_t room;
};

/** The sink; `user` is a struct trace_buffer. Ends the test when there is no
 *  memory. */
void trace_buffer_sink(void *user, const uint8_t *bytes, size_t n);
void trace_buffer_free(struct trace_buffer *buffer);
/** Append a file. @return 0, or -1 with a message printed */
int trace_buffer_read(struct trace_buffer *buffer, const char *path);
int trace_buffer_write(const struct trace_buffer *buffer, const char *path);

#endif /* TRACE_BUFFER_H */
