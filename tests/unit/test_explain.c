/* SPDX-License-Identifier: BSD-2-Clause */
/* Decisions in words: the exact sentence, and the figures behind it. */
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "fixture.h"

#define Q32(x100) (((uint64_t)(x100) << 32) / 100 + 1)

/* Two VMs, one idle, in state soft: which figures come out. */
static void figures(void)
{
    struct fixture f;
    struct pol_explanation e;
    struct pol_vm_obs o = fx_obs(40000, 40000);
    char text[512];

    fx_open(&f, 2);
    EXPECT("no VM", pol_explain(f.ctx, 1, &e), POL_ERR_NOTFOUND);
    fx_add(&f, 1, 40000, 0);
    fx_add(&f, 2, 40000, 0);
    EXPECT("no plan", pol_explain(f.ctx, 1, &e), POL_ERR_INVALID);
    fx_free(&f, 0, 3000);
    o.measured_active_pages = 10000;
    o.measured_age_ms = 5999;
    fx_see(&f, 1, &o);
    fx_running(&f, 2, 40000, 40000);
    fx_plan(&f);
    EXPECT(NULL, pol_explain(f.ctx, 1, &e), POL_OK);
    EXPECT("target: 36,750 and 40,000", e.status.target_pages, 36750);
    EXPECT("excess", e.excess_pages, 3250);
    EXPECT("lacking", e.lacking_pages, 0);
    EXPECT("rank", e.rho_rank, 1);
    EXPECT("of", e.rho_count, 2);
    EXPECT("tax", e.tax_bp, 7500);
    EXPECT("most", e.balloon_max_pages, 26000);
    EXPECT("text", pol_explain_text(&e, text, sizeof(text)), POL_OK);
    EXPECT_TEXT("text", text,
                "balloon set to leave 38,000 pages because: over its target "
                "while memory is short (state soft; excess 3,250 pages over "
                "target 36,750; adjusted shares-per-page 0.30, lowest of 2; "
                "10,000 pages active (measured by the host 5 s ago))");
    EXPECT(NULL, pol_explain(f.ctx, 2, &e), POL_OK);
    EXPECT("text", pol_explain_text(&e, text, sizeof(text)), POL_OK);
    EXPECT_TEXT(
        "text", text,
        "left as it is because: within its target (state soft; exactly at "
        "target 40,000; adjusted shares-per-page 1.00, 2nd lowest of "
        "2; 40,000 pages active (measured by the host 0 s ago))");
    fx_close(&f);
}

static const struct {
    struct pol_explanation e;
    const char *text;
} said[] = {
    { { .status = { .action = POL_ACT_SWAP_OUT,
                    .action_pages = 1,
                    .reason = POL_WHY_NO_DRIVER,
                    .target_pages = 999 },
        .ws = { .active_pages = 1000,
                .evidence = POL_EVIDENCE_SAMPLED,
                .age_ms = 61000 },
        .excess_pages = 1,
        .rho_q32 = 1,
        .rho_rank = 11,
        .rho_count = 1014,
        .state = POL_STATE_HARD },
      "1 page to be swapped out because: no working balloon driver (state "
      "hard; excess 1 page over target 999; adjusted shares-per-page below "
      "0.01, 11th lowest of 1,014; 1,000 pages active (sampled 61 s "
      "ago))" },
    { { .status = { .action = POL_ACT_SWAP_IN,
                    .action_pages = UINT64_C(1) << 52,
                    .reason = POL_WHY_BELOW_TARGET,
                    .target_pages = UINT64_C(1) << 52,
                    .stuck = 1,
                    .failures = 3 },
        .ws = { .active_pages = 1, .evidence = POL_EVIDENCE_GUEST },
        .lacking_pages = 1234567,
        .rho_q32 = Q32(12345),
        .rho_rank = 23,
        .rho_count = 30,
        .retry_in_ms = 59999 },
      "4,503,599,627,370,496 pages may be swapped in because: below its "
      "target (state high; 1,234,567 pages below target "
      "4,503,599,627,370,496; adjusted shares-per-page 123.45, 23rd lowest "
      "of 30; 1 page active (said by the guest 0 s ago); balloon stuck, "
      "tried again in 59 s; 3 failed actions)" },
    { { .status = { .action = POL_ACT_BLOCK,
                    .reason = POL_WHY_LOW_MEMORY,
                    .foreign = 1,
                    .asked_pages = 4096 },
        .ws = { .evidence = POL_EVIDENCE_NONE, .distress = 1 },
        .rho_q32 = UINT64_MAX,
        .rho_rank = 112,
        .rho_count = 200,
        .state = POL_STATE_LOW },
      "blocked because: host memory is nearly exhausted (state low; "
      "exactly at target 0; adjusted shares-per-page 4,294,967,295.99, "
      "112th lowest of 200; 0 pages active (guest in distress, "
      "counts for more; nothing known: all assumed active); target 4,096 "
      "set by "
      "somebody else)" },
    { { .status = { .action = POL_ACT_UNBLOCK, .reason = POL_WHY_NO_PROGRESS },
        .ws = { .evidence = POL_EVIDENCE_MEASURED },
        .rho_rank = 101,
        .rho_count = 102 },
      "unblocked because: blocking it brought no memory (state high; "
      "exactly at target 0; adjusted shares-per-page 0.00, 101st lowest of "
      "102; 0 pages active (measured by the host 0 s ago))" },
};

static void sentences(void)
{
    size_t i, cap;

    for (i = 0; i < ROWS(said); i++) {
        size_t length = strlen(said[i].text);
        char text[512];

        EXPECT(NULL, pol_explain_text(&said[i].e, text, sizeof(text)), POL_OK);
        EXPECT_TEXT(NULL, text, said[i].text);
        /* Any smaller buffer: cut, terminated, and not written beyond. */
        for (cap = 0; cap <= length + 1; cap++) {
            char *small = malloc(cap + 1);
            int rc = pol_explain_text(&said[i].e, small, cap);

            EXPECT(NULL, rc, cap > length ? POL_OK : POL_ERR_BUFFER);
            if (cap > 0) {
                EXPECT(NULL, strncmp(small, said[i].text, cap - 1), 0);
                EXPECT(NULL, strlen(small), cap - 1);
            }
            free(small);
        }
    }
}

/* 512 bytes are enough for the largest figures there are and every text. */
static void longest(void)
{
    struct pol_explanation e;
    size_t longest = 0;
    int reason;

    memset(&e, 0xff, sizeof(e));
    e.status.action_pages = e.status.target_pages = POL_MAX_PAGES;
    e.status.asked_pages = e.ws.active_pages = POL_MAX_PAGES;
    e.excess_pages = POL_MAX_PAGES;
    e.rho_rank = e.rho_count = POL_MAX_VMS - 1;
    e.status.action = POL_ACT_BALLOON;
    for (reason = 0; reason < 64; reason++) {
        char text[512];

        e.status.reason = (uint32_t)reason;
        e.ws.evidence = POL_EVIDENCE_MEASURED;
        e.state = POL_STATE_CLEAR;
        EXPECT(NULL, pol_explain_text(&e, text, sizeof(text)), POL_OK);
        longest = strlen(text) > longest ? strlen(text) : longest;
    }
    EXPECT_TRUE("so long that this has looked at them", longest > 400);
}

static const struct test_case cases[] = {
    { "figures of a real plan", figures },
    { "sentences, and buffers of every size", sentences },
    { "512 bytes are always enough", longest },
};

EXPECT_MAIN("explain", cases)
