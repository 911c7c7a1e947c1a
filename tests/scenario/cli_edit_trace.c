/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies a trace with one plan changed and its checksum mended, so that only
 * a replay can find out. Usage: cli_edit_trace IN OUT PLAN (from 1, with at
 * least one action)
 */
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#define MAGIC_BYTES 8u
#define CRC_BYTES   4u
#define RECORD_PLAN 13u
#define SIZE_MAX_IN 16000000u

static unsigned char bytes[SIZE_MAX_IN];

static size_t number(size_t *at, size_t size)
{
    size_t value = 0;

    for (unsigned shift = 0; *at < size && shift < 63; shift += 7) {
        unsigned char byte = bytes[(*at)++];

        value |= (size_t)(byte & 0x7fu) << shift;
        if (byte < 0x80u) {
            break;
        }
    }
    return value;
}

/* The record's last byte is its last action's reason: small, so one byte. */
static void change(size_t start, size_t end)
{
    unsigned long crc;

    bytes[end - 1] ^= 1u;
    crc = crc32(0, bytes + start, (unsigned)(end - start));
    for (unsigned i = 0; i < CRC_BYTES; i++) {
        bytes[end + i] = (unsigned char)(crc >> 8 * i);
    }
}

/* Where the record at `start` ends, without its checksum. */
static size_t record_end(size_t start, size_t size, size_t *payload)
{
    size_t at = start + 1;
    size_t length = number(&at, size);

    *payload = at;
    return at + length;
}

int main(int argc, char **argv)
{
    FILE *in = argc == 4 ? fopen(argv[1], "rb") : NULL;
    FILE *out = argc == 4 ? fopen(argv[2], "wb") : NULL;
    long left = argc == 4 ? atol(argv[3]) : 0;
    size_t size, at, payload, end;

    if (in == NULL || out == NULL) {
        fprintf(stderr, "usage: cli_edit_trace IN OUT PLAN\n");
        return 2;
    }
    size = fread(bytes, 1, sizeof bytes, in);
    at = MAGIC_BYTES;
    number(&at, size);
    at += number(&at, size) + CRC_BYTES;
    for (; at < size && left > 0; at = end + CRC_BYTES) {
        end = record_end(at, size, &payload);
        if (end + CRC_BYTES > size) {
            break;
        }
        if (bytes[at] == RECORD_PLAN && bytes[payload] > 0 && --left == 0) {
            change(at, end);
            printf("%zu\n", at);
        }
    }
    fwrite(bytes, 1, size, out);
    fclose(in);
    return fclose(out) == 0 && left == 0 ? 0 : 1;
}
