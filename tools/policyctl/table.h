/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file table.h
 * A table of text cells that prints on a terminal and as HTML.
 */
#ifndef POLICYCTL_TABLE_H
#define POLICYCTL_TABLE_H

#include <stdint.h>
#include <stdio.h>

#include "command.h"

struct table;

/**
 * @param headers  `columns` names; borrowed
 * @param left     bit i: column i is set flush left, else flush right
 */
struct table *table_new(const char *const *headers, uint32_t columns,
                        uint32_t left);

void table_free(struct table *table);

/** Add the next cell, row by row. */
void table_cell(struct table *table, const char *format, ...) PRINTF_LIKE(2, 3);

/** Print with aligned columns; cells pass through text_safe(). */
void table_print(const struct table *table, FILE *out);

/** Write a table element; cells are escaped. */
void table_html(const struct table *table, const char *caption, FILE *out);

#endif /* POLICYCTL_TABLE_H */
