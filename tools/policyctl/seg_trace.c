/* SPDX-License-Identifier: BSD-2-Clause */
/* A request trace in order of starting and of stopping. */
#include <stdlib.h>

#include "command.h"
#include "policy-esxi-sim/vm_trace.h"
#include "seg_replay.h"

static int add_row(void *user, const struct sim_request *request)
{
    struct seg_trace *trace = user;

    if (trace->n == trace->capacity) {
        trace->capacity = trace->capacity == 0 ? 4096 : 2 * trace->capacity;
        trace->vms = must_grow(trace->vms, trace->capacity, sizeof *trace->vms);
    }
    trace->vms[trace->n++] = (struct seg_vm){
        .start_ms = request->start_ms,
        .stop_ms = request->stop_ms == SIM_NONE ? UINT64_MAX : request->stop_ms,
        .pages = request->memory_mib * SEG_PAGES_PER_MIB,
    };
    return POL_OK;
}

struct stop {
    uint64_t ms;
    size_t vm;
};

static int sooner(const void *a, const void *b)
{
    const struct stop *x = a;
    const struct stop *y = b;

    if (x->ms != y->ms) {
        return x->ms < y->ms ? -1 : 1;
    }
    return x->vm < y->vm ? -1 : x->vm > y->vm;
}

static void sort_stops(struct seg_trace *trace)
{
    struct stop *stops = must_alloc(trace->n, sizeof *stops);

    for (size_t i = 0; i < trace->n; i++) {
        if (trace->vms[i].stop_ms != UINT64_MAX) {
            stops[trace->stops_n++] = (struct stop){ trace->vms[i].stop_ms, i };
        }
    }
    qsort(stops, trace->stops_n, sizeof *stops, sooner);
    trace->stops = must_alloc(trace->stops_n, sizeof *trace->stops);
    for (size_t i = 0; i < trace->stops_n; i++) {
        trace->stops[i] = stops[i].vm;
    }
    free(stops);
}

int seg_trace_load(struct seg_trace *trace, const char *path)
{
    struct sim_error error = { "" };
    int rc = sim_vm_trace_read(path, add_row, trace, &error);

    if (rc != POL_OK) {
        return fail(STATUS_USAGE, "%s",
                    error.text[0] != '\0' ? error.text : pol_strerror(rc));
    }
    if (trace->n == 0) {
        return fail(STATUS_USAGE, "%s: no requests", path);
    }
    sort_stops(trace);
    return STATUS_OK;
}

void seg_trace_clear(struct seg_trace *trace)
{
    free(trace->vms);
    free(trace->stops);
}
