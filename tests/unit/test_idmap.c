/* SPDX-License-Identifier: BSD-2-Clause */
/* From identifiers to slots, against a plain search. */
#include <stdlib.h>

#include "expect.h"
#include "idmap.h"

#define SLOTS  200u
#define ROUNDS 20000u

struct slot {
    uint64_t id;
    uint64_t used;
};

static uint64_t next(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t search(const struct slot *slots, uint64_t id)
{
    uint32_t i;

    for (i = 0; i < SLOTS; i++) {
        if (slots[i].used && slots[i].id == id) {
            return i;
        }
    }
    return UINT32_MAX;
}

/* Identifiers in several shapes: consecutive ones, ones that share their
 * lower bits, and any. */
static uint64_t shape(unsigned kind, uint64_t random)
{
    switch (kind) {
    case 0:
        return random % 300;
    case 1:
        return random % 300 << 40;
    case 2:
        return UINT64_MAX - random % 300;
    default:
        return random;
    }
}

static void random_histories(void)
{
    uint64_t seed = 20260101;
    unsigned kind;

    for (kind = 0; kind < 4; kind++) {
        struct slot slots[SLOTS] = { { 0, 0 } };
        uint32_t *table = malloc(polx_idmap_size(SLOTS));
        struct polx_idmap map;
        uint32_t i;

        polx_idmap_init(&map, table, SLOTS, &slots[0].id, sizeof(slots[0]));
        for (i = 0; i < ROUNDS; i++) {
            uint64_t id = shape(kind, next(&seed));
            uint32_t slot = search(slots, id);
            uint32_t any = (uint32_t)(next(&seed) % SLOTS);

            if (polx_idmap_find(&map, id) != slot) {
                EXPECT("find", polx_idmap_find(&map, id), slot);
            }
            if (slot != UINT32_MAX) {
                polx_idmap_remove(&map, slot);
                slots[slot].used = 0;
            } else if (!slots[any].used) {
                slots[any].id = id;
                slots[any].used = 1;
                polx_idmap_add(&map, any);
            }
        }
        for (i = 0; i < SLOTS; i++) {
            if (slots[i].used) {
                EXPECT("at the end", polx_idmap_find(&map, slots[i].id), i);
            }
        }
        free(table);
    }
}

static void full_map(void)
{
    /* A map that is as full as it gets. */
    struct slot slots[SLOTS];
    uint32_t *table = malloc(polx_idmap_size(SLOTS));
    struct polx_idmap map;
    uint32_t i;

    polx_idmap_init(&map, table, SLOTS, &slots[0].id, sizeof(slots[0]));
    for (i = 0; i < SLOTS; i++) {
        slots[i].id = i * UINT64_C(0x100000001);
        polx_idmap_add(&map, i);
    }
    for (i = 0; i < SLOTS; i += 2) {
        polx_idmap_remove(&map, i);
    }
    for (i = 0; i < SLOTS; i++) {
        EXPECT("half", polx_idmap_find(&map, slots[i].id),
               i % 2 == 0 ? UINT32_MAX : i);
    }
    free(table);
}

static const struct test_case cases[] = {
    { "80,000 random additions and removals, seed 20260101", random_histories },
    { "a full map loses every other entry", full_map },
};

EXPECT_MAIN("idmap", cases)
