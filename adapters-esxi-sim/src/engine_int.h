/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file engine_int.h
 * What the engine's own files share. Three layers, each using the ones above
 * it only through the functions declared here:
 *
 *   host_*      frames, hypervisor swap, page sharing: knows guest-physical
 *               pages (gfn) but not what the guest does with them
 *   guest*      the guest's memory manager and balloon driver
 *   workload*   the program in the guest and the loop that lets it run
 *
 * Functions that only these files call begin with simx_.
 */
#ifndef SIM_ENGINE_INT_H
#define SIM_ENGINE_INT_H

#include "engine.h"
#include "policy/share.h"
#include "rng.h"

#define NIL UINT32_MAX

/* struct page.frame: else a frame's number, from 1. */
#define FRAME_NONE    0u
#define FRAME_SWAPPED UINT32_MAX

/* struct page.content: else image << 24 | index within the image. */
#define CONTENT_ZERO    0u
#define CONTENT_PRIVATE UINT32_MAX
/* Where the contents of an image begin, by the page's number. */
#define FILE_CONTENT   0u
#define KERNEL_CONTENT (SIM_IMAGE_PAGES / 2)
#define ANON_CONTENT   (SIM_IMAGE_PAGES / 4 * 3)

/* struct page.hflags, the hypervisor's. */
#define HF_SAMPLED 0x01u /* not touched since sampling began */
#define HF_SHARED  0x02u /* frame is shared: copy before write */

/* struct page.gflags, the guest's: one of the states, perhaps dirty. */
enum guest_page_state {
    GP_FRESH = 0, /* never allocated; in no list */
    GP_FREE,
    GP_KERNEL,
    GP_ANON,
    GP_FILE,
    GP_BALLOON
};
#define GP_STATE 0x07u
#define GP_DIRTY 0x08u /* a file page that differs from the disk */

/**
 * A guest-physical page. All zero is a page never used, so that a big guest
 * costs nothing until it runs. prev and next serve whichever list the page's
 * state puts it in: free and balloon are stacks, anon and file are in LRU
 * order.
 */
struct page {
    uint32_t frame;
    uint32_t content;
    uint32_t prev;
    uint32_t next;
    uint32_t rmap;  /* page of the anonymous memory or of the files */
    uint16_t epoch; /* of the last touch, see TOUCH_* */
    uint8_t hflags;
    uint8_t gflags;
};
_Static_assert(sizeof(struct page) == 24, "the memory budget of a guest");

/* Entries of sim_vm.anon_map and file_map: 0 is a page not there. */
#define MAP_PRESENT 0x40000000u /* with the gfn below it */
#define MAP_SWAPPED 0x80000000u /* in the guest's swap; anon_map only */
#define MAP_GFN     0x3fffffffu

/* Touches are dated in epochs, so that a window's distinct pages are the sum
 * of a few counters. Epochs wrap after 91 hours. */
#define TOUCH_EPOCH_MS 5000u
#define TOUCH_EPOCHS   64u

/* Private resident pages are counted per block and per superblock, which
 * finds the k-th of them quickly when most of the guest is not resident. */
#define BLOCK_SHIFT  9u
#define SBLOCK_SHIFT 18u

#define OP_RING 32u /* accesses drawn ahead, for prefetching; power of 2 */
enum op_flag {
    OP_WRITE = 1u << 0,
    OP_FILE = 1u << 1,
    OP_KERNEL = 1u << 2,
    OP_FILL = 1u << 3, /* first touch of new memory: no work by itself */
    OP_SEQ = 1u << 4
};
struct op {
    uint32_t page;
    uint32_t flags;
};

struct zipf;

/* LRU list: head is the page touched last. */
struct lru {
    uint32_t head;
    uint32_t tail;
    uint64_t n;
};

/* Counters at some time past, for rates. */
struct window {
    uint64_t at_ms;
    uint64_t swap_in;
    uint64_t swap_out;
    uint64_t psi_ns;
};
#define WINDOWS   3
#define WINDOW_MS 5000u

struct sim_vm {
    struct sim_host *host;
    struct sim_vm_config cfg;
    uint32_t slot; /* index in host->slots */

    /* Host side. */
    struct page *pages;
    uint16_t *block; /* private resident pages per block */
    uint32_t *sblock;
    uint64_t private_pages; /* resident, frame not shared */
    uint64_t zero_refs;     /* backed by the shared zero frame */
    uint64_t image_refs;    /* backed by shared frames of the image */
    uint64_t swapped;
    uint64_t swap_in, swap_out, wasted_reads, double_paging, stalls;
    uint64_t hard_cap;
    uint32_t overhead_head; /* chain of frames */
    uint64_t overhead;
    uint32_t swap_cursor; /* where sim_vm_swap_in() goes on */
    uint16_t epoch;       /* present one */
    uint32_t touched[TOUCH_EPOCHS];
    uint32_t sample_hits;
    uint32_t sample_n;
    uint32_t *sample; /* pages with HF_SAMPLED, perhaps */
    size_t sample_cap;

    /* Guest side. */
    uint32_t fresh; /* gfns from here on are GP_FRESH */
    uint32_t free_head;
    uint64_t free_n; /* in the list; fresh ones are free as well */
    uint32_t balloon_head;
    uint64_t balloon;
    uint64_t balloon_target;
    uint64_t balloon_carry;
    struct lru anon;
    struct lru file;
    uint64_t file_dirty;
    uint64_t low_pages; /* reclaim when free is at or below it */
    uint64_t batch_pages;
    uint32_t *anon_map;
    uint32_t *file_map;
    uint64_t anon_cap, file_cap;
    uint64_t gswap_used;
    uint32_t gswap_last; /* anon page read last: readahead */
    uint64_t flush_cursor;
    uint64_t gswap_in, gswap_out, major_faults, oom_kills;
    uint64_t boot_gswap_in, boot_gswap_out, boot_faults, boot_kills;

    /* Program. */
    struct sim_phase *phases;
    size_t n_phases;
    size_t phase; /* n_phases: none yet */
    uint64_t phase_start_ms;
    uint64_t program_start_ms;
    uint64_t restart_ms; /* after an OOM kill; 0: running */
    uint64_t fill_next, fill_target, grow_from;
    uint64_t anon_used; /* anon_map is empty from here on */
    uint64_t cursor;    /* of sweeps and scans */
    uint64_t backlog;   /* accesses wanted, not done */
    uint64_t rate_carry;
    uint32_t kernel_count;
    uint32_t write_cut, file_cut; /* of 2^16 */
    uint32_t file_write_cut, stream_cut, stream_write_cut;
    uint32_t mixed_cut; /* streams, then sweeps up to here */
    uint64_t stream_at, sweep_at;
    uint64_t renew_left; /* accesses to the program's end; 0: none */
    uint32_t cpu_ns;
    uint64_t ws_pages, ws_offset;
    struct zipf *zipf, *zipf_file; /* NULL unless a phase needs them */
    struct op ops[OP_RING];
    uint32_t op_head, op_n;
    struct sim_rng rng;

    /* Life. */
    enum sim_lifecycle life;
    enum sim_lifecycle life_before_pause;
    bool blocked, booted;
    uint64_t life_ms; /* when building or shutting down ends */
    uint64_t boot_left_ms;
    uint64_t boot_done; /* pages touched while booting */
    uint32_t boots;
    uint64_t die_ms; /* 0: not going to */
    uint64_t fault[SIM_FAULTS];

    /* Time. */
    int64_t budget_ns; /* left of this slice; debt when negative */
    uint64_t run_ms;
    uint64_t work_wanted, work_done, work_shed;
    uint64_t ideal_ns, spent_ns, host_wait_ns, guest_wait_ns;
    uint64_t psi_ns;
    struct window win[WINDOWS];
    uint64_t report_ms; /* when the next one is due */
    struct sim_guest_report report;
};

struct image_use {
    uint64_t frames;
    uint64_t refs;
};

/* Costs worked out for the host's page size and today's disk. */
struct sim_derived {
    uint64_t zero_ns, copy_ns;
    uint64_t read_rand_ns, read_seq_ns, swap_seq_ns, write_ns, write_rand_ns;
};

struct sim_host {
    struct sim_host_config cfg;
    uint64_t now_ms;

    /* Frames: number of references when in use, next in chain otherwise. */
    uint32_t *frame;
    uint32_t frames_n;    /* numbered 1..frames_n */
    uint32_t frame_fresh; /* from here on never used */
    uint32_t free_head;
    uint64_t free_n; /* in chain and fresh */
    uint32_t reserved_head;
    uint32_t lost_head;
    uint64_t lost, lost_target;
    uint64_t swap_used;
    uint64_t swap_tokens_ns; /* disk time for swapping by request */

    /* Sharing. */
    struct pol_share *share;
    struct pol_share_config share_cfg;
    void *share_block;
    size_t share_bytes;
    uint32_t share_look; /* pages until the table is looked at for room */
    uint64_t zero_refs;  /* of the zero frame, if shared */
    struct image_use image[SIM_MAX_IMAGE + 1];

    struct sim_derived cost; /* today's */
    struct sim_derived base; /* with an idle, healthy disk */
    uint64_t slow_disk_bp;
    uint64_t queue_bp; /* requests wait: latency in bp, >= 10000 */
    uint64_t cpu_bp;   /* what a VM gets of its vCPU, <= 10000 */
    uint64_t slice_disk_ns, slice_cpu_ns;

    uint64_t swap_in, swap_out, emergency_swaps, stalls;
    uint64_t cow_breaks, merged, scanned, scan_ns, accesses, disk_ns;
    uint64_t overhead;

    struct sim_vm **vms;   /* in order of creation */
    struct sim_vm **by_id; /* sorted */
    struct sim_vm **slots; /* fixed places; NULL: unused */
    size_t vms_n, vms_cap;
    size_t turn;
    struct sim_rng rng;
};

/** Result of anything that touches memory. */
enum touch_result {
    TOUCH_OK = 0,
    TOUCH_STALL = 1, /* no host memory: the VM waits */
    TOUCH_KILLED = 2 /* guest OOM: the program is gone */
};

/* ---- host_frames.c */
uint32_t simx_host_frame_get(struct sim_host *host); /* 0: none */
void simx_host_frame_put(struct sim_host *host, uint32_t frame);
/** Take n frames into a chain, all or none. @return whether it could */
bool simx_host_chain_take(struct sim_host *host, uint32_t *head, uint64_t n);
void simx_host_chain_give(struct sim_host *host, uint32_t *head, uint64_t n);
void simx_host_collect_lost(struct sim_host *host);

/* ---- host_map.c */
static inline bool page_is_backed(const struct page *p)
{
    return p->frame != FRAME_NONE && p->frame != FRAME_SWAPPED;
}
static inline void host_private_add(struct sim_vm *vm, uint32_t gfn)
{
    vm->private_pages++;
    vm->block[gfn >> BLOCK_SHIFT]++;
    vm->sblock[gfn >> SBLOCK_SHIFT]++;
}
static inline void host_private_sub(struct sim_vm *vm, uint32_t gfn)
{
    vm->private_pages--;
    vm->block[gfn >> BLOCK_SHIFT]--;
    vm->sblock[gfn >> SBLOCK_SHIFT]--;
}
/** Back a page that is not; `overwrite`: its old content does not matter. */
enum touch_result simx_host_fault(struct sim_vm *vm, uint32_t gfn,
                                  bool overwrite);
/** Give a shared page a frame of its own. */
enum touch_result simx_host_cow(struct sim_vm *vm, uint32_t gfn);
/** Forget a page's frame or swap; its content is gone. */
void simx_host_release(struct sim_vm *vm, uint32_t gfn);
/** Swap out n random private pages. @return how many there were room for */
uint64_t simx_host_swap_out(struct sim_vm *vm, uint64_t n);
bool simx_host_swap_in_page(struct sim_vm *vm, uint32_t gfn);
uint64_t simx_host_consumed(const struct sim_vm *vm);
void simx_host_enforce_cap(struct sim_vm *vm);

/* ---- host_share.c */
int simx_host_share_open(struct sim_host *host);
void simx_host_share_close(struct sim_host *host);
/** A VM, whose slot is set, takes part in sharing. */
int simx_host_share_add(struct sim_vm *vm);
void simx_host_share_remove(struct sim_vm *vm);
void simx_host_share_scan(struct sim_host *host);
/** Is a shared page the only one on its frame? */
bool simx_host_share_is_last(const struct sim_vm *vm, uint32_t gfn);
/** A page leaves its shared frame, because it is written or goes.
 *  @return the frame, if nobody else is on it: the caller's to keep or put */
uint32_t simx_host_share_leave(struct sim_vm *vm, uint32_t gfn, bool write);

/* ---- host_cost.c */
void simx_host_cost_derive(struct sim_host *host);
void simx_host_cost_end_of_slice(struct sim_host *host, uint64_t ms);
static inline void charge_host(struct sim_vm *vm, uint64_t ns)
{
    vm->budget_ns -= (int64_t)ns;
    vm->host_wait_ns += ns;
}
static inline void charge_guest(struct sim_vm *vm, uint64_t ns)
{
    vm->budget_ns -= (int64_t)ns;
    vm->guest_wait_ns += ns;
}
static inline void charge_disk(struct sim_host *host, uint64_t base_ns)
{
    host->slice_disk_ns += base_ns;
    host->disk_ns += base_ns;
}

/* ---- guest.c */
void simx_guest_init(struct sim_vm *vm);
/** Forget everything and start to boot. */
void simx_guest_reset(struct sim_vm *vm);
uint64_t simx_guest_free(const struct sim_vm *vm);
uint32_t simx_guest_pop_free(struct sim_vm *vm); /* NIL: none */
void simx_guest_push_free(struct sim_vm *vm, uint32_t gfn);
/** A page for the program: reclaims, kills if it must. */
enum touch_result simx_guest_alloc(struct sim_vm *vm, uint32_t *gfn);
void simx_guest_free_anon(struct sim_vm *vm, uint64_t from);
/** What a page of anonymous memory holds when the program has filled it. */
uint32_t simx_guest_anon_content(const struct sim_vm *vm, uint32_t page);
enum touch_result simx_guest_fault_anon(struct sim_vm *vm, uint32_t page,
                                        bool write);
enum touch_result simx_guest_fault_file(struct sim_vm *vm, uint32_t page,
                                        bool write, bool sequential);
void simx_guest_flush(struct sim_vm *vm, uint64_t ms);

/* ---- guest_reclaim.c */
/** Evict pages until `n` were freed or none is left. */
enum touch_result simx_guest_reclaim(struct sim_vm *vm, uint64_t n,
                                     uint64_t *freed);
void simx_guest_oom_kill(struct sim_vm *vm);

/* ---- guest_balloon.c */
enum sim_driver simx_guest_driver(const struct sim_vm *vm);
void simx_guest_balloon_run(struct sim_vm *vm, uint64_t ms);
/** Give back up to n pages at once. @return how many */
uint64_t simx_guest_balloon_deflate(struct sim_vm *vm, uint64_t n);

/* ---- guest_boot.c */
void simx_guest_boot_run(struct sim_vm *vm, uint64_t ms);

/* ---- guest_report.c */
void simx_guest_report_run(struct sim_vm *vm);

/* ---- workload.c: phases; workload_run.c: the loop */
void simx_workload_stop(struct sim_vm *vm);
void simx_workload_tick(struct sim_vm *vm, uint64_t ms);
void simx_workload_run(struct sim_vm *vm);

/* ---- workload_zipf.c */
struct zipf *simx_zipf_new(void);
void simx_zipf_set(struct zipf *zipf, uint64_t n, uint32_t exponent_bp);
uint32_t simx_zipf_draw(const struct zipf *zipf, struct sim_rng *rng);

/* ---- vm.c */
void simx_vm_free(
    struct sim_vm *vm); /* memory only; the host knows it no more */
void simx_vm_die(struct sim_vm *vm);
bool simx_vm_is_dead(const struct sim_vm *vm);

/* ---- vm_run.c */
uint16_t simx_touch_epoch(uint64_t now_ms);
void simx_vm_slice(struct sim_vm *vm, uint64_t ms);

/* ---- host.c */
int simx_host_add_vm(struct sim_host *host, struct sim_vm *vm);
void simx_host_remove_vm(struct sim_host *host, struct sim_vm *vm);

#endif /* SIM_ENGINE_INT_H */
