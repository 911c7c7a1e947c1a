/* SPDX-License-Identifier: BSD-2-Clause */
/* Stands in for report.c when policyctl is built without Chart.js. */
#include "report.h"

#include "command.h"
#include "exp.h"

bool report_available(void)
{
    return false;
}

int report_write(const struct record *record, const char *path)
{
    (void)record;
    return fail(STATUS_USAGE, "%s: built without reports", path);
}

int exp_report_write(const struct experiment *const *list,
                     const struct exp_result *results, size_t n,
                     const char *path)
{
    (void)list;
    (void)results;
    (void)n;
    return fail(STATUS_USAGE, "%s: built without reports", path);
}
