/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file seg_replay.h
 * VM requests placed on hosts by a rule, their memory given out by a model.
 */
#ifndef POLICYCTL_SEG_REPLAY_H
#define POLICYCTL_SEG_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seg_model.h"

/** One request of a trace. */
struct seg_vm {
    uint64_t start_ms, stop_ms; /**< UINT64_MAX: stays */
    uint64_t pages;
};

struct seg_trace {
    struct seg_vm *vms; /**< in order of starting */
    size_t n, capacity;
    size_t *stops; /**< those that stop, in order of time */
    size_t stops_n;
};

/** Read a trace. @return an exit status; a line says what is wrong */
int seg_trace_load(struct seg_trace *trace, const char *path);
void seg_trace_clear(struct seg_trace *trace);

/** Which host gets a VM. */
enum seg_rule {
    SEG_FIRST_FIT = 0, /**< the first with enough free pages */
    SEG_BEST_FIT,      /**< the fullest with enough free pages */
    SEG_AWARE,         /**< by pol_segment_fit_score() */
    SEG_RULES
};

const char *seg_rule_name(enum seg_rule rule);

struct seg_setup {
    uint32_t hosts;
    uint64_t host_pages;
    uint64_t cap_pages;    /**< of a host that are given out */
    uint32_t max_segments; /**< of a VM, segment-aware placement */
    uint32_t goal_bp;      /**< share of VMs kept in one segment by refusing
                                what would push it below; segment-aware */
    bool lifetimes;        /**< tell the model how long each VM will stay */
    uint32_t picture_host; /**< whose extents are kept for the picture */
    bool pictures;
};

/** A piece of the picture: a range that a VM had for a while. */
struct seg_patch {
    uint64_t from_ms, to_ms; /**< UINT64_MAX: to the end */
    uint64_t start_page, pages;
    size_t vm;
};

#define SEG_COUNTS 1025u

struct seg_result {
    const struct seg_model *model;
    enum seg_rule rule;
    uint64_t placed, refused;
    uint64_t refused_pages, asked_pages;
    uint64_t counts[SEG_COUNTS]; /**< VMs by segments; the last: or more */
    uint64_t segments;           /**< of all */
    uint32_t most;               /**< of one */
    uint32_t hosts_used;         /**< at most at once */
    double utilisation;          /**< of used hosts, by memory and time */
    double alloc_ns, free_ns;    /**< means, the clock's own time left out */
    double seconds;              /**< for all of it */
    struct seg_patch *patches;
    size_t patches_n, patches_capacity;
};

typedef void seg_progress(void *user, uint32_t percent);

void seg_replay(const struct seg_trace *trace, const struct seg_setup *setup,
                const struct seg_model *model, enum seg_rule rule,
                struct seg_result *out, seg_progress *progress, void *user);
void seg_result_clear(struct seg_result *result);

/** Share of VMs with at most so many segments. */
double seg_share(const struct seg_result *result, uint32_t at_most);
/** Segments that this share of VMs does not exceed. */
uint32_t seg_quantile(const struct seg_result *result, double share);

/** What starting one VM costs. */
struct seg_start {
    uint64_t pages;
    double alloc_ns, describe_ns; /**< medians */
    uint32_t segments, mappings;
};

/** Start VMs of a size on a host that others have filled to a half. */
void seg_measure_start(const struct seg_model *model, uint64_t host_pages,
                       uint64_t pages, struct seg_start *out);

/** Nanoseconds of a clock that only runs forward. */
uint64_t seg_now_ns(void);

#endif /* POLICYCTL_SEG_REPLAY_H */
