/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file text.h
 * Figures and names as people read them, and as other formats need them.
 *
 * Names of VMs come from scenarios and traces and are not trusted: whatever
 * prints one passes it through text_safe() (terminals), text_html() (markup)
 * or text_script() (JSON inside a script element).
 */
#ifndef POLICYCTL_TEXT_H
#define POLICYCTL_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Enough for every number and duration below. */
#define TEXT_MAX 32

/** An amount of memory in the largest binary unit that keeps it above 1:
 *  "0 B", "512 MiB", "1.50 GiB", "12.0 TiB". Returns buf. */
const char *text_pages(char buf[TEXT_MAX], uint64_t pages, uint32_t page_bytes);

/** A time span: "250 ms", "1 s", "2 min 05 s", "1 h 02 min", "1 d 02 h". */
const char *text_span(char buf[TEXT_MAX], uint64_t ms);

/** Basis points as a percentage: "75 %", "0.25 %". */
const char *text_bp(char buf[TEXT_MAX], uint64_t bp);

/** A count with thousands separated: "1,234,567". */
const char *text_count(char buf[TEXT_MAX], uint64_t count);

/**
 * Read a time: a number with an optional unit ms, s, m (or min), h or d,
 * several of them in a row ("1h30m"); without a unit seconds.
 * @return 0 or -1 when it is none or exceeds 10^15 ms
 */
int text_parse_time(const char *text, uint64_t *ms);

/** Copy a name for a terminal: control characters and bytes that are no valid
 *  UTF-8 become '?'. Truncates to cap - 1 bytes, at a character. Returns buf.
 */
const char *text_safe(char *buf, size_t cap, const char *name);

/** Width of valid UTF-8 on a terminal, one column a character. */
size_t text_width(const char *text);

/** Write text as HTML text or attribute value. */
void text_html(FILE *out, const char *text);

/** Write serialised JSON so that it cannot end a script element: the
 *  characters < > & (which JSON has in strings only) become \u escapes. */
void text_script(FILE *out, const char *json);

#endif /* POLICYCTL_TEXT_H */
