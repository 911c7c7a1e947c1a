/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file internal.h
 * What a context is made of. Only libpolicy's own files include this.
 *
 * One context is one block: struct pol_ctx, then the arrays it points to.
 * VMs live in slots; a slot's solver node is max_groups + 1 + slot. Groups
 * have the nodes 1..max_groups, the root is node 0.
 */
#ifndef POLX_INTERNAL_H
#define POLX_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arith.h"
#include "idmap.h"
#include "policy/policy.h"
#include "solve.h"

/** Bits of polx_vm.bits. */
enum polx_vm_bit {
    POLX_VM_USED = 1u << 0,         /* the slot holds a VM */
    POLX_VM_SEEN = 1u << 1,         /* observed at least once */
    POLX_VM_PROVEN = 1u << 2,       /* its balloon has moved for us */
    POLX_VM_STUCK = 1u << 3,        /* its balloon makes no progress */
    POLX_VM_FOREIGN = 1u << 4,      /* somebody else set its target */
    POLX_VM_BLOCKED = 1u << 5,      /* stopped by us */
    POLX_VM_BAD_STATS = 1u << 6,    /* impossible statistics, noted */
    POLX_VM_SAMPLING = 1u << 8,     /* a sampling period is running */
    POLX_VM_SAMPLED = 1u << 9,      /* a period has been completed */
    POLX_VM_HAS_SWAP_IN = 1u << 10, /* counter of last time is valid */
    POLX_VM_HAS_FAULTS = 1u << 11,
    POLX_VM_ASKED = 1u << 12,        /* asked_pages is a target of ours */
    POLX_VM_MEASURED = 1u << 13,     /* measured_* valid */
    POLX_VM_CLAIMED = 1u << 14,      /* claimed_* valid */
    POLX_VM_RETRYING = 1u << 15,     /* a stuck balloon is being tried again */
    POLX_VM_REPORTED = 1u << 17,     /* the running period was reported on */
    POLX_VM_FIXED = 1u << 16,        /* not reclaimable in this plan */
    POLX_VM_BLOCK_BARRED = 1u << 19, /* blocking it brought nothing */
    POLX_VM_TOLD_BAD = 1u << 20,     /* already noted: see assess.c */
    POLX_VM_TOLD_NONE = 1u << 21,
    POLX_VM_TOLD_FOREIGN = 1u << 22,
    POLX_VM_MOVED = 1u << 23,   /* its balloon moved since it last arrived */
    POLX_VM_PRESENT = 1u << 24, /* host_step.c: listed this time */
    POLX_VM_ADOPTED = 1u << 25, /* asked_pages was on record before us */
    POLX_VM_STARTED = 1u << 26  /* we saw its lifecycle change */
};

/** Everything known about a VM, without its solver node. */
struct polx_vm {
    uint64_t id;

    /* Parameters. */
    uint64_t shares;
    uint64_t reservation_pages;
    uint64_t limit_pages;
    uint64_t size_pages;
    uint64_t overhead_pages;
    uint32_t tax_bp; /* POL_TAX_DEFAULT allowed */
    uint32_t group;  /* solver node of its group */
    uint32_t flags;
    uint8_t granule_shift;

    /* Observed. */
    uint8_t lifecycle;
    uint8_t driver;
    uint32_t bits;
    uint64_t consumed_pages;
    uint64_t granted_pages;
    uint64_t actual_pages;
    uint64_t swapped_pages;
    uint64_t floor_pages; /* guest's own floor, 0: none known */

    /* Counters for rates; distress. */
    uint64_t swap_in_counter;
    uint64_t faults_counter;
    uint64_t counters_ms;
    uint64_t distress_until_ms;
    uint64_t swapping_until_ms; /* likewise, and the guest swaps in */
    uint64_t lifecycle_ms;      /* when the lifecycle last changed */
    uint64_t driver_from_ms;    /* its driver counts from then on */

    /* Working set: sampling and other evidence. */
    uint64_t period_start_ms; /* VM time */
    uint64_t period_host_ms;  /* when it began, host time */
    uint64_t sampled_ms;      /* host time of the last report */
    uint64_t measured_pages;
    uint64_t measured_ms;
    uint64_t claimed_pages;
    uint64_t claimed_ms;
    uint64_t active_pages; /* the fused figure of the last plan */
    uint32_t period;       /* number of the running period */
    uint32_t slow_q16;     /* parts of 65536 of the size */
    uint32_t fast_q16;
    uint32_t running_q16;
    uint32_t last_q16; /* the last full period alone */
    uint16_t watched;
    uint16_t touched;

    /* Balloon control. */
    uint64_t asked_pages;    /* last target given, in actual pages */
    uint64_t progress_pages; /* nearest to asked that was seen */
    uint64_t progress_ms;    /* when progress was last seen */
    uint64_t retry_at_ms;
    uint32_t backoff_ms;
    int32_t offset_pages; /* learnt: where it settles, less what was asked */

    /* Given but not taken yet. */
    uint64_t granted_more_pages;
    uint64_t promise_until_ms;

    /* Blocking. */
    uint64_t block_ms;
    uint64_t block_consumed_pages;

    /* Last plan. */
    uint64_t last_target_pages;
    uint64_t target_ms; /* when the target last changed */
    uint64_t action_pages;
    uint64_t cap_pages; /* hard cap last set, 0: none */
    uint32_t failures;
    uint8_t action;
    uint8_t reason;
    uint8_t evidence;
    uint8_t failures_row; /* balloon actions that failed, in a row */
    uint16_t hold;        /* index of the hold it fills, plus 1 */
};

/** A group, without its solver node. */
struct polx_pool {
    uint64_t id;
    uint64_t shares;
    uint64_t reservation_pages;
    uint64_t limit_pages;
    uint32_t tax_bp;
    uint32_t parent; /* solver node */
    uint32_t members;
    uint32_t used;
    uint64_t inside; /* scratch: reservations (admit.c), memory (shrink.c) */
};

struct polx_hold {
    uint64_t id;
    uint64_t owner;
    uint64_t pages;
    uint64_t deadline_ms;
    uint64_t vm;
    uint64_t ready_pages;
    uint32_t flags;
    uint8_t used;
    uint8_t taken;
    uint8_t announced; /* its readiness has been noted */
    uint8_t served;    /* in this plan; 0 between plans */
};

/** Host-wide figures of the plan being made. */
struct polx_totals {
    uint64_t consumed_pages;
    uint64_t overhead_pages;
    uint64_t reserved_pages;
    uint64_t promised_pages;
    uint64_t held_pages;
    uint64_t host_used_pages;
    uint64_t available_pages;
    uint64_t aim_pages;  /* free memory that targets aim at */
    uint64_t free_pages; /* free less promised */
};

struct polx_plan;

/** Thresholds in pages. */
struct polx_levels {
    uint64_t high, clear, soft, hard, low, margin;
};

struct pol_ctx {
    struct pol_config config;
    struct pol_host_obs host;
    struct polx_totals totals;
    struct polx_levels levels;
    struct polx_vm *vms;
    struct polx_pool *groups; /* index: solver node; [0] is the root */
    struct polx_hold *holds;
    struct polx_idmap vm_ids;
    struct polx_idmap group_ids;
    struct polx_solver solver;
    uint64_t plans;
    uint64_t failures;
    uint64_t last_plan_ms;
    uint64_t last_consumed_pages; /* by all VMs, at the last plan */
    uint64_t hungry_until_ms;     /* guests were in distress a period ago */
    uint64_t share_rate;
    pol_trace_sink *sink;
    void *sink_user;
    uint32_t vm_count;
    uint32_t vm_high;    /* slots ever used */
    uint32_t free_slot;  /* head of the free list, linked through group */
    uint32_t free_group; /* likewise, linked through parent */
    uint32_t group_count;
    uint32_t hold_count;
    uint32_t holds_taken;
    uint32_t state;
    uint32_t observed; /* 1: the host has been observed */
    uint32_t short_noted;
};

/** The solver node of a slot. */
static inline uint32_t polx_node(const struct pol_ctx *ctx, uint32_t slot)
{
    return ctx->config.max_groups + 1u + slot;
}

/** Slot of a VM id, or POLX_NONE. */
uint32_t polx_vm_slot(const struct pol_ctx *ctx, uint64_t id);

/** Basis points of a tax, or POL_TAX_DEFAULT. */
bool polx_tax_valid(uint32_t tax_bp);
/** A number of pages, or POL_NO_LIMIT. */
bool polx_limit_valid(uint64_t limit_pages);

/** Is this slot in use? Slots run to ctx->vm_high. */
static inline bool polx_vm_used(const struct polx_vm *vm)
{
    return (vm->bits & POLX_VM_USED) != 0;
}

/** a + b, held at 2^60: sums over all VMs cannot overflow. Both arguments must
 *  be at most that. */
static inline uint64_t polx_plus(uint64_t a, uint64_t b)
{
    return polx_min(a + b, UINT64_C(1) << 60);
}

/** Part of an amount in basis points; exact and without overflow for amounts
 *  up to POL_MAX_PAGES and up to 2^31 basis points after division. */
static inline uint64_t polx_bp(uint64_t pages, uint64_t bp)
{
    return pages / 10000u * bp + pages % 10000u * bp / 10000u;
}

/** How long ago `then` was. */
static inline uint64_t polx_age(const struct pol_ctx *ctx, uint64_t then)
{
    return polx_sat_sub(ctx->host.now_ms, then);
}

/** Most a VM may have: size or limit, whichever is less. */
static inline uint64_t polx_vm_max(const struct polx_vm *vm)
{
    return polx_min(vm->size_pages, vm->limit_pages);
}

/* assess.c: what the observations mean for each VM. */

/** Work out evidence, claims and totals of all VMs, and their targets. */
void polx_assess(struct polx_plan *plan);
/** Give one VM's claim to the solver from what is known now. */
void polx_claim(struct pol_ctx *ctx, uint32_t slot);
/** Give a group's claim to the solver. */
void polx_pool_claim(struct pol_ctx *ctx, uint32_t node);
/** Free memory that targets aim at; admission keeps as much. */
static inline uint64_t polx_aim(const struct pol_ctx *ctx)
{
    return polx_min(ctx->levels.high + ctx->levels.margin,
                    ctx->host.total_pages);
}

/** May this VM's pages be swapped at all? */
bool polx_can_swap(const struct pol_ctx *ctx, const struct polx_vm *vm);
/** Does its balloon driver count as there? */
bool polx_driver_usable(const struct pol_ctx *ctx, const struct polx_vm *vm);
/** Can memory be taken from it by its balloon? */
bool polx_has_balloon(const struct pol_ctx *ctx, const struct polx_vm *vm);
/** What a VM keeps in any case: reservation, hold, what is out of reach. */
uint64_t polx_vm_min(const struct pol_ctx *ctx, const struct polx_vm *vm);
/** What counts as active of a VM for its target. */
uint64_t polx_vm_active(const struct pol_ctx *ctx, const struct polx_vm *vm);
/** Pages given to a VM and not taken yet. */
uint64_t polx_promised(const struct pol_ctx *ctx, const struct polx_vm *vm);

/* evidence.c */

/** The fused estimate of active pages; sets vm->evidence. */
uint64_t polx_active(const struct pol_ctx *ctx, struct polx_vm *vm);
/** Age of the evidence in use, ms. */
uint64_t polx_evidence_age(const struct pol_ctx *ctx, const struct polx_vm *vm);

/* group.c */

/** How deep a group lies; the root is at 0. */
uint32_t polx_group_depth(const struct pol_ctx *ctx, uint32_t node);
/** Does a group lie within another, or is it the same? */
bool polx_group_within(const struct pol_ctx *ctx, uint32_t node,
                       uint32_t ancestor);

/* state.c */

void polx_levels_compute(struct pol_ctx *ctx);
/** The next state for this much free memory. */
uint32_t polx_state_next(const struct polx_levels *levels, uint32_t state,
                         uint64_t free_pages);

/* hold.c */

/** Memory that holds not handed over yet keep from others. */
uint64_t polx_holds_pages(const struct pol_ctx *ctx);
/** Is any hold allowed to be served by swapping? */
bool polx_holds_urgent(const struct pol_ctx *ctx);
/** How much of the hold a VM is filling it can use, or 0. */
uint64_t polx_hold_of(const struct pol_ctx *ctx, const struct polx_vm *vm);
/** End the hold taken by this VM, if any. */
void polx_hold_vm_gone(struct pol_ctx *ctx, struct polx_vm *vm);
/** End it when the VM has filled it. */
void polx_hold_filled(struct pol_ctx *ctx, struct polx_vm *vm);
/** End holds whose deadline has passed and say so. */
void polx_holds_expire(struct polx_plan *plan);
/** Work out which holds are ready and say so. */
void polx_holds_advance(struct polx_plan *plan);

/* admit.c */

/** Memory that is neither reserved, held, overhead nor the host's own. */
uint64_t polx_unreserved(const struct pol_ctx *ctx);

/* progress.c: is a balloon doing what it was asked? */

/** Look at one VM's balloon; may mark it stuck or recovered. */
void polx_progress(struct polx_plan *plan, struct polx_vm *vm);
/** Note that a VM's balloon has been asked for something new. */
void polx_progress_asked(const struct pol_ctx *ctx, struct polx_vm *vm,
                         uint64_t pages);
/** Mark a balloon as stuck, to be tried again after a while. */
void polx_progress_stuck(const struct pol_ctx *ctx, struct polx_vm *vm);
/** What a balloon that has done as asked shows. */
uint64_t polx_expected(const struct polx_vm *vm);
/** How far above what it is asked a balloon is known to stop. */
static inline uint64_t polx_beside(const struct polx_vm *vm)
{
    return vm->offset_pages > 0 ? (uint32_t)vm->offset_pages : UINT64_C(0);
}

/** How close to what was asked counts as there, in pages. */
uint64_t polx_tolerance(const struct polx_vm *vm);

/* plan.c, shrink.c, grow.c */

/** A plan being made: where its actions go, and what it works with. */
struct polx_plan {
    struct pol_ctx *ctx;
    struct pol_action *actions;
    size_t n;
    size_t cap;               /* pol_plan_bound() at its beginning */
    uint64_t elapsed_ms;      /* since the last plan, bounded */
    uint32_t means;           /* enum polx_means of the state */
    uint64_t draw_pages;      /* to be moved though no memory is short */
    uint32_t draw_reason;     /* for whom */
    bool draw_all;            /* too much for small differences to be let be */
    bool urgent_hold;         /* a hold may be served by swapping too */
    uint64_t swap_left;       /* space for swapping out */
    uint64_t budget;          /* free memory to give out */
    uint64_t budget_distress; /* the same for guests in distress */
};

/** Append an action; room has been checked before. */
void polx_emit(struct polx_plan *plan, uint64_t vm, uint32_t kind,
               uint64_t pages, uint32_t reason);
/** Append an action for a VM and remember it as its decision. */
void polx_decide(struct polx_plan *plan, struct polx_vm *vm, uint32_t kind,
                 uint64_t pages, uint32_t reason);
/** Remember why nothing is done, unless something was. */
void polx_because(struct polx_vm *vm, uint32_t reason);
/** May this VM's balloon be given a new target now? If not, *reason. */
bool polx_can_balloon(const struct polx_plan *plan, const struct polx_vm *vm,
                      uint32_t *reason);
/** Most a VM may be moved in this plan, for a rate in bp of its size per
 *  second; at least one granule. */
uint64_t polx_step(const struct polx_plan *plan, const struct polx_vm *vm,
                   uint32_t rate_bp);
/** Has the VM's target stayed the same for a while? */
bool polx_settled(const struct pol_ctx *ctx, const struct polx_vm *vm);
/** Is a difference between target and fact too small to move yet? */
bool polx_in_dead_band(const struct pol_ctx *ctx, const struct polx_vm *vm,
                       uint64_t pages);
/** The VM's target of this plan. */
uint64_t polx_vm_target(const struct pol_ctx *ctx, const struct polx_vm *vm);
/** How far a VM's balloon target may rise: its target in guest pages. */
uint64_t polx_grow_goal(const struct pol_ctx *ctx, const struct polx_vm *vm);

void polx_shrink_all(struct polx_plan *plan);
void polx_grow_all(struct polx_plan *plan);
/** What VMs below target will want in this plan and the next. */
uint64_t polx_grow_wanted(const struct polx_plan *plan);

/** Does a VM touch at least a quarter of what it has in a period? */
bool polx_is_busy(const struct pol_ctx *ctx, const struct polx_vm *vm);

/** Is this guest short of memory? One that touches little of what it has is
 *  not, whatever it says: a balloon that moves makes idle guests stall too. */
static inline bool polx_in_distress(const struct pol_ctx *ctx,
                                    const struct polx_vm *vm)
{
    return ctx->host.now_ms < vm->distress_until_ms && polx_is_busy(ctx, vm);
}

static inline uint32_t polx_slot_of(const struct pol_ctx *ctx,
                                    const struct polx_vm *vm)
{
    return (uint32_t)(vm - ctx->vms);
}

#endif /* POLX_INTERNAL_H */
