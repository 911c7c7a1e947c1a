/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file adapter_suite.h
 * What every adapter must do, whatever is behind it. An adapter's author
 * fills in one struct conf_subject, calls conf_run() and is told, check by
 * check, what does not hold. Optional ops that are NULL are not checked; the
 * output says so.
 */
#ifndef CONFORMANCE_ADAPTER_SUITE_H
#define CONFORMANCE_ADAPTER_SUITE_H

#include <stdint.h>

#include "policy/policy.h"

struct conf_subject {
    const char *name;
    const struct pol_host_ops *ops;
    /** Make a host with at least two VMs that run, have balloon drivers that
     *  are up, and have touched most of their memory. */
    void *(*make)(void);
    /** Let so much time pass on that host, simulated or real. */
    void (*advance)(void *host, uint64_t ms);
    void (*destroy)(void *host);
    uint32_t page_bytes;
    uint64_t settle_ms; /**< time a balloon needs for a tenth of a VM */
};

/** Run all checks. @return exit status for main(): 0 or 1 */
int conf_run(const struct conf_subject *subject);

#endif /* CONFORMANCE_ADAPTER_SUITE_H */
