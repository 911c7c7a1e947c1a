/* SPDX-License-Identifier: BSD-2-Clause */
/* VMs come and go. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rng.h"
#include "scenario_parts.h"
#include "sim_run_int.h"

/* Streams of random numbers that belong to the run, not to the engine. */
#define STREAM_MIX UINT64_C(0x6d69780000000000)

static int by_time(const void *a, const void *b)
{
    const struct sim_start *x = a;
    const struct sim_start *y = b;

    if (x->at_ms != y->at_ms) {
        return x->at_ms < y->at_ms ? -1 : 1;
    }
    if (x->spec != y->spec) {
        return x->spec < y->spec ? -1 : 1;
    }
    return x->instance < y->instance ? -1 : x->instance > y->instance;
}

int sim_run_list_starts(struct sim_run *run)
{
    const struct sim_scenario *scenario = run->scenario;
    size_t n = 0;

    for (size_t i = 0; i < scenario->vms_n; i++) {
        n += (size_t)scenario->vms[i].count;
    }
    run->starts = calloc(n + 1, sizeof(*run->starts));
    if (run->starts == NULL) {
        return POL_ERR_NOMEM;
    }
    for (size_t i = 0; i < scenario->vms_n; i++) {
        const struct sim_vm_spec *spec = &scenario->vms[i];

        for (uint64_t k = 0; k < spec->count; k++) {
            struct sim_start *start = &run->starts[run->starts_n++];

            start->at_ms = spec->start_ms + k * spec->start_every_ms;
            start->spec = i;
            start->instance = spec->count == 1 ? 0 : k + 1;
        }
    }
    qsort(run->starts, run->starts_n, sizeof(*run->starts), by_time);
    return POL_OK;
}

/* ---- Stopping ---------------------------------------------------------- */

int sim_run_stop_vm(struct sim_run *run, struct sim_record *record)
{
    if (record->vm == NULL || record->stopping) {
        return POL_OK;
    }
    record->stopping = true;
    (void)run;
    return sim_vm_shutdown(record->vm, record->spec->shutdown_ms);
}

/* The VM is dead: forget it everywhere but in the records. */
static void bury(struct sim_run *run, size_t place)
{
    struct sim_record *record = sim_run_record_of(run, run->live[place]);
    struct sim_run_vm figures;

    sim_run_figures(run, record, &figures);
    figures.stop_ms = run->now_ms;
    record->last = figures;
    sim_run_add_up(&run->totals, &figures);
    run->totals.stopped++;
    run->totals.deaths += !record->stopping;
    run->configured_pages -= record->size_pages;
    sim_run_tell(run, SIM_NOTICE_VM_STOPPED, record, NULL,
                 record->stopping ? POL_OK : POL_ERR_HOST);
    sim_adapter_remove(&run->adapter, record->last.vm);
    sim_vm_destroy(record->vm);
    record->vm = NULL;
    /* Gone already when the policy was told by reading it. */
    if (pol_vm_remove(run->ctx, record->last.vm) != POL_OK) {
        record->last.target_pages = 0;
    }
    run->live_n--;
    memmove(&run->live[place], &run->live[place + 1],
            (run->live_n - place) * sizeof(*run->live));
}

int sim_run_stop_vms(struct sim_run *run)
{
    size_t i = 0;

    while (i < run->live_n) {
        struct sim_record *record = sim_run_record_of(run, run->live[i]);
        struct sim_vm_stats stats;

        if (record->stop_ms <= run->now_ms && !record->stopping) {
            int rc = sim_run_stop_vm(run, record);

            if (rc != POL_OK && rc != POL_ERR_BUSY) {
                return rc;
            }
        }
        sim_vm_stats(record->vm, &stats);
        if (stats.lifecycle == SIM_LIFE_DEAD) {
            bury(run, i);
        } else {
            i++;
        }
    }
    return POL_OK;
}

/* ---- Starting ---------------------------------------------------------- */

/* What a VM is made from. */
struct birth {
    const struct sim_vm_spec *spec;
    const struct sim_workload *workload;
    uint64_t instance;
    uint64_t size_pages;
    uint64_t stop_ms;
    char name[SIM_NAME_MAX + 1];
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t overhead(const struct sim_run *run, const struct birth *birth)
{
    const struct sim_host_spec *host = &run->scenario->host;

    if (birth->spec->overhead_pages != SIM_NONE) {
        return birth->spec->overhead_pages;
    }
    return host->overhead_pages + birth->size_pages * host->overhead_bp / 10000;
}

static void policy_params(const struct sim_run *run, const struct birth *birth,
                          struct pol_vm_params *params)
{
    const struct sim_vm_spec *spec = birth->spec;
    uint64_t limit =
        sim_amount_pages(spec->limit, birth->size_pages, SIM_NO_LIMIT);

    pol_vm_params_init(params, birth->size_pages);
    params->group = spec->group;
    params->shares = spec->shares == 0 ? params->shares : spec->shares;
    params->reservation_pages =
        sim_amount_pages(spec->reservation, birth->size_pages, 0);
    params->limit_pages = limit == SIM_NO_LIMIT ? POL_NO_LIMIT : limit;
    params->overhead_pages = overhead(run, birth);
    params->tax_bp = spec->tax_bp;
    params->flags |= spec->balloon == SIM_BALLOON_NO ? POL_VM_NO_BALLOON : 0u;
    params->flags |= spec->may_swap ? 0u : POL_VM_NO_SWAP;
    params->flags |= spec->may_block ? 0u : POL_VM_NO_BLOCK;
}

static void engine_config(const struct sim_run *run, const struct birth *birth,
                          uint64_t id, struct sim_vm_config *config)
{
    const struct sim_vm_spec *spec = birth->spec;

    sim_vm_config_init(config, birth->size_pages);
    config->id = id;
    memcpy(config->name, birth->name, sizeof(config->name));
    config->overhead_pages = overhead(run, birth);
    config->guest_swap_pages =
        least(sim_amount_pages(spec->guest_swap, birth->size_pages, 0),
              SIM_MAX_PAGES);
    if (spec->balloon_speed != SIM_NONE) {
        config->balloon_pages_per_s = spec->balloon_speed;
    }
    config->balloon_max_pages =
        least(sim_amount_pages(spec->balloon_max, birth->size_pages,
                               config->balloon_max_pages),
              birth->size_pages);
    config->threads = spec->threads;
    config->image = spec->image;
    config->kernel_image_pages =
        spec->image != 0 ? config->kernel_pages / 2 : 0;
    config->image_file_pages =
        least(sim_amount_pages(spec->image_files, birth->size_pages, 0),
              SIM_IMAGE_PAGES / 2);
    config->zero_anon_bp = spec->zero_memory_bp;
    config->image_anon_bp =
        (uint32_t)least(spec->image_memory_bp, 10000 - spec->zero_memory_bp);
    config->build_ms = (uint32_t)spec->build_ms;
    config->boot_ms = (uint32_t)spec->boot_ms;
    config->driver = spec->balloon != SIM_BALLOON_ABSENT;
    config->touch_all_at_boot = spec->touch_all;
    config->deflate_on_oom = spec->deflate_on_oom;
}

static void engine_phase(const struct sim_load *load, uint64_t size,
                         struct sim_phase *phase)
{
    sim_phase_init(phase);
    phase->start_ms = load->at_ms;
    phase->kind = (enum sim_phase_kind)load->kind;
    phase->write_bp = load->write_bp;
    phase->file_bp = load->file_bp;
    phase->zipf_bp = load->zipf_bp;
    phase->cpu_ns = load->cpu_ns;
    phase->rate = load->rate;
    phase->working_set_pages = sim_amount_pages(load->working_set, size, 0);
    phase->footprint_pages = sim_amount_pages(load->footprint, size, 0);
    phase->file_pages = sim_amount_pages(load->files, size, 0);
    phase->grow_ms = load->grow_ms;
    phase->file_write_bp = load->file_write_bp;
    phase->stream_bp = load->stream_bp;
    phase->stream_write_bp = load->stream_write_bp;
    phase->stream_pages = sim_amount_pages(load->stream, size, 0);
    phase->sweep_bp = load->sweep_bp;
    phase->renew_every = load->renew_every;
}

static int make_vm(struct sim_run *run, const struct birth *birth, uint64_t id,
                   struct sim_vm **out)
{
    struct sim_phase phases[SIM_MAX_PHASES];
    struct sim_vm_config config;

    engine_config(run, birth, id, &config);
    for (size_t i = 0; i < birth->workload->n; i++) {
        engine_phase(&birth->workload->loads[i], birth->size_pages, &phases[i]);
    }
    return sim_vm_new(run->engine, &config, phases, birth->workload->n, out);
}

/* Room for one more record and one more live VM. */
static int make_room(struct sim_run *run)
{
    if (run->records_n == run->records_cap) {
        size_t cap = run->records_cap == 0 ? 64 : run->records_cap * 2;
        struct sim_record **records =
            realloc(run->records, cap * sizeof(struct sim_record *));

        if (records == NULL) {
            return POL_ERR_NOMEM;
        }
        run->records = records;
        run->records_cap = cap;
    }
    if (run->live_n == run->live_cap) {
        size_t cap = run->live_cap == 0 ? 64 : run->live_cap * 2;
        uint64_t *live = realloc(run->live, cap * sizeof(*live));

        if (live == NULL) {
            return POL_ERR_NOMEM;
        }
        run->live = live;
        run->live_cap = cap;
    }
    return POL_OK;
}

static void refuse(struct sim_run *run, const struct birth *birth, int why)
{
    struct sim_notice notice;

    run->totals.refused++;
    run->totals.refused_swap += why == POL_ERR_SWAP_SHORT;
    run->totals.refused_group += why == POL_ERR_GROUP_SHORT;
    run->totals.refused_memory += why == POL_ERR_MEMORY_SHORT;
    if (run->observer != NULL) {
        memset(&notice, 0, sizeof(notice));
        notice.now_ms = run->now_ms;
        notice.kind = SIM_NOTICE_VM_REFUSED;
        notice.vm_name = birth->name;
        notice.error = why;
        run->observer(run->user, run, &notice);
    }
}

/* Everything about a new VM but its making in the engine. */
static int enter(struct sim_run *run, const struct birth *birth,
                 const struct pol_vm_params *params, struct sim_record *record)
{
    struct sim_slot *slot = NULL;
    int rc = sim_adapter_add(&run->adapter, record->vm, params, &slot);

    if (rc != POL_OK) {
        return rc;
    }
    slot->pinned = birth->spec->pinned;
    slot->guest_stats = birth->spec->guest_stats;
    memcpy(record->name, birth->name, sizeof(record->name));
    record->spec = birth->spec;
    record->instance = birth->instance;
    record->size_pages = birth->size_pages;
    record->asked_pages = birth->size_pages;
    record->start_ms = run->now_ms;
    record->stop_ms = birth->stop_ms;
    record->last.vm = run->records_n + 1;
    run->records[run->records_n++] = record;
    run->live[run->live_n++] = record->last.vm;
    run->configured_pages += birth->size_pages;
    run->totals.started++;
    return POL_OK;
}

/* Admit by the policy, unless memory has been kept for just this VM. */
static int admit(struct sim_run *run, const struct birth *birth,
                 const struct pol_vm_params *params)
{
    struct sim_record probe = { .spec = birth->spec,
                                .instance = birth->instance };
    const struct sim_event_spec *hold = sim_run_hold_of(run, &probe);

    if (hold != NULL && hold->hold_pages >= params->reservation_pages +
                                                params->overhead_pages) {
        return POL_OK;
    }
    return pol_admit(run->ctx, params, NULL);
}

static bool is_refusal(int rc)
{
    return rc == POL_ERR_MEMORY_SHORT || rc == POL_ERR_SWAP_SHORT ||
           rc == POL_ERR_GROUP_SHORT;
}

static void take_hold(struct sim_run *run, struct sim_record *record)
{
    const struct sim_event_spec *hold = sim_run_hold_of(run, record);
    size_t i;
    int rc;

    if (hold == NULL) {
        return;
    }
    i = (size_t)(hold - run->scenario->events);
    run->hold_of[i] = 0;
    rc = pol_hold_take(run->ctx, i + 1, SIM_HOLD_OWNER, record->last.vm);
    sim_run_tell(run, SIM_NOTICE_EVENT, record, "hold taken", rc);
}

static int start_vm(struct sim_run *run, const struct birth *birth)
{
    struct pol_vm_params params;
    struct sim_record *record;
    uint64_t id = run->records_n + 1;
    int rc;

    policy_params(run, birth, &params);
    rc = admit(run, birth, &params);
    if (rc != POL_OK) {
        if (is_refusal(rc)) {
            refuse(run, birth, rc);
            return POL_OK;
        }
        return rc;
    }
    rc = make_room(run);
    record = rc == POL_OK ? calloc(1, sizeof(*record)) : NULL;
    if (record == NULL) {
        return POL_ERR_NOMEM;
    }
    rc = make_vm(run, birth, id, &record->vm);
    if (rc == POL_OK) {
        rc = pol_vm_add(run->ctx, id, &params);
    }
    if (rc == POL_OK) {
        rc = enter(run, birth, &params, record);
    }
    if (rc != POL_OK) {
        sim_vm_destroy(record->vm);
        free(record);
        if (is_refusal(rc)) {
            refuse(run, birth, rc);
            return POL_OK;
        }
        return rc;
    }
    sim_run_tell(run, SIM_NOTICE_VM_STARTED, record, NULL, POL_OK);
    take_hold(run, record);
    sim_run_faults_of(run, record);
    return POL_OK;
}

static int start_listed(struct sim_run *run, const struct sim_start *start)
{
    const struct sim_vm_spec *spec = &run->scenario->vms[start->spec];
    struct birth birth = { .spec = spec,
                           .workload = &spec->workload,
                           .instance = start->instance,
                           .size_pages = spec->size_pages,
                           .stop_ms = spec->stop_ms };

    if (start->instance == 0) {
        snprintf(birth.name, sizeof(birth.name), "%.48s", spec->name);
    } else {
        snprintf(birth.name, sizeof(birth.name), "%.48s-%u", spec->name,
                 (unsigned)start->instance);
    }
    return start_vm(run, &birth);
}

/* Chosen by the seed and the request's place alone, so that admitting one VM
 * more or less does not change what all later ones do. */
static const struct sim_workload *choose(const struct sim_run *run,
                                         size_t request)
{
    const struct sim_trace_spec *trace = &run->scenario->trace;
    struct sim_rng rng;
    uint64_t total = 0;
    uint64_t ticket;
    size_t i = 0;

    for (size_t k = 0; k < trace->mix_n; k++) {
        total += trace->mix[k].weight;
    }
    sim_rng_init(&rng, run->scenario->seed, STREAM_MIX + request);
    ticket = sim_rng_below(&rng, total);
    while (ticket >= trace->mix[i].weight) {
        ticket -= trace->mix[i++].weight;
    }
    return &trace->mix[i];
}

static int start_request(struct sim_run *run, size_t i)
{
    const struct sim_trace_spec *trace = &run->scenario->trace;
    const struct sim_request *request = &trace->requests[i];
    const struct sim_host_spec *host = &run->scenario->host;
    struct birth birth = { .spec = &trace->vm,
                           .workload = choose(run, i),
                           .stop_ms = request->stop_ms };
    uint64_t kib = host->page_bytes / 1024u;

    birth.size_pages = (request->memory_mib * 1024u + kib - 1) / kib;
    if (trace->overcommit_bp != 0 &&
        run->configured_pages + birth.size_pages >
            host->memory_pages * trace->overcommit_bp / 10000) {
        run->totals.not_asked++;
        return POL_OK;
    }
    snprintf(birth.name, sizeof(birth.name), "request-%zu", i + 1);
    return start_vm(run, &birth);
}

int sim_run_start_vms(struct sim_run *run)
{
    const struct sim_trace_spec *trace = &run->scenario->trace;
    int rc = POL_OK;

    while (rc == POL_OK && run->next_start < run->starts_n &&
           run->starts[run->next_start].at_ms <= run->now_ms) {
        rc = start_listed(run, &run->starts[run->next_start++]);
    }
    while (rc == POL_OK && run->next_request < trace->requests_n &&
           trace->requests[run->next_request].start_ms <= run->now_ms) {
        rc = start_request(run, run->next_request++);
    }
    return rc;
}
