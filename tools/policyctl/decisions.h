/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file decisions.h
 * The decisions of a run that say most, of any number that were made.
 *
 * A long run makes millions. This keeps those that moved most memory or
 * changed most, of the whole run and besides of each fiftieth of it, so that
 * one stormy hour does not hide the rest of the day; each with the sentence
 * that explains it. The others are counted.
 */
#ifndef POLICYCTL_DECISIONS_H
#define POLICYCTL_DECISIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/plan.h"

/** Parts that a run is cut into, and most decisions kept of each; the part
 *  after the last one is the whole run, of which more are kept. */
#define DECISIONS_PARTS    50u
#define DECISIONS_PER_PART 20u
#define DECISIONS_WHOLE    1000u
/** Most decisions kept altogether. */
#define DECISIONS_MAX (DECISIONS_WHOLE + DECISIONS_PARTS * DECISIONS_PER_PART)

struct decision {
    uint64_t now_ms;
    struct pol_action action;
    uint64_t moved_pages; /**< by how much; notes: 0 */
    bool shrinks;         /**< a balloon target falls */
    uint64_t done_pages;
    int error;
    uint32_t state; /**< enum pol_state when it was made */
    double weight;  /**< what it counts, see decision_weight() */
    char *text;     /**< why, a sentence */
};

/** Some decisions, the lightest first. */
struct decision_heap {
    struct decision *list;
    size_t count;
    size_t most;
};

struct decisions {
    struct decision_heap heaps[DECISIONS_PARTS + 1];
    uint64_t duration_ms;
    uint64_t seen;         /**< all decisions, kept or not */
    struct decision *list; /**< after decisions_finish(): all, by time */
    size_t count;
};

/** @param duration_ms  how long the run will be */
void decisions_init(struct decisions *decisions, uint64_t duration_ms);

/**
 * How much a decision says: the memory it moves, with what disturbs a guest
 * more (swapping, blocking) and what failed counting more, and what merely
 * goes on counting less.
 * @param size_pages  configured size of the VM, 0 for the host
 * @param repeated    the VM's last decision was of the same kind and reason
 */
double decision_weight(const struct decision *decision, uint64_t size_pages,
                       bool repeated);

/** Whether a decision of that weight and time would be kept: its sentence
 *  need only be made then. */
bool decisions_want(const struct decisions *decisions, uint64_t now_ms,
                    double weight);

/** Keep one that is wanted; the text becomes the collection's. */
void decisions_add(struct decisions *decisions,
                   const struct decision *decision);

/** Make the list; nothing can be added any more. */
void decisions_finish(struct decisions *decisions);

void decisions_clear(struct decisions *decisions);

#endif /* POLICYCTL_DECISIONS_H */
