/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file state_table.h
 * The free-memory state machine, complete: every state against every level
 * of free memory, and what each state allows.
 *
 * Levels are the intervals between consecutive cuts of the amount of free
 * memory. "x + m" is threshold x plus the hysteresis margin. Downwards a state
 * changes at once when free memory falls below a threshold; upwards only when
 * it exceeds the threshold of the state above by the margin (ESX02 6.3).
 */
#ifndef POLX_STATE_TABLE_H
#define POLX_STATE_TABLE_H

#include "policy/types.h"

#define H POL_STATE_HIGH
#define C POL_STATE_CLEAR
#define S POL_STATE_SOFT
#define D POL_STATE_HARD
#define L POL_STATE_LOW

/* With state clear. Cuts: low, hard, hard + m, soft, soft + m, clear,
 * clear + m, high + m. */
#define POLX_LEVELS_CLEAR 9
static const uint8_t polx_next_clear[POL_STATES][POLX_LEVELS_CLEAR] = {
    /*             <low hard h+m  soft s+m clear c+m high+m  */
    [POL_STATE_HIGH] = { L, D, S, S, C, C, H, H, H },
    [POL_STATE_CLEAR] = { L, D, S, S, C, C, C, C, H },
    [POL_STATE_SOFT] = { L, D, S, S, S, S, S, C, H },
    [POL_STATE_HARD] = { L, D, D, D, D, S, S, C, H },
    [POL_STATE_LOW] = { L, L, L, D, D, S, S, C, H },
};

/* Without state clear. Cuts: low, hard, hard + m, soft, soft + m, high + m.
 * State clear is left at once: it exists only until thresholds are tuned. */
#define POLX_LEVELS_PLAIN 7
static const uint8_t polx_next_plain[POL_STATES][POLX_LEVELS_PLAIN] = {
    /*             <low hard h+m  soft s+m high+m */
    [POL_STATE_HIGH] = { L, D, S, S, H, H, H },
    [POL_STATE_CLEAR] = { L, D, S, S, S, S, H },
    [POL_STATE_SOFT] = { L, D, S, S, S, S, H },
    [POL_STATE_HARD] = { L, D, D, D, D, S, H },
    [POL_STATE_LOW] = { L, L, L, D, D, S, H },
};

#undef H
#undef C
#undef S
#undef D
#undef L

/** What is done to VMs above their targets (ESX02 6.3, ESX09 3.5). */
enum polx_means {
    POLX_MEANS_BALLOON = 1u << 0,
    POLX_MEANS_SWAP_INSTEAD = 1u << 1, /* where the balloon cannot work */
    POLX_MEANS_SWAP_URGENT = 1u << 2,  /* to get memory back now */
    POLX_MEANS_BLOCK = 1u << 3,
    POLX_MEANS_FAST_SCAN = 1u << 4 /* share pages as fast as allowed */
};

static const uint8_t polx_means[POL_STATES] = {
    [POL_STATE_HIGH] = 0,
    [POL_STATE_CLEAR] = POLX_MEANS_FAST_SCAN,
    [POL_STATE_SOFT] =
        POLX_MEANS_BALLOON | POLX_MEANS_SWAP_INSTEAD | POLX_MEANS_FAST_SCAN,
    [POL_STATE_HARD] = POLX_MEANS_BALLOON | POLX_MEANS_SWAP_INSTEAD |
                       POLX_MEANS_SWAP_URGENT | POLX_MEANS_FAST_SCAN,
    [POL_STATE_LOW] = POLX_MEANS_BALLOON | POLX_MEANS_SWAP_INSTEAD |
                      POLX_MEANS_SWAP_URGENT | POLX_MEANS_BLOCK |
                      POLX_MEANS_FAST_SCAN,
};

#endif /* POLX_STATE_TABLE_H */
