/* SPDX-License-Identifier: BSD-2-Clause */
#include "series.h"

#include <stdlib.h>
#include <string.h>

void series_axis_init(struct series_axis *axis, uint64_t start_ms,
                      uint64_t tick_ms, uint64_t duration_ms)
{
    uint64_t ticks = duration_ms / tick_ms + 1;
    uint64_t per_bucket = 1;

    if (ticks > SERIES_FINE) {
        per_bucket = (ticks + SERIES_COARSE - 1) / SERIES_COARSE;
    }
    axis->start_ms = start_ms;
    axis->tick_ms = tick_ms;
    axis->width_ms = tick_ms * per_bucket;
}

bool series_axis_coarse(const struct series_axis *axis)
{
    return axis->width_ms > axis->tick_ms;
}

uint64_t series_axis_index(const struct series_axis *axis, uint64_t now_ms)
{
    return (now_ms - axis->start_ms) / axis->width_ms;
}

bool series_axis_full(const struct series_axis *axis, uint64_t now_ms)
{
    uint32_t most = series_axis_coarse(axis) ? SERIES_COARSE : SERIES_FINE;

    return series_axis_index(axis, now_ms) >= most;
}

void series_axis_double(struct series_axis *axis)
{
    axis->width_ms *= 2;
}

/* Put what `from` knows behind what `to` knows; both may know nothing. */
static void merge(struct series *series, uint32_t to, uint32_t from)
{
    struct series_value *a = series->values + (size_t)to * series->fields;
    struct series_value *b = series->values + (size_t)from * series->fields;
    uint8_t order = series->max_first[to];

    if (series->samples[from] == 0) {
        return;
    }
    if (series->samples[to] == 0) {
        memcpy(a, b, series->fields * sizeof *a);
        series->samples[to] = series->samples[from];
        series->max_first[to] = series->max_first[from];
        return;
    }
    for (uint32_t i = 0; i < series->fields; i++) {
        uint8_t bit = (uint8_t)(1u << i);
        bool lower = b[i].min < a[i].min;
        bool higher = b[i].max > a[i].max;

        if (lower && higher) {
            order = (uint8_t)((order & ~bit) | (series->max_first[from] & bit));
        } else if (lower) {
            order |= bit;
        } else if (higher) {
            order &= (uint8_t)~bit;
        }
        a[i].min = lower ? b[i].min : a[i].min;
        a[i].max = higher ? b[i].max : a[i].max;
        a[i].sum += b[i].sum;
    }
    series->max_first[to] = order;
    series->samples[to] += series->samples[from];
}

static void move(struct series *series, uint32_t to, uint32_t from)
{
    if (to == from) {
        return;
    }
    memcpy(series->values + (size_t)to * series->fields,
           series->values + (size_t)from * series->fields,
           series->fields * sizeof *series->values);
    series->samples[to] = series->samples[from];
    series->max_first[to] = series->max_first[from];
}

void series_halve(struct series *series)
{
    uint32_t first = series->first / 2;
    uint32_t used = 0;

    for (uint32_t i = 0; i < series->count; i++) {
        uint32_t to = (series->first + i) / 2 - first;

        if (to < used) {
            merge(series, to, i);
        } else {
            move(series, to, i);
            used = to + 1;
        }
    }
    series->first = first;
    series->count = used;
}

/* Room for `count` buckets; grows by half at least. */
static int reserve(struct series *series, uint32_t count)
{
    uint32_t capacity = series->capacity + series->capacity / 2;
    void *grown;

    if (count <= series->capacity) {
        return 0;
    }
    capacity = capacity < count ? count : capacity;
    grown = realloc(series->values,
                    (size_t)capacity * series->fields * sizeof *series->values);
    if (grown == NULL) {
        return -1;
    }
    series->values = grown;
    grown = realloc(series->samples, capacity * sizeof *series->samples);
    if (grown == NULL) {
        return -1;
    }
    series->samples = grown;
    grown = realloc(series->max_first, capacity);
    if (grown == NULL) {
        return -1;
    }
    series->max_first = grown;
    series->capacity = capacity;
    return 0;
}

int series_add(struct series *series, const struct series_axis *axis,
               uint64_t now_ms, const double *sample, uint32_t fields)
{
    uint32_t bucket = (uint32_t)series_axis_index(axis, now_ms);
    struct series_value *at;
    uint32_t spare;

    if (series->count == 0) {
        series->fields = fields;
        series->first = bucket;
    }
    /* The sample is written behind the last bucket and merged into its own,
     * so that there is one place that knows how two samples combine. */
    spare = bucket - series->first + 1;
    if (reserve(series, spare + 1) != 0) {
        return -1;
    }
    for (uint32_t i = series->count; i <= spare; i++) {
        series->samples[i] = 0;
        series->max_first[i] = 0;
    }
    at = series->values + (size_t)spare * fields;
    for (uint32_t i = 0; i < fields; i++) {
        at[i].min = (float)sample[i];
        at[i].max = (float)sample[i];
        at[i].sum = sample[i];
    }
    series->samples[spare] = 1;
    series->max_first[spare] = 0;
    series->count = spare;
    merge(series, spare - 1, spare);
    return 0;
}

/* Index of an axis bucket in the series, or -1. */
static int64_t find(const struct series *series, uint32_t bucket)
{
    if (bucket < series->first || bucket - series->first >= series->count ||
        series->samples[bucket - series->first] == 0) {
        return -1;
    }
    return bucket - series->first;
}

bool series_mean(const struct series *series, uint32_t bucket, uint32_t field,
                 double *mean)
{
    int64_t i = find(series, bucket);

    if (i < 0) {
        return false;
    }
    *mean = series->values[(size_t)i * series->fields + field].sum /
            series->samples[i];
    return true;
}

bool series_extremes(const struct series *series, uint32_t bucket,
                     uint32_t field, double pair[2])
{
    int64_t i = find(series, bucket);
    const struct series_value *value;
    bool max_first;

    if (i < 0) {
        return false;
    }
    value = series->values + (size_t)i * series->fields + field;
    max_first = (series->max_first[i] >> field & 1u) != 0;
    pair[0] = max_first ? value->max : value->min;
    pair[1] = max_first ? value->min : value->max;
    return true;
}

void series_clear(struct series *series)
{
    free(series->values);
    free(series->samples);
    free(series->max_first);
    memset(series, 0, sizeof *series);
}
