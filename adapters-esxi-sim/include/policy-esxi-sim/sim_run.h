/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file sim_run.h
 * Running a scenario on the simulated host, tick by tick.
 *
 *   struct sim_scenario *scenario;
 *   struct sim_run *run;
 *   sim_scenario_load(path, &scenario, &err);
 *   sim_run_new(scenario, &run, &err);
 *   while (!sim_run_done(run)) {
 *       sim_run_step(run);
 *       ... sim_run_host(), sim_run_vm() ...
 *   }
 *   sim_run_free(run);
 *   sim_scenario_free(scenario);
 *
 * A run is a pure function of its scenario: two runs of one scenario are the
 * same in every figure. Nothing is printed.
 *
 * Threads: one thread per run; different runs are independent.
 */
#ifndef POLICY_ESXI_SIM_SIM_RUN_H
#define POLICY_ESXI_SIM_SIM_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy-esxi-sim/scenario.h"
#include "policy/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sim_run;
struct sim_host; /**< the engine's host, see src/engine.h */

/**
 * Make a run.
 * @param scenario  borrowed; must outlive the run and not change
 * @return POL_OK, or a negative code with *err filled (no memory, a policy
 *         that pol_ctx_init() refuses)
 */
POL_MUST_USE int sim_run_new(const struct sim_scenario *scenario,
                             struct sim_run **out, struct sim_error *err);

/** Free it; NULL is allowed. */
void sim_run_free(struct sim_run *run);

/**
 * One tick: VMs leave and come, faults and events happen, guests run for the
 * tick, then the policy observes, plans and acts once.
 * @return POL_OK; POL_ERR_HOST when the host could not be read in this tick
 *         (a fault of the scenario: the run goes on); POL_ERR_INVALID when
 *         the run is over; any other code is an internal error
 */
POL_MUST_USE int sim_run_step(struct sim_run *run);

/** Has the scenario's duration passed? */
bool sim_run_done(const struct sim_run *run);

/** Simulated time: the end of the last tick. */
uint64_t sim_run_now_ms(const struct sim_run *run);

/** The policy's context; the caller may read it. Borrowed from the run. */
struct pol_ctx *sim_run_ctx(struct sim_run *run);

/** The simulated host; borrowed from the run. */
struct sim_host *sim_run_engine(struct sim_run *run);

const struct sim_scenario *sim_run_scenario(const struct sim_run *run);

/** What an observer is told. */
enum sim_notice_kind {
    SIM_NOTICE_ACTION = 0, /**< the policy acted: action, done_pages, error */
    SIM_NOTICE_VM_STARTED,
    SIM_NOTICE_VM_REFUSED, /**< error: what pol_admit() said */
    SIM_NOTICE_VM_STOPPED,
    SIM_NOTICE_FAULT, /**< text: what; error: 0 begins, 1 ends */
    SIM_NOTICE_EVENT  /**< text: what; error: its result */
};

struct sim_notice {
    uint64_t now_ms;
    uint64_t vm;         /**< 0: the host, or a refused VM */
    const char *vm_name; /**< NULL: the host; valid during the call */
    const struct pol_action *action; /**< NULL but for actions */
    uint64_t done_pages;
    const char *text; /**< NULL but for faults and events */
    int error;
    enum sim_notice_kind kind;
};

/** Told of everything that happens, in order, from within sim_run_step(). */
typedef void sim_run_observer(void *user, struct sim_run *run,
                              const struct sim_notice *notice);

/** Set the observer; NULL for none. */
void sim_run_observe(struct sim_run *run, sim_run_observer *observer,
                     void *user);

/**
 * Record the policy's trace (trace.h) into a sink.
 * @return as pol_trace_start(); only before the first step
 */
POL_MUST_USE int sim_run_record(struct sim_run *run, pol_trace_sink *sink,
                                void *user);

/**
 * Decides in libpolicy's place, once a tick, by the ops that libpolicy would
 * use; to be told of its actions, a run needs them passed to on_action.
 * @return POL_OK, or what sim_run_step() shall return
 */
typedef int sim_run_decider(void *user, const struct pol_host_ops *ops,
                            void *host, uint64_t now_ms);

/**
 * Let somebody else decide; NULL: libpolicy. Admission stays libpolicy's. Of
 * what the run tells, targets, estimates, reasons and states are then void.
 * @return POL_OK, or POL_ERR_BUSY after the first step
 */
POL_MUST_USE int sim_run_decide_by(struct sim_run *run, sim_run_decider *decide,
                                   void *user);

/** The host, after the last tick. Pages, counters from the beginning. */
struct sim_run_host {
    struct pol_host_status policy; /**< all 0 before the first plan */
    uint64_t total_pages;
    uint64_t free_pages;
    uint64_t swap_used_pages;
    uint64_t configured_pages; /**< sizes of all VMs running */
    uint64_t consumed_pages;
    uint64_t active_pages; /**< really used, by all VMs */
    uint64_t balloon_pages;
    uint64_t swapped_pages;
    uint64_t shared_pages;
    uint64_t vms;
};

void sim_run_host(struct sim_run *run, struct sim_run_host *out);

/** A VM: the nine statistics of ESX and what the policy made of them. Pages;
 *  counters from the VM's start. */
struct sim_run_vm {
    uint64_t vm;
    const char *name; /**< borrowed from the run */
    uint64_t group;   /**< id, 0: the root; see sim_run_group_name() */
    uint64_t size_pages;
    uint64_t start_ms;
    uint64_t stop_ms; /**< SIM_NONE: it is running */

    uint64_t active_pages; /**< really used in the last sampling period */
    uint64_t shared_pages;
    uint64_t consumed_pages;
    uint64_t granted_pages;
    uint64_t overhead_pages;
    uint64_t balloon_pages;
    uint64_t swapped_pages;
    uint64_t swap_in_pages;  /**< counter */
    uint64_t swap_out_pages; /**< counter */

    uint64_t target_pages;         /**< the policy's target */
    uint64_t estimate_pages;       /**< the policy's idea of active_pages */
    uint64_t guest_swapped_pages;  /**< on the guest's own swap device */
    uint64_t guest_swap_in_pages;  /**< counter */
    uint64_t guest_swap_out_pages; /**< counter */
    uint64_t accesses;             /**< done; counter */
    uint64_t accesses_wanted;      /**< counter */
    uint64_t accesses_shed;    /**< given up after waiting a minute; counter */
    uint64_t spent_ns;         /**< what the accesses done took, waiting
                                 included, of all threads; counter */
    uint64_t stall_ms;         /**< waited for memory; counter */
    uint64_t run_ms;           /**< really ran; counter */
    uint64_t oom_kills;        /**< counter */
    uint64_t moved_down_pages; /**< sum of the falls of its target */
    uint64_t moved_up_pages;   /**< sum of the rises of its target */
    uint32_t slowdown_bp;      /**< time lost to memory, part of all its time */
    uint32_t reason;           /**< enum pol_reason of the last decision */
    uint8_t lifecycle;         /**< enum pol_lifecycle */
    uint8_t driver;            /**< enum pol_driver */
    uint8_t blocked;
    uint8_t stuck;
};

/** VMs running now. */
size_t sim_run_vm_count(const struct sim_run *run);

/** The i-th VM running now, in order of their start. The order does not
 *  change while a VM lives. @return POL_OK, POL_ERR_NOTFOUND */
POL_MUST_USE int sim_run_vm_at(struct sim_run *run, size_t i,
                               struct sim_run_vm *out);

/** VMs that have ever started. Their ids are 1 to this number. */
size_t sim_run_vm_ever(const struct sim_run *run);

/** A VM by id, also one that has gone: then its last figures.
 *  @return POL_OK, POL_ERR_NOTFOUND */
POL_MUST_USE int sim_run_vm(struct sim_run *run, uint64_t vm,
                            struct sim_run_vm *out);

/** A VM's name; borrowed from the run; NULL: there was none. */
const char *sim_run_vm_name(const struct sim_run *run, uint64_t vm);

/** The id of the VM of that name; of several, the last to start; 0: none. */
uint64_t sim_run_vm_find(const struct sim_run *run, const char *name);

/** A group's name, "" for the root; NULL: there is none. */
const char *sim_run_group_name(const struct sim_run *run, uint64_t group);

/** How it all went. Pages; counters from the beginning. */
struct sim_run_totals {
    uint64_t ticks;
    uint64_t started;
    uint64_t stopped;
    uint64_t not_asked; /**< requests left out by take, overcommit etc. */
    uint64_t refused;   /**< by admission, of these for want of: */
    uint64_t refused_memory;
    uint64_t refused_swap;
    uint64_t refused_group;
    uint64_t oom_kills; /**< in guests */
    uint64_t deaths;    /**< guests that died of a fault */
    uint64_t swap_in_pages;
    uint64_t swap_out_pages;
    uint64_t guest_swap_in_pages;
    uint64_t guest_swap_out_pages;
    uint64_t moved_down_pages; /**< falls of balloon targets asked for */
    uint64_t moved_up_pages;   /**< rises of balloon targets asked for */
    uint64_t accesses;
    uint64_t stall_ms;           /**< waited for memory, all VMs */
    uint64_t run_ms;             /**< lived, all VMs */
    uint32_t slowdown_bp;        /**< stall_ms as part of run_ms */
    uint32_t peak_overcommit_bp; /**< configured memory, part of the host's */
    uint64_t peak_vms;
    uint64_t actions[POL_ACTION_KINDS]; /**< tried, by kind */
    uint64_t failures;             /**< actions and VM readings that failed */
    uint64_t state_ms[POL_STATES]; /**< time in each state */
    uint64_t state_changes;
    uint64_t min_free_pages; /**< lowest after a tick */
};

void sim_run_totals(struct sim_run *run, struct sim_run_totals *out);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_ESXI_SIM_SIM_RUN_H */
