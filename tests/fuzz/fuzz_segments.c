/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a snapshot of a host's segments, as they are and once more with
 * a right checksum. What is accepted must fit together, work, and be written
 * the same way again.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/segment.h"
#include "trace_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NODES   3u
#define EXTENTS 200u
#define MOST    4096u

static _Alignas(64) uint8_t block[65536];

struct bytes {
    uint8_t data[2 * MOST];
    size_t n;
};

static void require(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void keep(void *user, const uint8_t *bytes, size_t n)
{
    struct bytes *to = user;

    require(to->n + n <= sizeof(to->data));
    memcpy(to->data + to->n, bytes, n);
    to->n += n;
}

static void use(struct pol_segments *s)
{
    struct pol_segment_request r = { .owner = 1,
                                     .pages = 3,
                                     .node = POL_SEGMENT_ANY_NODE };
    struct pol_segment out[POL_SEGMENT_DEFAULT];
    uint32_t count;

    if (pol_segments_alloc(s, &r, out, &count) == POL_OK) {
        require(pol_segments_check(s) == POL_OK);
        require(pol_segments_free(s, 1, out, count) == POL_OK);
    }
    require(pol_segments_check(s) == POL_OK);
}

static void try(const uint8_t *data, size_t size)
{
    static struct bytes again;
    struct pol_segments *s = NULL;

    require(sizeof(block) >= pol_segments_size(NODES, EXTENTS));
    if (pol_segments_load(block, sizeof(block), NODES, EXTENTS, data, size,
                          &s) != POL_OK) {
        return;
    }
    require(pol_segments_check(s) == POL_OK);
    again.n = 0;
    pol_segments_save(s, keep, &again);
    /* Only the number of nodes may differ: there is room for more. */
    require(again.n >= size);
    use(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t mended[MOST];
    uint32_t crc;

    if (size > MOST) {
        return 0;
    }
    try(data, size);
    if (size >= POLX_CRC_BYTES) {
        memcpy(mended, data, size);
        crc = polx_crc32(0, mended, size - POLX_CRC_BYTES);
        for (uint32_t i = 0; i < POLX_CRC_BYTES; i++) {
            mended[size - POLX_CRC_BYTES + i] = (uint8_t)(crc >> (8u * i));
        }
        try(mended, size);
    }
    return 0;
}
