/* SPDX-License-Identifier: BSD-2-Clause */
/* The run loop. */
#include <stdlib.h>
#include <string.h>

#include "scenario_error.h"
#include "scenario_parts.h"
#include "sim_run_int.h"

void sim_run_tell(struct sim_run *run, enum sim_notice_kind kind,
                  const struct sim_record *record, const char *text, int error)
{
    struct sim_notice notice;

    if (run->observer == NULL) {
        return;
    }
    memset(&notice, 0, sizeof(notice));
    notice.now_ms = run->now_ms;
    notice.kind = kind;
    notice.text = text;
    notice.error = error;
    if (record != NULL) {
        notice.vm_name = record->name;
        notice.vm = record->last.vm;
    }
    run->observer(run->user, run, &notice);
}

/* How far targets move, up and down, is what shows a policy oscillating. */
static void count_move(struct sim_run *run, struct sim_record *record,
                       uint64_t pages)
{
    uint64_t before = record->asked_pages;

    if (pages < before) {
        record->moved_down_pages += before - pages;
        run->totals.moved_down_pages += before - pages;
    } else {
        record->moved_up_pages += pages - before;
        run->totals.moved_up_pages += pages - before;
    }
    record->asked_pages = pages;
}

static void on_action(void *user, const struct pol_action *action,
                      uint64_t done_pages, int error)
{
    struct sim_run *run = user;
    struct sim_record *record = sim_run_record_of(run, action->vm);
    struct sim_notice notice;

    if (action->kind < POL_ACTION_KINDS) {
        run->totals.actions[action->kind]++;
    }
    run->totals.failures += error != POL_OK;
    if (action->kind == POL_ACT_BALLOON && record != NULL && error == POL_OK) {
        count_move(run, record, done_pages);
    }
    if (run->observer == NULL) {
        return;
    }
    memset(&notice, 0, sizeof(notice));
    notice.now_ms = run->now_ms;
    notice.kind = SIM_NOTICE_ACTION;
    notice.action = action;
    notice.done_pages = done_pages;
    notice.error = error;
    notice.vm = action->vm;
    notice.vm_name = record == NULL ? NULL : record->name;
    run->observer(run->user, run, &notice);
}

/* ---- Making and freeing ------------------------------------------------ */

static int make_engine(struct sim_run *run)
{
    const struct sim_host_spec *spec = &run->scenario->host;
    struct sim_host_config config;

    sim_host_config_init(&config);
    config.seed = run->scenario->seed;
    config.page_kib = spec->page_bytes / 1024u;
    config.slice_ms = (uint32_t)spec->slice_ms;
    config.total_pages = spec->memory_pages;
    config.reserved_pages = spec->reserve_pages;
    config.swap_pages = spec->swap_pages;
    config.host_cpus = spec->cpus;
    config.costs.cpu_ns = spec->cpu_ns;
    config.costs.disk_seek_ns = spec->disk_seek_ns;
    return sim_host_new(&config, &run->engine);
}

static int make_ctx(struct sim_run *run)
{
    const struct pol_config *config = &run->scenario->config;
    size_t bytes = 0;
    int rc = pol_ctx_size(config, &bytes);

    if (rc != POL_OK) {
        return rc;
    }
    bytes = (bytes + 63) / 64 * 64;
    run->block = aligned_alloc(64, bytes);
    run->loop.size = sizeof(run->loop);
    run->loop.ops = &sim_host_ops;
    run->loop.host = &run->adapter;
    run->loop.keep_params = 1;
    run->loop.actions_cap = pol_replay_bound(config);
    run->loop.actions =
        calloc(run->loop.actions_cap, sizeof(*run->loop.actions));
    run->loop.sample_pages =
        calloc(config->sample_pages, sizeof(*run->loop.sample_pages));
    if (run->block == NULL || run->loop.actions == NULL ||
        run->loop.sample_pages == NULL) {
        return POL_ERR_NOMEM;
    }
    return pol_ctx_init(run->block, bytes, config, &run->ctx);
}

static int make_parts(struct sim_run *run)
{
    const struct sim_scenario *scenario = run->scenario;
    int rc = make_engine(run);

    if (rc == POL_OK) {
        sim_adapter_init(&run->adapter, run->engine);
        run->adapter.sharing = scenario->host.sharing;
        run->adapter.listener = on_action;
        run->adapter.user = run;
        rc = make_ctx(run);
    }
    if (rc == POL_OK) {
        rc = sim_run_list_starts(run);
    }
    run->fault_on = calloc(scenario->faults_n + 1, 1);
    run->hold_of = calloc(scenario->events_n + 1, 1);
    if (rc == POL_OK && (run->fault_on == NULL || run->hold_of == NULL)) {
        rc = POL_ERR_NOMEM;
    }
    return rc;
}

int sim_run_new(const struct sim_scenario *scenario, struct sim_run **out,
                struct sim_error *err)
{
    struct sim_run *run = calloc(1, sizeof(*run));
    int rc = POL_ERR_NOMEM;

    err->text[0] = '\0';
    if (run != NULL) {
        run->scenario = scenario;
        run->totals.min_free_pages = UINT64_MAX;
        rc = make_parts(run);
    }
    if (rc != POL_OK) {
        (void)sim_fail(err, scenario->file, 0, "", "cannot be run: %s",
                       rc == POL_ERR_NOMEM
                           ? "this computer has too little memory for it"
                           : pol_strerror(rc));
        sim_run_free(run);
        return rc;
    }
    *out = run;
    return POL_OK;
}

void sim_run_free(struct sim_run *run)
{
    if (run == NULL) {
        return;
    }
    for (size_t i = 0; i < run->records_n; i++) {
        free(run->records[i]);
    }
    sim_adapter_clean_up(&run->adapter);
    sim_host_destroy(run->engine);
    free(run->records);
    free(run->live);
    free(run->starts);
    free(run->fault_on);
    free(run->hold_of);
    free(run->loop.actions);
    free(run->loop.sample_pages);
    free(run->block);
    free(run);
}

/* ---- Stepping ---------------------------------------------------------- */

/* Groups, and a first look at the host: admission needs one. */
static int begin(struct sim_run *run)
{
    struct pol_host_obs obs;
    int rc;

    memset(&obs, 0, sizeof(obs));
    obs.size = sizeof(obs);
    obs.caps = POL_CAPS_ALL;
    rc = sim_host_ops.read_host(&run->adapter, &obs);
    if (rc == POL_OK) {
        rc = pol_observe_host(run->ctx, &obs);
    }
    return rc != POL_OK ? rc : sim_run_groups(run);
}

int sim_run_step(struct sim_run *run)
{
    uint64_t left = run->scenario->duration_ms - run->now_ms;
    uint64_t dt = run->scenario->tick_ms;
    int rc = POL_OK;

    if (sim_run_done(run)) {
        return POL_ERR_INVALID;
    }
    if (!run->begun) {
        run->begun = true;
        rc = begin(run);
    }
    if (rc == POL_OK) {
        rc = sim_run_stop_vms(run);
    }
    if (rc == POL_OK) {
        rc = sim_run_events(run);
    }
    if (rc == POL_OK) {
        rc = sim_run_start_vms(run);
    }
    if (rc != POL_OK) {
        return rc;
    }
    sim_run_faults(run);
    dt = dt < left ? dt : left;
    rc = sim_host_step(run->engine, dt);
    run->now_ms += dt;
    if (rc != POL_OK) {
        return rc;
    }
    rc = run->decide == NULL ? pol_host_step(run->ctx, &run->loop)
                             : sim_run_decide(run);
    run->totals.failures += run->loop.vm_failures;
    sim_run_count_tick(run);
    return rc;
}

bool sim_run_done(const struct sim_run *run)
{
    return run->now_ms >= run->scenario->duration_ms;
}

uint64_t sim_run_now_ms(const struct sim_run *run)
{
    return run->now_ms;
}

struct pol_ctx *sim_run_ctx(struct sim_run *run)
{
    return run->ctx;
}

struct sim_host *sim_run_engine(struct sim_run *run)
{
    return run->engine;
}

const struct sim_scenario *sim_run_scenario(const struct sim_run *run)
{
    return run->scenario;
}

void sim_run_observe(struct sim_run *run, sim_run_observer *observer,
                     void *user)
{
    run->observer = observer;
    run->user = user;
}

int sim_run_record(struct sim_run *run, pol_trace_sink *sink, void *user)
{
    return run->begun ? POL_ERR_BUSY : pol_trace_start(run->ctx, sink, user);
}
