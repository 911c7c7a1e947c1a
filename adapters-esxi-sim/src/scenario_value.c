/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit sizes[] = {
    { "KiB", UINT64_C(1) << 10 }, { "MiB", UINT64_C(1) << 20 },
    { "GiB", UINT64_C(1) << 30 }, { "TiB", UINT64_C(1) << 40 },
    { "PiB", UINT64_C(1) << 50 },
};

static const struct unit times[] = {
    { "ms", 1 },      { "s", 1000 },     { "min", 60000 },
    { "h", 3600000 }, { "d", 86400000 },
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* Leading digits of *text; *text moves behind them. */
static enum sim_value_result digits(const char **text, uint64_t *out)
{
    const char *p = *text;
    uint64_t value = 0;

    if (*p == '-') {
        return p[1] >= '0' && p[1] <= '9' ? SIM_VALUE_NEGATIVE
                                          : SIM_VALUE_MALFORMED;
    }
    if (*p < '0' || *p > '9') {
        return SIM_VALUE_MALFORMED;
    }
    for (; *p >= '0' && *p <= '9'; p++) {
        uint64_t digit = (uint64_t)(*p - '0');

        if (value > (UINT64_MAX - digit) / 10) {
            return SIM_VALUE_HUGE;
        }
        value = value * 10 + digit;
    }
    *text = p;
    *out = value;
    return SIM_VALUE_OK;
}

/* The unit that makes up the rest of the text, or NULL. */
static const struct unit *find_unit(const char *text, const struct unit *units,
                                    size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(text, units[i].name) == 0) {
            return &units[i];
        }
    }
    return NULL;
}

static enum sim_value_result times_factor(uint64_t n, uint64_t factor,
                                          uint64_t *out)
{
    if (n > UINT64_MAX / factor) {
        return SIM_VALUE_HUGE;
    }
    *out = n * factor;
    return SIM_VALUE_OK;
}

enum sim_value_result sim_value_number(const char *text, uint64_t *out)
{
    enum sim_value_result rc = digits(&text, out);

    return rc == SIM_VALUE_OK && *text != '\0' ? SIM_VALUE_MALFORMED : rc;
}

enum sim_value_result sim_value_pages(const char *text, uint32_t page_bytes,
                                      uint64_t *pages)
{
    const struct unit *unit;
    uint64_t n;
    enum sim_value_result rc = digits(&text, &n);

    if (rc != SIM_VALUE_OK) {
        return rc;
    }
    text += *text == ' ';
    if (*text == '\0' || strcmp(text, "pages") == 0) {
        *pages = n;
        return SIM_VALUE_OK;
    }
    unit = find_unit(text, sizes, COUNT(sizes));
    if (unit == NULL) {
        return SIM_VALUE_MALFORMED;
    }
    if (unit->factor >= page_bytes) {
        return times_factor(n, unit->factor / page_bytes, pages);
    }
    if (n % (page_bytes / unit->factor) != 0) {
        return SIM_VALUE_UNEVEN;
    }
    *pages = n / (page_bytes / unit->factor);
    return SIM_VALUE_OK;
}

enum sim_value_result sim_value_time(const char *text, uint64_t *ms)
{
    const struct unit *unit;
    uint64_t n;
    enum sim_value_result rc = digits(&text, &n);

    if (rc != SIM_VALUE_OK) {
        return rc;
    }
    text += *text == ' ';
    if (*text == '\0' && n == 0) {
        *ms = 0;
        return SIM_VALUE_OK;
    }
    unit = find_unit(text, times, COUNT(times));
    return unit == NULL ? SIM_VALUE_MALFORMED
                        : times_factor(n, unit->factor, ms);
}

enum sim_value_result sim_value_percent(const char *text, uint64_t *bp)
{
    uint64_t whole;
    uint64_t part = 0;
    enum sim_value_result rc = digits(&text, &whole);

    if (rc != SIM_VALUE_OK) {
        return rc;
    }
    if (*text == '.') {
        for (uint64_t weight = 10; weight > 0; weight /= 10) {
            text++;
            if (*text < '0' || *text > '9') {
                return SIM_VALUE_MALFORMED;
            }
            part += weight * (uint64_t)(*text - '0');
            if (text[1] < '0' || text[1] > '9') {
                break;
            }
        }
        text++;
    }
    text += *text == ' ';
    if (strcmp(text, "%") != 0) {
        return SIM_VALUE_MALFORMED;
    }
    if (whole > UINT32_MAX / 100 - 1) {
        return SIM_VALUE_HUGE;
    }
    *bp = whole * 100 + part;
    return SIM_VALUE_OK;
}

enum sim_value_result sim_value_bool(const char *text, bool *out)
{
    static const char *const words[][2] = { { "no", "yes" },
                                            { "false", "true" },
                                            { "off", "on" } };

    for (size_t i = 0; i < COUNT(words); i++) {
        for (int value = 0; value < 2; value++) {
            if (strcasecmp(text, words[i][value]) == 0) {
                *out = value != 0;
                return SIM_VALUE_OK;
            }
        }
    }
    return SIM_VALUE_MALFORMED;
}

/* Say n in the largest unit of which it is a whole number. */
static void say(uint64_t n, const struct unit *units, size_t units_n,
                const char *plain, char *text, size_t cap)
{
    for (size_t i = units_n; i-- > 0;) {
        if (n != 0 && n % units[i].factor == 0) {
            snprintf(text, cap, "%" PRIu64 "%s", n / units[i].factor,
                     units[i].name);
            return;
        }
    }
    snprintf(text, cap, "%" PRIu64 "%s", n, plain);
}

void sim_value_say_pages(uint64_t pages, uint32_t page_bytes, char *text,
                         size_t cap)
{
    if (pages == 0) {
        snprintf(text, cap, "0");
    } else if (pages > (UINT64_MAX >> 1) / page_bytes) {
        snprintf(text, cap, "%" PRIu64 " pages", pages);
    } else {
        say(pages * page_bytes, sizes, COUNT(sizes), "B", text, cap);
    }
}

void sim_value_say_time(uint64_t ms, char *text, size_t cap)
{
    if (ms == 0) {
        snprintf(text, cap, "0s");
    } else {
        say(ms, times, COUNT(times), "ms", text, cap);
    }
}

void sim_value_say_percent(uint64_t bp, char *text, size_t cap)
{
    if (bp % 100 == 0) {
        snprintf(text, cap, "%" PRIu64 "%%", bp / 100);
    } else {
        snprintf(text, cap, "%" PRIu64 ".%02" PRIu64 "%%", bp / 100, bp % 100);
    }
}

#define WORD_MAX 32u

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edit distance; long words are far from everything. */
static unsigned distance(const char *a, const char *b)
{
    size_t n = strlen(a);
    size_t m = strlen(b);
    unsigned row[WORD_MAX + 1];

    if (n > WORD_MAX || m > WORD_MAX) {
        return WORD_MAX;
    }
    for (size_t j = 0; j <= m; j++) {
        row[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= n; i++) {
        unsigned diagonal = row[0];

        row[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            unsigned change = diagonal + (a[i - 1] != b[j - 1]);

            diagonal = row[j];
            row[j] = least(change, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[m];
}

const char *sim_value_nearest(const char *text, const char *const *words,
                              size_t n)
{
    const char *best = NULL;
    unsigned best_distance = (unsigned)(strlen(text) / 3 + 1);

    for (size_t i = 0; i < n; i++) {
        unsigned d = distance(text, words[i]);

        if (d <= best_distance && (best == NULL || d < best_distance)) {
            best = words[i];
            best_distance = d;
        }
    }
    return best;
}
