/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments as bytes, and back. */
#include <string.h>

#include "policy/segment.h"
#include "segment_int.h"
#include "trace_bytes.h"

#define VERSION     1u
#define MAGIC_BYTES 8u

static const uint8_t magic[MAGIC_BYTES] = { 'P', 'O', 'L', 'S',
                                            'E', 'G', 'M', 'T' };

static uint32_t count_extents(const struct pol_segments *s, uint32_t x)
{
    uint32_t n = 0;

    while (x != POLX_NONE) {
        n++;
        x = s->ext[x].next;
    }
    return n;
}

static void put_range(const struct pol_segments *s,
                      const struct polx_range *range, struct polx_writer *w)
{
    polx_put_varint(w, range->node);
    polx_put_varint(w, range->start);
    polx_put_varint(w, range->pages);
    polx_put_varint(w, count_extents(s, range->first));
    for (uint32_t x = range->first; x != POLX_NONE; x = s->ext[x].next) {
        bool used = !polx_ext_is_free(s, x);

        /* The lowest bit says whether it is used. */
        polx_put_varint(w, s->ext[x].pages << 1 | used);
        if (used) {
            polx_put_varint(w, s->ext[x].u.owner);
        }
    }
}

void pol_segments_save(const struct pol_segments *s, pol_trace_sink *sink,
                       void *user)
{
    struct polx_writer w;

    polx_writer_begin(&w, sink, user);
    for (uint32_t i = 0; i < MAGIC_BYTES; i++) {
        polx_put_byte(&w, magic[i]);
    }
    polx_put_varint(&w, VERSION);
    polx_put_varint(&w, s->nodes_n);
    polx_put_varint(&w, s->ranges_n);
    for (uint32_t i = 0; i < s->ranges_n; i++) {
        put_range(s, &s->ranges[i], &w);
    }
    polx_writer_end(&w);
}

/* Read a number that may not exceed a bound. */
static int get(struct polx_reader *r, uint64_t most, uint64_t *out)
{
    int rc = polx_get_varint(r, out);

    if (rc == POL_OK && *out > most) {
        rc = POL_ERR_CORRUPT;
    }
    return rc;
}

/* Use pages of the last hole, `skip` pages at its beginning staying free. */
static int use_after(struct pol_segments *s, uint32_t hole, uint64_t skip,
                     uint64_t pages, uint64_t owner)
{
    struct polx_cut cut = { hole, s->ext[hole].start + skip, pages };

    if (polx_ext_cost(s, &cut) > s->left) {
        return POL_ERR_NOMEM;
    }
    polx_ext_use(s, &cut, owner);
    return POL_OK;
}

/* The extents of a range that has just been added: `last` is the free one
 * from which everything still to come is cut. */
static int get_extents(struct pol_segments *s, struct polx_reader *r,
                       uint64_t n, uint32_t last, uint64_t pages)
{
    uint64_t skip = 0;
    uint64_t value, owner;

    while (n-- > 0) {
        int rc = get(r, POL_SEGMENT_MAX_PAGES << 1 | 1u, &value);
        uint64_t length = value >> 1;

        if (rc != POL_OK) {
            return rc;
        }
        if (length == 0 || length > pages) {
            return POL_ERR_CORRUPT;
        }
        pages -= length;
        if ((value & 1u) == 0) {
            if (skip != 0) {
                return POL_ERR_CORRUPT; /* two free ones that touch */
            }
            skip = length;
            continue;
        }
        rc = polx_get_varint(r, &owner);
        if (rc == POL_OK) {
            rc = use_after(s, last, skip, length, owner);
        }
        if (rc != POL_OK) {
            return rc;
        }
        while (s->ext[last].next != POLX_NONE) {
            last = s->ext[last].next;
        }
        skip = 0;
    }
    return pages == 0 ? POL_OK : POL_ERR_CORRUPT;
}

static int get_range(struct pol_segments *s, struct polx_reader *r)
{
    uint64_t node, start, pages, n;
    int rc = get(r, s->nodes_n - 1u, &node);

    if (rc == POL_OK) {
        rc = get(r, POL_SEGMENT_MAX_PAGES, &start);
    }
    if (rc == POL_OK) {
        rc = get(r, POL_SEGMENT_MAX_PAGES, &pages);
    }
    if (rc == POL_OK) {
        rc = get(r, POL_SEGMENT_MAX_EXTENTS, &n);
    }
    if (rc != POL_OK) {
        return rc;
    }
    rc = pol_segments_add(s, (uint32_t)node, start, pages);
    if (rc != POL_OK) {
        return rc == POL_ERR_NOMEM ? rc : POL_ERR_CORRUPT;
    }
    return get_extents(s, r, n, s->ranges[s->ranges_n - 1u].first, pages);
}

static int get_all(struct pol_segments *s, struct polx_reader *r)
{
    uint64_t nodes, ranges;
    int rc = get(r, POL_SEGMENT_MAX_NODES, &nodes);

    if (rc == POL_OK && nodes == 0) {
        rc = POL_ERR_CORRUPT;
    }
    if (rc == POL_OK && nodes > s->nodes_n) {
        rc = POL_ERR_NOMEM;
    }
    if (rc == POL_OK) {
        rc = get(r, POL_SEGMENT_MAX_RANGES, &ranges);
    }
    while (rc == POL_OK && ranges-- > 0) {
        rc = get_range(s, r);
    }
    if (rc == POL_OK && polx_left(r) != 0) {
        rc = POL_ERR_CORRUPT;
    }
    return rc;
}

/* Look at what frames a snapshot, and leave the reader at what is inside. */
static int open_snapshot(const uint8_t *bytes, size_t n, struct polx_reader *r)
{
    uint64_t version;
    uint32_t crc = 0;

    if (n < MAGIC_BYTES + 1u + POLX_CRC_BYTES) {
        return POL_ERR_TRUNCATED;
    }
    if (memcmp(bytes, magic, MAGIC_BYTES) != 0) {
        return POL_ERR_CORRUPT;
    }
    r->bytes = bytes;
    r->size = n - POLX_CRC_BYTES;
    r->at = MAGIC_BYTES;
    if (polx_get_varint(r, &version) != POL_OK) {
        return POL_ERR_CORRUPT;
    }
    if (version != VERSION) {
        return POL_ERR_VERSION;
    }
    for (uint32_t i = 0; i < POLX_CRC_BYTES; i++) {
        crc |= (uint32_t)bytes[r->size + i] << (8u * i);
    }
    return polx_crc32(0, bytes, r->size) == crc ? POL_OK : POL_ERR_CORRUPT;
}

int pol_segments_load(void *block, size_t bytes, uint32_t nodes,
                      uint32_t extents, const uint8_t *snapshot,
                      size_t snapshot_bytes, struct pol_segments **out)
{
    struct pol_segments *s;
    struct polx_reader r;
    int rc;

    if (snapshot == NULL || out == NULL) {
        return POL_ERR_INVALID;
    }
    rc = pol_segments_init(block, bytes, nodes, extents, &s);
    if (rc == POL_OK) {
        rc = open_snapshot(snapshot, snapshot_bytes, &r);
    }
    if (rc == POL_OK) {
        rc = get_all(s, &r);
        /* Behind a good checksum an end too early is no accident. */
        rc = rc == POL_ERR_TRUNCATED ? POL_ERR_CORRUPT : rc;
    }
    if (rc == POL_OK) {
        *out = s;
    }
    return rc;
}
