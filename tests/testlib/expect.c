/* SPDX-License-Identifier: BSD-2-Clause */
#include "expect.h"

#include <CUnit/CUnit.h>
#include <CUnit/TestRun.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/error.h"

int expect_main(const char *module, const struct test_case *cases, size_t n)
{
    CU_pSuite suite;
    unsigned int failed, all_failed = 0;
    size_t i;

    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 2;
    }
    suite = CU_add_suite(module, NULL, NULL);
    for (i = 0; suite != NULL && i < n; i++) {
        CU_pTest test = CU_add_test(suite, cases[i].shows, cases[i].run);

        if (test == NULL || CU_run_test(suite, test) != CUE_SUCCESS) {
            fprintf(stderr, "%s: cannot run %s\n", module, cases[i].shows);
            return 2;
        }
        /* CU_run_test() starts counting anew for every test. */
        failed = CU_get_number_of_failures();
        all_failed += failed;
        printf("%-4s %s: %s (%u checks)\n", failed == 0 ? "ok" : "FAIL", module,
               cases[i].shows, CU_get_number_of_asserts());
        fflush(stdout);
    }
    CU_cleanup_registry();
    return suite != NULL && all_failed == 0 ? 0 : 1;
}

static void check(const char *file, int line, const char *what, int ok)
{
    CU_assertImplementation(ok ? CU_TRUE : CU_FALSE, (unsigned int)line, what,
                            file, "", CU_FALSE);
}

void expect_number(const char *file, int line, const char *row,
                   const char *what, int64_t got, int64_t want)
{
    if (got != want) {
        fprintf(stderr, "%s:%d: [%s] %s is %" PRId64 ", not %" PRId64 "\n",
                file, line, row == NULL ? "-" : row, what, got, want);
    }
    check(file, line, what, got == want);
}

void expect_text(const char *file, int line, const char *row, const char *what,
                 const char *got, const char *want)
{
    int same =
        got == want || (got != NULL && want != NULL && strcmp(got, want) == 0);

    if (!same) {
        fprintf(stderr, "%s:%d: [%s] %s is\n  \"%s\", not\n  \"%s\"\n", file,
                line, row == NULL ? "-" : row, what, got == NULL ? "" : got,
                want == NULL ? "(nothing)" : want);
    }
    check(file, line, what, same);
}

void must_be_ok(const char *file, int line, const char *what, int rc)
{
    if (rc != POL_OK) {
        fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, pol_strerror(rc));
        exit(3);
    }
}
