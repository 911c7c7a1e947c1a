/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and checksums of a trace. */
#include "trace_bytes.h"

/* Half a byte at a time: 64 bytes of table, and fast enough beside a plan. */
uint32_t polx_crc32(uint32_t crc, const uint8_t *bytes, size_t n)
{
    static const uint32_t table[16] = {
        0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu,
        0x76dc4190u, 0x6b6b51f4u, 0x4db26158u, 0x5005713cu,
        0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
        0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu,
    };
    size_t i;

    crc = ~crc;
    for (i = 0; i < n; i++) {
        crc ^= bytes[i];
        crc = (crc >> 4) ^ table[crc & 15u];
        crc = (crc >> 4) ^ table[crc & 15u];
    }
    return ~crc;
}

size_t polx_varint_size(uint64_t value)
{
    size_t n = 1;

    while (value >= 0x80u) {
        value >>= 7;
        n++;
    }
    return n;
}

void polx_writer_begin(struct polx_writer *w, pol_trace_sink *sink, void *user)
{
    w->sink = sink;
    w->user = user;
    w->crc = 0;
    w->used = 0;
}

static void sum_up(struct polx_writer *w)
{
    w->crc = polx_crc32(w->crc, w->buffer, w->used);
}

static void hand_over(struct polx_writer *w)
{
    if (w->used > 0) {
        w->sink(w->user, w->buffer, w->used);
        w->used = 0;
    }
}

void polx_put_byte(struct polx_writer *w, uint8_t byte)
{
    if (w->used == sizeof(w->buffer)) {
        sum_up(w);
        hand_over(w);
    }
    w->buffer[w->used++] = byte;
}

void polx_put_varint(struct polx_writer *w, uint64_t value)
{
    while (value >= 0x80u) {
        polx_put_byte(w, (uint8_t)(value | 0x80u));
        value >>= 7;
    }
    polx_put_byte(w, (uint8_t)value);
}

void polx_writer_end(struct polx_writer *w)
{
    uint32_t shift;

    sum_up(w);
    if (w->used > sizeof(w->buffer) - POLX_CRC_BYTES) {
        hand_over(w);
    }
    for (shift = 0; shift < 32; shift += 8) {
        w->buffer[w->used++] = (uint8_t)(w->crc >> shift);
    }
    hand_over(w);
}

int polx_get_varint(struct polx_reader *r, uint64_t *value)
{
    uint64_t sum = 0;
    uint32_t shift;

    for (shift = 0; shift < 64; shift += 7) {
        uint8_t byte;

        if (polx_left(r) == 0) {
            return POL_ERR_TRUNCATED;
        }
        byte = r->bytes[r->at++];
        if ((shift == 63 && byte > 1) || (shift > 0 && byte == 0)) {
            return POL_ERR_CORRUPT;
        }
        sum |= (uint64_t)(byte & 0x7fu) << shift;
        if (byte < 0x80u) {
            *value = sum;
            return POL_OK;
        }
    }
    return POL_ERR_CORRUPT;
}
