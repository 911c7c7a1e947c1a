/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file engine.h
 * The simulated hardware: a host, its hypervisor's mechanisms, and guests with
 * memory managers of their own. There is no policy here: whoever drives the
 * engine decides on balloons, swapping, caps and scan rates.
 *
 * Amounts of memory are pages of one size per host (`page_kib`); times are
 * simulated milliseconds (`_ms`) or nanoseconds (`_ns`) since the host was
 * made; ratios are basis points (`_bp`, 10000 = 100 %). There is no floating
 * point and no clock, and all randomness comes from sim_host_config.seed:
 * equal calls give equal results on every platform.
 *
 * Errors: functions return POL_OK or a negative POL_ERR_* of policy/error.h
 * and have then changed nothing. Running out of the machine's own memory is
 * POL_ERR_NOMEM, never fatal.
 *
 * Threads: a host and its VMs belong to one thread at a time; different hosts
 * are independent. Nothing blocks, prints or calls back.
 *
 * Ownership: sim_host_new() / sim_host_destroy() and sim_vm_new() /
 * sim_vm_destroy() own their memory. A struct sim_vm pointer is valid until
 * sim_vm_destroy() or sim_host_destroy(); a VM that dies (a fault, or
 * sim_vm_shutdown()) stays readable as SIM_LIFE_DEAD until it is destroyed.
 */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/error.h"

struct sim_host;
struct sim_vm;

/** Most pages of a host, of a guest, of a footprint or of a guest's files. */
#define SIM_MAX_PAGES   (UINT64_C(1) << 30)
#define SIM_MAX_VMS     65536u
#define SIM_MAX_PHASES  64u
#define SIM_MAX_RATE    UINT64_C(1000000000)
#define SIM_NAME_MAX    63
#define SIM_MAX_THREADS 4096u
/** Images are numbered 1..SIM_MAX_IMAGE; 0 means content of one's own. */
#define SIM_MAX_IMAGE 250u
/** An image's contents: that many kernel and file pages can be common. */
#define SIM_IMAGE_PAGES (UINT32_C(1) << 24)

/**
 * What things take. One set for all hosts unless a caller changes it. The
 * defaults stand for a server of 2009 with a RAID of fast disks:
 *
 *   a random read takes   disk_seek_ns + page_kib * disk_ns_per_kib
 *   a sequential one      page_kib * disk_ns_per_kib, and a seek for every
 *                         readahead_kib
 *   a page written        page_kib * disk_ns_per_kib, and a seek for every
 *                         write_cluster_kib: the guest's writes are clustered;
 *                         the hypervisor's are too, since it swaps in batches
 *
 * Guest swap-in is sequential when the page follows the last one read, with
 * its own, shorter readahead (Linux's default is 8 pages of 4 KiB). Host
 * swap-in is always random, and so is swapping one page in an emergency.
 */
struct sim_costs {
    uint32_t cpu_ns;          /**< one access with its share of computing,
                                      unless the phase says otherwise */
    uint32_t fault_ns;        /**< entering guest kernel or hypervisor */
    uint32_t zero_ns_per_kib; /**< clearing memory */
    uint32_t copy_ns_per_kib; /**< copy-on-write break */
    uint32_t disk_seek_ns;
    uint32_t disk_ns_per_kib;
    uint32_t readahead_kib;
    uint32_t swap_readahead_kib;
    uint32_t write_cluster_kib;
    uint32_t disk_parallel; /**< requests served at once without delay;
                                      beyond, all of them get slower */
    uint32_t share_scan_ns; /**< host CPU per page scanned; charged to no
                                      VM unless the host's CPUs are all busy */
    uint32_t share_merge_ns;
};

void sim_costs_init(struct sim_costs *costs);

/** A host. sim_host_config_init() gives 4 GiB of 4 KiB pages. */
struct sim_host_config {
    uint64_t seed;
    uint32_t page_kib;          /**< 4..2048, a power of 2 */
    uint32_t slice_ms;          /**< VMs take turns of this; 1..60000. 1000 */
    uint64_t total_pages;       /**< 1..SIM_MAX_PAGES */
    uint64_t reserved_pages;    /**< the host's own; < total_pages */
    uint64_t swap_pages;        /**< hypervisor swap; 0..SIM_MAX_PAGES */
    uint64_t share_pages_per_s; /**< page-sharing scanner; 0: off */
    uint32_t host_cpus;         /**< 1..4096; for scanner costs only. 8 */
    uint32_t stats_ms;          /**< guests report this often; 100..600000.
                                    1000 */
    struct sim_costs costs;
};

void sim_host_config_init(struct sim_host_config *config);

enum sim_phase_kind {
    SIM_IDLE = 0,      /**< a trickle over kernel and working set */
    SIM_UNIFORM = 1,   /**< any page of the working set alike */
    SIM_ZIPF = 2,      /**< rank r of the working set with r^-s */
    SIM_SWEEP = 3,     /**< the working set in order, again and again */
    SIM_FILE_SCAN = 4, /**< the files in order, again and again */
    SIM_GROW = 5       /**< footprint grows linearly to `footprint_pages` over
                            `grow_ms`; uniform over what there is */
};
#define SIM_PHASE_KINDS 6

/** "idle", "uniform", ...; NULL for other values. */
const char *sim_phase_kind_name(enum sim_phase_kind kind);

/**
 * What a VM's program does from start_ms on. On entering a phase the program
 * frees anonymous memory above footprint_pages and fills what is missing as
 * fast as the guest lets it, except in SIM_GROW.
 */
struct sim_phase {
    uint64_t start_ms; /**< after boot; first one 0, then ascending */
    enum sim_phase_kind kind;
    uint32_t write_bp;          /**< accesses that write. 3000 */
    uint32_t file_bp;           /**< accesses to file pages (not FILE_SCAN) */
    uint32_t zipf_bp;           /**< exponent s, 10000 = 1.0; <= 40000 */
    uint32_t cpu_ns;            /**< per access; 0: sim_costs.cpu_ns */
    uint32_t file_write_bp;     /**< accesses to file pages that write;
                                 UINT32_MAX: write_bp */
    uint64_t rate;              /**< accesses per second; 0: as many as time
                                   allows (in SIM_IDLE: 20) */
    uint64_t working_set_pages; /**< <= footprint_pages; 0: all of it */
    uint64_t ws_offset_pages;   /**< where in the footprint it begins */
    uint64_t footprint_pages;   /**< anonymous memory */
    uint64_t file_pages;        /**< file data that is read or written */
    uint64_t grow_ms;           /**< SIM_GROW only; > 0 */

    /* What the program does besides, drawn before all of the above. */
    uint32_t stream_bp;       /**< accesses to the next page of a stream of file
                             data that follows the files: logs, scans,
                             sources read once */
    uint32_t stream_write_bp; /**< of them that write */
    uint64_t stream_pages;    /**< the stream begins again after so many */
    uint32_t sweep_bp; /**< accesses to the next page of the footprint beyond
                            the working set, in order, again and again: a
                            garbage collector's heap */
    uint32_t reserved_0;
    uint64_t renew_every; /**< accesses after which all anonymous memory is
                               freed and taken afresh: a program ends and the
                               next one starts. 0: never */
};

/** Defaults of a phase: idle, no memory, 30 % writes, s = 1. */
void sim_phase_init(struct sim_phase *phase);

/** @return POL_OK, or POL_ERR_RANGE with *field the offender's name (static;
 *  `field` may be NULL). Checks one phase by itself. */
int sim_phase_check(const struct sim_phase *phase, const char **field);

/** A VM. sim_vm_config_init() fills in what follows from size_pages. */
struct sim_vm_config {
    uint64_t id; /**< unique on the host */
    char name[SIM_NAME_MAX + 1];
    uint64_t size_pages;          /**< guest-physical; 16..SIM_MAX_PAGES */
    uint64_t overhead_pages;      /**< host memory beside it. size/128 + 1 */
    uint64_t kernel_pages;        /**< never reclaimed; <= size/2. size/32 */
    uint64_t guest_swap_pages;    /**< the guest's own swap device. size/2 */
    uint64_t balloon_pages_per_s; /**< driver's speed. size/16, at least 1 */
    uint64_t balloon_max_pages;   /**< what the driver holds at most.
                                       65 % of size, as ESX 4 */
    uint32_t image;               /**< VMs of equal image share content. 0 */
    uint32_t build_ms;            /**< SIM_LIFE_BUILDING for this long. 0 */
    uint32_t boot_ms;             /**< driver comes up after this. 30000 */
    uint32_t oom_restart_ms;      /**< program restarts after a kill. 10000 */
    uint64_t image_file_pages;    /**< leading file pages with the image's
                                       content. 0 */
    uint64_t kernel_image_pages;  /**< kernel pages likewise.
                                       kernel_pages/2 when image != 0 */
    uint32_t zero_anon_bp;        /**< of anonymous memory, what the program
                                       takes and leaves zero: 0..10000. 0 */
    uint32_t image_anon_bp;       /**< of it, what every guest of the image
                                       fills with the same, until it is written
                                       again: 0..10000 - zero_anon_bp. 0 */
    bool driver;                  /**< has a balloon driver at all. true */
    bool touch_all_at_boot;       /**< as Windows: zeroes all its memory */
    bool deflate_on_oom;          /**< driver gives way before a kill */
    uint32_t kernel_every;        /**< every n-th access also touches a kernel
                                       page; 0: never. 16 */
    uint32_t threads; /**< accesses under way at once: while one waits for the
                           disk, others go on. 1..SIM_MAX_THREADS. 1 */
};

/** Fill *config with defaults for a guest of this size; id 0, name "". */
void sim_vm_config_init(struct sim_vm_config *config, uint64_t size_pages);

/** @return POL_OK or POL_ERR_RANGE with *field as in sim_phase_check(). */
int sim_vm_config_check(const struct sim_vm_config *config, const char **field);
int sim_host_config_check(const struct sim_host_config *config,
                          const char **field);

/* ---- Host -------------------------------------------------------------- */

/** @return POL_OK, POL_ERR_RANGE, POL_ERR_NOMEM */
int sim_host_new(const struct sim_host_config *config, struct sim_host **out);

/** Also destroys its VMs. NULL is allowed. */
void sim_host_destroy(struct sim_host *host);

/**
 * Let dt_ms pass: VMs run in turns, in order of creation, the first one
 * changing from slice to slice; balloons move; the sharing scanner scans.
 * @return POL_OK, POL_ERR_RANGE (dt_ms > 3,600,000). Needs no memory: what a
 *         program can ever want is set aside when it is given to the VM, and
 *         pages that could be shared stay unshared if the table cannot grow
 */
int sim_host_step(struct sim_host *host, uint64_t dt_ms);

uint64_t sim_host_now_ms(const struct sim_host *host);
const struct sim_host_config *sim_host_config_get(const struct sim_host *host);

struct sim_host_stats {
    uint64_t now_ms;
    uint64_t total_pages; /**< less what was lost */
    uint64_t reserved_pages;
    uint64_t free_pages;     /**< exact */
    uint64_t lost_pages;     /**< taken away by SIM_FAULT_MEMORY_LOSS */
    uint64_t overhead_pages; /**< of all VMs */
    uint64_t used_pages;     /**< distinct frames backing guest memory */
    uint64_t granted_pages;  /**< guest pages backed by them */
    uint64_t shared_pages;   /**< guest pages backed by shared frames */
    uint64_t shared_frames;  /**< those frames; saving is the difference */
    uint64_t swap_total_pages;
    uint64_t swap_free_pages;
    uint64_t swap_in_pages; /**< counters since the start */
    uint64_t swap_out_pages;
    uint64_t emergency_swaps; /**< swapped because a fault found no frame */
    uint64_t stalls;          /**< faults that found neither frame nor swap */
    uint64_t cow_breaks;
    uint64_t pages_merged;
    uint64_t pages_scanned;
    uint64_t share_scan_ns; /**< host CPU spent on it */
    uint64_t accesses;      /**< page accesses of all guests */
    uint64_t disk_busy_ns;  /**< time of all requests */
    uint32_t vms;           /**< that exist, dead ones included */
    uint32_t reserved_0;
};

void sim_host_stats(const struct sim_host *host, struct sim_host_stats *out);

/** Scanner rate; 0 stops it. @return POL_OK, POL_ERR_RANGE (> SIM_MAX_RATE) */
int sim_host_set_share_rate(struct sim_host *host, uint64_t pages_per_s);

/** Walk VMs in order of creation; *cursor 0 at first. NULL at the end. VMs
 *  must not be made or destroyed during a walk. */
struct sim_vm *sim_host_next_vm(const struct sim_host *host, size_t *cursor);

/** NULL if there is none. */
struct sim_vm *sim_host_find_vm(const struct sim_host *host, uint64_t id);

/**
 * Is every frame accounted for: free + backing + overhead + reserved + lost =
 * total, reference counts as the guests' maps say, guests' lists complete,
 * all counters right? For tests; takes time in proportion to memory.
 * @param why  may be NULL; set to a static text when the answer is no
 * @return POL_OK, POL_ERR_CORRUPT, POL_ERR_NOMEM
 */
int sim_host_check(const struct sim_host *host, const char **why);

/** A digest of all statistics: equal runs give equal digests. */
uint64_t sim_host_digest(const struct sim_host *host);

/* ---- VMs --------------------------------------------------------------- */

enum sim_lifecycle {
    SIM_LIFE_BUILDING = 0,
    SIM_LIFE_RUNNING = 1,
    SIM_LIFE_PAUSED = 2,
    SIM_LIFE_REBOOTING = 3, /**< from sim_vm_reset() until it has booted */
    SIM_LIFE_SHUTTING_DOWN = 4,
    SIM_LIFE_DEAD = 5 /**< holds no memory any more */
};

enum sim_driver {
    SIM_DRIVER_ABSENT = 0,
    SIM_DRIVER_BOOTING = 1,
    SIM_DRIVER_PRESENT = 2,
    SIM_DRIVER_STUCK = 3 /**< looks like PRESENT from outside */
};

/**
 * Make a VM with a program; it begins to boot (or to be built) at once.
 * @param phases  n_phases of them, copied; 0: the guest only boots and idles
 * @return POL_OK; POL_ERR_RANGE; POL_ERR_EXISTS (id); POL_ERR_NOMEM;
 *         POL_ERR_MEMORY_SHORT (no free host memory for its overhead)
 */
int sim_vm_new(struct sim_host *host, const struct sim_vm_config *config,
               const struct sim_phase *phases, size_t n_phases,
               struct sim_vm **out);

/** All its frames and swap go back at once. NULL is allowed. */
void sim_vm_destroy(struct sim_vm *vm);

/** Replace the program; it starts with its first phase. If the guest is still
 *  booting, it starts after that. @return POL_OK, POL_ERR_RANGE, POL_ERR_NOMEM,
 *  POL_ERR_BUSY (dead) */
int sim_vm_set_phases(struct sim_vm *vm, const struct sim_phase *phases,
                      size_t n_phases);

uint64_t sim_vm_id(const struct sim_vm *vm);
const char *sim_vm_name(const struct sim_vm *vm);
const struct sim_vm_config *sim_vm_config_get(const struct sim_vm *vm);
struct sim_host *sim_vm_host(const struct sim_vm *vm);

/* Control: what an adapter does on behalf of a policy. All of these give
 * POL_ERR_BUSY for a dead VM. */

/** Ask the driver to hold this many pages; it gets there in its own time, or
 *  never. Clipped to balloon_max_pages. While SIM_FAULT_FOREIGN_TARGET is set,
 *  somebody else's figure wins. @param[out] on_record  the target now; may be
 *  NULL. @return POL_OK, POL_ERR_UNSUPPORTED (no driver) */
int sim_vm_set_balloon(struct sim_vm *vm, uint64_t balloon_pages,
                       uint64_t *on_record);

/** Swap out pages chosen at random, at most what the swap disk can take: it
 *  has tokens for one second (or one step, if longer) of writing. Shared pages
 *  are left alone. @param[out] done  pages really moved */
int sim_vm_swap_out(struct sim_vm *vm, uint64_t pages, uint64_t *done);

/** Bring back swapped pages while there is free memory and disk time. */
int sim_vm_swap_in(struct sim_vm *vm, uint64_t pages, uint64_t *done);

/** Blocked VMs do not run, nor does their balloon driver; work piles up. */
int sim_vm_set_blocked(struct sim_vm *vm, bool blocked);

/** The VM's consumed memory never exceeds `pages`: what is over is swapped out
 *  at once, later faults push out the VM's own pages. UINT64_MAX: no cap. */
int sim_vm_set_hard_cap(struct sim_vm *vm, uint64_t pages);

/** Paused VMs do not run and want no work. @return also POL_ERR_INVALID when
 *  not running (pause) or not paused (resume) */
int sim_vm_pause(struct sim_vm *vm);
int sim_vm_resume(struct sim_vm *vm);

/** Reset: memory, balloon and balloon target are gone; boots again and runs
 *  its program from the start. */
int sim_vm_reset(struct sim_vm *vm);

/** SIM_LIFE_SHUTTING_DOWN for so long, then SIM_LIFE_DEAD. */
int sim_vm_shutdown(struct sim_vm *vm, uint64_t in_ms);

/** Overhead is revisable. @return also POL_ERR_MEMORY_SHORT, POL_ERR_RANGE */
int sim_vm_set_overhead(struct sim_vm *vm, uint64_t pages);

/* Working-set sampling (ESX02 5.3). */

/** Watch these guest-physical pages from now on, forgetting earlier ones. A
 *  page given twice counts once. @return POL_OK, POL_ERR_RANGE (a page >=
 *  size), POL_ERR_NOMEM, POL_ERR_BUSY */
int sim_vm_sample_begin(struct sim_vm *vm, const uint64_t *gfns, size_t n);

/** How many have been touched since, each counted once. */
uint32_t sim_vm_sample_count(const struct sim_vm *vm);

/* Statistics. */

/** Bits of sim_guest_report.valid. */
enum sim_report_valid {
    SIM_REP_MEMORY = 1u << 0,   /**< free, available, total */
    SIM_REP_COUNTERS = 1u << 1, /**< swap, faults, kills */
    SIM_REP_STALL = 1u << 2
};

/** What the guest last said; may be old, absent or absurd (faults). */
struct sim_guest_report {
    uint32_t valid;       /**< 0 until the driver is up */
    uint32_t stall_bp;    /**< time waiting for memory, last 10 s */
    uint64_t at_ms;       /**< when it was said */
    uint64_t total_pages; /**< size less balloon */
    uint64_t free_pages;
    uint64_t available_pages; /**< free and clean cache */
    uint64_t swap_in_pages;   /**< counters since boot */
    uint64_t swap_out_pages;
    uint64_t major_faults;
    uint64_t oom_kills;
};

struct sim_vm_stats {
    /* The nine of ESX09. */
    uint64_t active_pages;   /**< 0: the estimator's to fill in */
    uint64_t shared_pages;   /**< backed by shared frames */
    uint64_t consumed_pages; /**< host memory backing the guest. A frame that
                                    n pages share counts 1/n: exact for zero
                                    pages, averaged over all shared frames of
                                    the VM's image otherwise; rounded down, so
                                    that the sum over VMs is at most the frames
                                    in use and less than 2 per VM below it */
    uint64_t granted_pages;  /**< guest pages backed, shared ones in full */
    uint64_t overhead_pages;
    uint64_t balloon_pages;
    uint64_t swapped_pages; /**< by the host */
    uint64_t swap_in_per_s; /**< host swap, over the last 10 s */
    uint64_t swap_out_per_s;

    /* What the hypervisor knows besides. */
    uint64_t size_pages;
    uint64_t balloon_target_pages; /**< on record, whoever set it */
    uint64_t hard_cap_pages;
    uint64_t swap_in_pages; /**< counters */
    uint64_t swap_out_pages;
    uint64_t run_ms; /**< the VM's own time: runnable, not blocked or
                                    paused; for sampling periods */
    enum sim_lifecycle lifecycle;
    enum sim_driver driver;
    bool blocked;

    struct sim_guest_report guest;

    /* The truth, for judging and reports; no hypervisor could know it. */
    uint64_t true_active_pages; /**< distinct guest pages touched in the last
                                     60 s, exact to 5 s */
    uint64_t guest_free_pages;
    uint64_t guest_cache_pages;
    uint64_t guest_dirty_pages; /**< of the cache */
    uint64_t guest_anon_pages;  /**< resident */
    uint64_t guest_swapped_pages;
    uint64_t guest_swap_in_pages; /**< counters over all boots */
    uint64_t guest_swap_out_pages;
    uint64_t major_faults;
    uint64_t oom_kills;
    uint64_t wasted_swap_reads; /**< host swap-ins of pages that were then
                                     overwritten whole (VSW14) */
    uint64_t double_paging;     /**< host swap-ins only so that the guest could
                                     page out (ESX02 3.1) */
    uint64_t stalls;
    uint64_t work_wanted; /**< accesses the program would have liked; with
                                 rate 0, what would fit without any fault */
    uint64_t work_done;
    uint64_t work_shed;     /**< wanted, given up after a minute's backlog */
    uint64_t ideal_ns;      /**< work done with memory enough */
    uint64_t spent_ns;      /**< what it took */
    uint64_t host_wait_ns;  /**< of it, host swapping and copying */
    uint64_t guest_wait_ns; /**< of it, guest paging, reclaim, file reads */
    uint32_t phase;         /**< index of the present one */
    uint32_t boots;
};

void sim_vm_stats(const struct sim_vm *vm, struct sim_vm_stats *out);

/** Distinct guest pages touched in the last window_ms, rounded up to 5 s, at
 *  most 300 s. */
uint64_t sim_vm_touched_pages(const struct sim_vm *vm, uint64_t window_ms);

/* ---- Faults ------------------------------------------------------------ */

enum sim_fault {
    /* Of a VM; value 0 heals unless said otherwise. */
    SIM_FAULT_BALLOON_STUCK = 0,  /**< 1: the balloon stops where it is */
    SIM_FAULT_BALLOON_SLOW = 1,   /**< speed in bp of the normal; 0: normal */
    SIM_FAULT_DRIVER_ABSENT = 2,  /**< 1: driver unloads, balloon deflates */
    SIM_FAULT_STATS_FROZEN = 3,   /**< 1: no new reports */
    SIM_FAULT_STATS_MISSING = 4,  /**< 1: reports with nothing valid */
    SIM_FAULT_STATS_ABSURD = 5,   /**< 1 free > total; 2 counters run
                                       backwards; 3 huge numbers */
    SIM_FAULT_FOREIGN_TARGET = 6, /**< somebody sets the balloon target to
                                       value - 1 pages, and insists */
    SIM_FAULT_DIE = 7,            /**< dies within the next value ms (> 0) */
    /* Of the host; vm is NULL. */
    SIM_FAULT_SLOW_DISK = 8,  /**< times, in bp: 20000 twice as slow */
    SIM_FAULT_MEMORY_LOSS = 9 /**< pages missing in all; 0 gives them
                                       back. Free ones go at once, the rest as
                                       swapping frees them */
};
#define SIM_FAULTS 10

/** "balloon-stuck", "slow-disk", ...; NULL for other values. */
const char *sim_fault_name(enum sim_fault fault);

/** Does it concern the host as a whole? */
bool sim_fault_is_of_host(enum sim_fault fault);

/** @return POL_OK, POL_ERR_RANGE (value), POL_ERR_INVALID (vm missing, or
 *  given for a fault of the host), POL_ERR_BUSY (dead) */
int sim_fault_set(struct sim_host *host, struct sim_vm *vm,
                  enum sim_fault fault, uint64_t value);

#endif /* SIM_ENGINE_H */
