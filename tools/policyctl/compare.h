/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file compare.h
 * One scenario under different policies, and how it went for the VMs.
 */
#ifndef POLICYCTL_COMPARE_H
#define POLICYCTL_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy-esxi-sim/sim_run.h"

/** libpolicy itself; the others are enum cmp_kind (comparator.h). */
#define COMPARE_LIBPOLICY (-1)

/** Memory that goes back within so long has moved for nothing. */
#define COMPARE_SWING_MS 120000u

/**
 * What one policy made of a scenario. Pages; sums over all VMs.
 *
 * lost_ms: what memory cost the VMs: of each, the larger of the time it waited
 *   for memory (stall_ms of its statistics) and missed_ms.
 * missed_ms: of each VM, its time times the part of its program's work that
 *   was not done, whatever the reason: so a program that is killed, restarted
 *   and filled again is not the cheapest one.
 * taken, given: by balloons that really moved, after each tick.
 * returned: for each VM the smaller of taken and given: what moved beyond the
 *   net change from beginning to end.
 * swung (oscillation): of that, pages that a balloon gave back within
 *   COMPARE_SWING_MS after it took them, or the other way round. Each page
 *   taken is set against a page given once, the latest first.
 * unfair_bp: how far VMs were from their shares: after each tick the memory
 *   that VMs hold is divided among them by shares and idle tax as in ESX02
 *   5.2, for the pages that they really use, between reservation and the
 *   most that they have ever touched (at most limit and size); the sum of all
 *   absolute differences to what they hold, as part of what they hold, over
 *   all ticks. SIM_NONE when the scenario has groups: shares then mean
 *   something only libpolicy knows.
 */
struct compare_result {
    int policy;
    struct sim_run_totals totals;
    uint64_t accesses_wanted;
    uint64_t lost_ms;
    uint64_t missed_ms;
    uint64_t taken_pages;
    uint64_t given_pages;
    uint64_t returned_pages;
    uint64_t swung_pages;
    uint64_t moves; /**< balloon targets set */
    uint64_t unfair_bp;
    uint64_t unread_ticks;
};

/** "libpolicy" or cmp_name(). */
const char *compare_name(int policy);

/**
 * Run it.
 * @return STATUS_OK, or what fail() was given after one line
 */
int compare_run(const struct sim_scenario *scenario, int policy,
                struct compare_result *result);

/** One VM when memory is divided. Pages. */
struct compare_claim {
    double shares;
    double active;
    double min; /**< <= max */
    double max;
    double ideal; /**< out */
};

/** Divide pages by shares and tax (0 to below 1): cost per share is equal for
 *  all that are between their bounds (ESX02 5.2). */
void compare_divide(struct compare_claim *claims, size_t n, double pages,
                    double tax);

/** The moves of one balloon, those first that the next opposite one undoes
 *  first. */
struct compare_moves {
    struct compare_move {
        uint64_t at_ms;
        uint64_t pages;
        bool taken;
    } * list;
    size_t n, capacity;
};

/** A balloon has moved. @return the pages that this swings back */
uint64_t compare_swing(struct compare_moves *moves, uint64_t now_ms,
                       uint64_t pages, bool taken);

#endif /* POLICYCTL_COMPARE_H */
