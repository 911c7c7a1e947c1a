/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket: connections, bounds, permissions. doc/CONTROL.md is the
 * contract; the verbs are in control_verbs.c. */
#ifndef POLICYD_CONTROL_H
#define POLICYD_CONTROL_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon.h"

#define PD_SCHEMA     1
#define PD_LINE_BYTES (64u << 10)

/* One request, while it is answered. */
struct pd_request {
    struct pd_daemon *daemon;
    struct json_object *in;
    uint64_t user;   /* of the peer */
    bool may_change; /* the peer may use verbs that change something */
    char why[PD_WHY_BYTES];
};

int pd_control_open(struct pd_daemon *daemon, char *why);
void pd_control_close(struct pd_daemon *daemon);

/* Answer one line. The answer is the caller's, json_object_put() frees it;
 * NULL: no memory. */
struct json_object *pd_control_answer(struct pd_daemon *daemon,
                                      const char *line, size_t bytes,
                                      uint64_t user, bool may_change);

/* Carry out the request's verb. On failure request->why says what was wrong.
 * @param result  the caller's when POL_OK */
int pd_verb_run(struct pd_request *request, struct json_object **result);

/* Verbs that change something: control_change.c. */
int pd_verb_hold(struct pd_request *request, struct json_object *result);
/* control_set.c */
int pd_verb_set(struct pd_request *request, struct json_object *result);
int pd_verb_release(struct pd_request *request, struct json_object *result);
int pd_verb_reload(struct pd_request *request, struct json_object *result);

/* Helpers of the verbs. Amounts above 2^63 - 1 stay what they are. */
void pd_put_u64(struct json_object *to, const char *key, uint64_t value);
void pd_put_text(struct json_object *to, const char *key, const char *text);
void pd_put_bool(struct json_object *to, const char *key, bool value);
/* A VM as `vms` shows it. */
struct json_object *pd_vm_json(struct pd_daemon *daemon, uint64_t vm);
struct json_object *pd_hold_json(struct pd_daemon *daemon,
                                 const struct pd_hold *hold);

/* Members of a request; an absent one leaves *out and is POL_OK. */
int pd_get_text(struct pd_request *request, const char *key, const char **out);
int pd_get_u64(struct pd_request *request, const char *key, uint64_t min,
               uint64_t max, uint64_t *out);
int pd_get_bool(struct pd_request *request, const char *key, bool *out);
/* The member "vm", which must be there, as a VM. */
int pd_get_vm(struct pd_request *request, uint64_t *vm);

int pd_refuse(struct pd_request *request, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif /* POLICYD_CONTROL_H */
