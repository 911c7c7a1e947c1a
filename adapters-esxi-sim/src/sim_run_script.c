/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults and events of a scenario, as they come due. */
#include <string.h>

#include "scenario_parts.h"
#include "sim_run_int.h"

/* ---- Groups ------------------------------------------------------------ */

static void group_params(const struct sim_group_spec *spec,
                         struct pol_group_params *params)
{
    pol_group_params_init(params);
    params->parent = spec->parent;
    params->shares = spec->shares;
    params->reservation_pages = spec->reservation_pages;
    params->limit_pages = spec->limit_pages;
    params->tax_bp = spec->tax_bp;
}

/* Parents first, whatever the order in the file. */
int sim_run_groups(struct sim_run *run)
{
    const struct sim_scenario *scenario = run->scenario;
    struct pol_group_params params;
    size_t added = 0;

    for (unsigned round = 0; round <= POL_MAX_DEPTH; round++) {
        for (size_t i = 0; i < scenario->groups_n; i++) {
            struct pol_group_params known;
            int rc;

            if (pol_group_get(run->ctx, i + 1, &known) == POL_OK) {
                continue;
            }
            group_params(&scenario->groups[i], &params);
            rc = pol_group_add(run->ctx, i + 1, &params);
            added += rc == POL_OK;
            if (rc != POL_OK && rc != POL_ERR_NOTFOUND) {
                return rc;
            }
        }
    }
    return added == scenario->groups_n ? POL_OK : POL_ERR_INVALID;
}

/* ---- Faults ------------------------------------------------------------ */

/* What the engine calls a fault; the two it does not know are the adapter's. */
static enum sim_fault engine_fault(enum sim_trouble kind)
{
    static const enum sim_fault faults[SIM_TROUBLES] = {
        [SIM_TROUBLE_BALLOON_STUCK] = SIM_FAULT_BALLOON_STUCK,
        [SIM_TROUBLE_BALLOON_SLOW] = SIM_FAULT_BALLOON_SLOW,
        [SIM_TROUBLE_DRIVER_ABSENT] = SIM_FAULT_DRIVER_ABSENT,
        [SIM_TROUBLE_STATS_FROZEN] = SIM_FAULT_STATS_FROZEN,
        [SIM_TROUBLE_STATS_MISSING] = SIM_FAULT_STATS_MISSING,
        [SIM_TROUBLE_STATS_ABSURD] = SIM_FAULT_STATS_ABSURD,
        [SIM_TROUBLE_FOREIGN_TARGET] = SIM_FAULT_FOREIGN_TARGET,
        [SIM_TROUBLE_DIE] = SIM_FAULT_DIE,
        [SIM_TROUBLE_SLOW_DISK] = SIM_FAULT_SLOW_DISK,
        [SIM_TROUBLE_MEMORY_LOSS] = SIM_FAULT_MEMORY_LOSS,
    };

    return faults[kind];
}

static uint64_t engine_value(const struct sim_run *run,
                             const struct sim_fault_spec *fault, bool on)
{
    if (!on) {
        return 0;
    }
    if (fault->kind == SIM_TROUBLE_FOREIGN_TARGET) {
        return fault->value + 1;
    }
    if (fault->kind == SIM_TROUBLE_DIE) {
        return run->scenario->tick_ms;
    }
    return fault->value;
}

static int host_fault(struct sim_run *run, const struct sim_fault_spec *fault,
                      bool on)
{
    if (fault->kind == SIM_TROUBLE_HOST_UNREADABLE) {
        run->adapter.unreadable = on;
        return POL_OK;
    }
    return sim_fault_set(run->engine, NULL, engine_fault(fault->kind),
                         engine_value(run, fault, on));
}

static int vm_fault(struct sim_run *run, const struct sim_fault_spec *fault,
                    struct sim_record *record, bool on)
{
    struct sim_slot *slot = sim_adapter_slot(&run->adapter, record->last.vm);

    if (fault->kind == SIM_TROUBLE_VM_UNREADABLE) {
        if (slot != NULL) {
            slot->unreadable = on;
        }
        return POL_OK;
    }
    if (fault->kind == SIM_TROUBLE_DIE && !on) {
        return POL_OK;
    }
    return sim_fault_set(run->engine, record->vm, engine_fault(fault->kind),
                         engine_value(run, fault, on));
}

/* Begin or end a fault. A VM that cannot have it (it is dead) has it worse. */
static void turn(struct sim_run *run, const struct sim_fault_spec *fault,
                 bool on)
{
    const char *text = sim_trouble_name((int)fault->kind);

    if (fault->target == SIZE_MAX) {
        (void)host_fault(run, fault, on);
        sim_run_tell(run, SIM_NOTICE_FAULT, NULL, text, !on);
        return;
    }
    for (size_t i = 0; i < run->live_n; i++) {
        struct sim_record *record = sim_run_record_of(run, run->live[i]);

        if (sim_run_is(run, record, fault->target, fault->instance)) {
            (void)vm_fault(run, fault, record, on);
            sim_run_tell(run, SIM_NOTICE_FAULT, record, text, !on);
        }
    }
}

void sim_run_faults(struct sim_run *run)
{
    for (size_t i = 0; i < run->scenario->faults_n; i++) {
        const struct sim_fault_spec *fault = &run->scenario->faults[i];

        if (run->fault_on[i] == 0 && fault->at_ms <= run->now_ms) {
            run->fault_on[i] = 1;
            turn(run, fault, true);
        }
        if (run->fault_on[i] == 1 && fault->until_ms <= run->now_ms) {
            run->fault_on[i] = 2;
            turn(run, fault, false);
        }
    }
}

void sim_run_faults_of(struct sim_run *run, struct sim_record *record)
{
    for (size_t i = 0; i < run->scenario->faults_n; i++) {
        const struct sim_fault_spec *fault = &run->scenario->faults[i];

        if (run->fault_on[i] == 1 && fault->target != SIZE_MAX &&
            sim_run_is(run, record, fault->target, fault->instance)) {
            (void)vm_fault(run, fault, record, true);
        }
    }
}

/* ---- Events ------------------------------------------------------------ */

static int set_vm(struct sim_run *run, const struct sim_record *record,
                  const struct sim_changes *set)
{
    struct sim_slot *slot = sim_adapter_slot(&run->adapter, record->last.vm);
    struct pol_vm_params params;
    uint64_t limit;
    int rc = pol_vm_get(run->ctx, record->last.vm, &params);

    if (rc != POL_OK || slot == NULL) {
        return rc;
    }
    params.shares = set->shares != SIM_NONE ? set->shares : params.shares;
    params.tax_bp =
        set->tax_bp != SIM_NONE ? (uint32_t)set->tax_bp : params.tax_bp;
    params.reservation_pages = sim_amount_pages(
        set->reservation, params.size_pages, params.reservation_pages);
    limit = sim_amount_pages(set->limit, params.size_pages, params.limit_pages);
    params.limit_pages = limit == SIM_NO_LIMIT ? POL_NO_LIMIT : limit;
    rc = pol_vm_set(run->ctx, record->last.vm, &params);
    if (rc == POL_OK) {
        slot->params = params;
    }
    return rc;
}

static int set_group(struct sim_run *run, uint64_t id,
                     const struct sim_changes *set)
{
    struct pol_group_params params;
    int rc = pol_group_get(run->ctx, id, &params);

    if (rc != POL_OK) {
        return rc;
    }
    params.shares = set->shares != SIM_NONE ? set->shares : params.shares;
    params.tax_bp =
        set->tax_bp != SIM_NONE ? (uint32_t)set->tax_bp : params.tax_bp;
    if (set->reservation.pages != SIM_NONE) {
        params.reservation_pages = set->reservation.pages;
    }
    if (set->limit.pages != SIM_NONE) {
        params.limit_pages =
            set->limit.pages == SIM_NO_LIMIT ? POL_NO_LIMIT : set->limit.pages;
    }
    return pol_group_set(run->ctx, id, &params);
}

static int do_to_vm(struct sim_run *run, const struct sim_event_spec *event,
                    struct sim_record *record)
{
    switch (event->kind) {
    case SIM_EVENT_SET_VM:
        return set_vm(run, record, &event->set);
    case SIM_EVENT_PAUSE:
        return sim_vm_pause(record->vm);
    case SIM_EVENT_RESUME:
        return sim_vm_resume(record->vm);
    case SIM_EVENT_REBOOT:
        record->asked_pages = record->size_pages;
        return sim_vm_reset(record->vm);
    case SIM_EVENT_RELEASE:
        return pol_vm_release(run->ctx, record->last.vm);
    default:
        return sim_run_stop_vm(run, record);
    }
}

static const char *const event_texts[] = {
    "set", "set", "hold", "pause", "resume", "reboot", "stop", "release"
};

static void to_vms(struct sim_run *run, const struct sim_event_spec *event)
{
    for (size_t i = 0; i < run->live_n; i++) {
        struct sim_record *record = sim_run_record_of(run, run->live[i]);

        if (sim_run_is(run, record, event->target, event->instance)) {
            sim_run_tell(run, SIM_NOTICE_EVENT, record,
                         event_texts[event->kind],
                         do_to_vm(run, event, record));
        }
    }
}

/* Events that cannot be carried out are told, and the run goes on. */
int sim_run_events(struct sim_run *run)
{
    const struct sim_scenario *scenario = run->scenario;

    while (run->next_event < scenario->events_n &&
           scenario->events[run->next_event].at_ms <= run->now_ms) {
        size_t i = run->next_event++;
        const struct sim_event_spec *event = &scenario->events[i];
        int rc;

        if (event->kind == SIM_EVENT_HOLD) {
            rc = pol_hold_add(run->ctx, i + 1, SIM_HOLD_OWNER,
                              event->hold_pages, event->until_ms,
                              event->urgent ? POL_HOLD_URGENT : 0u);
            run->hold_of[i] = rc == POL_OK;
            sim_run_tell(run, SIM_NOTICE_EVENT, NULL, "hold", rc);
        } else if (event->kind == SIM_EVENT_SET_GROUP) {
            rc = set_group(run, event->target + 1, &event->set);
            sim_run_tell(run, SIM_NOTICE_EVENT, NULL, "set group", rc);
        } else {
            to_vms(run, event);
        }
    }
    return POL_OK;
}

const struct sim_event_spec *sim_run_hold_of(const struct sim_run *run,
                                             const struct sim_record *record)
{
    for (size_t i = 0; i < run->next_event; i++) {
        const struct sim_event_spec *event = &run->scenario->events[i];

        if (run->hold_of[i] != 0 && event->until_ms > run->now_ms &&
            sim_run_is(run, record, event->target, event->instance)) {
            return event;
        }
    }
    return NULL;
}
