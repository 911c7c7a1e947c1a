/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file idmap.h
 * From the caller's 64-bit identifiers to slots: open addressing with linear
 * probing over a table of slot numbers. The identifiers themselves stay where
 * the slots are, so an entry costs four bytes.
 */
#ifndef POLX_IDMAP_H
#define POLX_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct polx_idmap {
    uint32_t *table;     /* slot + 1, or 0 */
    uint32_t mask;       /* entries - 1 */
    uint32_t stride;     /* bytes between identifiers */
    const uint8_t *base; /* identifier of slot 0 */
};

/** Bytes of table for so many slots. */
size_t polx_idmap_size(uint32_t slots);

/** Make an empty map in `table`; identifiers are uint64_t at
 *  base + slot * stride. */
void polx_idmap_init(struct polx_idmap *map, uint32_t *table, uint32_t slots,
                     const void *base, size_t stride);

/** Slot of an identifier, or UINT32_MAX. */
uint32_t polx_idmap_find(const struct polx_idmap *map, uint64_t id);

/** Enter a slot whose identifier is already in place and not in the map. */
void polx_idmap_add(struct polx_idmap *map, uint32_t slot);

/** Remove a slot whose identifier is still in place. */
void polx_idmap_remove(struct polx_idmap *map, uint32_t slot);

#endif /* POLX_IDMAP_H */
