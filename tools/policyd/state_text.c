/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of the state file, written and read. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#define SCHEMA    1
#define DEPTH_MAX 6

/* ---- Writing ------------------------------------------------------------ */

static void put_u64(struct json_object *to, const char *key, uint64_t value)
{
    json_object_object_add(to, key, json_object_new_uint64(value));
}

static void put_flag(struct json_object *to, const char *key, int value)
{
    if (value >= 0) {
        json_object_object_add(to, key, json_object_new_boolean(value));
    }
}

static struct json_object *vm_json(const struct pd_vm_config *vm)
{
    struct json_object *to = json_object_new_object();

    if (vm->shares != PD_NONE) {
        put_u64(to, "shares", vm->shares);
    }
    if (vm->reservation_bytes != PD_NONE) {
        put_u64(to, "reservation_bytes", vm->reservation_bytes);
    }
    if (vm->limit_bytes == PD_NO_LIMIT) {
        json_object_object_add(to, "limit_bytes", NULL);
    } else if (vm->limit_bytes != PD_NONE) {
        put_u64(to, "limit_bytes", vm->limit_bytes);
    }
    put_flag(to, "balloon", vm->balloon);
    put_flag(to, "swap", vm->swap);
    put_flag(to, "block", vm->block);
    return to;
}

static struct json_object *hold_json(const struct pd_hold *hold)
{
    struct json_object *to = json_object_new_object();

    json_object_object_add(to, "id", json_object_new_string(hold->id));
    put_u64(to, "owner", hold->owner);
    put_u64(to, "bytes", hold->bytes);
    put_u64(to, "until_unix_ms", hold->until_unix_ms);
    put_flag(to, "urgent", hold->urgent);
    if (hold->vm[0] != '\0') {
        json_object_object_add(to, "for", json_object_new_string(hold->vm));
    }
    return to;
}

char *pd_state_text(const struct pd_state *state, const struct pd_holds *holds)
{
    struct json_object *root = json_object_new_object();
    struct json_object *vms = json_object_new_object();
    struct json_object *list = json_object_new_array();
    const char *text;
    char *copy;

    put_u64(root, "schema", SCHEMA);
    for (size_t i = 0; i < state->vms.n; i++) {
        json_object_object_add(vms, state->vms.items[i].name,
                               vm_json(&state->vms.items[i]));
    }
    for (size_t i = 0; i < holds->n; i++) {
        json_object_array_add(list, hold_json(&holds->items[i]));
    }
    json_object_object_add(root, "vms", vms);
    json_object_object_add(root, "holds", list);
    text = json_object_to_json_string_ext(
        root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
    copy = text == NULL ? NULL : strdup(text);
    json_object_put(root);
    return copy;
}

/* ---- Reading ------------------------------------------------------------ */

/* Where the reading stands, and what was wrong. */
struct reading {
    const char *what; /* "vms", "holds" */
    const char *name; /* of the VM or hold */
    char *why;
};

static int bad(const struct reading *rd, const char *key, const char *accepted)
{
    snprintf(rd->why, PD_WHY_BYTES, "%s.%.100s.%.32s: accepted: %s", rd->what,
             rd->name, key, accepted);
    return POL_ERR_INVALID;
}

static int get_u64(const struct reading *rd, const char *key,
                   struct json_object *value, uint64_t min, uint64_t max,
                   uint64_t *out)
{
    char accepted[80];

    snprintf(accepted, sizeof(accepted), "%" PRIu64 " to %" PRIu64, min, max);
    if (!json_object_is_type(value, json_type_int) ||
        json_object_get_int64(value) < 0 ||
        json_object_get_uint64(value) < min ||
        json_object_get_uint64(value) > max) {
        return bad(rd, key, accepted);
    }
    *out = json_object_get_uint64(value);
    return POL_OK;
}

static int get_flag(const struct reading *rd, const char *key,
                    struct json_object *value, int *out)
{
    if (!json_object_is_type(value, json_type_boolean)) {
        return bad(rd, key, "true, false");
    }
    *out = json_object_get_boolean(value);
    return POL_OK;
}

/* A 0 inside would make two names look the same. */
static int get_text(const struct reading *rd, const char *key,
                    struct json_object *value, char *out, size_t cap)
{
    size_t n = json_object_is_type(value, json_type_string)
                   ? (size_t)json_object_get_string_len(value)
                   : cap;

    if (n >= cap || strlen(json_object_get_string(value)) != n) {
        return bad(rd, key, "a text that is not too long");
    }
    memcpy(out, json_object_get_string(value), n + 1);
    return POL_OK;
}

static int read_vm_member(const struct reading *rd, const char *key,
                          struct json_object *value, struct pd_vm_config *vm)
{
    if (strcmp(key, "shares") == 0) {
        return get_u64(rd, key, value, 1, POL_MAX_SHARES, &vm->shares);
    }
    if (strcmp(key, "reservation_bytes") == 0) {
        return get_u64(rd, key, value, 0, PD_MAX_BYTES, &vm->reservation_bytes);
    }
    if (strcmp(key, "limit_bytes") == 0) {
        vm->limit_bytes = PD_NO_LIMIT;
        return value == NULL
                   ? POL_OK
                   : get_u64(rd, key, value, 1, PD_MAX_BYTES, &vm->limit_bytes);
    }
    if (strcmp(key, "balloon") == 0) {
        return get_flag(rd, key, value, &vm->balloon);
    }
    if (strcmp(key, "swap") == 0) {
        return get_flag(rd, key, value, &vm->swap);
    }
    if (strcmp(key, "block") == 0) {
        return get_flag(rd, key, value, &vm->block);
    }
    return bad(rd, key, "no such member");
}

static int read_vm(struct reading *rd, const char *name,
                   struct json_object *from, struct pd_vm_list *vms)
{
    struct pd_vm_config vm;
    int rc = POL_OK;

    rd->name = name;
    if (!json_object_is_type(from, json_type_object) || name[0] == '\0' ||
        strlen(name) >= PD_NAME_BYTES) {
        return bad(rd, "", "an object, its name up to 255 bytes");
    }
    pd_vm_config_init(&vm);
    vm.name = (char *)name;
    json_object_object_foreach(from, key, value)
    {
        rc = rc == POL_OK ? read_vm_member(rd, key, value, &vm) : rc;
    }
    return rc == POL_OK ? pd_vm_list_put(vms, &vm) : rc;
}

static int read_hold_member(const struct reading *rd, const char *key,
                            struct json_object *value, struct pd_hold *hold)
{
    int urgent = 0;
    int rc;

    if (strcmp(key, "id") == 0) {
        return get_text(rd, key, value, hold->id, sizeof(hold->id));
    }
    if (strcmp(key, "for") == 0) {
        return get_text(rd, key, value, hold->vm, sizeof(hold->vm));
    }
    if (strcmp(key, "owner") == 0) {
        return get_u64(rd, key, value, 0, UINT32_MAX, &hold->owner);
    }
    if (strcmp(key, "bytes") == 0) {
        return get_u64(rd, key, value, 1, PD_MAX_BYTES, &hold->bytes);
    }
    if (strcmp(key, "until_unix_ms") == 0) {
        return get_u64(rd, key, value, 1, INT64_MAX, &hold->until_unix_ms);
    }
    if (strcmp(key, "urgent") == 0) {
        rc = get_flag(rd, key, value, &urgent);
        hold->urgent = urgent;
        return rc;
    }
    return bad(rd, key, "no such member");
}

static int read_hold(struct reading *rd, struct json_object *from,
                     struct pd_holds *holds)
{
    struct pd_hold hold = { .waiting = true };
    struct pd_hold *at;
    int rc = POL_OK;

    rd->name = "?";
    if (!json_object_is_type(from, json_type_object)) {
        return bad(rd, "", "an object");
    }
    json_object_object_foreach(from, key, value)
    {
        rc = rc == POL_OK ? read_hold_member(rd, key, value, &hold) : rc;
    }
    if (rc != POL_OK) {
        return rc;
    }
    if (!pd_hold_id_ok(hold.id) || pd_holds_find(holds, hold.id) != NULL) {
        return bad(rd, "id", "1 to 63 characters of A-Za-z0-9._-, once each");
    }
    rd->name = hold.id;
    if (hold.bytes == 0 || hold.until_unix_ms == 0) {
        return bad(rd, "bytes", "1 and more, and until_unix_ms");
    }
    at = pd_holds_add(holds, hold.id);
    if (at == NULL) {
        return bad(rd, "", "fewer holds");
    }
    hold.hold = at->hold;
    *at = hold;
    return POL_OK;
}

static int read_root(struct json_object *root, struct pd_vm_list *vms,
                     struct pd_holds *holds, char *why)
{
    struct reading rd = { "vms", "", why };
    struct json_object *schema = NULL;
    struct json_object *map = NULL;
    struct json_object *list = NULL;
    int rc = POL_OK;

    if (!json_object_is_type(root, json_type_object) ||
        !json_object_object_get_ex(root, "schema", &schema) ||
        json_object_get_int64(schema) != SCHEMA ||
        !json_object_object_get_ex(root, "vms", &map) ||
        !json_object_is_type(map, json_type_object) ||
        !json_object_object_get_ex(root, "holds", &list) ||
        !json_object_is_type(list, json_type_array)) {
        snprintf(why, PD_WHY_BYTES,
                 "is no state file of this version "
                 "(accepted: schema 1, vms, holds)");
        return POL_ERR_INVALID;
    }
    json_object_object_foreach(map, name, value)
    {
        rc = rc == POL_OK ? read_vm(&rd, name, value, vms) : rc;
    }
    rd.what = "holds";
    for (size_t i = 0; rc == POL_OK && i < json_object_array_length(list);
         i++) {
        rc = read_hold(&rd, json_object_array_get_idx(list, i), holds);
    }
    return rc;
}

int pd_state_parse(const char *text, size_t bytes, struct pd_state *state,
                   struct pd_holds *holds, char *why)
{
    struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
    struct json_object *root = NULL;
    struct pd_vm_list vms = { NULL, 0 };
    struct pd_holds found = { .n = 0 };
    int rc = POL_ERR_NOMEM;

    if (tokener != NULL) {
        json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
        root = bytes > PD_STATE_BYTES
                   ? NULL
                   : json_tokener_parse_ex(tokener, text, (int)bytes);
        json_tokener_free(tokener);
        rc = read_root(root, &vms, &found, why);
        json_object_put(root);
    }
    if (rc != POL_OK) {
        pd_vm_list_clear(&vms);
        return rc;
    }
    pd_vm_list_clear(&state->vms);
    state->vms = vms;
    *holds = found;
    return POL_OK;
}
