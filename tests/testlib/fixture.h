/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file fixture.h
 * A context with a host of 100,000 pages, and short ways to tell it things.
 *
 * With preset esx4 such a host has the thresholds 6000, 4000, 2000 and 1000
 * pages, a margin of 250, and its targets aim at 6250 free pages.
 * Helpers end the program when a call fails that should not.
 */
#ifndef TESTLIB_FIXTURE_H
#define TESTLIB_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

#define FX_TOTAL UINT64_C(100000)
#define FX_AIM   UINT64_C(6250)

struct fixture {
    struct pol_config config;
    struct pol_host_obs host; /* what fx_free() reports */
    struct pol_ctx *ctx;
    void *block;
    struct pol_action *actions;
    size_t n; /* of the last plan */
    size_t cap;
};

/** Defaults with room for so many VMs and 16 groups. */
void fx_config(struct fixture *f, uint32_t vms);
/** Make the context that f->config describes; host not observed yet. */
void fx_create(struct fixture *f);
/** fx_config() and fx_create(), the host observed with everything free. */
void fx_open(struct fixture *f, uint32_t vms);
void fx_close(struct fixture *f);

/** Report the host with so much free, as much later. */
void fx_free(struct fixture *f, uint64_t later_ms, uint64_t free_pages);
/** Add a VM with default parameters and a reservation. */
void fx_add(struct fixture *f, uint64_t vm, uint64_t size_pages,
            uint64_t reservation_pages);
/** A running VM whose driver works; active as it consumes. */
struct pol_vm_obs fx_obs(uint64_t consumed_pages, uint64_t actual_pages);
void fx_see(struct fixture *f, uint64_t vm, const struct pol_vm_obs *obs);
/** fx_see() of fx_obs(). */
void fx_running(struct fixture *f, uint64_t vm, uint64_t consumed_pages,
                uint64_t actual_pages);
void fx_plan(struct fixture *f);

/** The last plan's action of that kind on that VM, or NULL. */
const struct pol_action *fx_action(const struct fixture *f, uint64_t vm,
                                   uint32_t kind);
/** Its pages, or -1. */
int64_t fx_pages(const struct fixture *f, uint64_t vm, uint32_t kind);
/** Its reason, or -1. */
int64_t fx_reason(const struct fixture *f, uint64_t vm, uint32_t kind);
/** How many notes with that reason the last plan has about that id. */
uint32_t fx_notes(const struct fixture *f, uint64_t id, uint32_t reason);
/** How many actions of that kind the last plan has. */
uint32_t fx_count(const struct fixture *f, uint32_t kind);
struct pol_vm_status fx_status(const struct fixture *f, uint64_t vm);
struct pol_host_status fx_host_status(const struct fixture *f);
struct pol_ws fx_ws(const struct fixture *f, uint64_t vm);

#endif /* TESTLIB_FIXTURE_H */
