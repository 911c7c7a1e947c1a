/* SPDX-License-Identifier: BSD-2-Clause */
#include "idmap.h"

#include "arith.h"

/* Half full at most, so that probes stay short. */
static uint32_t entries_for(uint32_t slots)
{
    uint32_t entries = 16;

    while (entries < 2u * slots) {
        entries *= 2u;
    }
    return entries;
}

static uint64_t id_at(const struct polx_idmap *map, uint32_t slot)
{
    const uint8_t *p = map->base + (size_t)slot * map->stride;

    return *(const uint64_t *)(const void *)p;
}

/* Identifiers are often small and consecutive: spread them. */
static uint32_t home(const struct polx_idmap *map, uint64_t id)
{
    return (uint32_t)polx_spread(id) & map->mask;
}

size_t polx_idmap_size(uint32_t slots)
{
    return (size_t)entries_for(slots) * sizeof(uint32_t);
}

void polx_idmap_init(struct polx_idmap *map, uint32_t *table, uint32_t slots,
                     const void *base, size_t stride)
{
    uint32_t i;

    map->table = table;
    map->mask = entries_for(slots) - 1u;
    map->stride = (uint32_t)stride;
    map->base = base;
    for (i = 0; i <= map->mask; i++) {
        table[i] = 0;
    }
}

uint32_t polx_idmap_find(const struct polx_idmap *map, uint64_t id)
{
    uint32_t i = home(map, id);

    while (map->table[i] != 0) {
        if (id_at(map, map->table[i] - 1u) == id) {
            return map->table[i] - 1u;
        }
        i = (i + 1u) & map->mask;
    }
    return UINT32_MAX;
}

void polx_idmap_add(struct polx_idmap *map, uint32_t slot)
{
    uint32_t i = home(map, id_at(map, slot));

    while (map->table[i] != 0) {
        i = (i + 1u) & map->mask;
    }
    map->table[i] = slot + 1u;
}

void polx_idmap_remove(struct polx_idmap *map, uint32_t slot)
{
    uint32_t hole = home(map, id_at(map, slot));
    uint32_t i;

    while (map->table[hole] != slot + 1u) {
        hole = (hole + 1u) & map->mask;
    }
    /* Close the gap: an entry may move into the hole when its home does not
     * lie between the hole and where it is now. */
    for (i = (hole + 1u) & map->mask; map->table[i] != 0;
         i = (i + 1u) & map->mask) {
        uint32_t h = home(map, id_at(map, map->table[i] - 1u));

        if (((i - h) & map->mask) >= ((i - hole) & map->mask)) {
            map->table[hole] = map->table[i];
            hole = i;
        }
    }
    map->table[hole] = 0;
}
