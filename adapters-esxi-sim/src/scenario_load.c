/* SPDX-License-Identifier: BSD-2-Clause */
/* Workloads: what guests do with their memory. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"

static const char *const kind_words[] = { "idle",  "uniform",   "zipf",
                                          "sweep", "file_scan", "grow",
                                          NULL };

#define LOAD(key, field_kind, member, min, max)                                \
    {                                                                          \
        key, field_kind, offsetof(struct sim_load, member), min, max, false,   \
            NULL                                                               \
    }

static const struct sim_field fields[] = {
    { "kind", SIM_F_WORD, offsetof(struct sim_load, kind), 0, 0, true,
      kind_words },
    LOAD("at", SIM_F_TIME, at_ms, 0, SIM_MAX_TIME),
    LOAD("working_set", SIM_F_AMOUNT_WIDE, working_set, 1, SIM_MAX_PAGES),
    LOAD("footprint", SIM_F_AMOUNT_WIDE, footprint, 1, SIM_MAX_PAGES),
    LOAD("files", SIM_F_AMOUNT_WIDE, files, 1, SIM_MAX_PAGES),
    LOAD("rate", SIM_F_RATE, rate, 1, SIM_MAX_RATE),
    LOAD("write", SIM_F_PERCENT, write_bp, 0, 10000),
    LOAD("file", SIM_F_PERCENT, file_bp, 0, 10000),
    LOAD("zipf_exponent", SIM_F_PERCENT, zipf_bp, 1, 40000),
    LOAD("access_ns", SIM_F_U32, cpu_ns, 1, 1000000000),
    LOAD("grow_over", SIM_F_TIME, grow_ms, 1, SIM_MAX_TIME),
    LOAD("file_write", SIM_F_PERCENT, file_write_bp, 0, 10000),
    LOAD("stream", SIM_F_PERCENT, stream_bp, 0, 10000),
    LOAD("stream_write", SIM_F_PERCENT, stream_write_bp, 0, 10000),
    LOAD("stream_files", SIM_F_AMOUNT_WIDE, stream, 1, SIM_MAX_PAGES),
    LOAD("sweep", SIM_F_PERCENT, sweep_bp, 0, 10000),
    LOAD("renew_every", SIM_F_U64, renew_every, 1, SIM_MAX_RATE),
};

const char *sim_load_name(int kind)
{
    return kind >= 0 && kind < SIM_LOAD_KINDS ? kind_words[kind] : "?";
}

uint64_t sim_amount_pages(struct sim_amount amount, uint64_t size_pages,
                          uint64_t otherwise)
{
    if (amount.relative_bp != 0) {
        uint64_t whole = size_pages / 10000 * amount.relative_bp;
        uint64_t rest = size_pages % 10000 * amount.relative_bp / 10000;

        return whole + rest;
    }
    return amount.pages == SIM_NONE ? otherwise : amount.pages;
}

static bool given(struct sim_amount amount)
{
    return amount.relative_bp != 0 || amount.pages != SIM_NONE;
}

static int check_mixed(struct sim_reading *rd, unsigned line,
                       const struct sim_load *load)
{
    if (load->stream_bp != 0 && !given(load->stream)) {
        return sim_reading_fail(rd, line, "stream_files",
                                "is missing: the length of the stream");
    }
    if (load->sweep_bp > 10000 - load->stream_bp) {
        return sim_reading_fail(rd, line, "sweep",
                                "and stream are more than all accesses "
                                "(accepted: 100%% together)");
    }
    if (load->sweep_bp != 0 && !given(load->working_set)) {
        return sim_reading_fail(rd, line, "working_set",
                                "is missing: what is swept is the rest of the "
                                "footprint");
    }
    return POL_OK;
}

/* Every kind of load needs something to work on. */
static int check_load(struct sim_reading *rd, unsigned line,
                      struct sim_load *load)
{
    bool memory = given(load->working_set) || given(load->footprint);

    if (load->kind == SIM_LOAD_FILE_SCAN || load->file_bp != 0) {
        if (!given(load->files)) {
            return sim_reading_fail(rd, line, "files",
                                    "is missing: how much file data is read");
        }
    }
    if (load->kind == SIM_LOAD_GROW &&
        (!given(load->footprint) || load->grow_ms == 0)) {
        return sim_reading_fail(rd, line, "workload",
                                "grow needs footprint and grow_over");
    }
    if (!memory && load->kind != SIM_LOAD_IDLE &&
        load->kind != SIM_LOAD_FILE_SCAN) {
        return sim_reading_fail(rd, line, "working_set", "is missing");
    }
    if (!given(load->footprint)) {
        load->footprint = load->working_set;
    }
    return check_mixed(rd, line, load);
}

static int read_load(struct sim_reading *rd, const struct sim_node *map,
                     struct sim_load *load)
{
    static const struct sim_amount nothing = { .pages = SIM_NONE,
                                               .relative_bp = 0 };
    int rc;

    memset(load, 0, sizeof(*load));
    load->working_set = nothing;
    load->footprint = nothing;
    load->files = nothing;
    load->stream = nothing;
    load->file_write_bp = UINT32_MAX;
    load->write_bp = 3000;
    load->zipf_bp = 10000;
    rc = sim_fields_read(rd, map, fields, SIM_COUNT(fields), load);
    return rc != POL_OK ? rc : check_load(rd, map->line, load);
}

int sim_workload_read(struct sim_reading *rd, const struct sim_node *node,
                      struct sim_workload *workload)
{
    bool one = node->kind == SIM_NODE_MAP;
    const struct sim_node *map = one ? node : node->first;
    size_t n = one ? 1 : node->n;

    if (!one) {
        int rc = sim_expect_kind(rd, node, SIM_NODE_LIST, "workload");

        if (rc != POL_OK) {
            return rc;
        }
    }
    if (n < 1 || n > SIM_MAX_PHASES) {
        return sim_reading_fail(rd, node->line, "workload",
                                "has %zu phases (accepted: 1 to %u)", n,
                                SIM_MAX_PHASES);
    }
    workload->loads = calloc(n, sizeof(*workload->loads));
    if (workload->loads == NULL) {
        return sim_fail_memory(rd->err, rd->file);
    }
    workload->n = n;
    for (size_t i = 0; i < n; i++) {
        struct sim_load *load = &workload->loads[i];
        int rc = read_load(rd, map, load);

        if (rc != POL_OK) {
            return rc;
        }
        if (i == 0 ? load->at_ms != 0 : load->at_ms <= load[-1].at_ms) {
            return sim_reading_fail(rd, map->line, "at",
                                    "is out of order (accepted: 0 for the "
                                    "first phase, then later and later)");
        }
        map = map->next;
    }
    return POL_OK;
}

void sim_workload_free(struct sim_workload *workload)
{
    free(workload->loads);
    workload->loads = NULL;
    workload->n = 0;
}

int sim_workload_check(struct sim_reading *rd, unsigned line,
                       const struct sim_workload *workload, uint64_t size_pages)
{
    for (size_t i = 0; i < workload->n; i++) {
        const struct sim_load *load = &workload->loads[i];
        uint64_t print = sim_amount_pages(load->footprint, size_pages, 0);
        uint64_t set = sim_amount_pages(load->working_set, size_pages, 0);
        uint64_t files = sim_amount_pages(load->files, size_pages, 0);
        uint64_t stream = sim_amount_pages(load->stream, size_pages, 0);

        if (set > print) {
            return sim_reading_fail(rd, line, "working_set",
                                    "of phase %zu exceeds its footprint "
                                    "(accepted: up to %" PRIu64 " pages)",
                                    i + 1, print);
        }
        if (load->sweep_bp != 0 && set >= print) {
            return sim_reading_fail(rd, line, "footprint",
                                    "of phase %zu leaves nothing to sweep "
                                    "(accepted: more than the working set)",
                                    i + 1);
        }
        if (print > SIM_MAX_PAGES || files + stream > SIM_MAX_PAGES) {
            return sim_reading_fail(rd, line, "workload",
                                    "phase %zu is too large (accepted: up to "
                                    "%" PRIu64 " pages)",
                                    i + 1, (uint64_t)SIM_MAX_PAGES);
        }
    }
    return POL_OK;
}
