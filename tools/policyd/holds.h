/* SPDX-License-Identifier: BSD-2-Clause */
/* Holds as people know them: by a text, with an owner and a VM they are for.
 * The core keeps the memory; this keeps the words. */
#ifndef POLICYD_HOLDS_H
#define POLICYD_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

#define PD_MAX_HOLDS  256u
#define PD_HOLD_ID    64u
#define PD_NAME_BYTES 256u

struct pd_hold {
    uint64_t hold; /* the core's number */
    uint64_t owner;
    uint64_t bytes;
    uint64_t until_unix_ms; /* its deadline, on a clock that restarts keep */
    bool urgent;
    bool waiting; /* the core does not have it yet */
    char id[PD_HOLD_ID];
    char vm[PD_NAME_BYTES]; /* the VM it is for; "": none in particular */
};

struct pd_holds {
    struct pd_hold items[PD_MAX_HOLDS];
    size_t n;
    uint64_t last; /* number given out last */
};

/* NULL: there is none. */
struct pd_hold *pd_holds_find(struct pd_holds *holds, const char *id);

/* A new entry, or NULL. `id` NULL: one is made up. */
struct pd_hold *pd_holds_add(struct pd_holds *holds, const char *id);

void pd_holds_remove(struct pd_holds *holds, struct pd_hold *hold);

/* Is this a possible id? 1 to 63 characters of A-Za-z0-9._- */
int pd_hold_id_ok(const char *id);

#endif /* POLICYD_HOLDS_H */
