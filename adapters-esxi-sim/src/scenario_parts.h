/* SPDX-License-Identifier: BSD-2-Clause */
/* The sections of a scenario, one reader each; used by scenario.c only. */
#ifndef SIM_SCENARIO_PARTS_H
#define SIM_SCENARIO_PARTS_H

#include "engine.h"
#include "policy-esxi-sim/scenario.h"
#include "scenario_field.h"

#define SIM_NAME_BYTES 48u /* of a VM's or group's name, without "-1" */
#define SIM_MAX_TIME   UINT64_C(31536000000) /* a year */
#define SIM_MAX_LIST   10000u /* VMs, groups, faults, events of a scenario */

#define SIM_COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Section host, into scenario->host. Sets rd->page_bytes. */
int sim_host_section(struct sim_reading *rd, const struct sim_node *map,
                     struct sim_scenario *scenario);

/* Section policy, onto what *config holds already. */
int sim_policy_section(struct sim_reading *rd, const struct sim_node *map,
                       struct pol_config *config);

/* List groups; also checks parents, cycles and depth. */
int sim_groups_section(struct sim_reading *rd, const struct sim_node *list,
                       struct sim_scenario *scenario);

/* List vms. Groups must have been read. */
int sim_vms_section(struct sim_reading *rd, const struct sim_node *list,
                    struct sim_scenario *scenario);

/* The keys that VMs of a trace have in common. */
int sim_vm_template(struct sim_reading *rd, const struct sim_node *map,
                    const struct sim_scenario *scenario,
                    struct sim_vm_spec *vm);

/* A VM's defaults, to be read onto. */
void sim_vm_spec_init(struct sim_vm_spec *vm);

/* A list of phases, or one, into *workload. */
int sim_workload_read(struct sim_reading *rd, const struct sim_node *node,
                      struct sim_workload *workload);
void sim_workload_free(struct sim_workload *workload);

/* Check the phases against a VM's size. @param line  of the workload */
int sim_workload_check(struct sim_reading *rd, unsigned line,
                       const struct sim_workload *workload,
                       uint64_t size_pages);

/* Section trace, and the file it names. */
int sim_trace_section(struct sim_reading *rd, const struct sim_node *map,
                      struct sim_scenario *scenario);

/* Most VMs of the trace that can exist at a time. */
uint64_t sim_trace_peak(const struct sim_scenario *scenario);

int sim_faults_section(struct sim_reading *rd, const struct sim_node *list,
                       struct sim_scenario *scenario);
int sim_events_section(struct sim_reading *rd, const struct sim_node *list,
                       struct sim_scenario *scenario);

/* Pages of an amount for a VM of this size; `otherwise` when not given. */
uint64_t sim_amount_pages(struct sim_amount amount, uint64_t size_pages,
                          uint64_t otherwise);

/* May a VM of this size have these? Checks reservation against limit. */
int sim_bounds_check(struct sim_reading *rd, unsigned line, uint64_t size_pages,
                     struct sim_amount reservation, struct sim_amount limit);

/* The group's id by its name: 0 is the root, SIM_NONE: there is none. */
uint64_t sim_group_id(const struct sim_scenario *scenario, const char *name);

#endif /* SIM_SCENARIO_PARTS_H */
