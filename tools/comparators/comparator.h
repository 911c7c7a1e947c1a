/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file comparator.h
 * The policies of programs that people run today, to compare libpolicy with.
 *
 * Each is written from its project's published description and behaviour;
 * mom.c, squeezed.c, qmemman.c and proxmox.c say what was read. They steer a
 * host through four ops of struct pol_host_ops only (read_host, next_vm,
 * read_vm, set_balloon), so whatever libpolicy can steer, they can. on_action
 * is told of every balloon that was set.
 *
 * What they need and a host of libpolicy's does not know by these names:
 *
 *   dynamic-min, minimum   the VM's reservation; without one, dynamic_min_bp
 *                          of its size
 *   dynamic-max, maximum   the smaller of its size and limit
 *   memory (Xen)           size less balloon. Xen gives a VM all of that at
 *                          once; hosts that do so on first touch owe it the
 *                          rest, which counts as not free for the two Xen
 *                          policies
 *
 * Guests' statistics are not trusted: figures that cannot be true count as
 * none. All amounts are pages; integers only; nothing is printed.
 *
 * Threads: one at a time per comparator; different ones are independent.
 */
#ifndef COMPARATOR_H
#define COMPARATOR_H

#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

enum cmp_kind {
    CMP_NONE = 0, /**< nobody moves anything */
    CMP_MOM = 1,
    CMP_SQUEEZED = 2,
    CMP_QMEMMAN = 3,
    CMP_PROXMOX = 4
};
#define CMP_KINDS 5

/** Most VMs of a host; a longer list is POL_ERR_HOST. */
#define CMP_MAX_VMS 65536u

struct cmp_config {
    uint32_t page_bytes;     /**< power of two, 4096..2^30 */
    uint32_t dynamic_min_bp; /**< 1..10000; see above */
};

struct comparator;

/** 4 KiB pages, dynamic-min 25 %. */
void cmp_config_init(struct cmp_config *config);

/** "none", "mom", "squeezed", "qmemman", "proxmox"; "?" for other values. */
const char *cmp_name(int kind);

/** The kind of that name, or -1. */
int cmp_find(const char *name);

/**
 * Make a comparator that has seen nothing yet.
 * @param out  the caller's; see cmp_free()
 * @return POL_OK, POL_ERR_INVALID (kind), POL_ERR_RANGE (config),
 *         POL_ERR_NOMEM
 */
POL_MUST_USE int cmp_new(int kind, const struct cmp_config *config,
                         struct comparator **out);

/** Free it; NULL is allowed. */
void cmp_free(struct comparator *cmp);

/**
 * Look at the host and act, if its period has passed. To be called at least
 * once a second. A VM that cannot be read is left out; a balloon that cannot
 * be set is tried again when the rule next asks for it.
 * @param now_ms  never runs backwards
 * @return POL_OK; POL_ERR_HOST when host or list of VMs could not be read
 *         (nothing was done); POL_ERR_NOMEM
 */
POL_MUST_USE int cmp_step(struct comparator *cmp,
                          const struct pol_host_ops *ops, void *host,
                          uint64_t now_ms);

#endif /* COMPARATOR_H */
