/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of a comparator; shared by the rules. */
#ifndef COMPARATOR_INT_H
#define COMPARATOR_INT_H

#include <stdbool.h>
#include <string.h>

#include "comparator.h"

#define CMP_MIB UINT64_C(1048576)

/* Nothing is larger than this here: sums over CMP_MAX_VMS then fit 63 bits.
 * 256 PiB of 4 KiB pages. */
#define CMP_MAX_PAGES (UINT64_C(1) << 46)

/* Samples that MOM averages. */
#define CMP_HISTORY 10u

/* A VM: what was read of it just now, what a rule remembers of it, and what
 * the rule wants it to have. All pages at most CMP_MAX_PAGES. */
struct cmp_vm {
    uint64_t id;
    bool seen;
    bool is_new; /* not there in the last step */

    uint64_t size_pages;
    uint64_t min_pages; /* <= max_pages */
    uint64_t max_pages; /* <= size_pages */
    uint64_t shares;
    uint64_t actual_pages;      /* size less balloon; <= size */
    uint64_t backed_pages;      /* with host memory; <= size */
    uint64_t target_pages;      /* of the balloon, on record */
    bool can_balloon;           /* running, driver up, owner allows it */
    bool has_stats;             /* then: */
    uint64_t guest_free_pages;  /* <= actual */
    uint64_t guest_avail_pages; /* free or to be had at once; <= actual */

    /* Remembered. */
    uint64_t moved_ms; /* last seen moving towards its target */
    uint64_t last_actual;
    bool stuck;
    uint64_t actual_sum[CMP_HISTORY];
    uint64_t free_sum[CMP_HISTORY];
    unsigned samples; /* taken; the last CMP_HISTORY are kept */

    uint64_t want_pages; /* set to target_pages before the rule */
    uint64_t work_pages; /* a rule's own */
    bool work_done;      /* a rule's own */
};

struct comparator {
    int kind;
    struct cmp_config config;
    struct cmp_vm *vms; /* by id */
    size_t vms_n, vms_cap;
    uint64_t now_ms;
    uint64_t next_ms; /* the rule's next turn */
    uint64_t next_sample_ms;
    bool started;
    bool changed;  /* VMs came or went in this step */
    bool settling; /* squeezed: a change is being carried out */
    uint64_t total_pages;
    uint64_t free_pages;
    uint64_t free_history[CMP_HISTORY];
    unsigned free_samples;
};

/* The rules: set want_pages. */
void cmp_mom(struct comparator *cmp);
void cmp_squeezed(struct comparator *cmp);
void cmp_qmemman(struct comparator *cmp);
void cmp_proxmox(struct comparator *cmp);

__extension__ typedef unsigned __int128 cmp_u128;

static inline uint64_t cmp_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t cmp_most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* a - b, or 0 when negative. */
static inline uint64_t cmp_minus(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline uint64_t cmp_between(uint64_t low, uint64_t value, uint64_t high)
{
    return cmp_least(cmp_most(low, value), high);
}

/* a * b / c, rounded down and saturated; 0 for c = 0. */
static inline uint64_t cmp_part(uint64_t a, uint64_t b, uint64_t c)
{
    cmp_u128 q;

    if (c == 0) {
        return 0;
    }
    q = (cmp_u128)a * b / c;
    return q > UINT64_MAX ? UINT64_MAX : (uint64_t)q;
}

static inline uint64_t cmp_mib(const struct comparator *cmp, uint64_t mib)
{
    return cmp_most(mib * CMP_MIB / cmp->config.page_bytes, 1);
}

/* Free memory as Xen would see it: less what VMs may still take because
 * their balloons leave it to them. Negative when more was promised than there
 * is. */
int64_t cmp_free_unpromised(const struct comparator *cmp);

#endif /* COMPARATOR_INT_H */
