/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The adapter proper: the ops table by which the policy sees and steers a
 * simulated host. It needs an engine's host and the list of VMs that the
 * policy may know about; it decides nothing.
 */
#ifndef SIM_OPS_H
#define SIM_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "policy/policy.h"

/* A VM as the adapter knows it. */
struct sim_slot {
    struct sim_vm *vm; /* NULL: no such VM (any more) */
    struct pol_vm_params params;
    bool pinned;
    bool guest_stats; /* the guest's figures are passed on */
    bool unreadable;  /* reading fails, by a fault of the scenario */
};

/* Told of every action; see pol_host_ops.on_action. */
typedef void sim_action_listener(void *user, const struct pol_action *action,
                                 uint64_t done_pages, int error);

struct sim_adapter {
    struct sim_host *engine;
    struct sim_slot *slots; /* by id; ids are small numbers */
    size_t slots_n;
    bool sharing;    /* the host can share pages */
    bool unreadable; /* reading the host fails */
    sim_action_listener *listener;
    void *user;
};

/* The ops; their host argument is a struct sim_adapter. */
extern const struct pol_host_ops sim_host_ops;

/* engine stays the caller's. */
void sim_adapter_init(struct sim_adapter *adapter, struct sim_host *engine);
void sim_adapter_clean_up(struct sim_adapter *adapter);

/* Make a VM known. Its id is the engine's and below 2^24.
 * @param out  the slot, for the flags; valid until the next call
 * @return POL_OK, POL_ERR_RANGE, POL_ERR_EXISTS, POL_ERR_NOMEM */
int sim_adapter_add(struct sim_adapter *adapter, struct sim_vm *vm,
                    const struct pol_vm_params *params, struct sim_slot **out);

/* Forget a VM; before the engine destroys it. */
void sim_adapter_remove(struct sim_adapter *adapter, uint64_t vm);

/* NULL if there is none. */
struct sim_slot *sim_adapter_slot(struct sim_adapter *adapter, uint64_t vm);

/* What the policy calls the engine's state of a VM. */
uint8_t sim_lifecycle_of(const struct sim_vm_stats *stats, bool pinned);
uint8_t sim_driver_of(const struct sim_vm_stats *stats);

#endif /* SIM_OPS_H */
