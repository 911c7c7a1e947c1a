/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L

#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "text.h"

int fail(int status, const char *format, ...)
{
    char line[1024];
    char safe[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "policyctl: %s\n", text_safe(safe, sizeof safe, line));
    return status;
}

static void *must(void *block)
{
    if (block == NULL) {
        fail(STATUS_FAILED, "out of memory");
        exit(STATUS_FAILED);
    }
    return block;
}

void *must_alloc(size_t count, size_t size)
{
    return must(calloc(count == 0 ? 1 : count, size));
}

void *must_grow(void *block, size_t count, size_t size)
{
    if (count > SIZE_MAX / size) {
        return must(NULL);
    }
    return must(realloc(block, count * size));
}

char *must_copy(const char *text)
{
    return must(strdup(text));
}

char *must_format(const char *format, ...)
{
    va_list args;
    char *text;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    text = must_alloc((size_t)(n < 0 ? 0 : n) + 1, 1);
    va_start(args, format);
    vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, format, args);
    va_end(args);
    return text;
}

int read_whole(const char *path, uint8_t **data, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    size_t capacity = 65536;
    size_t used = 0;
    uint8_t *block;

    if (file == NULL) {
        return fail(STATUS_USAGE, "%s: %s", path, strerror(errno));
    }
    block = must_alloc(capacity, 1);
    for (;;) {
        size_t n = fread(block + used, 1, capacity - used, file);

        used += n;
        if (n == 0) {
            break;
        }
        if (used == capacity) {
            capacity *= 2;
            block = must_grow(block, capacity, 1);
        }
    }
    if (ferror(file)) {
        fclose(file);
        free(block);
        return fail(STATUS_USAGE, "%s: cannot be read", path);
    }
    fclose(file);
    *data = block;
    *bytes = used;
    return STATUS_OK;
}

FILE *open_output(const char *path)
{
    FILE *file;

    if (strcmp(path, "-") == 0) {
        return stdout;
    }
    file = fopen(path, "wb");
    if (file == NULL) {
        fail(STATUS_FAILED, "%s: %s", path, strerror(errno));
    }
    return file;
}

int close_output(FILE *file, const char *path)
{
    int bad = ferror(file);

    if (file == stdout) {
        bad |= fflush(file);
    } else {
        bad |= fclose(file);
    }
    return bad == 0
               ? STATUS_OK
               : fail(STATUS_FAILED, "%s: not everything was written", path);
}

bool same_file(const char *a, const char *b)
{
    struct stat first, second;

    return a != NULL && b != NULL && strcmp(a, "-") != 0 &&
           strcmp(b, "-") != 0 && stat(a, &first) == 0 &&
           stat(b, &second) == 0 && S_ISREG(first.st_mode) &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}
