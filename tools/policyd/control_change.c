/* SPDX-License-Identifier: BSD-2-Clause */
/* The verbs that change something. */
#include <stdio.h>
#include <string.h>

#include "control.h"
#include "log.h"

#define TIMEOUT_S     300u
#define TIMEOUT_MAX_S 86400u

struct wish {
    uint64_t bytes, timeout_s;
    const char *id, *vm;
    bool urgent;
};

static int read_wish(struct pd_request *request, struct wish *wish)
{
    uint64_t page = request->daemon->page_bytes;
    int rc = pd_get_u64(request, "bytes", 1, POL_MAX_PAGES / 4096 * page,
                        &wish->bytes);

    rc = rc == POL_OK ? pd_get_u64(request, "timeout_s", 1, TIMEOUT_MAX_S,
                                   &wish->timeout_s)
                      : rc;
    rc = rc == POL_OK ? pd_get_text(request, "id", &wish->id) : rc;
    rc = rc == POL_OK ? pd_get_text(request, "for", &wish->vm) : rc;
    rc = rc == POL_OK ? pd_get_bool(request, "urgent", &wish->urgent) : rc;
    if (rc == POL_OK && wish->bytes == 0) {
        return pd_refuse(request, POL_ERR_INVALID,
                         "bytes: is missing (accepted: 1 and more)");
    }
    if (rc == POL_OK && wish->id != NULL && !pd_hold_id_ok(wish->id)) {
        return pd_refuse(request, POL_ERR_INVALID,
                         "id: is no such text (accepted: 1 to 63 characters "
                         "of A-Za-z0-9._-)");
    }
    return rc;
}

static const char *hold_trouble(int rc)
{
    switch (rc) {
    case POL_ERR_MEMORY_SHORT:
        return "bytes: would not fit even with everything above reservations "
               "taken";
    case POL_ERR_OWNER:
        return "id: is another user's hold";
    case POL_ERR_BUSY:
        return "id: is handed over to its VM already";
    case POL_ERR_INVALID:
        return "hold: the host has not been seen yet";
    default:
        return pol_strerror(rc);
    }
}

/* On failure it is as it was; a fresh one is gone. */
static int change_hold(struct pd_request *request, struct pd_hold *hold,
                       const struct wish *wish, bool fresh)
{
    struct pd_daemon *d = request->daemon;
    struct pd_hold before = *hold;
    int rc;

    if (!fresh && request->user != hold->owner) {
        return POL_ERR_OWNER;
    }
    hold->owner = request->user;
    hold->bytes = wish->bytes;
    hold->until_unix_ms = pd_unix_ms() + wish->timeout_s * 1000;
    hold->urgent = wish->urgent;
    snprintf(hold->vm, sizeof(hold->vm), "%s",
             wish->vm == NULL ? "" : wish->vm);
    rc = pd_hold_give(d, hold);
    if (rc != POL_OK) {
        *hold = before;
    }
    if (rc != POL_OK && fresh) {
        pd_holds_remove(&d->holds, hold);
    }
    return rc;
}

int pd_verb_hold(struct pd_request *request, struct json_object *result)
{
    struct wish wish = { .timeout_s = TIMEOUT_S };
    struct pd_daemon *d = request->daemon;
    struct pol_host_status now;
    struct pd_hold *hold;
    bool fresh;
    int rc = read_wish(request, &wish);

    if (rc != POL_OK) {
        return rc;
    }
    if (pol_host_get(d->ctx, &now) != POL_OK) {
        return pd_refuse(request, POL_ERR_INVALID,
                         "hold: the host has not been seen yet");
    }
    hold = wish.id == NULL ? NULL : pd_holds_find(&d->holds, wish.id);
    fresh = hold == NULL;
    hold = fresh ? pd_holds_add(&d->holds, wish.id) : hold;
    if (hold == NULL) {
        return pd_refuse(request, POL_ERR_NOMEM,
                         "hold: there are too many (accepted: up to %u)",
                         PD_MAX_HOLDS);
    }
    rc = change_hold(request, hold, &wish, fresh);
    if (rc != POL_OK) {
        return pd_refuse(request, rc, "%s", hold_trouble(rc));
    }
    pd_log(PD_INFO, NULL, "hold %s: %llu bytes for user %llu", hold->id,
           (unsigned long long)wish.bytes, (unsigned long long)request->user);
    pd_holds_keep(d);
    d->hooks.wake(d->hooks.arg);
    json_object_object_add(result, "hold", pd_hold_json(d, hold));
    return POL_OK;
}

static int release_hold(struct pd_request *request, const char *id)
{
    struct pd_daemon *d = request->daemon;
    struct pd_hold *hold = pd_holds_find(&d->holds, id);
    int rc;

    if (hold == NULL) {
        return pd_refuse(request, POL_ERR_NOTFOUND, "id: there is no hold '%s'",
                         id);
    }
    if (request->user != 0 && request->user != hold->owner) {
        return pd_refuse(request, POL_ERR_OWNER, "id: is another user's hold");
    }
    rc = pol_hold_release(d->ctx, hold->hold, hold->owner);
    if (rc != POL_OK && rc != POL_ERR_NOTFOUND) {
        return pd_refuse(request, rc, "id: %s", pol_strerror(rc));
    }
    pd_log(PD_INFO, NULL, "hold %s is released", hold->id);
    pd_holds_remove(&d->holds, hold);
    pd_holds_keep(d);
    d->hooks.wake(d->hooks.arg);
    return POL_OK;
}

int pd_verb_release(struct pd_request *request, struct json_object *result)
{
    const char *id = NULL;
    const char *name = NULL;
    uint64_t vm = 0;
    int rc = pd_get_text(request, "id", &id);

    (void)result;
    rc = rc == POL_OK ? pd_get_text(request, "vm", &name) : rc;
    if (rc != POL_OK) {
        return rc;
    }
    if ((id == NULL) == (name == NULL)) {
        return pd_refuse(request, POL_ERR_INVALID,
                         "release: needs one member (accepted: id or vm)");
    }
    if (id != NULL) {
        return release_hold(request, id);
    }
    rc = pd_get_vm(request, &vm);
    return rc == POL_OK ? pol_vm_release(request->daemon->ctx, vm) : rc;
}

int pd_verb_reload(struct pd_request *request, struct json_object *result)
{
    int rc = pd_policy_reload(request->daemon, request->why);

    (void)result;
    pd_log(rc == POL_OK ? PD_INFO : PD_ERROR, NULL, "%s",
           rc == POL_OK ? "the configuration has been read again"
                        : request->why);
    return rc;
}
