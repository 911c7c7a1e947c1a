/* SPDX-License-Identifier: BSD-2-Clause */
#include "table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>

#include "text.h"

#define CELL_MAX 512

struct table {
    const char *const *headers;
    char **cells;
    size_t count;
    size_t capacity;
    uint32_t columns;
    uint32_t left;
};

struct table *table_new(const char *const *headers, uint32_t columns,
                        uint32_t left)
{
    struct table *table = must_alloc(1, sizeof *table);

    table->headers = headers;
    table->columns = columns;
    table->left = left;
    return table;
}

void table_free(struct table *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i < table->count; i++) {
        free(table->cells[i]);
    }
    free(table->cells);
    free(table);
}

void table_cell(struct table *table, const char *format, ...)
{
    char text[CELL_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (table->count == table->capacity) {
        table->capacity = table->capacity == 0 ? 64 : table->capacity * 2;
        table->cells =
            must_grow(table->cells, table->capacity, sizeof *table->cells);
    }
    table->cells[table->count++] = must_copy(text);
}

static void print_cell(FILE *out, const char *text, size_t width, bool left,
                       bool last)
{
    int pad = (int)(width - text_width(text));

    if (left) {
        fprintf(out, "%s%*s", text, last ? 0 : pad, "");
    } else {
        fprintf(out, "%*s%s", pad, "", text);
    }
    fputs(last ? "\n" : "  ", out);
}

/* The column after this one, in the next row after the last. */
static uint32_t next_column(const struct table *table, uint32_t column)
{
    return column + 1 == table->columns ? 0 : column + 1;
}

/* The width of each column: a block of the caller's. */
static size_t *widths_of(const struct table *table)
{
    size_t *widths = must_alloc(table->columns, sizeof *widths);
    char safe[CELL_MAX];
    uint32_t c = 0;

    for (uint32_t i = 0; i < table->columns; i++) {
        widths[i] = text_width(table->headers[i]);
    }
    for (size_t i = 0; i < table->count; i++) {
        size_t width =
            text_width(text_safe(safe, sizeof safe, table->cells[i]));

        widths[c] = width > widths[c] ? width : widths[c];
        c = next_column(table, c);
    }
    return widths;
}

void table_print(const struct table *table, FILE *out)
{
    size_t *widths = widths_of(table);
    char safe[CELL_MAX];
    uint32_t c = 0;

    for (size_t i = 0; i < table->count + table->columns; i++) {
        const char *text = i < table->columns
                               ? table->headers[i]
                               : table->cells[i - table->columns];

        print_cell(out, text_safe(safe, sizeof safe, text), widths[c],
                   (table->left >> c & 1u) != 0, c + 1 == table->columns);
        c = next_column(table, c);
    }
    free(widths);
}

void table_html(const struct table *table, const char *caption, FILE *out)
{
    char safe[CELL_MAX];
    uint32_t c = 0;

    fputs("<div class=\"wide\"><table><caption>", out);
    text_html(out, caption);
    fputs("</caption>\n<thead><tr>", out);
    for (uint32_t i = 0; i < table->columns; i++) {
        fprintf(out, "<th scope=\"col\"%s>",
                (table->left >> i & 1u) != 0 ? " class=\"left\"" : "");
        text_html(out, table->headers[i]);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t i = 0; i < table->count; i++) {
        fprintf(out, "%s<td%s>", c == 0 ? "<tr>" : "",
                (table->left >> c & 1u) != 0 ? " class=\"left\"" : "");
        text_html(out, text_safe(safe, sizeof safe, table->cells[i]));
        fprintf(out, "</td>%s", c + 1 == table->columns ? "</tr>\n" : "");
        c = next_column(table, c);
    }
    fputs("</tbody></table></div>\n", out);
}
