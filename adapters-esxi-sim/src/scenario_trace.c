/* SPDX-License-Identifier: BSD-2-Clause */
/* The section trace: VMs drawn from a request trace. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"
#include "vm_trace.h"

#define MIX_MAX 64u

#define TRACE(key, kind, member, min, max, required)                           \
    {                                                                          \
        key, kind, offsetof(struct sim_trace_spec, member), min, max,          \
            required, NULL                                                     \
    }

static const struct sim_field fields[] = {
    TRACE("file", SIM_F_TEXT, file, 1, 4096, true),
    TRACE("from", SIM_F_TIME, from_ms, 0, SIM_MAX_TIME, false),
    TRACE("to", SIM_F_TIME, to_ms, 1, SIM_MAX_TIME, false),
    TRACE("every", SIM_F_U64, take_every, 1, 1000000, false),
    TRACE("overcommit", SIM_F_PERCENT, overcommit_bp, 100, 100000, false),
    TRACE("min_life", SIM_F_TIME, min_life_ms, 0, SIM_MAX_TIME, false),
    TRACE("max_memory", SIM_F_PAGES, max_pages, 16, SIM_MAX_PAGES, false),
    TRACE("vm", SIM_F_OTHER, vm, 0, 0, false),
    TRACE("workloads", SIM_F_OTHER, mix, 0, 0, true),
};

static const struct sim_field mix_fields[] = {
    { "weight", SIM_F_U64, offsetof(struct sim_workload, weight), 1, 1000000,
      false, NULL },
    { "workload", SIM_F_OTHER, 0, 0, 0, true, NULL },
};

/* "name" next to the scenario file, unless it is absolute. */
static int resolve(struct sim_reading *rd, const struct sim_node *map,
                   struct sim_trace_spec *trace)
{
    const char *slash;
    size_t dir;
    char *path;

    if (rd->file == NULL) {
        return sim_reading_fail(rd, map->line, "file",
                                "is not accepted in a scenario that is no "
                                "file");
    }
    slash = strrchr(rd->file, '/');
    if (trace->file[0] == '/' || slash == NULL) {
        return POL_OK;
    }
    dir = (size_t)(slash - rd->file) + 1;
    path = malloc(dir + strlen(trace->file) + 1);
    if (path == NULL) {
        return sim_fail_memory(rd->err, rd->file);
    }
    memcpy(path, rd->file, dir);
    strcpy(path + dir, trace->file);
    free(trace->file);
    trace->file = path;
    return POL_OK;
}

static int read_mix(struct sim_reading *rd, const struct sim_node *list,
                    struct sim_trace_spec *trace)
{
    size_t i = 0;
    int rc = sim_expect_kind(rd, list, SIM_NODE_LIST, "workloads");

    if (rc != POL_OK) {
        return rc;
    }
    if (list->n < 1 || list->n > MIX_MAX) {
        return sim_reading_fail(rd, list->line, "workloads",
                                "%zu of them (accepted: 1 to %u)", list->n,
                                MIX_MAX);
    }
    trace->mix = calloc(list->n, sizeof(*trace->mix));
    if (trace->mix == NULL) {
        return sim_fail_memory(rd->err, rd->file);
    }
    trace->mix_n = list->n;
    for (const struct sim_node *node = list->first;
         node != NULL && rc == POL_OK; node = node->next) {
        struct sim_workload *workload = &trace->mix[i];

        workload->weight = 1;
        sim_reading_enter(rd, "trace.workloads", i++);
        rc = sim_fields_read(rd, node, mix_fields, SIM_COUNT(mix_fields),
                             workload);
        if (rc == POL_OK) {
            rc = sim_workload_read(rd, sim_yaml_member(node, "workload"),
                                   workload);
        }
    }
    sim_reading_enter(rd, "trace", SIZE_MAX);
    return rc;
}

/* ---- The rows ---------------------------------------------------------- */

struct taking {
    struct sim_reading *rd;
    struct sim_scenario *scenario;
    unsigned line;
    uint64_t seen; /* requests in the part of the trace that is used */
    size_t cap;
    uint64_t checked_pages; /* size that was found right last */
};

static uint64_t pages_of(uint64_t mib, uint32_t page_bytes)
{
    uint64_t pages_per_mib = (UINT64_C(1) << 20) / page_bytes;

    return pages_per_mib > 0 ? mib * pages_per_mib
                             : (mib + page_bytes / (1u << 20) - 1) /
                                   (page_bytes / (1u << 20));
}

static bool wanted(struct taking *t, const struct sim_request *request)
{
    const struct sim_trace_spec *trace = &t->scenario->trace;
    uint64_t pages = pages_of(request->memory_mib, t->rd->page_bytes);

    if (request->start_ms < trace->from_ms ||
        request->start_ms >= trace->to_ms) {
        return false;
    }
    if (request->start_ms - trace->from_ms >= t->scenario->duration_ms) {
        return false;
    }
    if (t->seen++ % trace->take_every != 0) {
        return false;
    }
    if (request->stop_ms != SIM_NONE &&
        request->stop_ms - request->start_ms < trace->min_life_ms) {
        return false;
    }
    return pages >= 16 && pages <= SIM_MAX_PAGES && pages <= trace->max_pages;
}

/* What all VMs have in common must suit each size there is. */
static int check_size(struct taking *t, uint64_t pages)
{
    const struct sim_trace_spec *trace = &t->scenario->trace;
    int rc;

    if (pages == t->checked_pages) {
        return POL_OK;
    }
    rc = sim_bounds_check(t->rd, t->line, pages, trace->vm.reservation,
                          trace->vm.limit);
    for (size_t i = 0; rc == POL_OK && i < trace->mix_n; i++) {
        rc = sim_workload_check(t->rd, t->line, &trace->mix[i], pages);
    }
    t->checked_pages = pages;
    return rc;
}

static int take_row(void *user, const struct sim_request *request)
{
    struct taking *t = user;
    struct sim_trace_spec *trace = &t->scenario->trace;
    struct sim_request *one;
    int rc;

    if (!wanted(t, request)) {
        return POL_OK;
    }
    rc = check_size(t, pages_of(request->memory_mib, t->rd->page_bytes));
    if (rc != POL_OK) {
        return rc;
    }
    if (trace->requests_n == t->cap) {
        size_t cap = t->cap == 0 ? 1024 : t->cap * 2;
        struct sim_request *grown =
            realloc(trace->requests, cap * sizeof(*grown));

        if (grown == NULL) {
            return sim_fail_memory(t->rd->err, t->rd->file);
        }
        trace->requests = grown;
        t->cap = cap;
    }
    one = &trace->requests[trace->requests_n++];
    *one = *request;
    one->start_ms -= trace->from_ms;
    one->stop_ms -= one->stop_ms == SIM_NONE ? 0 : trace->from_ms;
    return POL_OK;
}

static int read_rows(struct sim_reading *rd, const struct sim_node *map,
                     struct sim_scenario *scenario)
{
    struct sim_trace_spec *trace = &scenario->trace;
    struct taking t = { .rd = rd, .scenario = scenario, .line = map->line };
    int rc = sim_vm_trace_read(trace->file, take_row, &t, rd->err);

    if (rc == POL_OK && trace->requests_n == 0) {
        rc = sim_reading_fail(rd, map->line, "file",
                              "has no request in the part that is used");
    }
    return rc;
}

int sim_trace_section(struct sim_reading *rd, const struct sim_node *map,
                      struct sim_scenario *scenario)
{
    struct sim_trace_spec *trace = &scenario->trace;
    const struct sim_node *vm;
    int rc;

    trace->to_ms = SIM_NONE;
    trace->take_every = 1;
    trace->max_pages = SIM_NONE;
    sim_vm_spec_init(&trace->vm);
    sim_reading_enter(rd, "trace", SIZE_MAX);
    rc = sim_fields_read(rd, map, fields, SIM_COUNT(fields), trace);
    if (rc == POL_OK && trace->to_ms <= trace->from_ms) {
        rc = sim_reading_fail(rd, map->line, "to",
                              "is not after from (accepted: more than from)");
    }
    if (rc == POL_OK) {
        rc = resolve(rd, map, trace);
    }
    if (rc == POL_OK) {
        rc = read_mix(rd, sim_yaml_member(map, "workloads"), trace);
    }
    vm = rc == POL_OK ? sim_yaml_member(map, "vm") : NULL;
    if (vm != NULL) {
        sim_reading_enter(rd, "trace.vm", SIZE_MAX);
        rc = sim_vm_template(rd, vm, scenario, &trace->vm);
        sim_reading_enter(rd, "trace", SIZE_MAX);
    }
    return rc != POL_OK ? rc : read_rows(rd, map, scenario);
}

static int by_time(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Most requests alive at a time; SIM_NONE when out of memory. */
static uint64_t most_alive(const struct sim_scenario *scenario)
{
    const struct sim_trace_spec *trace = &scenario->trace;
    uint64_t *stops = calloc(trace->requests_n, sizeof(*stops));
    uint64_t linger = trace->vm.shutdown_ms + 2 * scenario->tick_ms;
    uint64_t most = 0;
    size_t gone = 0;

    if (stops == NULL) {
        return SIM_NONE;
    }
    for (size_t i = 0; i < trace->requests_n; i++) {
        uint64_t stop = trace->requests[i].stop_ms;

        stops[i] = stop == SIM_NONE ? SIM_NONE : stop + linger;
    }
    qsort(stops, trace->requests_n, sizeof(*stops), by_time);
    for (size_t i = 0; i < trace->requests_n; i++) {
        while (stops[gone] <= trace->requests[i].start_ms) {
            gone++;
        }
        most = i + 1 - gone > most ? i + 1 - gone : most;
    }
    free(stops);
    return most;
}

uint64_t sim_trace_peak(const struct sim_scenario *scenario)
{
    const struct sim_trace_spec *trace = &scenario->trace;
    uint64_t least = UINT64_MAX;
    uint64_t peak;
    uint64_t room;

    if (trace->requests_n == 0) {
        return 0;
    }
    for (size_t i = 0; i < trace->requests_n; i++) {
        uint64_t mib = trace->requests[i].memory_mib;

        least = mib < least ? mib : least;
    }
    peak = most_alive(scenario);
    if (trace->overcommit_bp != 0) {
        least = pages_of(least, scenario->host.page_bytes);
        room =
            scenario->host.memory_pages * trace->overcommit_bp / 10000 / least;
        peak = room < peak ? room : peak;
    }
    return peak;
}
