/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of a run; shared by the sim_run*.c files. */
#ifndef SIM_RUN_INT_H
#define SIM_RUN_INT_H

#include "engine.h"
#include "policy-esxi-sim/scenario.h"
#include "policy-esxi-sim/sim_run.h"
#include "sim_ops.h"

/* Whoever holds memory for VMs in a scenario. */
#define SIM_HOLD_OWNER 1u

/* A VM that has ever started; its id is its index + 1. */
struct sim_record {
    char name[SIM_NAME_MAX + 1];
    const struct sim_vm_spec *spec; /* of the trace: what all have in common */
    struct sim_vm *vm;              /* NULL: gone */
    uint64_t instance;
    uint64_t size_pages;
    uint64_t start_ms;
    uint64_t stop_ms;     /* when it shall stop */
    uint64_t asked_pages; /* its balloon's target, to see it move */
    uint64_t moved_up_pages;
    uint64_t moved_down_pages;
    bool stopping;
    struct sim_run_vm last; /* figures, filled when it goes */
};

/* One start that the section vms asks for. */
struct sim_start {
    uint64_t at_ms;
    size_t spec;
    uint64_t instance;
};

struct sim_run {
    const struct sim_scenario *scenario;
    struct sim_host *engine;
    struct sim_adapter adapter;
    void *block; /* the context's memory */
    struct pol_ctx *ctx;
    struct pol_host_loop loop;
    uint64_t now_ms;
    bool begun;

    struct sim_record **records; /* by id - 1 */
    size_t records_n, records_cap;
    uint64_t *live; /* ids, in order of their start */
    size_t live_n, live_cap;
    uint64_t configured_pages; /* of all that live */

    struct sim_start *starts; /* in order of time */
    size_t starts_n, next_start;
    size_t next_request;
    size_t next_event;
    uint8_t *fault_on; /* per fault: 0 to come, 1 on, 2 over */
    uint8_t *hold_of;  /* per event: 1 while its hold waits to be taken */

    struct sim_run_totals totals;
    int last_state;
    sim_run_observer *observer;
    void *user;
    sim_run_decider *decide; /* NULL: libpolicy */
    void *decide_user;
};

/* ---- sim_run_vm.c: VMs come and go ------------------------------------- */

/* The order of the starts that the section vms asks for. */
int sim_run_list_starts(struct sim_run *run);
/* VMs whose time is over, and those that died. */
int sim_run_stop_vms(struct sim_run *run);
int sim_run_start_vms(struct sim_run *run);
/* Begin to shut a VM down. */
int sim_run_stop_vm(struct sim_run *run, struct sim_record *record);

/* ---- sim_run_script.c: faults and events ------------------------------- */

int sim_run_groups(struct sim_run *run);
int sim_run_events(struct sim_run *run);
void sim_run_faults(struct sim_run *run);
/* The faults that are on now, for a VM that has just started. */
void sim_run_faults_of(struct sim_run *run, struct sim_record *record);
/* A hold that waits for this VM, or NULL. */
const struct sim_event_spec *sim_run_hold_of(const struct sim_run *run,
                                             const struct sim_record *record);

/* ---- sim_run_stats.c --------------------------------------------------- */

void sim_run_figures(struct sim_run *run, const struct sim_record *record,
                     struct sim_run_vm *out);
/* A VM is about to go: its counters join the totals. */
void sim_run_add_up(struct sim_run_totals *totals, const struct sim_run_vm *vm);
void sim_run_count_tick(struct sim_run *run);

/* ---- sim_run_decide.c -------------------------------------------------- */

/* What takes the place of pol_host_step() when run->decide is set. */
int sim_run_decide(struct sim_run *run);

/* ---- sim_run.c --------------------------------------------------------- */

void sim_run_tell(struct sim_run *run, enum sim_notice_kind kind,
                  const struct sim_record *record, const char *text, int error);

static inline struct sim_record *sim_run_record_of(const struct sim_run *run,
                                                   uint64_t vm)
{
    return vm == 0 || vm > run->records_n ? NULL : run->records[vm - 1];
}

/* Does the VM belong to this spec (and instance; 0: any)? */
static inline bool sim_run_is(const struct sim_run *run,
                              const struct sim_record *record, size_t spec,
                              uint64_t instance)
{
    return record->spec == &run->scenario->vms[spec] &&
           (instance == 0 || record->instance == instance);
}

#endif /* SIM_RUN_INT_H */
