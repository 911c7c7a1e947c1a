/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file model_host.h
 * A tiny host for tests: memory as numbers of pages, guests that touch,
 * balloons that obey, are slow, stuck or beside what they were asked, and
 * guests that lie. It carries out plans and reports how that went.
 */
#ifndef TESTLIB_MODEL_HOST_H
#define TESTLIB_MODEL_HOST_H

#include <stdint.h>

#include "policy/policy.h"

#define MODEL_VMS 8u

/** Numbers from a seed (SplitMix64). */
uint64_t model_random(uint64_t *state);
/** One of 0..n-1; n > 0. */
uint64_t model_below(uint64_t *state, uint64_t n);

struct model_vm {
    int alive;
    uint64_t id;
    struct pol_vm_params params;
    uint8_t lifecycle;
    uint8_t driver;
    uint8_t blocked;
    uint8_t lies;    /* everything the guest says is garbage */
    uint8_t honest;  /* the guest says what is true; else nothing */
    uint8_t measure; /* the host measures active pages */
    uint64_t backed; /* pages with host memory */
    uint64_t saved;  /* of these, saved by sharing */
    uint64_t swapped;
    uint64_t actual; /* size less balloon */
    uint64_t record; /* the balloon's target */
    uint64_t wants;  /* pages the guest touches when it has them */
    uint64_t active;
    uint64_t speed;   /* pages per second of the balloon; 0: stuck */
    int64_t offset;   /* where it settles, less what it was asked */
    uint32_t fail_bp; /* how often an action fails */
};

struct model_host {
    struct model_vm vms[MODEL_VMS];
    uint64_t now_ms;
    uint64_t total;
    uint64_t own; /* the host's own use */
    uint64_t swap_total;
    uint64_t seed;
    uint32_t caps;
};

/** Memory left; 0 at worst. */
uint64_t model_free(const struct model_host *h);
/** Let time pass: balloons move, guests touch. */
void model_run(struct model_host *h, uint64_t ms);
/** Report the host and all its VMs. */
void model_observe(struct model_host *h, struct pol_ctx *ctx);
/** What would be reported of a VM. */
struct pol_vm_obs model_obs(struct model_host *h, const struct model_vm *vm);
/** What would be reported of the host. */
struct pol_host_obs model_host_obs(const struct model_host *h);
/** Carry out a plan and report it, in order. */
void model_act(struct model_host *h, struct pol_ctx *ctx,
               const struct pol_action *actions, size_t n);
struct model_vm *model_find(struct model_host *h, uint64_t id);

#endif /* TESTLIB_MODEL_HOST_H */
