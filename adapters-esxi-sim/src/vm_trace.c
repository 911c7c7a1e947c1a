/* SPDX-License-Identifier: BSD-2-Clause */
#include "vm_trace.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <zlib.h>

#include "scenario_value.h"

enum column {
    COL_START = 0,
    COL_END,
    COL_MEMORY,
    COL_VCPUS,
    COL_BATCH,
    COLUMNS
};

struct column_rule {
    const char *name;
    bool required;
    bool may_be_empty;
    uint64_t min, max;
};

static const struct column_rule rules[COLUMNS] = {
    [COL_START] = { "start_s", true, false, 0, SIM_TRACE_MAX_S },
    [COL_END] = { "end_s", true, true, 0, SIM_TRACE_MAX_S },
    [COL_MEMORY] = { "memory_mib", true, false, 1, SIM_TRACE_MAX_MIB },
    [COL_VCPUS] = { "vcpus", false, true, 0, 65536 },
    [COL_BATCH] = { "tenant_batch", false, true, 0, 4294967295u },
};

#define FIELDS_MAX 64u

struct csv {
    const char *name;
    struct sim_error *err;
    sim_trace_row *row;
    void *user;
    unsigned long line;
    uint64_t rows;
    uint64_t last_start_s;
    int place[COLUMNS]; /* of the column in a row; -1: not there */
    size_t columns;
    size_t used; /* of text */
    char text[SIM_TRACE_MAX_LINE + 1];
};

/* Split at commas, in place. @return how many, FIELDS_MAX + 1: too many */
static size_t split(char *text, char **fields)
{
    size_t n = 0;

    for (;;) {
        char *comma = strchr(text, ',');

        if (n == FIELDS_MAX) {
            return FIELDS_MAX + 1;
        }
        fields[n++] = text;
        if (comma == NULL) {
            return n;
        }
        *comma = '\0';
        text = comma + 1;
    }
}

static int read_header(struct csv *csv)
{
    char *fields[FIELDS_MAX];

    csv->columns = split(csv->text, fields);
    if (csv->columns > FIELDS_MAX) {
        return sim_fail(csv->err, csv->name, csv->line, "",
                        "too many columns (accepted: up to %u)", FIELDS_MAX);
    }
    for (size_t c = 0; c < COLUMNS; c++) {
        csv->place[c] = -1;
        for (size_t i = 0; i < csv->columns; i++) {
            if (strcmp(fields[i], rules[c].name) != 0) {
                continue;
            }
            if (csv->place[c] >= 0) {
                return sim_fail(csv->err, csv->name, csv->line, rules[c].name,
                                "is given twice");
            }
            csv->place[c] = (int)i;
        }
        if (csv->place[c] < 0 && rules[c].required) {
            return sim_fail(csv->err, csv->name, csv->line, rules[c].name,
                            "column is missing (accepted: a header with "
                            "start_s, end_s, memory_mib)");
        }
    }
    return POL_OK;
}

static int read_cell(struct csv *csv, enum column column, char **fields,
                     uint64_t *out)
{
    const struct column_rule *rule = &rules[column];
    const char *text = csv->place[column] < 0 ? "" : fields[csv->place[column]];

    *out = SIM_NONE;
    if (text[0] == '\0' && rule->may_be_empty) {
        return POL_OK;
    }
    if (sim_value_number(text, out) != SIM_VALUE_OK || *out < rule->min ||
        *out > rule->max) {
        return sim_fail(csv->err, csv->name, csv->line, rule->name,
                        "\"%.40s\" (accepted: a whole number, %" PRIu64
                        " to %" PRIu64 "%s)",
                        text, rule->min, rule->max,
                        rule->may_be_empty ? ", or empty" : "");
    }
    return POL_OK;
}

static int check_order(struct csv *csv, const uint64_t *cells)
{
    uint64_t start = cells[COL_START];

    if (cells[COL_END] != SIM_NONE && cells[COL_END] < start) {
        return sim_fail(csv->err, csv->name, csv->line, "end_s",
                        "%" PRIu64 " is before the start (accepted: %" PRIu64
                        " or more)",
                        cells[COL_END], start);
    }
    if (start < csv->last_start_s) {
        return sim_fail(csv->err, csv->name, csv->line, "start_s",
                        "%" PRIu64 " is out of order (accepted: %" PRIu64
                        " or more, as in the row before)",
                        start, csv->last_start_s);
    }
    csv->last_start_s = start;
    return POL_OK;
}

static int read_row(struct csv *csv)
{
    char *fields[FIELDS_MAX];
    uint64_t cells[COLUMNS];
    struct sim_request request;
    size_t n = split(csv->text, fields);
    int rc = POL_OK;

    if (n != csv->columns) {
        return sim_fail(csv->err, csv->name, csv->line, "",
                        "%zu columns (accepted: %zu, as in the header)", n,
                        csv->columns);
    }
    for (int c = 0; rc == POL_OK && c < COLUMNS; c++) {
        rc = read_cell(csv, (enum column)c, fields, &cells[c]);
    }
    if (rc == POL_OK) {
        rc = check_order(csv, cells);
    }
    if (rc != POL_OK) {
        return rc;
    }
    if (++csv->rows > SIM_TRACE_MAX_ROWS) {
        return sim_fail(csv->err, csv->name, csv->line, "",
                        "too many rows (accepted: up to %u)",
                        SIM_TRACE_MAX_ROWS);
    }
    request.start_ms = cells[COL_START] * 1000;
    request.stop_ms =
        cells[COL_END] == SIM_NONE ? SIM_NONE : cells[COL_END] * 1000;
    request.memory_mib = cells[COL_MEMORY];
    request.vcpus =
        cells[COL_VCPUS] == SIM_NONE ? 0 : (uint32_t)cells[COL_VCPUS];
    request.batch =
        cells[COL_BATCH] == SIM_NONE ? 0 : (uint32_t)cells[COL_BATCH];
    return csv->row(csv->user, &request);
}

static int end_line(struct csv *csv)
{
    if (csv->used > 0 && csv->text[csv->used - 1] == '\r') {
        csv->used--;
    }
    csv->text[csv->used] = '\0';
    csv->used = 0;
    if (csv->line == 1) {
        return read_header(csv);
    }
    if (csv->text[0] == '\0') {
        return sim_fail(csv->err, csv->name, csv->line, "",
                        "empty line (accepted: rows only)");
    }
    return read_row(csv);
}

/* Take the next bytes of the text, which may end within a line. */
static int feed(struct csv *csv, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int rc = POL_OK;

        if (bytes[i] == '\n') {
            rc = end_line(csv);
            csv->line++;
        } else if (bytes[i] == '\0' || csv->used == SIM_TRACE_MAX_LINE) {
            rc = sim_fail(csv->err, csv->name, csv->line, "",
                          "is no line of text (accepted: CSV, up to %u bytes "
                          "a line)",
                          SIM_TRACE_MAX_LINE);
        } else {
            csv->text[csv->used++] = (char)bytes[i];
        }
        if (rc != POL_OK) {
            return rc;
        }
    }
    return POL_OK;
}

static int finish(struct csv *csv)
{
    int rc = POL_OK;

    if (csv->used > 0) {
        rc = end_line(csv);
    } else if (csv->line == 1) {
        rc = sim_fail(csv->err, csv->name, 1, "",
                      "the file is empty (accepted: CSV with a header)");
    }
    return rc;
}

/* Unpack gzip piece by piece: how much it unpacks to is not to be trusted. */
static int inflate_all(struct csv *csv, z_stream *z)
{
    uint8_t out[16384];

    for (;;) {
        int rc;
        int zrc;

        z->next_out = out;
        z->avail_out = sizeof(out);
        zrc = inflate(z, Z_NO_FLUSH);
        rc = feed(csv, out, sizeof(out) - z->avail_out);
        if (rc != POL_OK) {
            return rc;
        }
        if (zrc == Z_STREAM_END) {
            if (z->avail_in == 0) {
                return POL_OK;
            }
            zrc = inflateReset(z); /* gzip files may be concatenated */
        }
        if (zrc == Z_MEM_ERROR) {
            return sim_fail_memory(csv->err, csv->name);
        }
        if (zrc != Z_OK) {
            return sim_fail(csv->err, csv->name, csv->line, "",
                            "the gzip data %s (accepted: a whole gzip file)",
                            zrc == Z_BUF_ERROR ? "ends too early"
                                               : "is damaged");
        }
    }
}

static int feed_gzip(struct csv *csv, const uint8_t *bytes, size_t n)
{
    z_stream z = { .next_in = (z_const Bytef *)bytes, .avail_in = (uInt)n };
    int rc;

    if (inflateInit2(&z, 15 + 16) != Z_OK) {
        return sim_fail_memory(csv->err, csv->name);
    }
    rc = inflate_all(csv, &z);
    inflateEnd(&z);
    return rc;
}

int sim_vm_trace_parse(const uint8_t *bytes, size_t n, const char *name,
                       sim_trace_row *row, void *user, struct sim_error *err)
{
    struct csv csv = {
        .name = name, .err = err, .row = row, .user = user, .line = 1
    };
    bool gzip = n >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
    int rc;

    if (n > SIM_TRACE_MAX_BYTES) {
        return sim_fail(err, name, 0, "", "%zu bytes (accepted: up to %zu)", n,
                        SIM_TRACE_MAX_BYTES);
    }
    rc = gzip ? feed_gzip(&csv, bytes, n) : feed(&csv, bytes, n);
    return rc != POL_OK ? rc : finish(&csv);
}
