/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file command.h
 * The subcommands of policyctl and what they share.
 *
 * To add one: a file cmd_NAME.c with one function of the type command_run,
 * its prototype here and a line in the table in main.c.
 */
#ifndef POLICYCTL_COMMAND_H
#define POLICYCTL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Exit status of every subcommand. */
enum {
    STATUS_OK = 0,     /**< done */
    STATUS_FAILED = 1, /**< ran, but failed or differs */
    STATUS_USAGE = 2   /**< bad input or usage; nothing was run */
};

/** argv[0] is "policyctl NAME"; returns an exit status. */
typedef int command_run(int argc, char **argv);

command_run cmd_simulate;
command_run cmd_replay;
command_run cmd_explain;
command_run cmd_compare;
command_run cmd_lint;
command_run cmd_experiments;
command_run cmd_segments;

#define PRINTF_LIKE(at, first) __attribute__((format(printf, at, first)))

/** Print one line "policyctl: ..." to standard error and return `status`.
 *  Control characters that input brought into the line are replaced. */
int fail(int status, const char *format, ...) PRINTF_LIKE(2, 3);

/** calloc() that does not return NULL: without memory the program ends. */
void *must_alloc(size_t count, size_t size);

/** The same for realloc(). */
void *must_grow(void *block, size_t count, size_t size);

/** The same for strdup(). */
char *must_copy(const char *text);

/** snprintf() into a new block of the caller's. */
char *must_format(const char *format, ...) PRINTF_LIKE(1, 2);

/**
 * Read a whole file.
 * @param data  a block of the caller's
 * @return STATUS_OK, or STATUS_USAGE after a line about what is wrong
 */
int read_whole(const char *path, uint8_t **data, size_t *bytes);

/** Are these the same file that is there already? NULL and "-" are no files. */
bool same_file(const char *a, const char *b);

/** Open a file for writing, "-" for standard output; NULL after a line about
 *  what is wrong. */
FILE *open_output(const char *path);

/** Close what open_output() gave. @return STATUS_OK, or STATUS_FAILED after a
 *  line when not everything could be written. */
int close_output(FILE *file, const char *path);

#endif /* POLICYCTL_COMMAND_H */
