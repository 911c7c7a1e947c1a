/* SPDX-License-Identifier: BSD-2-Clause */
/* Free-memory states: thresholds, and every state against every level. */
#include <stdio.h>

#include "expect.h"
#include "fixture.h"
#include "internal.h"
#include "state_table.h"

#define H POL_STATE_HIGH
#define C POL_STATE_CLEAR
#define S POL_STATE_SOFT
#define D POL_STATE_HARD
#define L POL_STATE_LOW

static void thresholds(void)
{
    static const struct {
        const char *row;
        int preset;
        uint64_t total, high, clear, soft, hard, low, aim;
    } rows[] = {
        { "esx4", POL_PRESET_ESX4, 100000, 6000, 4000, 4000, 2000, 1000, 6250 },
        { "esx4, tiny", POL_PRESET_ESX4, 10, 0, 0, 0, 0, 0, 0 },
        { "esx4, 2^52", POL_PRESET_ESX4, POL_MAX_PAGES,
          UINT64_C(270215977642229), UINT64_C(180143985094819),
          UINT64_C(180143985094819), UINT64_C(90071992547409),
          UINT64_C(45035996273704), UINT64_C(281474976710655) },
        { "sliding, 28 GiB", POL_PRESET_SLIDING, 7340032, 230686, 147639,
          147639, 73819, 36909, 239913 },
        { "sliding6, 28 GiB", POL_PRESET_SLIDING6, 7340032, 922744, 230686,
          147639, 73819, 36909, 931971 },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        struct fixture f;
        struct pol_host_status s;

        fx_config(&f, 1);
        MUST(pol_config_preset(&f.config, rows[i].preset));
        fx_create(&f);
        f.host.total_pages = rows[i].total;
        fx_free(&f, 0, rows[i].total);
        fx_plan(&f);
        s = fx_host_status(&f);
        EXPECT(rows[i].row, s.high_pages, rows[i].high);
        EXPECT(rows[i].row, s.clear_pages, rows[i].clear);
        EXPECT(rows[i].row, s.soft_pages, rows[i].soft);
        EXPECT(rows[i].row, s.hard_pages, rows[i].hard);
        EXPECT(rows[i].row, s.low_pages, rows[i].low);
        EXPECT(rows[i].row, s.aim_pages, rows[i].aim);
        EXPECT(rows[i].row, s.available_pages, rows[i].total - rows[i].aim);
        fx_close(&f);
    }
}

/* A row for each amount of free memory: the next state from high, clear,
 * soft, hard and low. */
struct level {
    uint64_t free_pages;
    uint8_t next[POL_STATES];
};

static void total_table(const struct polx_levels *levels,
                        const struct level *rows, size_t n)
{
    size_t i;
    uint32_t from;

    for (i = 0; i < n; i++) {
        for (from = 0; from < POL_STATES; from++) {
            if (rows[i].next[from] !=
                polx_state_next(levels, from, rows[i].free_pages)) {
                fprintf(stderr, "free %d from %s: ", (int)rows[i].free_pages,
                        pol_state_name((int)from));
            }
            EXPECT(NULL, polx_state_next(levels, from, rows[i].free_pages),
                   rows[i].next[from]);
        }
    }
}

static void without_clear(void)
{
    static const struct polx_levels levels = { .high = 6000,
                                               .clear = 4000,
                                               .soft = 4000,
                                               .hard = 2000,
                                               .low = 1000,
                                               .margin = 250 };
    static const struct level rows[] = {
        { 0, { L, L, L, L, L } },          { 999, { L, L, L, L, L } },
        { 1000, { D, D, D, D, L } },       { 1999, { D, D, D, D, L } },
        { 2000, { S, S, S, D, L } },       { 2249, { S, S, S, D, L } },
        { 2250, { S, S, S, D, D } },       { 3999, { S, S, S, D, D } },
        { 4000, { H, S, S, D, D } },       { 4249, { H, S, S, D, D } },
        { 4250, { H, S, S, S, S } },       { 5999, { H, S, S, S, S } },
        { 6000, { H, S, S, S, S } },       { 6249, { H, S, S, S, S } },
        { 6250, { H, H, H, H, H } },       { 100000, { H, H, H, H, H } },
        { UINT64_MAX, { H, H, H, H, H } },
    };

    total_table(&levels, rows, ROWS(rows));
}

static void with_clear(void)
{
    static const struct polx_levels levels = { .high = 40000,
                                               .clear = 10000,
                                               .soft = 6400,
                                               .hard = 3200,
                                               .low = 1600,
                                               .margin = 400 };
    static const struct level rows[] = {
        { 1599, { L, L, L, L, L } },  { 1600, { D, D, D, D, L } },
        { 3199, { D, D, D, D, L } },  { 3200, { S, S, S, D, L } },
        { 3599, { S, S, S, D, L } },  { 3600, { S, S, S, D, D } },
        { 6399, { S, S, S, D, D } },  { 6400, { C, C, S, D, D } },
        { 6799, { C, C, S, D, D } },  { 6800, { C, C, S, S, S } },
        { 9999, { C, C, S, S, S } },  { 10000, { H, C, S, S, S } },
        { 10399, { H, C, S, S, S } }, { 10400, { H, C, C, C, C } },
        { 40399, { H, C, C, C, C } }, { 40400, { H, H, H, H, H } },
    };

    total_table(&levels, rows, ROWS(rows));
}

/* Thresholds that coincide, and margins wider than the gaps. */
static void odd_levels(void)
{
    static const struct {
        const char *row;
        struct polx_levels levels;
    } rows[] = {
        { "all zero", { 0, 0, 0, 0, 0, 0 } },
        { "all equal", { 500, 500, 500, 500, 500, 10 } },
        { "wide margin", { 600, 500, 400, 200, 100, 100000 } },
        { "wide margin, no clear", { 600, 400, 400, 200, 100, 100000 } },
        { "clear = high", { 600, 600, 400, 200, 100, 25 } },
    };
    uint32_t from;
    uint64_t free_pages;
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        const struct polx_levels *l = &rows[i].levels;
        uint32_t wrong = 0;

        for (from = 0; from < POL_STATES; from++) {
            uint32_t before = POL_STATE_LOW;

            for (free_pages = 0; free_pages < 1000; free_pages++) {
                uint32_t next = polx_state_next(l, from, free_pages);
                /* Never a better state than the thresholds alone allow, and
                 * at once as bad as they demand; more is never worse. */
                uint32_t worst = free_pages < l->low    ? L
                                 : free_pages < l->hard ? D
                                 : free_pages < l->soft ? S
                                                        : H;

                wrong += next >= POL_STATES || next < worst || next > before;
                before = next;
            }
        }
        EXPECT(rows[i].row, wrong, 0);
    }
}

/* Through the front door: the same amount of memory, two answers. */
static void hysteresis(void)
{
    static const struct {
        uint64_t free_pages;
        uint32_t state;
        uint32_t notes;
    } rows[] = {
        { 6250, H, 0 },  { 4000, H, 0 },  { 3999, S, 1 }, { 4000, S, 0 },
        { 6249, S, 0 },  { 6250, H, 1 },  { 1999, D, 1 }, { 4249, D, 0 },
        { 4250, S, 1 },  { 500, L, 1 },   { 2249, L, 0 }, { 2250, D, 1 },
        { 50000, H, 1 }, { 50000, H, 0 },
    };
    struct fixture f;
    size_t i;

    fx_open(&f, 1);
    for (i = 0; i < ROWS(rows); i++) {
        fx_free(&f, 1000, rows[i].free_pages);
        fx_plan(&f);
        EXPECT(NULL, fx_host_status(&f).state, rows[i].state);
        EXPECT("told", fx_notes(&f, 0, POL_WHY_STATE_CHANGE), rows[i].notes);
    }
    fx_close(&f);
}

static void means(void)
{
    static const struct {
        uint32_t state;
        uint32_t means;
    } rows[] = {
        { H, 0 },
        { C, POLX_MEANS_FAST_SCAN },
        { S,
          POLX_MEANS_BALLOON | POLX_MEANS_SWAP_INSTEAD | POLX_MEANS_FAST_SCAN },
        { D, POLX_MEANS_BALLOON | POLX_MEANS_SWAP_INSTEAD |
                 POLX_MEANS_SWAP_URGENT | POLX_MEANS_FAST_SCAN },
        { L, POLX_MEANS_BALLOON | POLX_MEANS_SWAP_INSTEAD |
                 POLX_MEANS_SWAP_URGENT | POLX_MEANS_BLOCK |
                 POLX_MEANS_FAST_SCAN },
    };
    size_t i;

    EXPECT("every state", ROWS(rows), POL_STATES);
    for (i = 0; i < ROWS(rows); i++) {
        EXPECT(pol_state_name((int)rows[i].state), polx_means[rows[i].state],
               rows[i].means);
    }
}

static const struct test_case cases[] = {
    { "thresholds of the presets in pages", thresholds },
    { "every state against every level, without state clear", without_clear },
    { "every state against every level, with state clear", with_clear },
    { "thresholds that coincide, margins that overlap", odd_levels },
    { "down at once, up only beyond the margin", hysteresis },
    { "what each state allows", means },
};

EXPECT_MAIN("state", cases)
