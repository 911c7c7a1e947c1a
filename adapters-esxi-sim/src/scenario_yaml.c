/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario_yaml.h"

#include <stdlib.h>
#include <string.h>
#include <yaml.h>

struct reader {
    yaml_parser_t parser;
    const char *text;
    size_t bytes;
    const char *file;
    struct sim_error *err;
    unsigned nodes;
};

static int read_node(struct reader *r, yaml_event_t *event, unsigned depth,
                     struct sim_node **out);

static unsigned line_of(const yaml_event_t *event)
{
    return (unsigned)event->start_mark.line + 1u;
}

/* Errors of the byte reader come with an offset but no line. */
static unsigned long line_at(const struct reader *r, size_t offset)
{
    unsigned long line = 1;

    for (size_t i = 0; i < offset && i < r->bytes; i++) {
        line += r->text[i] == '\n';
    }
    return line;
}

static int parser_error(struct reader *r)
{
    const yaml_parser_t *p = &r->parser;
    const char *problem = p->problem != NULL ? p->problem : "bad YAML";

    switch (p->error) {
    case YAML_MEMORY_ERROR:
        return sim_fail_memory(r->err, r->file);
    case YAML_READER_ERROR:
        return sim_fail(r->err, r->file, line_at(r, p->problem_offset), "",
                        "%s (accepted: YAML in UTF-8)", problem);
    default:
        return sim_fail(r->err, r->file,
                        (unsigned long)p->problem_mark.line + 1u, "",
                        "not YAML: %s", problem);
    }
}

static int next_event(struct reader *r, yaml_event_t *event)
{
    if (!yaml_parser_parse(&r->parser, event)) {
        return parser_error(r);
    }
    return POL_OK;
}

static struct sim_node *new_node(enum sim_node_kind kind, unsigned line)
{
    struct sim_node *node = calloc(1, sizeof(*node));

    if (node != NULL) {
        node->kind = kind;
        node->line = line;
    }
    return node;
}

static void append(struct sim_node *parent, struct sim_node **tail,
                   struct sim_node *child)
{
    if (*tail == NULL) {
        parent->first = child;
    } else {
        (*tail)->next = child;
    }
    *tail = child;
    parent->n++;
}

/* A copy of a scalar's text, which must be one C string. */
static int scalar_text(struct reader *r, const yaml_event_t *event, char **out)
{
    const char *value = (const char *)event->data.scalar.value;
    size_t n = event->data.scalar.length;

    if (n > SIM_YAML_MAX_SCALAR) {
        return sim_fail(r->err, r->file, line_of(event), "",
                        "text of %zu bytes (accepted: up to %u)", n,
                        SIM_YAML_MAX_SCALAR);
    }
    if (memchr(value, '\0', n) != NULL) {
        return sim_fail(r->err, r->file, line_of(event), "",
                        "text with a NUL character");
    }
    *out = malloc(n + 1);
    if (*out == NULL) {
        return sim_fail_memory(r->err, r->file);
    }
    memcpy(*out, value, n);
    (*out)[n] = '\0';
    return POL_OK;
}

/* Anchors and tags could only serve to confuse a reader of the file. */
static int plain_only(struct reader *r, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL;
    const yaml_char_t *tag = NULL;

    switch (event->type) {
    case YAML_SCALAR_EVENT:
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
        break;
    default:
        return sim_fail(r->err, r->file, line_of(event), "",
                        "aliases (*name) are not accepted");
    }
    if (anchor != NULL) {
        return sim_fail(r->err, r->file, line_of(event), "",
                        "anchors (&name) are not accepted");
    }
    if (tag != NULL) {
        return sim_fail(r->err, r->file, line_of(event), "",
                        "tags (!name) are not accepted");
    }
    return POL_OK;
}

static int read_list(struct reader *r, struct sim_node *list, unsigned depth)
{
    struct sim_node *tail = NULL;
    yaml_event_t event;
    int rc;

    for (;;) {
        struct sim_node *child = NULL;

        rc = next_event(r, &event);
        if (rc != POL_OK) {
            return rc;
        }
        if (event.type == YAML_SEQUENCE_END_EVENT) {
            yaml_event_delete(&event);
            return POL_OK;
        }
        rc = read_node(r, &event, depth + 1, &child);
        yaml_event_delete(&event);
        if (rc != POL_OK) {
            return rc;
        }
        append(list, &tail, child);
    }
}

static int check_key(struct reader *r, const struct sim_node *map,
                     const yaml_event_t *event)
{
    const struct sim_node *same;

    if (event->type != YAML_SCALAR_EVENT) {
        return sim_fail(r->err, r->file, line_of(event), "",
                        "a key must be a plain word");
    }
    if (map->n >= SIM_YAML_MAX_KEYS) {
        return sim_fail(r->err, r->file, line_of(event), "",
                        "too many keys (accepted: up to %u)",
                        SIM_YAML_MAX_KEYS);
    }
    same = sim_yaml_member(map, (const char *)event->data.scalar.value);
    if (same != NULL) {
        return sim_fail(r->err, r->file, line_of(event), same->key,
                        "given twice (first in line %u)", same->line);
    }
    return plain_only(r, event);
}

static int read_map(struct reader *r, struct sim_node *map, unsigned depth)
{
    struct sim_node *tail = NULL;
    yaml_event_t event;

    for (;;) {
        struct sim_node *child = NULL;
        char *key = NULL;
        unsigned line;
        int rc = next_event(r, &event);

        if (rc != POL_OK) {
            return rc;
        }
        if (event.type == YAML_MAPPING_END_EVENT) {
            yaml_event_delete(&event);
            return POL_OK;
        }
        line = line_of(&event);
        rc = check_key(r, map, &event);
        if (rc == POL_OK) {
            rc = scalar_text(r, &event, &key);
        }
        yaml_event_delete(&event);
        if (rc == POL_OK) {
            rc = next_event(r, &event);
            if (rc == POL_OK) {
                rc = read_node(r, &event, depth + 1, &child);
                yaml_event_delete(&event);
            }
        }
        if (rc != POL_OK) {
            free(key);
            return rc;
        }
        child->key = key;
        child->line = line;
        append(map, &tail, child);
    }
}

static int read_node(struct reader *r, yaml_event_t *event, unsigned depth,
                     struct sim_node **out)
{
    enum sim_node_kind kind = event->type == YAML_SCALAR_EVENT ? SIM_NODE_SCALAR
                              : event->type == YAML_MAPPING_START_EVENT
                                  ? SIM_NODE_MAP
                                  : SIM_NODE_LIST;
    struct sim_node *node;
    int rc = plain_only(r, event);

    if (rc != POL_OK) {
        return rc;
    }
    if (depth > SIM_YAML_MAX_DEPTH || ++r->nodes > SIM_YAML_MAX_NODES) {
        return sim_fail(r->err, r->file, line_of(event), "",
                        "nested too deeply or too long (accepted: %u levels, "
                        "%u values)",
                        SIM_YAML_MAX_DEPTH, SIM_YAML_MAX_NODES);
    }
    node = new_node(kind, line_of(event));
    if (node == NULL) {
        return sim_fail_memory(r->err, r->file);
    }
    rc = kind == SIM_NODE_SCALAR ? scalar_text(r, event, &node->text)
         : kind == SIM_NODE_MAP  ? read_map(r, node, depth)
                                 : read_list(r, node, depth);
    if (rc != POL_OK) {
        sim_yaml_free(node);
        return rc;
    }
    *out = node;
    return POL_OK;
}

/* Take the next event; anything but the one expected is an error. */
static int expect(struct reader *r, yaml_event_type_t type, const char *what)
{
    yaml_event_t event;
    int rc = next_event(r, &event);

    if (rc != POL_OK) {
        return rc;
    }
    if (event.type != type) {
        rc = sim_fail(r->err, r->file, line_of(&event), "", "%s", what);
    }
    yaml_event_delete(&event);
    return rc;
}

static int read_document(struct reader *r, struct sim_node **out)
{
    yaml_event_t event;
    int rc = expect(r, YAML_STREAM_START_EVENT, "not YAML");

    if (rc == POL_OK) {
        rc = expect(r, YAML_DOCUMENT_START_EVENT,
                    "the file is empty (accepted: a scenario)");
    }
    if (rc == POL_OK) {
        rc = next_event(r, &event);
        if (rc == POL_OK) {
            rc = read_node(r, &event, 0, out);
            yaml_event_delete(&event);
        }
    }
    if (rc == POL_OK) {
        rc = expect(r, YAML_DOCUMENT_END_EVENT, "more after the scenario");
    }
    if (rc == POL_OK) {
        rc = expect(r, YAML_STREAM_END_EVENT,
                    "a second document (accepted: one per file)");
    }
    return rc;
}

int sim_yaml_read(const char *text, size_t bytes, const char *file,
                  struct sim_node **out, struct sim_error *err)
{
    struct reader r = {
        .text = text, .bytes = bytes, .file = file, .err = err
    };
    struct sim_node *root = NULL;
    int rc;

    if (bytes > SIM_YAML_MAX_BYTES) {
        return sim_fail(err, file, 0, "",
                        "%zu bytes long (accepted: up to %zu)", bytes,
                        SIM_YAML_MAX_BYTES);
    }
    if (!yaml_parser_initialize(&r.parser)) {
        return sim_fail_memory(err, file);
    }
    yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&r.parser, (const unsigned char *)text, bytes);
    rc = read_document(&r, &root);
    yaml_parser_delete(&r.parser);
    if (rc != POL_OK) {
        sim_yaml_free(root);
        return rc;
    }
    *out = root;
    return POL_OK;
}

void sim_yaml_free(struct sim_node *node)
{
    while (node != NULL) {
        struct sim_node *next = node->next;

        sim_yaml_free(node->first); /* at most SIM_YAML_MAX_DEPTH deep */
        free(node->key);
        free(node->text);
        free(node);
        node = next;
    }
}

const struct sim_node *sim_yaml_member(const struct sim_node *map,
                                       const char *key)
{
    for (const struct sim_node *m = map->first; m != NULL; m = m->next) {
        if (strcmp(m->key, key) == 0) {
            return m;
        }
    }
    return NULL;
}
