/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file step_host.h
 * An adapter of three VMs for tests of pol_host_step(): it counts calls, can
 * fail at any of them, once or from then on, and can return garbage.
 */
#ifndef TESTLIB_STEP_HOST_H
#define TESTLIB_STEP_HOST_H

#include <stdint.h>

#include "policy/policy.h"

#define STEP_VMS     4u
#define STEP_ACTIONS 256u
#define STEP_SAMPLES 100u

enum step_op {
    OP_READ_HOST,
    OP_NEXT_VM,
    OP_READ_VM,
    OP_SET_BALLOON,
    OP_SWAP_OUT,
    OP_SWAP_IN,
    OP_SET_BLOCKED,
    OP_SET_SHARE_RATE,
    OP_SET_HARD_CAP,
    OP_SAMPLE_BEGIN,
    OP_SAMPLE_READ,
    OP_COUNT
};

/** Kinds of garbage. */
enum step_garbage {
    GARBAGE_NONE,
    GARBAGE_HUGE,     /* every number as large as it can be */
    GARBAGE_ZERO,     /* every number 0 */
    GARBAGE_ENDLESS,  /* the list of VMs never ends */
    GARBAGE_DUPLICATE /* the list names every VM twice */
};

struct step_host {
    struct pol_ctx *ctx;
    void *block;
    struct pol_host_ops ops;
    struct pol_host_loop loop;
    struct pol_action actions[STEP_ACTIONS];
    uint64_t samples[STEP_SAMPLES];
    /* The host. */
    uint64_t now_ms;
    uint64_t free_pages;
    struct {
        int there;
        int gone_when_read;
        struct pol_vm_params params;
        uint64_t consumed, actual, record, swapped;
        uint8_t blocked;
    } vms[STEP_VMS]; /* ids 1.. */
    /* What goes wrong. */
    int error;        /* what a failing op returns */
    uint32_t fail_at; /* number of the call that fails; 0: none */
    int for_ever;     /* and all after it */
    enum step_garbage garbage;
    /* What was called. */
    uint32_t calls; /* of all ops but on_action */
    uint32_t by_op[OP_COUNT];
    uint32_t told;
    uint32_t told_errors;
};

/** VMs 1 to 3 of 30,000 pages each, with 3000 of 100,000 pages free. */
void step_open(struct step_host *h);
void step_close(struct step_host *h);
/** One pol_host_step(), a second later. */
int step_once(struct step_host *h);
/** What the step did to a VM; ends the program when there is none. */
struct pol_vm_status step_status(const struct step_host *h, uint64_t vm);

#endif /* TESTLIB_STEP_HOST_H */
