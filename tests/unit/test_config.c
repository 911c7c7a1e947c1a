/* SPDX-License-Identifier: BSD-2-Clause */
/* Defaults, presets, ranges, and the block a context lives in. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "fixture.h"

#define GIB_PAGES (UINT64_C(1) << 18) /* of 4 KiB */

static void minfree(void)
{
    static const struct {
        const char *row;
        uint64_t pages;
        uint32_t page_bytes;
        uint64_t want;
    } rows[] = {
        { "nothing", 0, 4096, 0 },
        { "1 page", 1, 4096, 0 },
        { "17 pages", 17, 4096, 1 },                /* 1.02 */
        { "4 GiB", 4 * GIB_PAGES, 4096, 62914 },    /* 62914.56 */
        { "12 GiB", 12 * GIB_PAGES, 4096, 146800 }, /* 146800.64 */
        { "28 GiB", 28 * GIB_PAGES, 4096, 230686 }, /* 901.12 MiB */
        { "32 GiB", 32 * GIB_PAGES, 4096, 241172 }, /* 241172.48 */
        { "28 GiB of 64 KiB", 28 * GIB_PAGES / 16, 65536, 14417 },
        { "28 GiB of 1 GiB", 28, 1u << 30, 0 },
        { "1 TiB of 1 GiB", 1024, 1u << 30, 10 }, /* 0.88 + 9.96 */
        { "2^52 pages", POL_MAX_PAGES, 4096, UINT64_C(45035996430991) },
    };
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        EXPECT(rows[i].row,
               pol_minfree_sliding(rows[i].pages, rows[i].page_bytes),
               rows[i].want);
    }
}

static void presets(void)
{
    static const struct {
        int preset;
        struct pol_thresholds want;
    } rows[] = {
        { POL_PRESET_ESX4,
          { POL_MINFREE_TOTAL, 600, 400, 400, 200, 100, 25, 0 } },
        { POL_PRESET_SLIDING,
          { POL_MINFREE_SLIDING, 10000, 6400, 6400, 3200, 1600, 400, 0 } },
        { POL_PRESET_SLIDING6,
          { POL_MINFREE_SLIDING, 40000, 10000, 6400, 3200, 1600, 400, 1 } },
    };
    struct pol_config c;
    size_t i;

    for (i = 0; i < ROWS(rows); i++) {
        pol_config_init(&c, 10, 0);
        EXPECT(NULL, pol_config_preset(&c, rows[i].preset), POL_OK);
        EXPECT(NULL, memcmp(&c.thresholds, &rows[i].want, sizeof(c.thresholds)),
               0);
        EXPECT(NULL, pol_config_check(&c, NULL), POL_OK);
    }
    pol_config_init(&c, 10, 0);
    EXPECT("esx4 is the default",
           memcmp(&c.thresholds, &rows[0].want, sizeof(c.thresholds)), 0);
    EXPECT("below", pol_config_preset(&c, -1), POL_ERR_INVALID);
    EXPECT("beyond", pol_config_preset(&c, POL_PRESETS), POL_ERR_INVALID);
    EXPECT("nothing has changed",
           memcmp(&c.thresholds, &rows[0].want, sizeof(c.thresholds)), 0);
}

/* One field of 32 bits, its name, and values just in and just out. */
#define FIELD(f, good, bad)                                                    \
    {                                                                          \
#f, offsetof(struct pol_config, f), good, bad                          \
    }

static const struct {
    const char *field;
    size_t offset;
    uint32_t good, bad;
} fields[] = {
    FIELD(max_vms, 1, 0),
    FIELD(max_vms, POL_MAX_VMS, POL_MAX_VMS + 1),
    FIELD(max_groups, POL_MAX_GROUPS, POL_MAX_GROUPS + 1),
    FIELD(max_holds, POL_MAX_HOLDS, POL_MAX_HOLDS + 1),
    FIELD(max_holds, 0, UINT32_MAX),
    FIELD(page_bytes, 4096, 4095),
    FIELD(page_bytes, 8192, 2048),
    FIELD(page_bytes, 1u << 20, (1u << 20) + 4096),
    FIELD(page_bytes, 1u << 30, 1u << 31),
    FIELD(idle_tax_bp, 9900, 9901),
    FIELD(headroom_bp, 10000, 10001),
    FIELD(sample_period_ms, 1, 0),
    FIELD(sample_period_ms, 3600000, 3600001),
    FIELD(sample_pages, 1, 0),
    FIELD(sample_pages, 1000, 1001),
    FIELD(slow_gain_bp, 1, 0),
    FIELD(slow_gain_bp, 10000, 10001),
    FIELD(fast_gain_bp, 1, 0),
    FIELD(fast_gain_bp, 10000, 10001),
    FIELD(fresh_ms, 0, 3600001),
    FIELD(stale_ms, 60000, 59999),
    FIELD(stale_ms, 86400000, 86400001),
    FIELD(thresholds.base, 1, 2),
    FIELD(thresholds.high_bp, 100000, 100001),
    FIELD(thresholds.clear_bp, 600, 601),
    FIELD(thresholds.clear_bp, 500, 399),
    FIELD(thresholds.soft_bp, 300, 401),
    FIELD(thresholds.hard_bp, 400, 401),
    FIELD(thresholds.low_bp, 200, 201),
    FIELD(thresholds.margin_bp, 100000, 100001),
    FIELD(thresholds.hard_stops_balloon, 1, 2),
    FIELD(balloon_cap_bp, 10000, 10001),
    FIELD(balloon_step_bp, 1, 0),
    FIELD(balloon_step_bp, 10000, 10001),
    FIELD(swap_step_bp, 1, 0),
    FIELD(swap_step_bp, 10000, 10001),
    FIELD(dead_band_bp, 10000, 10001),
    FIELD(stuck_ms, 1, 0),
    FIELD(stuck_ms, 86400000, 86400001),
    FIELD(retry_ms, 960000, 0),
    FIELD(retry_max_ms, 60000, 59999),
    FIELD(retry_max_ms, 86400000, 86400001),
    FIELD(promise_ms, 86400000, 86400001),
    FIELD(block_max_ms, 1, 0),
    FIELD(block_max_ms, 86400000, 86400001),
    FIELD(share_scan_ms, 600000, 0),
    FIELD(share_scan_ms, 2000000000, 2000000001),
    FIELD(share_scan_min_ms, 1, 0),
    FIELD(share_scan_min_ms, 3600000, 3600001),
    FIELD(distress_stall_bp, 10000, 10001),
    FIELD(distress_ms, 86400000, 86400001),
    FIELD(admission_needs_swap, 0, 2),
    FIELD(reserved_0, 0, 1),
};

static void ranges(void)
{
    size_t i;

    for (i = 0; i < ROWS(fields); i++) {
        struct pol_config c;
        const char *field = "untouched";
        const char *blamed = fields[i].field;

        pol_config_init(&c, 10, 10);
        memcpy((char *)&c + fields[i].offset, &fields[i].good,
               sizeof(uint32_t));
        EXPECT(fields[i].field, pol_config_check(&c, &field), POL_OK);
        EXPECT_TEXT(fields[i].field, field, NULL);
        memcpy((char *)&c + fields[i].offset, &fields[i].bad, sizeof(uint32_t));
        EXPECT(fields[i].field, pol_config_check(&c, &field), POL_ERR_RANGE);
        /* Where two fields contradict each other the lower one is named. */
        if (fields[i].offset ==
                offsetof(struct pol_config, thresholds.clear_bp) &&
            fields[i].bad == 399) {
            blamed = "thresholds.soft_bp";
        }
        EXPECT_TEXT(fields[i].field, field, blamed);
        EXPECT(fields[i].field, pol_config_check(&c, NULL), POL_ERR_RANGE);
    }
}

static void wide_fields(void)
{
    struct pol_config c;
    const char *field = NULL;

    pol_config_init(&c, 10, 10);
    c.size--;
    EXPECT("size", pol_config_check(&c, &field), POL_ERR_VERSION);
    EXPECT_TEXT("size", field, "size");
    c.size++;
    c.host_reserve_pages = POL_MAX_PAGES;
    EXPECT("reserve", pol_config_check(&c, &field), POL_OK);
    c.host_reserve_pages++;
    EXPECT("reserve", pol_config_check(&c, &field), POL_ERR_RANGE);
    EXPECT_TEXT("reserve", field, "host_reserve_pages");
    c.host_reserve_pages = 0;
    c.seed = UINT64_MAX;
    EXPECT("seed", pol_config_check(&c, &field), POL_OK);
}

static void block_and_size(void)
{
    struct pol_config c;
    struct pol_ctx *ctx = NULL;
    size_t bytes = 0, other = 0;
    char *block;

    pol_config_init(&c, 100, 10);
    EXPECT("size", pol_ctx_size(&c, &bytes), POL_OK);
    block = aligned_alloc(64, bytes + 64);
    EXPECT("too small", pol_ctx_init(block, bytes - 1, &c, &ctx),
           POL_ERR_NOMEM);
    EXPECT("crooked", pol_ctx_init(block + 8, bytes, &c, &ctx),
           POL_ERR_INVALID);
    EXPECT("no block", pol_ctx_init(NULL, bytes, &c, &ctx), POL_ERR_INVALID);
    c.fast_gain_bp = 0;
    EXPECT("bad", pol_ctx_size(&c, &other), POL_ERR_RANGE);
    EXPECT("bad", pol_ctx_init(block, bytes, &c, &ctx), POL_ERR_RANGE);
    EXPECT_TRUE("a failed call has changed nothing", ctx == NULL && other == 0);
    c.fast_gain_bp = 6000;
    EXPECT("good", pol_ctx_init(block, bytes, &c, &ctx), POL_OK);
    EXPECT_TRUE("inside", (char *)ctx >= block && (char *)ctx < block + bytes);
    EXPECT("copied", memcmp(pol_ctx_config(ctx), &c, sizeof(c)), 0);
    free(block);
}

static void bytes_per_vm(void)
{
    static const uint32_t counts[] = { 100, 1000, 10000, 100000, POL_MAX_VMS };
    size_t i;

    for (i = 0; i < ROWS(counts); i++) {
        struct pol_config c;
        size_t with = 0, without = 0;

        pol_config_init(&c, counts[i], 0);
        MUST(pol_ctx_size(&c, &with));
        c.max_vms = 1;
        MUST(pol_ctx_size(&c, &without));
        printf("  %u VMs: %zu bytes each\n", counts[i],
               (with - without) / counts[i]);
        EXPECT_TRUE("bytes per VM", with - without <= (size_t)512 * counts[i]);
    }
}

static void tune(void)
{
    struct fixture f;
    struct pol_config c;

    fx_open(&f, 10);
    fx_plan(&f);
    EXPECT("before", fx_host_status(&f).high_pages, 6000);
    c = f.config;
    MUST(pol_config_preset(&c, POL_PRESET_SLIDING));
    c.idle_tax_bp = 0;
    EXPECT("tuned", pol_ctx_tune(f.ctx, &c), POL_OK);
    fx_plan(&f);
    EXPECT("after: 6 % of 100,000", fx_host_status(&f).high_pages, 6000);
    EXPECT("after: 64 % of that", fx_host_status(&f).soft_pages, 3840);
    EXPECT("in force", pol_ctx_config(f.ctx)->idle_tax_bp, 0);
#define REFUSED(field, value)                                                  \
    c = f.config;                                                              \
    c.field = value;                                                           \
    EXPECT(#field, pol_ctx_tune(f.ctx, &c), POL_ERR_INVALID)
    REFUSED(max_vms, 11);
    REFUSED(max_groups, 15);
    REFUSED(max_holds, 1);
    REFUSED(page_bytes, 8192);
    REFUSED(seed, 2);
#undef REFUSED
    c = f.config;
    c.stuck_ms = 0;
    EXPECT("bad", pol_ctx_tune(f.ctx, &c), POL_ERR_RANGE);
    EXPECT("unchanged", pol_ctx_config(f.ctx)->idle_tax_bp, 0);
    EXPECT("unchanged", pol_ctx_config(f.ctx)->stuck_ms, 20000);
    fx_close(&f);
}

static const struct test_case cases[] = {
    { "sliding minimum of free memory", minfree },
    { "presets", presets },
    { "each 32-bit field: just in range, and just out of it", ranges },
    { "size, reserve and seed", wide_fields },
    { "the block: too small, crooked, missing, right", block_and_size },
    { "at most 512 bytes per VM", bytes_per_vm },
    { "tuning a living context", tune },
};

EXPECT_MAIN("config", cases)
