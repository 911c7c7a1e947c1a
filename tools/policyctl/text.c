/* SPDX-License-Identifier: BSD-2-Clause */
#include "text.h"

#include <stdbool.h>
#include <string.h>

#define MAX_MS UINT64_C(1000000000000000)

const char *text_pages(char buf[TEXT_MAX], uint64_t pages, uint32_t page_bytes)
{
    static const char *const units[] = { "B",   "KiB", "MiB", "GiB",
                                         "TiB", "PiB", "EiB", "ZiB" };
    double amount = (double)pages * page_bytes;
    size_t unit = 0;

    while (amount >= 1024.0 && unit + 1 < sizeof units / sizeof units[0]) {
        amount /= 1024.0;
        unit++;
    }
    if (unit == 0 || amount == (double)(uint64_t)amount) {
        snprintf(buf, TEXT_MAX, "%.0f %s", amount, units[unit]);
    } else {
        int digits = amount < 10.0 ? 2 : amount < 100.0 ? 1 : 0;

        snprintf(buf, TEXT_MAX, "%.*f %s", digits, amount, units[unit]);
    }
    return buf;
}

const char *text_span(char buf[TEXT_MAX], uint64_t ms)
{
    unsigned long long s = ms / 1000;

    if (ms < 1000 && ms > 0) {
        snprintf(buf, TEXT_MAX, "%u ms", (unsigned)ms);
    } else if (s < 60) {
        snprintf(buf, TEXT_MAX, "%llu s", s);
    } else if (s < 3600) {
        snprintf(buf, TEXT_MAX, "%llu min %02llu s", s / 60, s % 60);
    } else if (s < 86400) {
        snprintf(buf, TEXT_MAX, "%llu h %02llu min", s / 3600, s / 60 % 60);
    } else {
        snprintf(buf, TEXT_MAX, "%llu d %02llu h", s / 86400, s / 3600 % 24);
    }
    return buf;
}

const char *text_bp(char buf[TEXT_MAX], uint64_t bp)
{
    unsigned long long whole = bp / 100;
    unsigned part = (unsigned)(bp % 100);

    if (part == 0) {
        snprintf(buf, TEXT_MAX, "%llu %%", whole);
    } else if (part % 10 == 0) {
        snprintf(buf, TEXT_MAX, "%llu.%u %%", whole, part / 10);
    } else {
        snprintf(buf, TEXT_MAX, "%llu.%02u %%", whole, part);
    }
    return buf;
}

const char *text_count(char buf[TEXT_MAX], uint64_t count)
{
    char digits[TEXT_MAX];
    int n = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    char *to = buf;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) {
            *to++ = ',';
        }
        *to++ = digits[i];
    }
    *to = '\0';
    return buf;
}

/* The unit at *text in milliseconds, and past it; 0 when there is none. */
static uint64_t parse_unit(const char **text)
{
    static const struct {
        const char *name;
        uint64_t ms;
    } units[] = { { "ms", 1 },   { "min", 60000 }, { "m", 60000 },
                  { "s", 1000 }, { "h", 3600000 }, { "d", 86400000 } };

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        size_t n = strlen(units[i].name);

        if (strncmp(*text, units[i].name, n) == 0) {
            *text += n;
            return units[i].ms;
        }
    }
    return 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int text_parse_time(const char *text, uint64_t *ms)
{
    uint64_t sum = 0;

    if (!is_digit(*text)) {
        return -1;
    }
    while (*text != '\0') {
        uint64_t number = 0;
        uint64_t unit;

        if (!is_digit(*text)) {
            return -1;
        }
        for (; is_digit(*text); text++) {
            number = number * 10 + (uint64_t)(*text - '0');
            if (number > MAX_MS) {
                return -1;
            }
        }
        unit = parse_unit(&text);
        if (unit == 0) {
            if (*text != '\0') {
                return -1;
            }
            unit = 1000;
        }
        if (number > (MAX_MS - sum) / unit) {
            return -1;
        }
        sum += number * unit;
    }
    *ms = sum;
    return 0;
}

/* Bytes of the UTF-8 character at p, 0 when there is no valid one. */
static size_t utf8_length(const unsigned char *p)
{
    size_t n;

    if (p[0] < 0x80) {
        return 1;
    }
    n = p[0] >= 0xc2 && p[0] < 0xe0   ? 2
        : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
        : p[0] >= 0xf0 && p[0] < 0xf5 ? 4
                                      : 0;
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] >= 0x90)) {
        return 0; /* too long a form, a surrogate, or beyond U+10FFFF */
    }
    return n;
}

/* C0 and DEL, C1 and the characters that turn the direction of a line. */
static bool is_control(const unsigned char *p, size_t n)
{
    if (n == 1) {
        return p[0] < 0x20 || p[0] == 0x7f;
    }
    if (n == 2) {
        return p[0] == 0xc2 && p[1] < 0xa0;
    }
    return n == 3 && p[0] == 0xe2 &&
           ((p[1] == 0x80 && ((p[2] >= 0x8e && p[2] <= 0x8f) ||
                              (p[2] >= 0xa8 && p[2] <= 0xae))) ||
            (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

const char *text_safe(char *buf, size_t cap, const char *name)
{
    const unsigned char *p = (const unsigned char *)name;
    size_t used = 0;

    while (*p != '\0') {
        size_t n = utf8_length(p);
        bool bad = n == 0 || is_control(p, n);
        size_t room = bad ? 1 : n;

        if (used + room + 1 > cap) {
            break;
        }
        if (bad) {
            buf[used] = '?';
        } else {
            memcpy(buf + used, p, n);
        }
        used += room;
        p += n == 0 ? 1 : n;
    }
    if (cap > 0) {
        buf[used] = '\0';
    }
    return buf;
}

size_t text_width(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text++) {
        width += ((unsigned char)*text & 0xc0) != 0x80;
    }
    return width;
}

void text_html(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        default:
            putc(*text, out);
        }
    }
}

void text_script(FILE *out, const char *json)
{
    const char *from = json;

    for (;;) {
        size_t plain = strcspn(from, "<>&");

        fwrite(from, 1, plain, out);
        from += plain;
        if (*from == '\0') {
            return;
        }
        fprintf(out, "\\u%04x", (unsigned)(unsigned char)*from);
        from++;
    }
}
