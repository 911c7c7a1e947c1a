/* SPDX-License-Identifier: BSD-2-Clause */
/* Decimation keeps extremes, order, means and a bounded length. */
#include <CUnit/Basic.h>
#include <stdlib.h>

#include "series.h"

#define TICK 10000u

/* Feed a sample as the recorder does. */
static void feed(struct series_axis *axis, struct series *series, uint64_t now,
                 double value)
{
    while (series_axis_full(axis, now)) {
        series_axis_double(axis);
        series_halve(series);
    }
    CU_ASSERT_EQUAL(series_add(series, axis, now, &value, 1), 0);
}

static void one_sample_a_bucket(void)
{
    struct series_axis axis;
    struct series series = { 0 };
    double pair[2];

    series_axis_init(&axis, 0, TICK, 100 * TICK);
    CU_ASSERT_FALSE(series_axis_coarse(&axis));
    for (uint32_t i = 0; i < 100; i++) {
        feed(&axis, &series, i * TICK, i);
    }
    CU_ASSERT_EQUAL(series.count, 100);
    for (uint32_t i = 0; i < 100; i++) {
        CU_ASSERT_TRUE(series_extremes(&series, i, 0, pair));
        CU_ASSERT(pair[0] == i && pair[1] == i);
    }
    CU_ASSERT_FALSE(series_extremes(&series, 100, 0, pair));
    series_clear(&series);
}

/* A day in ticks of 10 s with one peak and one dip, whether or not the length
 * is known from the beginning. */
static void day(uint64_t known_ms)
{
    struct series_axis axis;
    struct series series = { 0 };
    double lowest = 1e9;
    double highest = -1e9;
    double sum = 0;
    double samples = 0;

    series_axis_init(&axis, 0, TICK, known_ms);
    for (uint32_t i = 0; i < 8640; i++) {
        double value = i == 1234 ? 9000.0 : i == 5678 ? -9000.0 : i % 7;

        sum += value;
        feed(&axis, &series, (uint64_t)i * TICK, value);
    }
    CU_ASSERT_TRUE(series_axis_coarse(&axis));
    CU_ASSERT(series.count <= SERIES_COARSE);
    CU_ASSERT(series.count >= SERIES_COARSE / 2);
    for (uint32_t i = 0; i < series.count; i++) {
        double pair[2];
        double mean;

        CU_ASSERT_TRUE(series_extremes(&series, i, 0, pair));
        CU_ASSERT_TRUE(series_mean(&series, i, 0, &mean));
        for (int k = 0; k < 2; k++) {
            lowest = pair[k] < lowest ? pair[k] : lowest;
            highest = pair[k] > highest ? pair[k] : highest;
        }
        sum -= mean * series.samples[i];
        samples += series.samples[i];
    }
    CU_ASSERT_EQUAL(lowest, -9000.0);
    CU_ASSERT_EQUAL(highest, 9000.0);
    CU_ASSERT_EQUAL(samples, 8640);
    CU_ASSERT_DOUBLE_EQUAL(sum, 0, 1e-6);
    series_clear(&series);
}

static void day_known(void)
{
    day(8640u * TICK);
}

static void day_unknown(void)
{
    day(0);
}

/* Which extreme came first, through any number of mergings. */
static void order(void)
{
    static const struct {
        double samples[4];
        double first;
        double second;
    } cases[] = {
        { { 1, 2, 3, 4 }, 1, 4 }, { { 4, 3, 2, 1 }, 4, 1 },
        { { 2, 9, 1, 5 }, 9, 1 }, { { 2, 1, 9, 5 }, 1, 9 },
        { { 5, 5, 5, 5 }, 5, 5 }, { { 5, 1, 5, 9 }, 1, 9 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct series_axis axis = { 0, TICK, TICK };
        struct series series = { 0 };
        double pair[2];

        for (uint32_t k = 0; k < 4; k++) {
            feed(&axis, &series, k * TICK, cases[i].samples[k]);
        }
        series_axis_double(&axis);
        series_halve(&series);
        series_axis_double(&axis);
        series_halve(&series);
        CU_ASSERT_EQUAL(series.count, 1);
        CU_ASSERT_TRUE(series_extremes(&series, 0, 0, pair));
        CU_ASSERT_EQUAL(pair[0], cases[i].first);
        CU_ASSERT_EQUAL(pair[1], cases[i].second);
        series_clear(&series);
    }
}

/* A series that begins late, at an odd bucket, with a hole in it. */
static void late_and_holes(void)
{
    struct series_axis axis = { 0, TICK, TICK };
    struct series series = { 0 };
    double pair[2];
    double mean;

    feed(&axis, &series, 5 * TICK, 1);
    feed(&axis, &series, 6 * TICK, 3);
    feed(&axis, &series, 7 * TICK, 5);
    feed(&axis, &series, 10 * TICK, 7);
    CU_ASSERT_FALSE(series_mean(&series, 8, 0, &mean));
    CU_ASSERT_FALSE(series_mean(&series, 4, 0, &mean));
    series_axis_double(&axis);
    series_halve(&series);
    CU_ASSERT_EQUAL(series.first, 2);
    CU_ASSERT_TRUE(series_mean(&series, 2, 0, &mean));
    CU_ASSERT_EQUAL(mean, 1);
    CU_ASSERT_TRUE(series_mean(&series, 3, 0, &mean));
    CU_ASSERT_EQUAL(mean, 4);
    CU_ASSERT_FALSE(series_extremes(&series, 4, 0, pair));
    CU_ASSERT_TRUE(series_extremes(&series, 5, 0, pair));
    CU_ASSERT_EQUAL(pair[0], 7);
    series_clear(&series);
}

int main(void)
{
    unsigned failures;
    CU_pSuite suite;

    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    suite = CU_add_suite("series", NULL, NULL);
    CU_add_test(suite, "one sample a bucket", one_sample_a_bucket);
    CU_add_test(suite, "a day, length known", day_known);
    CU_add_test(suite, "a day, length unknown", day_unknown);
    CU_add_test(suite, "order of extremes", order);
    CU_add_test(suite, "late begin and holes", late_and_holes);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures == 0 ? 0 : 1;
}
