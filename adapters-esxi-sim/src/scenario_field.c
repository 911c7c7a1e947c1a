/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario_field.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_value.h"

#define FIELDS_MAX 64u

int sim_reading_fail(struct sim_reading *rd, unsigned line, const char *key,
                     const char *format, ...)
{
    char field[128];
    size_t n;
    va_list args;
    int rc;

    snprintf(field, sizeof(field), "%s%s", rd->path, key);
    n = strlen(field);
    if (n > 0 && field[n - 1] == '.') {
        field[n - 1] = '\0';
    }
    va_start(args, format);
    rc = sim_fail_v(rd->err, rd->file, line, field, format, args);
    va_end(args);
    return rc;
}

void sim_reading_enter(struct sim_reading *rd, const char *section,
                       size_t index)
{
    if (index == SIZE_MAX) {
        snprintf(rd->path, sizeof(rd->path), "%s%s", section,
                 section[0] == '\0' ? "" : ".");
    } else {
        snprintf(rd->path, sizeof(rd->path), "%s[%zu].", section, index);
    }
}

int sim_expect_kind(struct sim_reading *rd, const struct sim_node *node,
                    enum sim_node_kind kind, const char *key)
{
    static const char *const names[] = { "one value", "a list",
                                         "a map of keys" };

    if (node->kind == kind) {
        return POL_OK;
    }
    if (node->kind == SIM_NODE_SCALAR && node->text[0] == '\0') {
        return sim_reading_fail(rd, node->line, key,
                                "has no value (accepted: %s)", names[kind]);
    }
    return sim_reading_fail(rd, node->line, key, "is %s (accepted: %s)",
                            names[node->kind], names[kind]);
}

/* Are numbers of this kind sizes, times, percentages, or plain? */
static void say(const struct sim_reading *rd, enum sim_field_kind kind,
                uint64_t value, char *text, size_t cap)
{
    switch (kind) {
    case SIM_F_PAGES:
    case SIM_F_LIMIT:
    case SIM_F_AMOUNT:
    case SIM_F_AMOUNT_WIDE:
    case SIM_F_AMOUNT_NONE:
        sim_value_say_pages(value, rd->page_bytes, text, cap);
        break;
    case SIM_F_BYTES:
        sim_value_say_pages(value, 1, text, cap);
        break;
    case SIM_F_TIME:
    case SIM_F_TIME32:
        sim_value_say_time(value, text, cap);
        break;
    case SIM_F_PERCENT:
    case SIM_F_PERCENT64:
        sim_value_say_percent(value, text, cap);
        break;
    default:
        snprintf(text, cap, "%" PRIu64, value);
        break;
    }
}

static void say_words(const struct sim_field *field, char *text, size_t cap)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; field->words[i] != NULL && used < cap; i++) {
        used += (size_t)snprintf(text + used, cap - used, "%s%s",
                                 i == 0 ? "" : ", ", field->words[i]);
    }
}

/* What a field accepts, for the end of an error. */
static void say_accepted(const struct sim_reading *rd,
                         const struct sim_field *field, char *text, size_t cap)
{
    char min[32];
    char max[32];
    const char *also = "";

    switch (field->kind) {
    case SIM_F_BOOL:
    case SIM_F_FLAG:
        snprintf(text, cap, "yes, no");
        return;
    case SIM_F_WORD:
        say_words(field, text, cap);
        return;
    case SIM_F_TEXT:
        snprintf(text, cap, "text of 1 to %" PRIu64 " bytes", field->max);
        return;
    case SIM_F_RATE:
        also = ", or max";
        break;
    case SIM_F_LIMIT:
        also = ", or none";
        break;
    case SIM_F_AMOUNT:
        also = ", or 0.01% to 100%";
        break;
    case SIM_F_AMOUNT_WIDE:
        also = ", or 0.01% to 1000%";
        break;
    case SIM_F_AMOUNT_NONE:
        also = ", 0.01% to 100%, or none";
        break;
    default:
        break;
    }
    say(rd, field->kind, field->min, min, sizeof(min));
    say(rd, field->kind, field->max, max, sizeof(max));
    snprintf(text, cap, "%s to %s%s", min, max, also);
}

/* Read text as a number of the field's kind. */
static enum sim_value_result number_of(const struct sim_reading *rd,
                                       const struct sim_field *field,
                                       const char *text, uint64_t *out)
{
    bool truth = false;
    enum sim_value_result rc;

    switch (field->kind) {
    case SIM_F_PAGES:
    case SIM_F_LIMIT:
    case SIM_F_AMOUNT:
    case SIM_F_AMOUNT_WIDE:
    case SIM_F_AMOUNT_NONE:
        return sim_value_pages(text, rd->page_bytes, out);
    case SIM_F_BYTES:
        return sim_value_pages(text, 1, out);
    case SIM_F_TIME:
    case SIM_F_TIME32:
        return sim_value_time(text, out);
    case SIM_F_PERCENT:
    case SIM_F_PERCENT64:
        return sim_value_percent(text, out);
    case SIM_F_BOOL:
    case SIM_F_FLAG:
        rc = sim_value_bool(text, &truth);
        *out = truth;
        return rc;
    case SIM_F_WORD:
        for (uint64_t i = 0; field->words[i] != NULL; i++) {
            if (strcmp(text, field->words[i]) == 0) {
                *out = i;
                return SIM_VALUE_OK;
            }
        }
        return SIM_VALUE_MALFORMED;
    default:
        return sim_value_number(text, out);
    }
}

static const char *kind_text(const struct sim_field *field)
{
    switch (field->kind) {
    case SIM_F_PAGES:
    case SIM_F_LIMIT:
    case SIM_F_BYTES:
        return "is not a size such as 512MiB";
    case SIM_F_AMOUNT:
    case SIM_F_AMOUNT_WIDE:
    case SIM_F_AMOUNT_NONE:
        return "is neither a size such as 512MiB nor a percentage";
    case SIM_F_TIME:
    case SIM_F_TIME32:
        return "is not a time such as 30s, 5min, 1h or 1d";
    case SIM_F_PERCENT:
    case SIM_F_PERCENT64:
        return "is not a percentage such as 75%";
    case SIM_F_BOOL:
    case SIM_F_FLAG:
        return "is neither yes nor no";
    case SIM_F_WORD:
        return "is unknown";
    default:
        return "is not a whole number";
    }
}

static int bad_value(struct sim_reading *rd, const struct sim_node *value,
                     const struct sim_field *field, enum sim_value_result why)
{
    char accepted[160];
    const char *what = why == SIM_VALUE_MALFORMED  ? kind_text(field)
                       : why == SIM_VALUE_NEGATIVE ? "is negative"
                       : why == SIM_VALUE_UNEVEN ? "is no whole number of pages"
                                                 : "is out of range";

    say_accepted(rd, field, accepted, sizeof(accepted));
    return sim_reading_fail(rd, value->line, field->key,
                            "\"%.40s\" %s (accepted: %s)", value->text, what,
                            accepted);
}

static bool bounded(enum sim_field_kind kind)
{
    return kind != SIM_F_BOOL && kind != SIM_F_FLAG && kind != SIM_F_WORD;
}

static void store(const struct sim_field *field, uint64_t number, void *target)
{
    char *at = (char *)target + field->offset;
    uint32_t narrow = (uint32_t)number;
    int word = (int)number;
    bool truth = number != 0;

    switch (field->kind) {
    case SIM_F_BOOL:
        memcpy(at, &truth, sizeof(truth));
        break;
    case SIM_F_WORD:
        memcpy(at, &word, sizeof(word));
        break;
    case SIM_F_U32:
    case SIM_F_TIME32:
    case SIM_F_PERCENT:
    case SIM_F_FLAG:
    case SIM_F_BYTES:
        memcpy(at, &narrow, sizeof(narrow));
        break;
    default:
        memcpy(at, &number, sizeof(number));
        break;
    }
}

static int read_number(struct sim_reading *rd, const struct sim_node *value,
                       const struct sim_field *field, void *target)
{
    uint64_t number = 0;
    enum sim_value_result why;

    if (field->kind == SIM_F_RATE && strcmp(value->text, "max") == 0) {
        store(field, 0, target);
        return POL_OK;
    }
    if (field->kind == SIM_F_LIMIT && strcmp(value->text, "none") == 0) {
        store(field, POL_NO_LIMIT, target);
        return POL_OK;
    }
    why = number_of(rd, field, value->text, &number);
    if (why == SIM_VALUE_OK && bounded(field->kind) &&
        (number < field->min || number > field->max)) {
        why = SIM_VALUE_HUGE;
    }
    if (why != SIM_VALUE_OK) {
        return bad_value(rd, value, field, why);
    }
    store(field, number, target);
    return POL_OK;
}

static int read_amount(struct sim_reading *rd, const struct sim_node *value,
                       const struct sim_field *field, void *target)
{
    struct sim_amount amount = { .pages = 0, .relative_bp = 0 };
    uint64_t bp = 0;
    uint64_t most = field->kind == SIM_F_AMOUNT_WIDE ? 100000 : 10000;
    enum sim_value_result why;

    if (field->kind == SIM_F_AMOUNT_NONE && strcmp(value->text, "none") == 0) {
        amount.pages = SIM_NO_LIMIT;
    } else if (strchr(value->text, '%') != NULL) {
        why = sim_value_percent(value->text, &bp);
        if (why == SIM_VALUE_OK && (bp > most || (bp == 0 && field->min > 0))) {
            why = SIM_VALUE_HUGE;
        }
        if (why != SIM_VALUE_OK) {
            return bad_value(rd, value, field, why);
        }
        amount.relative_bp = (uint32_t)bp; /* 0 %: 0 pages */
    } else {
        struct sim_field plain = *field;

        plain.offset = offsetof(struct sim_amount, pages);
        if (read_number(rd, value, &plain, &amount) != POL_OK) {
            return POL_ERR_INVALID;
        }
    }
    memcpy((char *)target + field->offset, &amount, sizeof(amount));
    return POL_OK;
}

static int read_text(struct sim_reading *rd, const struct sim_node *value,
                     const struct sim_field *field, void *target)
{
    size_t n = strlen(value->text);
    char *copy;

    if (n > field->max) {
        return sim_reading_fail(
            rd, value->line, field->key,
            "is %zu bytes long (accepted: 1 to %" PRIu64 ")", n, field->max);
    }
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)value->text[i] < 0x20 || value->text[i] == 0x7f) {
            return sim_reading_fail(rd, value->line, field->key,
                                    "has control characters (accepted: "
                                    "printable text)");
        }
    }
    copy = malloc(n + 1);
    if (copy == NULL) {
        return sim_fail_memory(rd->err, rd->file);
    }
    memcpy(copy, value->text, n + 1);
    memcpy((char *)target + field->offset, &copy, sizeof(copy));
    return POL_OK;
}

int sim_field_read(struct sim_reading *rd, const struct sim_node *value,
                   const struct sim_field *field, void *target)
{
    char accepted[160];
    int rc = sim_expect_kind(rd, value, SIM_NODE_SCALAR, field->key);

    if (rc != POL_OK) {
        return rc;
    }
    if (value->text[0] == '\0') {
        say_accepted(rd, field, accepted, sizeof(accepted));
        return sim_reading_fail(rd, value->line, field->key,
                                "has no value (accepted: %s)", accepted);
    }
    switch (field->kind) {
    case SIM_F_TEXT:
        return read_text(rd, value, field, target);
    case SIM_F_AMOUNT:
    case SIM_F_AMOUNT_WIDE:
    case SIM_F_AMOUNT_NONE:
        return read_amount(rd, value, field, target);
    default:
        return read_number(rd, value, field, target);
    }
}

static const struct sim_field *find(const struct sim_field *fields, size_t n,
                                    const char *key)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(fields[i].key, key) == 0) {
            return &fields[i];
        }
    }
    return NULL;
}

static int unknown_key(struct sim_reading *rd, const struct sim_node *member,
                       const struct sim_field *fields, size_t n)
{
    const char *words[FIELDS_MAX] = { NULL };
    const char *nearest;
    char all[180] = "";
    size_t used = 0;

    n = n < FIELDS_MAX ? n : FIELDS_MAX;
    for (size_t i = 0; i < n; i++) {
        words[i] = fields[i].key;
    }
    nearest = sim_value_nearest(member->key, words, n);
    if (nearest != NULL) {
        return sim_reading_fail(rd, member->line, "",
                                "unknown key \"%.40s\" (accepted: did you "
                                "mean \"%s\"?)",
                                member->key, nearest);
    }
    for (size_t i = 0; i < n && used < sizeof(all); i++) {
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
                                 i == 0 ? "" : ", ", words[i]);
    }
    return sim_reading_fail(rd, member->line, "",
                            "unknown key \"%.40s\" (accepted: %s%s)",
                            member->key, all, used < sizeof(all) ? "" : " ...");
}

int sim_fields_read(struct sim_reading *rd, const struct sim_node *map,
                    const struct sim_field *fields, size_t n, void *target)
{
    int rc = sim_expect_kind(rd, map, SIM_NODE_MAP, "");

    for (const struct sim_node *m = map->first; rc == POL_OK && m != NULL;
         m = m->next) {
        const struct sim_field *field = find(fields, n, m->key);

        if (field == NULL) {
            return unknown_key(rd, m, fields, n);
        }
        if (field->kind != SIM_F_OTHER) {
            rc = sim_field_read(rd, m, field, target);
        }
    }
    for (size_t i = 0; rc == POL_OK && i < n; i++) {
        if (fields[i].required && sim_yaml_member(map, fields[i].key) == NULL) {
            rc = sim_reading_fail(rd, map->line, fields[i].key, "is missing");
        }
    }
    return rc;
}
