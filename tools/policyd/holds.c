/* SPDX-License-Identifier: BSD-2-Clause */
#include "holds.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct pd_hold *pd_holds_find(struct pd_holds *holds, const char *id)
{
    for (size_t i = 0; i < holds->n; i++) {
        if (strcmp(holds->items[i].id, id) == 0) {
            return &holds->items[i];
        }
    }
    return NULL;
}

struct pd_hold *pd_holds_add(struct pd_holds *holds, const char *id)
{
    struct pd_hold *hold;

    if (holds->n == PD_MAX_HOLDS) {
        return NULL;
    }
    hold = &holds->items[holds->n];
    memset(hold, 0, sizeof(*hold));
    do {
        hold->hold = ++holds->last;
        if (id != NULL) {
            snprintf(hold->id, sizeof(hold->id), "%s", id);
        } else {
            snprintf(hold->id, sizeof(hold->id), "hold-%" PRIu64, hold->hold);
        }
    } while (id == NULL && pd_holds_find(holds, hold->id) != NULL);
    holds->n++;
    return hold;
}

void pd_holds_remove(struct pd_holds *holds, struct pd_hold *hold)
{
    *hold = holds->items[--holds->n];
}

int pd_hold_id_ok(const char *id)
{
    size_t n = strspn(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                          "0123456789._-");

    return n >= 1 && n < PD_HOLD_ID && id[n] == '\0';
}
