/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* qsort_r */

#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

static struct record_vm *vm_record(struct record *record, uint64_t vm)
{
    if (vm > record->vms_capacity) {
        size_t capacity = record->vms_capacity * 2;

        capacity = capacity < vm ? vm : capacity;
        record->vms = must_grow(record->vms, capacity, sizeof *record->vms);
        record->vms_capacity = capacity;
    }
    while (record->vms_n < vm) {
        memset(&record->vms[record->vms_n++], 0, sizeof *record->vms);
    }
    return &record->vms[vm - 1];
}

static void add_mark(struct record *record, const struct sim_notice *notice)
{
    const char *name = notice->vm_name;
    struct record_mark *mark;

    if (record->marks_n == RECORD_MARKS) {
        record->marks_left_out++;
        return;
    }
    mark = &record->marks[record->marks_n++];
    mark->now_ms = notice->now_ms;
    mark->text = must_format(
        "%s%s%s%s%s", name == NULL ? "host" : name, ": ",
        notice->kind == SIM_NOTICE_FAULT ? "fault " : "",
        notice->text == NULL ? "" : notice->text,
        notice->kind == SIM_NOTICE_FAULT && notice->error != 0 ? " ends" : "");
}

/* By how much an action changes what it acts on. */
static void measure(struct record *record, struct decision *decision)
{
    const struct pol_action *action = &decision->action;
    struct pol_vm_status status;

    if (action->kind == POL_ACT_SWAP_OUT || action->kind == POL_ACT_SWAP_IN) {
        decision->moved_pages = action->pages;
    } else if (action->kind == POL_ACT_BALLOON &&
               pol_vm_status(sim_run_ctx(record->run), action->vm, &status) ==
                   POL_OK) {
        uint64_t before = status.actual_pages;

        decision->shrinks = action->pages < before;
        decision->moved_pages =
            decision->shrinks ? before - action->pages : action->pages - before;
    }
}

static void add_action(struct record *record, const struct sim_notice *notice)
{
    struct decision *decision;

    if (record->tick_n == record->tick_capacity) {
        record->tick_capacity =
            record->tick_capacity == 0 ? 64 : record->tick_capacity * 2;
        record->tick = must_grow(record->tick, record->tick_capacity,
                                 sizeof *record->tick);
    }
    decision = &record->tick[record->tick_n++];
    memset(decision, 0, sizeof *decision);
    decision->now_ms = notice->now_ms;
    decision->action = *notice->action;
    decision->done_pages = notice->done_pages;
    decision->error = notice->error;
    measure(record, decision);
}

static void observe(void *user, struct sim_run *run,
                    const struct sim_notice *notice)
{
    struct record *record = user;

    (void)run;
    if (!record->detailed) {
        return;
    }
    if (notice->kind == SIM_NOTICE_ACTION) {
        add_action(record, notice);
    } else if (notice->kind == SIM_NOTICE_FAULT ||
               notice->kind == SIM_NOTICE_EVENT) {
        add_mark(record, notice);
    }
}

void record_start(struct record *record, struct sim_run *run, bool detailed)
{
    const struct sim_scenario *scenario = sim_run_scenario(run);

    memset(record, 0, sizeof *record);
    record->run = run;
    record->detailed = detailed;
    record->marks = must_alloc(RECORD_MARKS, sizeof *record->marks);
    series_axis_init(&record->axis, 0, scenario->tick_ms,
                     scenario->duration_ms);
    decisions_init(&record->decisions, scenario->duration_ms);
    sim_run_observe(run, observe, record);
}

static char *explain(struct record *record, const struct decision *decision)
{
    struct pol_ctx *ctx = sim_run_ctx(record->run);
    const char *text = pol_reason_text((int)decision->action.reason);
    const char *state = pol_state_name((int)decision->state);
    struct pol_explanation explanation;
    char sentence[512];

    if (decision->action.vm != 0 &&
        pol_explain(ctx, decision->action.vm, &explanation) == POL_OK &&
        explanation.status.reason == decision->action.reason &&
        pol_explain_text(&explanation, sentence, sizeof sentence) == POL_OK) {
        return must_copy(sentence);
    }
    return must_format("%s because: %s (state %s)",
                       pol_action_name((int)decision->action.kind), text,
                       state);
}

/* The plan's figures are read after the step, when nothing changes them. */
static void keep_decisions(struct record *record, uint32_t state)
{
    for (size_t i = 0; i < record->tick_n; i++) {
        struct decision *decision = &record->tick[i];
        const struct pol_action *action = &decision->action;
        bool repeated = false;
        uint64_t size = 0;

        if (action->vm != 0) {
            struct record_vm *vm = vm_record(record, action->vm);

            repeated = vm->last_kind == action->kind &&
                       vm->last_reason == action->reason;
            size = vm->params.size_pages;
            vm->last_kind = action->kind;
            vm->last_reason = action->reason;
            vm->last_ms = decision->now_ms;
            vm->decisions++;
        }
        record->decisions.seen++;
        decision->state = state;
        decision->weight = decision_weight(decision, size, repeated);
        if (decisions_want(&record->decisions, decision->now_ms,
                           decision->weight)) {
            decision->text = explain(record, decision);
            decisions_add(&record->decisions, decision);
        }
    }
    record->tick_n = 0;
}

static void add_sample(struct record *record, struct series *series,
                       const double *sample, uint32_t fields)
{
    if (series_add(series, &record->axis, sim_run_now_ms(record->run), sample,
                   fields) != 0) {
        fail(STATUS_FAILED, "out of memory");
        exit(STATUS_FAILED);
    }
}

static void sample_vm(struct record *record, const struct sim_run_vm *now)
{
    uint64_t tick_ms = sim_run_scenario(record->run)->tick_ms;
    struct record_vm *vm = vm_record(record, now->vm);
    double sample[VM_FIELDS] = {
        [VM_TARGET] = (double)now->target_pages,
        [VM_CONSUMED] = (double)now->consumed_pages,
        [VM_ACTIVE] = (double)now->active_pages,
        [VM_ESTIMATE] = (double)now->estimate_pages,
        [VM_ACTUAL] = (double)(now->size_pages - now->balloon_pages),
        [VM_SWAPPED] = (double)now->swapped_pages,
    };

    /* Leaves the last known parameters when the policy does not know it. */
    if (pol_vm_get(sim_run_ctx(record->run), now->vm, &vm->params) != POL_OK) {
        vm->params.size_pages = now->size_pages;
    }
    vm->consumed_sum += (double)now->consumed_pages * (double)tick_ms;
    if (record->detailed) {
        add_sample(record, &vm->series, sample, VM_FIELDS);
    }
}

static void sample_host(struct record *record, const struct sim_run_host *now)
{
    double sample[HOST_FIELDS] = {
        [HOST_FREE] = (double)now->free_pages,
        [HOST_STATE] = (double)now->policy.state,
        [HOST_CONSUMED] = (double)now->consumed_pages,
        [HOST_ACTIVE] = (double)now->active_pages,
        [HOST_BALLOON] = (double)now->balloon_pages,
        [HOST_SWAPPED] = (double)now->swapped_pages,
        [HOST_VMS] = (double)now->vms,
    };

    add_sample(record, &record->host, sample, HOST_FIELDS);
}

static void make_room(struct record *record)
{
    while (series_axis_full(&record->axis, sim_run_now_ms(record->run))) {
        series_axis_double(&record->axis);
        series_halve(&record->host);
        for (size_t i = 0; i < record->vms_n; i++) {
            series_halve(&record->vms[i].series);
        }
    }
}

void record_tick(struct record *record)
{
    size_t count = sim_run_vm_count(record->run);
    struct sim_run_host host;
    struct sim_run_vm vm;

    if (sim_run_vm_ever(record->run) > 0) {
        vm_record(record, sim_run_vm_ever(record->run));
    }
    make_room(record);
    for (size_t i = 0; i < count; i++) {
        if (sim_run_vm_at(record->run, i, &vm) == POL_OK) {
            sample_vm(record, &vm);
        }
    }
    if (record->detailed) {
        sim_run_host(record->run, &host);
        sample_host(record, &host);
        keep_decisions(record, host.policy.state);
    }
}

void record_finish(struct record *record)
{
    decisions_finish(&record->decisions);
    sim_run_observe(record->run, NULL, NULL);
}

void record_clear(struct record *record)
{
    for (size_t i = 0; i < record->vms_n; i++) {
        series_clear(&record->vms[i].series);
    }
    for (size_t i = 0; i < record->marks_n; i++) {
        free(record->marks[i].text);
    }
    series_clear(&record->host);
    decisions_clear(&record->decisions);
    free(record->vms);
    free(record->tick);
    free(record->marks);
    memset(record, 0, sizeof *record);
}

static int by_consumed(const void *left, const void *right, void *user)
{
    const struct record *record = user;
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    double x = record->vms[a - 1].consumed_sum;
    double y = record->vms[b - 1].consumed_sum;

    if (x != y) {
        return x > y ? -1 : 1;
    }
    return a < b ? -1 : a > b;
}

uint64_t *record_rank(const struct record *record)
{
    uint64_t *ids = must_alloc(record->vms_n, sizeof *ids);

    for (size_t i = 0; i < record->vms_n; i++) {
        ids[i] = i + 1;
    }
    qsort_r(ids, record->vms_n, sizeof *ids, by_consumed, (void *)record);
    return ids;
}
