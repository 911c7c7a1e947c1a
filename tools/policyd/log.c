/* SPDX-License-Identifier: BSD-2-Clause */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 2048
#define KINDS      1024u

static int level_now = PD_INFO;

void pd_log_level(int level)
{
    level_now = level;
}

/* Bytes of the UTF-8 sequence at `s`, 0: it is none or a control character. */
static size_t sequence(const unsigned char *s)
{
    size_t n = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

    if (s[0] < 0x20 || s[0] == 0x7f || (s[0] >= 0x80 && s[0] < 0xc2) ||
        s[0] > 0xf4) {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    /* C1 controls; overlong forms; surrogates; beyond Unicode. */
    if ((s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xe0 && s[1] < 0xa0) ||
        (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] > 0x8f)) {
        return 0;
    }
    return n;
}

void pd_clean_text(const char *text, char *out, size_t cap)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t used = 0;

    while (*s != '\0') {
        size_t n = sequence(s);

        if (used + (n == 0 ? 1 : n) >= cap) {
            break;
        }
        if (n == 0) {
            out[used++] = '?';
            s++;
        } else {
            memcpy(out + used, s, n);
            used += n;
            s += n;
        }
    }
    out[used] = '\0';
}

void pd_log(int level, const char *vm, const char *format, ...)
{
    static const int priorities[] = { 3, 4, 6, 7 };
    char text[LINE_BYTES / 2];
    char clean[LINE_BYTES / 2];
    char name[300] = "";
    char line[LINE_BYTES];
    char prefix[8] = "";
    va_list args;
    int n;

    if (level > level_now || level < PD_ERROR || level > PD_DEBUG) {
        return;
    }
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    pd_clean_text(text, clean, sizeof(clean));
    if (vm != NULL) {
        pd_clean_text(vm, name, sizeof(name) - 2);
    }
    if (getenv("JOURNAL_STREAM") != NULL) {
        snprintf(prefix, sizeof(prefix), "<%d>", priorities[level]);
    }
    n = snprintf(line, sizeof(line), "%spolicyd: %s%s%s\n", prefix, name,
                 vm != NULL ? ": " : "", clean);
    /* One write, so that lines of threads do not mix. A log that cannot be
     * written must not stop the daemon. */
    if (write(STDERR_FILENO, line, (size_t)n) < 0) {
        return;
    }
}

int pd_log_due(uint64_t kind, uint64_t now_ms, uint64_t gap_ms)
{
    static struct {
        uint64_t kind, at_ms;
    } last[KINDS];
    uint64_t mixed = kind * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(mixed >> 54);

    if (last[i].kind == kind && last[i].at_ms != 0 &&
        now_ms - last[i].at_ms < gap_ms) {
        return 0;
    }
    last[i].kind = kind;
    last[i].at_ms = now_ms;
    return 1;
}
