/* SPDX-License-Identifier: BSD-2-Clause */
/* Of any number of decisions the weightiest stay, in the order of time. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "command.h"
#include "decisions.h"

#define MADE 20000u

static void make(struct decisions *kept, uint64_t now, double weight)
{
    struct decision decision = { .now_ms = now, .weight = weight };

    kept->seen++;
    if (decisions_want(kept, now, weight)) {
        decision.text = must_format("%g", weight);
        decisions_add(kept, &decision);
    }
}

static void few_all_stay(void)
{
    struct decisions kept;

    decisions_init(&kept, MADE);
    for (uint32_t i = 0; i < DECISIONS_WHOLE; i++) {
        make(&kept, 7, i % 3);
    }
    decisions_finish(&kept);
    CU_ASSERT_EQUAL(kept.count, DECISIONS_WHOLE);
    decisions_clear(&kept);
}

static void weightiest_stay(void)
{
    struct decisions kept;
    size_t heavy = 0;

    decisions_init(&kept, MADE);
    for (uint32_t i = 0; i < MADE; i++) {
        /* Each weight 0..MADE-1 once, in a scattered order. */
        make(&kept, i, i * 7919u % MADE);
    }
    decisions_finish(&kept);
    CU_ASSERT_EQUAL(kept.seen, MADE);
    CU_ASSERT_EQUAL(kept.count, DECISIONS_MAX);
    for (size_t i = 0; i < kept.count; i++) {
        heavy += kept.list[i].weight >= MADE - DECISIONS_WHOLE;
        CU_ASSERT(i == 0 || kept.list[i - 1].now_ms < kept.list[i].now_ms);
        CU_ASSERT_PTR_NOT_NULL(kept.list[i].text);
    }
    CU_ASSERT_EQUAL(heavy, DECISIONS_WHOLE);
    decisions_clear(&kept);
}

/* A storm in the first fiftieth leaves room for what came later. */
static void storm_hides_nothing(void)
{
    struct decisions kept;
    size_t late = 0;

    decisions_init(&kept, MADE);
    for (uint32_t i = 0; i < MADE; i++) {
        make(&kept, i / DECISIONS_PARTS, 1000 + i);
    }
    for (uint32_t i = MADE / 2; i < MADE; i += 100) {
        make(&kept, i, 1);
    }
    decisions_finish(&kept);
    for (size_t i = 0; i < kept.count; i++) {
        late += kept.list[i].now_ms >= MADE / 2;
    }
    CU_ASSERT_EQUAL(late, MADE / 2 / 100);
    decisions_clear(&kept);
}

static double weight(uint32_t kind, uint64_t vm, uint64_t moved, int error,
                     bool repeated)
{
    struct decision decision = { .moved_pages = moved, .error = error };

    decision.action.kind = kind;
    decision.action.vm = vm;
    return decision_weight(&decision, 1000, repeated);
}

static void what_counts_more(void)
{
    CU_ASSERT(weight(POL_ACT_BALLOON, 1, 200, 0, false) >
              weight(POL_ACT_BALLOON, 1, 100, 0, false));
    CU_ASSERT(weight(POL_ACT_SWAP_OUT, 1, 100, 0, false) >
              weight(POL_ACT_BALLOON, 1, 100, 0, false));
    CU_ASSERT(weight(POL_ACT_BLOCK, 1, 0, 0, false) >
              weight(POL_ACT_SWAP_OUT, 1, 1000, 0, false));
    CU_ASSERT(weight(POL_ACT_BALLOON, 1, 100, POL_ERR_HOST, false) >
              weight(POL_ACT_BALLOON, 1, 100, 0, false));
    CU_ASSERT(weight(POL_ACT_BALLOON, 1, 100, 0, true) <
              weight(POL_ACT_BALLOON, 1, 100, 0, false));
    CU_ASSERT(weight(POL_ACT_NOTE, 0, 0, 0, false) >
              weight(POL_ACT_BLOCK, 1, 0, 0, false));
}

int main(void)
{
    unsigned failures;
    CU_pSuite suite;

    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    suite = CU_add_suite("decisions", NULL, NULL);
    CU_add_test(suite, "of few, all stay", few_all_stay);
    CU_add_test(suite, "the weightiest stay", weightiest_stay);
    CU_add_test(suite, "a storm hides nothing", storm_hides_nothing);
    CU_add_test(suite, "what counts more", what_counts_more);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures == 0 ? 0 : 1;
}
