/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers, sizes, times and percentages as they are written in a scenario. */
#ifndef SIM_SCENARIO_VALUE_H
#define SIM_SCENARIO_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_value_result {
    SIM_VALUE_OK = 0,
    SIM_VALUE_MALFORMED, /* not of this kind at all */
    SIM_VALUE_NEGATIVE,
    SIM_VALUE_HUGE,  /* does not fit the result */
    SIM_VALUE_UNEVEN /* a size that is no whole number of pages */
};

/* "1234"; nothing but digits. */
enum sim_value_result sim_value_number(const char *text, uint64_t *out);

/* "512MiB", "4GiB", "64KiB", "1TiB", "16 pages" or "16": in pages. */
enum sim_value_result sim_value_pages(const char *text, uint32_t page_bytes,
                                      uint64_t *pages);

/* "250ms", "30s", "5min", "1h", "1d" or "0": in milliseconds. */
enum sim_value_result sim_value_time(const char *text, uint64_t *ms);

/* "75%", "2.5%", "0.25%": in basis points. */
enum sim_value_result sim_value_percent(const char *text, uint64_t *bp);

/* "yes", "no" and YAML's other words for them. */
enum sim_value_result sim_value_bool(const char *text, bool *out);

/* The way back, for error messages: the shortest exact form. */
void sim_value_say_pages(uint64_t pages, uint32_t page_bytes, char *text,
                         size_t cap);
void sim_value_say_time(uint64_t ms, char *text, size_t cap);
void sim_value_say_percent(uint64_t bp, char *text, size_t cap);

/* The word nearest to `text` by edit distance, or NULL when none is near. */
const char *sim_value_nearest(const char *text, const char *const *words,
                              size_t n);

#endif /* SIM_SCENARIO_VALUE_H */
