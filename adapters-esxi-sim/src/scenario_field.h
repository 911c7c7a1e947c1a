/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sections of a scenario as tables: one line per key says its kind, where it
 * goes and what is accepted. All sections are read by one function.
 */
#ifndef SIM_SCENARIO_FIELD_H
#define SIM_SCENARIO_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "scenario_yaml.h"

enum sim_field_kind {
    SIM_F_OTHER = 0,   /* read by the section's own code */
    SIM_F_U32,         /* number -> uint32_t */
    SIM_F_U64,         /* number -> uint64_t */
    SIM_F_RATE,        /* number or "max" (0) -> uint64_t */
    SIM_F_PAGES,       /* size -> uint64_t */
    SIM_F_LIMIT,       /* size or "none" (POL_NO_LIMIT) -> uint64_t */
    SIM_F_BYTES,       /* size -> uint32_t, in bytes */
    SIM_F_AMOUNT,      /* size or percentage -> struct sim_amount */
    SIM_F_AMOUNT_WIDE, /* the same, percentages up to 1000 */
    SIM_F_AMOUNT_NONE, /* as SIM_F_AMOUNT, or "none" */
    SIM_F_TIME,        /* time -> uint64_t */
    SIM_F_TIME32,      /* time -> uint32_t */
    SIM_F_PERCENT,     /* percentage -> uint32_t, in basis points */
    SIM_F_PERCENT64,   /* the same -> uint64_t */
    SIM_F_BOOL,        /* yes/no -> bool */
    SIM_F_FLAG,        /* yes/no -> uint32_t */
    SIM_F_WORD,        /* one of `words` -> int, its index */
    SIM_F_TEXT         /* text -> char *, the target's to free */
};

struct sim_field {
    const char *key;
    enum sim_field_kind kind;
    size_t offset; /* in the section's struct */
    uint64_t min, max;
    bool required;
    const char *const *words; /* ends with NULL */
};

/* Where the reading stands. */
struct sim_reading {
    const char *file;
    struct sim_error *err;
    uint32_t page_bytes; /* of sizes */
    char path[64];       /* of the section, "vms[2]." or empty */
};

/* Fill *err for a key of the section read now; "" for the section itself. */
int sim_reading_fail(struct sim_reading *rd, unsigned line, const char *key,
                     const char *format, ...) SIM_PRINTF(4, 5);

/* Name the section: "vms[2]."; index SIZE_MAX: none. */
void sim_reading_enter(struct sim_reading *rd, const char *section,
                       size_t index);

/*
 * Read a map by its table into *target. Keys that are not in the table, of
 * the wrong kind, out of range or required and missing are errors.
 */
int sim_fields_read(struct sim_reading *rd, const struct sim_node *map,
                    const struct sim_field *fields, size_t n, void *target);

/* Read one value by its line of the table. */
int sim_field_read(struct sim_reading *rd, const struct sim_node *value,
                   const struct sim_field *field, void *target);

/* A node must be of this kind. */
int sim_expect_kind(struct sim_reading *rd, const struct sim_node *node,
                    enum sim_node_kind kind, const char *key);

#endif /* SIM_SCENARIO_FIELD_H */
