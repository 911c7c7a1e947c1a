/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file series.h
 * Time series of bounded length that keep their extremes.
 *
 * All series of a recording share one time axis, which is cut into buckets of
 * equal width. When time outgrows the axis the width is doubled and pairs of
 * buckets are merged, so memory does not depend on how long a recording is.
 * A bucket remembers, per field, the least and the greatest value, which of
 * them came first, and the sum: a peak survives every merging.
 */
#ifndef POLICYCTL_SERIES_H
#define POLICYCTL_SERIES_H

#include <stdbool.h>
#include <stdint.h>

/** Buckets of an axis at most, while a bucket holds one sample. */
#define SERIES_FINE 800u
/** The same once a bucket holds several and gives two points each. */
#define SERIES_COARSE 400u
/** Most fields of a series. */
#define SERIES_FIELDS 8u

/** The axis that all series of a recording share. */
struct series_axis {
    uint64_t start_ms;
    uint64_t width_ms;
    uint64_t tick_ms; /**< distance of samples; width starts with it */
};

/** One field in one bucket. */
struct series_value {
    float min;
    float max;
    double sum;
};

/** A series: one VM's, or the host's. Zero it before use. */
struct series {
    struct series_value *values; /**< count * fields */
    uint32_t *samples;           /**< per bucket; 0: nothing known */
    uint8_t *max_first;          /**< per bucket, one bit a field */
    uint32_t fields;
    uint32_t first; /**< axis index of the first bucket */
    uint32_t count;
    uint32_t capacity;
};

/**
 * @param tick_ms      distance of samples, at least 1
 * @param duration_ms  how long it will be if known, else 0
 */
void series_axis_init(struct series_axis *axis, uint64_t start_ms,
                      uint64_t tick_ms, uint64_t duration_ms);

/** Whether a bucket may hold several samples. */
bool series_axis_coarse(const struct series_axis *axis);

/** Bucket of a time not before start_ms; may exceed what the axis has. */
uint64_t series_axis_index(const struct series_axis *axis, uint64_t now_ms);

/** Whether that time needs the axis to be doubled first. */
bool series_axis_full(const struct series_axis *axis, uint64_t now_ms);

/** Double the width. All series must be halved with it. */
void series_axis_double(struct series_axis *axis);

/** Merge pairs of buckets, after the axis was doubled. */
void series_halve(struct series *series);

/**
 * Add a sample of all fields. Times must not run backwards.
 * @return 0, or -1 when memory is exhausted
 */
int series_add(struct series *series, const struct series_axis *axis,
               uint64_t now_ms, const double *sample, uint32_t fields);

/** Mean of a field in an axis bucket; false when nothing is known there. */
bool series_mean(const struct series *series, uint32_t bucket, uint32_t field,
                 double *mean);

/** The extremes of a field in an axis bucket, in order of time; false when
 *  nothing is known there. */
bool series_extremes(const struct series *series, uint32_t bucket,
                     uint32_t field, double pair[2]);

void series_clear(struct series *series);

#endif /* POLICYCTL_SERIES_H */
