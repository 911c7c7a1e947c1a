/* SPDX-License-Identifier: BSD-2-Clause */
/* Stands in for report.c when policyctl is built without Chart.js. */
#include "report.h"

#include "command.h"

bool report_available(void)
{
    return false;
}

int report_write(const struct record *record, const char *path)
{
    (void)record;
    return fail(STATUS_USAGE, "%s: built without reports", path);
}
