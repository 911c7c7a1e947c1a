/* SPDX-License-Identifier: BSD-2-Clause */
/* When a figure counts as close to a published one, and what is printed. */
#include <CUnit/Basic.h>
#include <json-c/json.h>

#include "exp.h"

static void percentages_may_be_ten_points_apart(void)
{
    static const struct {
        double published;
        double simulated;
        enum exp_verdict verdict;
    } cases[] = {
        { 34, 35.3, EXP_CLOSE }, { 34, 24.1, EXP_CLOSE },
        { 34, 23.9, EXP_NOT },   { 89, 99.1, EXP_NOT },
        { 3, -1, EXP_CLOSE },    { EXP_UNKNOWN, 5, EXP_NO_FIGURE },
    };
    struct exp_result result = { 0 };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        exp_percent(&result, must_copy("x"), cases[i].published,
                    cases[i].simulated, NULL);
        CU_ASSERT_EQUAL(result.rows[i].verdict, cases[i].verdict);
    }
    CU_ASSERT_EQUAL(exp_count(&result, EXP_CLOSE), 3);
    CU_ASSERT_EQUAL(exp_count(&result, EXP_NOT), 2);
    CU_ASSERT_STRING_EQUAL(result.rows[5].published, "");
    exp_result_clear(&result);
}

static void amounts_may_be_a_tenth_apart(void)
{
    struct exp_result result = { 0 };

    exp_amount(&result, must_copy("a"), "ms", 143, 157, NULL);
    exp_amount(&result, must_copy("b"), "ms", 143, 158, "why");
    exp_amount(&result, must_copy("c"), "ms", 4.6, 4.1, NULL);
    CU_ASSERT_EQUAL(result.rows[0].verdict, EXP_CLOSE);
    CU_ASSERT_EQUAL(result.rows[1].verdict, EXP_NOT);
    CU_ASSERT_STRING_EQUAL(result.rows[1].reason, "why");
    CU_ASSERT_EQUAL(result.rows[2].verdict, EXP_NOT);
    CU_ASSERT_STRING_EQUAL(result.rows[2].published, "4.6 ms");
    exp_result_clear(&result);
}

static void checks_say_why_not(void)
{
    struct exp_result result = { 0 };

    exp_check(&result, true, EXP_CLIFF, must_copy("a"), "yes", must_copy("yes"),
              "why not");
    exp_check(&result, false, EXP_CLIFF, must_copy("b"), "yes", must_copy("no"),
              "why not");
    CU_ASSERT_EQUAL(result.rows[0].verdict, EXP_CLIFF);
    CU_ASSERT_PTR_NULL(result.rows[0].reason);
    CU_ASSERT_EQUAL(result.rows[1].verdict, EXP_NOT);
    CU_ASSERT_STRING_EQUAL(result.rows[1].reason, "why not");
    exp_result_clear(&result);
}

static void curves_are_told_apart(void)
{
    struct exp_result result = { 0 };

    exp_point(&result, "swap", false, 1, 10);
    exp_point(&result, "swap", true, 1, 11);
    exp_point(&result, "swap", false, 2, 20);
    exp_point(&result, "swap", true, 2, EXP_UNKNOWN); /* is left out */
    CU_ASSERT_EQUAL_FATAL(result.curves_n, 2);
    CU_ASSERT_EQUAL(result.curves[0].n, 2);
    CU_ASSERT_EQUAL(result.curves[1].n, 1);
    CU_ASSERT_TRUE(result.curves[1].published);
    exp_result_clear(&result);
}

static void json_has_null_for_what_is_unknown(void)
{
    struct exp_result result = { 0 };
    struct json_object *object;
    struct json_object *rows = NULL;
    struct json_object *value = (struct json_object *)&result;

    exp_percent(&result, must_copy("x"), EXP_UNKNOWN, 5, NULL);
    object = exp_json(&exp_list[0], &result);
    CU_ASSERT_TRUE_FATAL(json_object_object_get_ex(object, "rows", &rows));
    CU_ASSERT_TRUE(json_object_object_get_ex(json_object_array_get_idx(rows, 0),
                                             "published_value", &value));
    CU_ASSERT_PTR_NULL(value);
    json_object_put(object);
    exp_result_clear(&result);
}

/* A scenario that cannot be read would only be found when it is run. */
static void every_scenario_can_be_read(void)
{
    for (size_t i = 0; i < exp_list_n; i++) {
        struct sim_scenario *scenario = exp_load(&exp_list[i]);

        CU_ASSERT_PTR_NOT_NULL(scenario);
        sim_scenario_free(scenario);
    }
}

int main(void)
{
    unsigned failures;
    CU_pSuite suite;

    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    suite = CU_add_suite("experiments", NULL, NULL);
    CU_add_test(suite, "percentages may be ten points apart",
                percentages_may_be_ten_points_apart);
    CU_add_test(suite, "amounts may be a tenth apart",
                amounts_may_be_a_tenth_apart);
    CU_add_test(suite, "checks say why not", checks_say_why_not);
    CU_add_test(suite, "curves are told apart", curves_are_told_apart);
    CU_add_test(suite, "JSON has null for what is unknown",
                json_has_null_for_what_is_unknown);
    CU_add_test(suite, "every scenario can be read",
                every_scenario_can_be_read);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures == 0 ? 0 : 1;
}
