/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file expect.h
 * What unit tests are made of: a list of cases, and comparisons that say
 * which row of a table they belong to and what they found.
 */
#ifndef TESTLIB_EXPECT_H
#define TESTLIB_EXPECT_H

#include <stddef.h>
#include <stdint.h>

/** One test: what it shows, and how. */
struct test_case {
    const char *shows;
    void (*run)(void);
};

/** Run all cases and print them. @return exit status of the program */
int expect_main(const char *module, const struct test_case *cases, size_t n);

#define EXPECT_MAIN(module, cases)                                             \
    int main(void)                                                             \
    {                                                                          \
        return expect_main(module, cases, sizeof(cases) / sizeof(cases[0]));   \
    }

/** Compare numbers; `row` names the line of the table (may be NULL). */
void expect_number(const char *file, int line, const char *row,
                   const char *what, int64_t got, int64_t want);
/** Compare texts; NULL is a text too. */
void expect_text(const char *file, int line, const char *row, const char *what,
                 const char *got, const char *want);

#define EXPECT(row, got, want)                                                 \
    expect_number(__FILE__, __LINE__, row, #got, (int64_t)(got),               \
                  (int64_t)(want))
#define EXPECT_TRUE(row, condition)                                            \
    expect_number(__FILE__, __LINE__, row, #condition, (condition) ? 1 : 0, 1)
#define EXPECT_TEXT(row, got, want)                                            \
    expect_text(__FILE__, __LINE__, row, #got, got, want)

/** For what a test needs and does not examine: ends the program when the call
 *  fails. */
void must_be_ok(const char *file, int line, const char *what, int rc);

#define MUST(call) must_be_ok(__FILE__, __LINE__, #call, call)

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))

#endif /* TESTLIB_EXPECT_H */
