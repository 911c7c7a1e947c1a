/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario_error.h"

#include <stdio.h>
#include <string.h>

/* Text from a file may hold anything: keep the error one printable line. */
static void clean(char *text)
{
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == 0x7f) {
            *text = '?';
        }
    }
}

int sim_fail_v(struct sim_error *err, const char *file, unsigned long line,
               const char *field, const char *format, va_list args)
{
    char where[192] = "";
    char what[sizeof(err->text) / 2];
    char number[24] = "";

    if (err == NULL) {
        return POL_ERR_INVALID;
    }
    if (line != 0) {
        snprintf(number, sizeof(number), ":%lu", line);
    }
    if (file != NULL) {
        /* The end of a long path says more than its beginning. */
        size_t n = strlen(file);

        snprintf(where, sizeof(where),
                 "%s%s: ", n > 150 ? file + (n - 150) : file, number);
    }
    vsnprintf(what, sizeof(what), format, args);
    snprintf(err->text, sizeof(err->text), "%s%.60s%s%s", where, field,
             field[0] == '\0' ? "" : ": ", what);
    clean(err->text);
    return POL_ERR_INVALID;
}

int sim_fail(struct sim_error *err, const char *file, unsigned long line,
             const char *field, const char *format, ...)
{
    va_list args;
    int rc;

    va_start(args, format);
    rc = sim_fail_v(err, file, line, field, format, args);
    va_end(args);
    return rc;
}

int sim_fail_memory(struct sim_error *err, const char *file)
{
    (void)sim_fail(err, file, 0, "", "%s", "out of memory");
    return POL_ERR_NOMEM;
}
