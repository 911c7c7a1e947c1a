/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file types.h
 * Words and limits shared by all of libpolicy.
 *
 * Amounts of memory are numbers of pages (`_pages`), never bytes; a page is
 * whatever the host says in struct pol_config. Ratios are basis points
 * (`_bp`, 10000 = 100 %). Times are milliseconds (`_ms`) from any fixed origin
 * that the caller keeps for the life of a context.
 */
#ifndef POLICY_TYPES_H
#define POLICY_TYPES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Largest size of anything, in pages. */
#define POL_MAX_PAGES (UINT64_C(1) << 52)
/** Largest number of shares of a VM or group; the smallest is 1. */
#define POL_MAX_SHARES (UINT64_C(1) << 32)
/** Most VMs and most groups a context can be made for. */
#define POL_MAX_VMS    200000u
#define POL_MAX_GROUPS 60000u
#define POL_MAX_HOLDS  4096u
/** Groups nest at most this deep below the root. */
#define POL_MAX_DEPTH 8u
/** "No limit": the VM's configured size is its only limit. */
#define POL_NO_LIMIT UINT64_MAX
/** The group that always exists and contains everything. */
#define POL_ROOT_GROUP UINT64_C(0)
/** Highest idle-memory tax: ESX's own range ends at 99 %. */
#define POL_MAX_TAX_BP 9900u
/** "Use the context's idle-memory tax." */
#define POL_TAX_DEFAULT UINT32_MAX

/** A context: everything libpolicy knows about one host. Opaque. */
struct pol_ctx;

/**
 * Free-memory states, from plenty to none (ESX02 6.3, ESX09 3.5). CLEAR
 * exists only in presets that define it (later ESX releases).
 */
enum pol_state {
    POL_STATE_HIGH = 0,
    POL_STATE_CLEAR = 1,
    POL_STATE_SOFT = 2,
    POL_STATE_HARD = 3,
    POL_STATE_LOW = 4
};
#define POL_STATES 5

/** Where a VM is in its life. Each has its own rules: see enum comments. */
enum pol_lifecycle {
    POL_LIFE_BUILDING = 0,  /**< being created: untouched; counts as using
                                 all it may have */
    POL_LIFE_RUNNING = 1,   /**< the only one whose balloon is moved */
    POL_LIFE_PAUSED = 2,    /**< untouched; counts as using all it has: it may
                                 be resumed at once */
    POL_LIFE_MIGRATING = 3, /**< frozen as it is; counts likewise */
    POL_LIFE_REBOOTING = 4, /**< as RUNNING without a proven driver */
    POL_LIFE_SHUTTING_DOWN = 5, /**< no new balloon targets */
    POL_LIFE_PINNED = 6 /**< memory locked (passthrough): not reclaimable */
};
#define POL_LIFECYCLES 7

/** What is known of the guest's balloon driver. */
enum pol_driver {
    POL_DRIVER_UNKNOWN = 0, /**< tried carefully until it has proved itself */
    POL_DRIVER_ABSENT = 1,  /**< never asked */
    POL_DRIVER_BOOTING = 2, /**< not up yet: not asked */
    POL_DRIVER_PRESENT = 3
};
#define POL_DRIVERS 4

/** What the host can do besides ballooning. Bits of `caps`. */
enum pol_cap {
    POL_CAP_SWAP = 1u << 0,     /**< swap a VM's pages out */
    POL_CAP_BLOCK = 1u << 1,    /**< stop and continue a VM's execution */
    POL_CAP_SHARE = 1u << 2,    /**< scan for equal pages at a given rate */
    POL_CAP_HARD_CAP = 1u << 3, /**< enforce a maximum per VM */
    POL_CAP_SAMPLE = 1u << 4,   /**< sample a VM's pages for touches */
    POL_CAP_SWAP_IN = 1u << 5   /**< bring swapped pages back before they are
                                     touched */
};
#define POL_CAPS_ALL 0x3fu

/** Things a VM's owner forbids. Bits of pol_vm_params.flags. */
enum pol_vm_flag {
    POL_VM_NO_BALLOON = 1u << 0,
    POL_VM_NO_SWAP = 1u << 1,
    POL_VM_NO_BLOCK = 1u << 2
};
#define POL_VM_FLAGS_ALL 0x7u

/** What an action asks the host to do; `pages` means what is said here. */
enum pol_action_kind {
    /** Set the balloon so that the guest has `pages` (configured size less
     *  balloon: libvirt's and QEMU's "actual", Xen's memory/target). */
    POL_ACT_BALLOON = 1,
    /** Swap out `pages` of the VM's pages now. */
    POL_ACT_SWAP_OUT = 2,
    /** The host may bring back up to `pages` of the VM's swapped pages. */
    POL_ACT_SWAP_IN = 3,
    /** Stop / continue the VM's execution; `pages` is 0. */
    POL_ACT_BLOCK = 4,
    POL_ACT_UNBLOCK = 5,
    /** Scan `pages` pages per second for sharing, host-wide; VM id is 0. */
    POL_ACT_SHARE_RATE = 6,
    /** Never let the VM, its overhead included, hold more than `pages`. Lies
     *  some slack above what it may have, so also above its size. */
    POL_ACT_HARD_CAP = 7,
    /** Nothing to do: something an administrator wants to know. */
    POL_ACT_NOTE = 8
};
#define POL_ACTION_KINDS 9

/**
 * X(name, value, token, text): why something was decided. Values are ABI.
 * The text completes "because: ...".
 */
#define POL_REASONS(X)                                                         \
    X(POL_WHY_NONE, 0, "none", "nothing to do")                                \
    X(POL_WHY_AT_TARGET, 1, "at-target", "within its target")                  \
    X(POL_WHY_PLENTY, 2, "plenty", "over its target, but memory is not short") \
    X(POL_WHY_OVER_TARGET, 3, "over-target",                                   \
      "over its target while memory is short")                                 \
    X(POL_WHY_OVER_LIMIT, 4, "over-limit", "over its own limit")               \
    X(POL_WHY_REBALANCE, 5, "rebalance",                                       \
      "over its target while others are below theirs")                         \
    X(POL_WHY_HOLD, 6, "hold",                                                 \
      "memory is being freed for a VM about to start")                         \
    X(POL_WHY_BELOW_TARGET, 7, "below-target", "below its target")             \
    X(POL_WHY_DISTRESS, 8, "distress", "the guest is short of memory")         \
    X(POL_WHY_NO_DRIVER, 9, "no-driver", "no working balloon driver")          \
    X(POL_WHY_STUCK, 10, "stuck", "its balloon makes no progress")             \
    X(POL_WHY_BALLOON_CAP, 11, "balloon-cap", "its balloon is at its maximum") \
    X(POL_WHY_URGENT, 12, "urgent",                                            \
      "memory is needed faster than balloons give it")                         \
    X(POL_WHY_LOW_MEMORY, 13, "low-memory", "host memory is nearly exhausted") \
    X(POL_WHY_RECOVERED, 14, "recovered", "host memory has recovered")         \
    X(POL_WHY_NO_PROGRESS, 15, "no-progress", "blocking it brought no memory") \
    X(POL_WHY_WAITS_FOR_FREE, 16, "waits-for-free",                            \
      "growth waits for free memory")                                          \
    X(POL_WHY_SMALL_CHANGE, 17, "small-change",                                \
      "the difference is too small to move")                                   \
    X(POL_WHY_LIFECYCLE, 18, "lifecycle", "its lifecycle forbids changes")     \
    X(POL_WHY_PINNED, 19, "pinned", "its memory is pinned")                    \
    X(POL_WHY_FOREIGN, 20, "foreign", "somebody else set its target")          \
    X(POL_WHY_NO_STATISTICS, 21, "no-statistics",                              \
      "no usable statistics: assumed active")                                  \
    X(POL_WHY_BAD_STATISTICS, 22, "bad-statistics",                            \
      "the guest's statistics are impossible")                                 \
    X(POL_WHY_RETRY, 23, "retry", "trying its balloon again")                  \
    X(POL_WHY_SHORT, 24, "short", "reservations exceed the memory there is")   \
    X(POL_WHY_HOLD_EXPIRED, 25, "hold-expired", "a hold passed its deadline")  \
    X(POL_WHY_HOLD_READY, 26, "hold-ready", "the memory of a hold is free")    \
    X(POL_WHY_STATE_CHANGE, 27, "state-change",                                \
      "the free-memory state changed")                                         \
    X(POL_WHY_CAP_FOLLOWS, 28, "cap-follows",                                  \
      "the cap follows the VM's target")                                       \
    X(POL_WHY_SCAN_RATE, 29, "scan-rate", "sharing scan follows the state")    \
    X(POL_WHY_FORBIDDEN, 30, "forbidden", "its owner forbids it")              \
    X(POL_WHY_GUEST_FLOOR, 31, "guest-floor",                                  \
      "the guest needs what it has to run")                                    \
    X(POL_WHY_FAILED, 32, "failed", "the host could not carry out an action")  \
    X(POL_WHY_UNSUPPORTED, 34, "unsupported", "the host has no means left")    \
    X(POL_WHY_SETTLED, 35, "settled", "its target has settled")

enum pol_reason {
#define POL_REASON_ENUM(name, value, token, text) name = value,
    POL_REASONS(POL_REASON_ENUM)
#undef POL_REASON_ENUM
};

/** Lower-case name of a state, e.g. "soft"; "?" for other values. */
const char *pol_state_name(int state);
/** Lower-case name of a lifecycle, e.g. "running"; "?" for other values. */
const char *pol_lifecycle_name(int lifecycle);
/** Lower-case name of a driver state, e.g. "absent"; "?" for other values. */
const char *pol_driver_name(int driver);
/** Lower-case name of an action kind, e.g. "swap-out"; "?" otherwise. */
const char *pol_action_name(int kind);
/** Short token of a reason, e.g. "over-target"; "?" for other values. */
const char *pol_reason_name(int reason);
/** The sentence part of a reason, e.g. "over its own limit". */
const char *pol_reason_text(int reason);

#ifdef __cplusplus
}
#endif

#endif /* POLICY_TYPES_H */
