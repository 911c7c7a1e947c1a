/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file scenario.h
 * A scenario: a host, its policy, the VMs on it and what happens to them,
 * read from a YAML file. adapters-esxi-sim/README.md lists every key.
 *
 * A scenario is read whole and checked whole before anything runs. Every
 * error is one line: "file:line: field: what is wrong (accepted: ...)".
 *
 * Threads: no globals; different scenarios are independent.
 */
#ifndef POLICY_ESXI_SIM_SCENARIO_H
#define POLICY_ESXI_SIM_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One line saying what is wrong; empty when nothing is. */
struct sim_error {
    char text[512];
};

/** "Not given"; also "never" for times. */
#define SIM_NONE UINT64_MAX

/** As an amount: "none", i.e. no limit at all. */
#define SIM_NO_LIMIT (POL_MAX_PAGES + 1)

/** An amount of memory: pages, or a part of a VM's configured size. */
struct sim_amount {
    uint64_t pages; /**< used when relative_bp is 0; SIM_NONE: not given */
    uint32_t relative_bp; /**< 1..10000, else 0 */
};

/** How a guest uses its memory. */
enum sim_load_kind {
    SIM_LOAD_IDLE = 0,  /**< hardly touches anything */
    SIM_LOAD_UNIFORM,   /**< every page of the working set equally often */
    SIM_LOAD_ZIPF,      /**< some pages far more often than others */
    SIM_LOAD_SWEEP,     /**< one page after the other, over and over */
    SIM_LOAD_FILE_SCAN, /**< reads files through the guest's cache */
    SIM_LOAD_GROW       /**< takes more and more, up to the footprint */
};
#define SIM_LOAD_KINDS 6

/** What a guest does from `at_ms` on, until the next phase. */
struct sim_load {
    uint64_t at_ms; /**< since the guest has booted */
    enum sim_load_kind kind;
    uint32_t write_bp;             /**< accesses that write */
    uint32_t file_bp;              /**< accesses that go to files */
    uint32_t zipf_bp;              /**< exponent of Zipf's law, 10000: 1 */
    uint32_t cpu_ns;               /**< per access; 0: the host's figure */
    struct sim_amount working_set; /**< memory it cycles over */
    struct sim_amount footprint;   /**< memory the program allocates */
    struct sim_amount files;       /**< file data it reads and writes */
    uint64_t rate;    /**< page accesses per second, 0: as fast as it can */
    uint64_t grow_ms; /**< GROW: time to reach the footprint */

    /* Beside its kind of access. */
    uint32_t file_write_bp;   /**< writes to files; UINT32_MAX: write_bp */
    uint32_t stream_bp;       /**< accesses to a stream of file data */
    uint32_t stream_write_bp; /**< of them that write */
    uint32_t sweep_bp; /**< accesses that sweep what the footprint has beyond
                            the working set */
    struct sim_amount stream; /**< the stream's length */
    uint64_t renew_every;     /**< accesses between a program's end and the next
                               one's; 0: it never ends */
};

/** A list of phases, in order of time. */
struct sim_workload {
    struct sim_load *loads;
    size_t n;
    uint64_t weight; /**< in a mix: how often it is chosen, 1..10^6 */
};

/** What may be done about a VM's balloon. */
enum sim_balloon {
    SIM_BALLOON_YES = 0,
    SIM_BALLOON_NO,    /**< a driver is there, the owner forbids its use */
    SIM_BALLOON_ABSENT /**< no driver in the guest */
};

struct sim_vm_spec {
    char *name;
    uint64_t count; /**< more than 1: names get "-1", "-2" ... */
    uint64_t size_pages;
    uint64_t shares; /**< 0: as many as it has pages */
    struct sim_amount reservation;
    struct sim_amount limit; /**< SIM_NONE: none */
    uint32_t tax_bp;         /**< or POL_TAX_DEFAULT */
    uint64_t group;          /**< id: index in groups + 1; 0: the root */
    uint64_t start_ms;
    uint64_t start_every_ms; /**< count > 1: time between starts */
    uint64_t stop_ms;        /**< SIM_NONE: stays to the end */
    uint64_t overhead_pages; /**< SIM_NONE: what the host section says */
    enum sim_balloon balloon;
    bool may_swap;                 /**< the host may swap it */
    bool may_block;                /**< the host may block it */
    bool pinned;                   /**< memory locked, as with passthrough */
    bool touch_all;                /**< zeroes all its memory while booting */
    bool guest_stats;              /**< the guest tells its statistics */
    bool deflate_on_oom;           /**< the driver gives way before a kill */
    uint32_t image;                /**< guests of equal image share content */
    struct sim_amount image_files; /**< its files: the first of each guest's */
    uint32_t zero_memory_bp;  /**< of what the program allocates: left zero */
    uint32_t image_memory_bp; /**< of it: equal in guests of equal image */
    struct sim_amount guest_swap; /**< the guest's own swap device */
    uint64_t balloon_speed; /**< pages per second; SIM_NONE: engine's own */
    struct sim_amount balloon_max; /**< most the driver takes; SIM_NONE: own */
    uint32_t threads;              /**< accesses under way at once */
    uint64_t build_ms;             /**< being built */
    uint64_t boot_ms;              /**< until the balloon driver is up */
    uint64_t shutdown_ms;          /**< shutting down, when stopped */
    struct sim_workload workload;
    unsigned line;
};

struct sim_group_spec {
    char *name;
    uint64_t parent; /**< id as above */
    uint64_t shares;
    uint64_t reservation_pages;
    uint64_t limit_pages; /**< POL_NO_LIMIT: none */
    uint32_t tax_bp;
    unsigned line;
};

struct sim_host_spec {
    uint64_t memory_pages;
    uint32_t page_bytes;
    uint64_t reserve_pages; /**< the host's own memory */
    uint64_t swap_pages;
    uint64_t overhead_pages; /**< per VM, fixed part */
    uint32_t overhead_bp;    /**< per VM, part of its configured size */
    uint64_t slice_ms;       /**< guests take turns of this */
    uint32_t cpus;
    uint32_t cpu_ns; /**< a page access */
    uint32_t disk_seek_ns;
    bool sharing; /**< the host can share equal pages */
};

/** One VM asked for by a request trace. */
struct sim_request {
    uint64_t start_ms;
    uint64_t stop_ms; /**< SIM_NONE: still there when the trace ends */
    uint64_t memory_mib;
    uint32_t vcpus;
    uint32_t batch;
};

/** VMs drawn from a request trace. */
struct sim_trace_spec {
    char *file;              /**< as it can be opened; NULL: no trace */
    uint64_t from_ms, to_ms; /**< the part of the trace that is used */
    uint64_t take_every;     /**< every n-th request */
    uint32_t overcommit_bp;  /**< ask for VMs until the memory configured is
                                 this part of the host's; 0: no bound */
    uint64_t min_life_ms;    /**< shorter-lived VMs are left out */
    uint64_t max_pages;      /**< larger VMs are left out; SIM_NONE: none is */
    struct sim_vm_spec vm;   /**< what all of them have in common */
    struct sim_workload *mix;
    size_t mix_n;
    struct sim_request *requests; /**< times counted from from_ms */
    size_t requests_n;
};

/** Things that go wrong; the engine has more to say (src/engine.h). */
enum sim_trouble {
    SIM_TROUBLE_BALLOON_STUCK = 0, /**< the balloon stops where it is */
    SIM_TROUBLE_BALLOON_SLOW,      /**< value: speed, in bp of the normal */
    SIM_TROUBLE_DRIVER_ABSENT,     /**< the driver is unloaded */
    SIM_TROUBLE_STATS_FROZEN,      /**< the guest repeats its last figures */
    SIM_TROUBLE_STATS_MISSING,     /**< the guest tells nothing */
    SIM_TROUBLE_STATS_ABSURD,      /**< value: 1 more free than there is, 2
                                     counters run backwards, 3 huge */
    SIM_TROUBLE_FOREIGN_TARGET,    /**< value: balloon somebody else sets */
    SIM_TROUBLE_DIE,               /**< the guest dies */
    SIM_TROUBLE_VM_UNREADABLE,     /**< reading the VM fails */
    SIM_TROUBLE_SLOW_DISK,         /**< value: time in bp of the normal */
    SIM_TROUBLE_MEMORY_LOSS,       /**< value: pages the host loses */
    SIM_TROUBLE_HOST_UNREADABLE    /**< reading the host fails */
};
#define SIM_TROUBLES 12

struct sim_fault_spec {
    uint64_t at_ms, until_ms; /**< SIM_NONE: to the end */
    size_t target;            /**< index in vms; SIZE_MAX: the host */
    uint64_t instance;        /**< of several: 1 to count; 0: all of them */
    enum sim_trouble kind;
    uint64_t value;
    unsigned line;
};

enum sim_event_kind {
    SIM_EVENT_SET_VM = 0,
    SIM_EVENT_SET_GROUP,
    SIM_EVENT_HOLD, /**< keep memory free for a VM that will start */
    SIM_EVENT_PAUSE,
    SIM_EVENT_RESUME,
    SIM_EVENT_REBOOT,
    SIM_EVENT_STOP,
    SIM_EVENT_RELEASE /**< take back control after a foreign target */
};

/** What an event sets; members that are SIM_NONE stay as they are. */
struct sim_changes {
    uint64_t shares;
    struct sim_amount reservation;
    struct sim_amount limit; /**< pages SIM_NO_LIMIT: none */
    uint64_t tax_bp;
};

struct sim_event_spec {
    uint64_t at_ms;
    enum sim_event_kind kind;
    size_t target;     /**< index in vms, for SET_GROUP in groups */
    uint64_t instance; /**< of several: 1 to count; 0: all of them */
    struct sim_changes set;
    uint64_t hold_pages;
    uint64_t until_ms; /**< deadline of a hold */
    bool urgent;
    unsigned line;
};

struct sim_scenario {
    char *file; /**< where it came from */
    char *name;
    uint64_t seed;
    uint64_t duration_ms;
    uint64_t tick_ms;
    struct sim_host_spec host;
    struct pol_config config; /**< complete: capacities, page size, seed */
    struct sim_group_spec *groups;
    size_t groups_n;
    struct sim_vm_spec *vms;
    size_t vms_n;
    struct sim_trace_spec trace;
    struct sim_fault_spec *faults; /**< in order of at_ms */
    size_t faults_n;
    struct sim_event_spec *events; /**< in order of at_ms */
    size_t events_n;
};

/**
 * Read and check a scenario file, and the request trace it names (relative
 * to the scenario's folder).
 * @param out  on success a scenario of the caller's, see sim_scenario_free()
 * @return POL_OK, or POL_ERR_INVALID with *err filled
 */
POL_MUST_USE int sim_scenario_load(const char *path, struct sim_scenario **out,
                                   struct sim_error *err);

/**
 * The same for text in memory.
 * @param name  stands for the file in errors; traces are relative to it.
 *              NULL: a trace section is an error
 */
POL_MUST_USE int sim_scenario_parse(const char *text, size_t bytes,
                                    const char *name, struct sim_scenario **out,
                                    struct sim_error *err);

/**
 * Change a scenario after it was read, as a command line does:
 * "policy.KEY=VALUE" for every key of the section policy, "seed=N",
 * "duration=TIME" (may only become shorter) or "tick=TIME".
 * @return POL_OK, or POL_ERR_INVALID with *err filled; then nothing changed
 */
POL_MUST_USE int sim_scenario_set(struct sim_scenario *scenario,
                                  const char *assignment,
                                  struct sim_error *err);

/** Free it; NULL is allowed. */
void sim_scenario_free(struct sim_scenario *scenario);

/** "uniform" and so on; "?" for other values. */
const char *sim_load_name(int kind);
/** "balloon-stuck" and so on; "?" for other values. */
const char *sim_trouble_name(int kind);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_ESXI_SIM_SCENARIO_H */
