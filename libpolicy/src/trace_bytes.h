/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file trace_bytes.h
 * The lowest layer of a trace: numbers, checksums, and writing in pieces.
 * Nothing here knows what the numbers mean.
 */
#ifndef POLX_TRACE_BYTES_H
#define POLX_TRACE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "policy/trace.h"

/** Most bytes a 64-bit number takes. */
#define POLX_VARINT_MAX 10u
#define POLX_CRC_BYTES  4u

/**
 * CRC-32 of IEEE 802.3 (reflected, 0xEDB88320), as zlib computes it.
 * @param crc  0, or the result for the bytes before these
 */
uint32_t polx_crc32(uint32_t crc, const uint8_t *bytes, size_t n);

/** How many bytes a number takes. */
size_t polx_varint_size(uint64_t value);

/** Collects bytes and hands them to a sink, summing them up on the way. */
struct polx_writer {
    pol_trace_sink *sink;
    void *user;
    uint32_t crc;
    uint32_t used;
    uint8_t buffer[240]; /* most records fit: one call of the sink each */
};

void polx_writer_begin(struct polx_writer *w, pol_trace_sink *sink, void *user);
void polx_put_byte(struct polx_writer *w, uint8_t byte);
void polx_put_varint(struct polx_writer *w, uint64_t value);
/** Append the CRC of everything since the beginning; hand over what is left. */
void polx_writer_end(struct polx_writer *w);

/** A place in a block of bytes. */
struct polx_reader {
    const uint8_t *bytes;
    size_t size;
    size_t at; /* <= size */
};

/**
 * Read a number.
 * @return POL_OK; POL_ERR_TRUNCATED (the block ends first); POL_ERR_CORRUPT
 *         (longer than needed, or more than 64 bits)
 */
int polx_get_varint(struct polx_reader *r, uint64_t *value);

static inline size_t polx_left(const struct polx_reader *r)
{
    return r->size - r->at;
}

#endif /* POLX_TRACE_BYTES_H */
