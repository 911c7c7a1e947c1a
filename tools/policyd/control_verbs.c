/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests, and the verbs that read. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "control.h"
#include "log.h"
#include "policy/version.h"

#define DEPTH_MAX 8
#define FACTS_MAX 32

typedef int verb_fn(struct pd_request *request, struct json_object *result);

void pd_put_u64(struct json_object *to, const char *key, uint64_t value)
{
    json_object_object_add(to, key, json_object_new_uint64(value));
}

void pd_put_text(struct json_object *to, const char *key, const char *text)
{
    char clean[1024];

    if (text == NULL) {
        json_object_object_add(to, key, NULL);
        return;
    }
    pd_clean_text(text, clean, sizeof(clean));
    json_object_object_add(to, key, json_object_new_string(clean));
}

void pd_put_bool(struct json_object *to, const char *key, bool value)
{
    json_object_object_add(to, key, json_object_new_boolean(value));
}

int pd_refuse(struct pd_request *request, int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(request->why, sizeof(request->why), format, args);
    va_end(args);
    return code;
}

int pd_get_text(struct pd_request *request, const char *key, const char **out)
{
    struct json_object *value;

    if (!json_object_object_get_ex(request->in, key, &value)) {
        return POL_OK;
    }
    /* A 0 inside would make two names look the same. */
    if (!json_object_is_type(value, json_type_string) ||
        json_object_get_string_len(value) > 255 ||
        strlen(json_object_get_string(value)) !=
            (size_t)json_object_get_string_len(value)) {
        return pd_refuse(request, POL_ERR_INVALID,
                         "%s: is no such text (accepted: up to 255 bytes)",
                         key);
    }
    *out = json_object_get_string(value);
    return POL_OK;
}

int pd_get_u64(struct pd_request *request, const char *key, uint64_t min,
               uint64_t max, uint64_t *out)
{
    struct json_object *value;

    if (!json_object_object_get_ex(request->in, key, &value)) {
        return POL_OK;
    }
    if (!json_object_is_type(value, json_type_int) ||
        json_object_get_int64(value) < 0 ||
        json_object_get_uint64(value) < min ||
        json_object_get_uint64(value) > max) {
        return pd_refuse(request, POL_ERR_RANGE,
                         "%s: is no such number (accepted: %llu to %llu)", key,
                         (unsigned long long)min, (unsigned long long)max);
    }
    *out = json_object_get_uint64(value);
    return POL_OK;
}

int pd_get_bool(struct pd_request *request, const char *key, bool *out)
{
    struct json_object *value;

    if (!json_object_object_get_ex(request->in, key, &value)) {
        return POL_OK;
    }
    if (!json_object_is_type(value, json_type_boolean)) {
        return pd_refuse(request, POL_ERR_INVALID,
                         "%s: is neither (accepted: true, false)", key);
    }
    *out = json_object_get_boolean(value);
    return POL_OK;
}

int pd_get_vm(struct pd_request *request, uint64_t *vm)
{
    struct pd_daemon *d = request->daemon;
    struct pol_vm_params params;
    const char *name = NULL;
    int rc = pd_get_text(request, "vm", &name);

    if (rc != POL_OK) {
        return rc;
    }
    if (name == NULL) {
        return pd_refuse(request, POL_ERR_INVALID,
                         "vm: is missing (accepted: a VM's name)");
    }
    if (d->backend->vm_find(d->host, name, vm) != POL_OK ||
        pol_vm_get(d->ctx, *vm, &params) != POL_OK) {
        return pd_refuse(request, POL_ERR_NOTFOUND, "vm: there is no VM '%s'",
                         name);
    }
    return POL_OK;
}

/* ---- status ------------------------------------------------------------- */

static uint64_t rss_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long size = 0;
    unsigned long long resident = 0;

    if (file != NULL) {
        if (fscanf(file, "%llu %llu", &size, &resident) != 2) {
            resident = 0;
        }
        fclose(file);
    }
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static struct json_object *cost_json(const struct pd_daemon *d)
{
    struct json_object *cost = json_object_new_object();
    struct rusage used;
    double ms;

    getrusage(RUSAGE_SELF, &used);
    ms = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e3 +
         (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e3;
    json_object_object_add(cost, "tick_cpu_ms",
                           json_object_new_double(d->cost.tick_ms));
    json_object_object_add(cost, "tick_cpu_max_ms",
                           json_object_new_double(d->cost.tick_max_ms));
    json_object_object_add(cost, "cpu_ms", json_object_new_double(ms));
    pd_put_u64(cost, "rss_bytes", rss_bytes());
    return cost;
}

static void put_host(const struct pd_daemon *d, struct json_object *to)
{
    struct json_object *limits = json_object_new_object();
    uint64_t page = d->page_bytes;
    struct pol_host_status s;

    if (pol_host_get(d->ctx, &s) != POL_OK) {
        static const char *const keys[] = {
            "now_ms",          "state",           "short_of_reservations",
            "total_bytes",     "free_bytes",      "promised_bytes",
            "held_bytes",      "host_used_bytes", "overhead_bytes",
            "available_bytes", "consumed_bytes",  "reserved_bytes",
            "thresholds",      "plans",           "failures"
        };
        for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
            json_object_object_add(to, keys[i], NULL);
        }
        json_object_put(limits);
        return;
    }
    pd_put_u64(to, "now_ms", s.now_ms);
    pd_put_text(to, "state", pol_state_name((int)s.state));
    pd_put_bool(to, "short_of_reservations", s.short_of_reservations != 0);
    pd_put_u64(to, "total_bytes", s.total_pages * page);
    pd_put_u64(to, "free_bytes", s.free_pages * page);
    pd_put_u64(to, "promised_bytes", s.promised_pages * page);
    pd_put_u64(to, "held_bytes", s.held_pages * page);
    pd_put_u64(to, "host_used_bytes", s.host_used_pages * page);
    pd_put_u64(to, "overhead_bytes", s.overhead_pages * page);
    pd_put_u64(to, "available_bytes", s.available_pages * page);
    pd_put_u64(to, "consumed_bytes", s.consumed_pages * page);
    pd_put_u64(to, "reserved_bytes", s.reserved_pages * page);
    pd_put_u64(limits, "high_bytes", s.high_pages * page);
    pd_put_u64(limits, "clear_bytes", s.clear_pages * page);
    pd_put_u64(limits, "soft_bytes", s.soft_pages * page);
    pd_put_u64(limits, "hard_bytes", s.hard_pages * page);
    pd_put_u64(limits, "low_bytes", s.low_pages * page);
    pd_put_u64(limits, "aim_bytes", s.aim_pages * page);
    json_object_object_add(to, "thresholds", limits);
    pd_put_u64(to, "plans", s.plans);
    pd_put_u64(to, "failures", s.failures);
}

static int verb_status(struct pd_request *request, struct json_object *result)
{
    struct pd_daemon *d = request->daemon;

    pd_put_text(result, "version", POL_VERSION_STRING);
    pd_put_text(result, "backend", d->backend->name);
    pd_put_u64(result, "pid", (uint64_t)getpid());
    pd_put_text(result, "use",
                d->cmp == NULL ? "libpolicy" : cmp_name(d->config.use));
    pd_put_bool(result, "dry_run", d->config.dry_run);
    pd_put_bool(result, "connected", d->connected);
    pd_put_text(result, "trouble", d->trouble[0] != '\0' ? d->trouble : NULL);
    pd_put_u64(result, "uptime_ms", pd_clock_ms() - d->started_ms);
    pd_put_u64(result, "interval_ms", d->config.interval_ms);
    pd_put_u64(result, "ticks", d->ticks);
    pd_put_u64(result, "page_bytes", d->page_bytes);
    put_host(d, result);
    pd_put_u64(result, "vms", pol_vm_count(d->ctx));
    json_object_object_add(result, "recording", NULL);
    json_object_object_add(result, "cost", cost_json(d));
    return POL_OK;
}

static int verb_version(struct pd_request *request, struct json_object *result)
{
    pd_put_text(result, "version", POL_VERSION_STRING);
    pd_put_u64(result, "schema", PD_SCHEMA);
    pd_put_text(result, "backend", request->daemon->backend->name);
    return POL_OK;
}

/* ---- VMs ---------------------------------------------------------------- */

static void put_params(struct json_object *to, uint64_t page,
                       const struct pol_vm_params *p)
{
    pd_put_u64(to, "size_bytes", p->size_pages * page);
    pd_put_u64(to, "shares", p->shares);
    pd_put_u64(to, "reservation_bytes", p->reservation_pages * page);
    if (p->limit_pages == POL_NO_LIMIT) {
        json_object_object_add(to, "limit_bytes", NULL);
    } else {
        pd_put_u64(to, "limit_bytes", p->limit_pages * page);
    }
    pd_put_bool(to, "balloon", (p->flags & POL_VM_NO_BALLOON) == 0);
    pd_put_bool(to, "swap", (p->flags & POL_VM_NO_SWAP) == 0);
    pd_put_bool(to, "block", (p->flags & POL_VM_NO_BLOCK) == 0);
}

struct json_object *pd_vm_json(struct pd_daemon *d, uint64_t vm)
{
    struct json_object *to = json_object_new_object();
    uint64_t page = d->page_bytes;
    struct pol_vm_params p;
    struct pol_vm_status s;

    pd_put_u64(to, "id", vm);
    pd_put_text(to, "name", d->backend->vm_name(d->host, vm));
    if (pol_vm_get(d->ctx, vm, &p) != POL_OK ||
        pol_vm_status(d->ctx, vm, &s) != POL_OK) {
        return to;
    }
    put_params(to, page, &p);
    pd_put_text(to, "lifecycle", pol_lifecycle_name(s.lifecycle));
    pd_put_text(to, "driver", pol_driver_name(s.driver));
    pd_put_u64(to, "target_bytes", s.target_pages * page);
    pd_put_u64(to, "min_bytes", s.min_pages * page);
    pd_put_u64(to, "max_bytes", s.max_pages * page);
    pd_put_u64(to, "active_bytes", s.active_pages * page);
    pd_put_u64(to, "consumed_bytes", s.consumed_pages * page);
    pd_put_u64(to, "actual_bytes", s.actual_pages * page);
    pd_put_u64(to, "swapped_bytes", s.swapped_pages * page);
    pd_put_u64(to, "balloon_bytes",
               s.actual_pages < p.size_pages
                   ? (p.size_pages - s.actual_pages) * page
                   : 0);
    pd_put_text(to, "reason", pol_reason_name((int)s.reason));
    pd_put_text(to, "action",
                s.action == 0 ? NULL : pol_action_name((int)s.action));
    pd_put_u64(to, "action_bytes", s.action_pages * page);
    pd_put_bool(to, "stuck", s.stuck != 0);
    pd_put_bool(to, "blocked", s.blocked != 0);
    pd_put_bool(to, "foreign", s.foreign != 0);
    pd_put_bool(to, "distress", s.distress != 0);
    pd_put_u64(to, "failures", s.failures);
    return to;
}

static int verb_vms(struct pd_request *request, struct json_object *result)
{
    struct json_object *list = json_object_new_array();
    uint32_t cursor = 0;
    uint64_t vm;

    while (pol_vm_next(request->daemon->ctx, &cursor, &vm) == POL_OK) {
        json_object_array_add(list, pd_vm_json(request->daemon, vm));
    }
    json_object_object_add(result, "vms", list);
    return POL_OK;
}

static struct json_object *facts_json(struct pd_daemon *d, uint64_t vm)
{
    struct json_object *list = json_object_new_array();
    struct pd_fact facts[FACTS_MAX];
    size_t n = d->backend->vm_facts == NULL
                   ? 0
                   : d->backend->vm_facts(d->host, vm, facts, FACTS_MAX);

    for (size_t i = 0; i < n && i < FACTS_MAX; i++) {
        struct json_object *fact = json_object_new_object();

        pd_put_text(fact, "name", facts[i].name);
        pd_put_text(fact, "value", facts[i].value);
        json_object_array_add(list, fact);
    }
    return list;
}

static int verb_explain(struct pd_request *request, struct json_object *result)
{
    struct pd_daemon *d = request->daemon;
    uint64_t page = d->page_bytes;
    struct pol_explanation e;
    char text[512];
    uint64_t vm = 0;
    int rc = pd_get_vm(request, &vm);

    if (rc != POL_OK) {
        return rc;
    }
    rc = pol_explain(d->ctx, vm, &e);
    rc = rc == POL_OK ? pol_explain_text(&e, text, sizeof(text)) : rc;
    if (rc != POL_OK) {
        return pd_refuse(request, rc, "vm: nothing has been planned yet");
    }
    json_object_object_add(result, "vm", pd_vm_json(d, vm));
    pd_put_text(result, "text", text);
    pd_put_u64(result, "excess_bytes", e.excess_pages * page);
    pd_put_u64(result, "lacking_bytes", e.lacking_pages * page);
    pd_put_u64(result, "balloon_max_bytes", e.balloon_max_pages * page);
    pd_put_u64(result, "tax_bp", e.tax_bp);
    pd_put_u64(result, "rank", e.rho_rank);
    pd_put_u64(result, "rank_of", e.rho_count);
    pd_put_u64(result, "retry_in_ms", e.retry_in_ms);
    pd_put_text(result, "state", pol_state_name((int)e.state));
    json_object_object_add(result, "facts", facts_json(d, vm));
    return POL_OK;
}

static int verb_lint(struct pd_request *request, struct json_object *result)
{
    struct pd_daemon *d = request->daemon;
    struct json_object *list = json_object_new_array();
    size_t cap = pol_lint_bound(d->ctx);
    struct pol_finding *found = calloc(cap + 1, sizeof(*found));
    size_t n = 0;
    int rc = found == NULL ? POL_ERR_NOMEM : pol_lint(d->ctx, found, cap, &n);

    json_object_object_add(result, "findings", list);
    for (size_t i = 0; rc == POL_OK && i < n; i++) {
        struct json_object *one = json_object_new_object();

        pd_put_text(one, "kind", pol_lint_name((int)found[i].kind));
        pd_put_text(one, "vm",
                    found[i].vm == 0
                        ? NULL
                        : d->backend->vm_name(d->host, found[i].vm));
        pd_put_text(one, "text", pol_lint_text((int)found[i].kind));
        pd_put_u64(one, "figure_bytes", found[i].figure_pages * d->page_bytes);
        pd_put_u64(one, "bound_bytes", found[i].bound_pages * d->page_bytes);
        json_object_array_add(list, one);
    }
    free(found);
    return rc == POL_OK
               ? rc
               : pd_refuse(request, rc, "lint: nothing has been planned yet");
}

/* ---- Holds -------------------------------------------------------------- */

struct json_object *pd_hold_json(struct pd_daemon *d,
                                 const struct pd_hold *hold)
{
    struct json_object *to = json_object_new_object();
    struct pol_host_status s = { 0 };
    struct pol_hold h;

    pd_put_text(to, "id", hold->id);
    pd_put_u64(to, "owner", hold->owner);
    pd_put_text(to, "for", hold->vm[0] != '\0' ? hold->vm : NULL);
    if (pol_hold_get(d->ctx, hold->hold, &h) != POL_OK ||
        pol_host_get(d->ctx, &s) != POL_OK) { /* waits for its turn */
        memset(&h, 0, sizeof(h));
        h.pages = (hold->bytes + d->page_bytes - 1) / d->page_bytes;
        h.deadline_ms = s.now_ms;
        h.deadline_ms += hold->until_unix_ms > pd_unix_ms()
                             ? hold->until_unix_ms - pd_unix_ms()
                             : 0;
    }
    pd_put_u64(to, "bytes", h.pages * d->page_bytes);
    pd_put_u64(to, "ready_bytes", h.ready_pages * d->page_bytes);
    pd_put_bool(to, "ready", h.ready_pages == h.pages);
    pd_put_u64(to, "left_ms",
               h.deadline_ms > s.now_ms ? h.deadline_ms - s.now_ms : 0);
    pd_put_bool(to, "taken", h.taken != 0);
    pd_put_text(to, "vm",
                h.taken != 0 ? d->backend->vm_name(d->host, h.vm) : NULL);
    return to;
}

static int verb_holds(struct pd_request *request, struct json_object *result)
{
    struct pd_daemon *d = request->daemon;
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < d->holds.n; i++) {
        json_object_array_add(list, pd_hold_json(d, &d->holds.items[i]));
    }
    json_object_object_add(result, "holds", list);
    return POL_OK;
}

/* ---- Requests ----------------------------------------------------------- */

static const struct verb {
    const char *name;
    bool changes;
    verb_fn *run; /* NULL: part of the protocol, not offered here */
    const char *members[9];
} verbs[] = {
    { "version", false, verb_version, { NULL } },
    { "status", false, verb_status, { NULL } },
    { "vms", false, verb_vms, { NULL } },
    { "explain", false, verb_explain, { "vm" } },
    { "lint", false, verb_lint, { NULL } },
    { "holds", false, verb_holds, { NULL } },
    { "series", false, NULL, { NULL } },
    { "set",
      true,
      pd_verb_set,
      { "vm", "shares", "reservation_bytes", "limit_bytes", "balloon", "swap",
        "block", "clear" } },
    { "record", true, NULL, { NULL } },
    { "hold",
      true,
      pd_verb_hold,
      { "bytes", "id", "timeout_s", "for", "urgent" } },
    { "release", true, pd_verb_release, { "id", "vm" } },
    { "reload", true, pd_verb_reload, { NULL } },
};

static int check_members(struct pd_request *request, const struct verb *verb)
{
    json_object_object_foreach(request->in, key, value)
    {
        bool known = strcmp(key, "verb") == 0;

        (void)value;
        for (size_t i = 0; !known && verb->members[i] != NULL; i++) {
            known = strcmp(key, verb->members[i]) == 0;
        }
        if (!known) {
            return pd_refuse(request, POL_ERR_INVALID,
                             "%.64s: is unknown to %s", key, verb->name);
        }
    }
    return POL_OK;
}

int pd_verb_run(struct pd_request *request, struct json_object **result)
{
    const struct verb *verb = NULL;
    const char *name = NULL;
    int rc = pd_get_text(request, "verb", &name);

    for (size_t i = 0;
         rc == POL_OK && name != NULL && i < sizeof(verbs) / sizeof(verbs[0]);
         i++) {
        verb = strcmp(verbs[i].name, name) == 0 ? &verbs[i] : verb;
    }
    if (rc != POL_OK || verb == NULL) {
        return pd_refuse(request, POL_ERR_INVALID,
                         "verb: is missing or unknown (accepted: version, "
                         "status, vms, explain, lint, holds, hold, release, "
                         "reload)");
    }
    if (verb->run == NULL) {
        return pd_refuse(request, POL_ERR_UNSUPPORTED,
                         "verb: %s is not offered by this policyd", name);
    }
    if (verb->changes && !request->may_change) {
        return pd_refuse(request, POL_ERR_OWNER,
                         "verb: %s is for root and the control group", name);
    }
    rc = check_members(request, verb);
    if (rc != POL_OK) {
        return rc;
    }
    *result = json_object_new_object();
    rc = verb->run(request, *result);
    if (rc != POL_OK) {
        json_object_put(*result);
        *result = NULL;
    }
    return rc;
}

static int parse(struct pd_request *request, const char *line, size_t bytes)
{
    struct json_tokener *tokener = json_tokener_new_ex(DEPTH_MAX);
    enum json_tokener_error error;

    if (tokener == NULL) {
        return POL_ERR_NOMEM;
    }
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
    /* With the final 0, so that a number at the end ends. */
    request->in = json_tokener_parse_ex(tokener, line, (int)bytes + 1);
    error = json_tokener_get_error(tokener);
    json_tokener_free(tokener);
    if (error != json_tokener_success ||
        !json_object_is_type(request->in, json_type_object)) {
        return pd_refuse(
            request, POL_ERR_INVALID, "the line is no JSON object%s%s",
            error == json_tokener_success ? "" : ": ",
            error == json_tokener_success ? ""
                                          : json_tokener_error_desc(error));
    }
    return POL_OK;
}

struct json_object *pd_control_answer(struct pd_daemon *daemon,
                                      const char *line, size_t bytes,
                                      uint64_t user, bool may_change)
{
    struct pd_request request = { .daemon = daemon,
                                  .user = user,
                                  .may_change = may_change };
    struct json_object *answer = json_object_new_object();
    struct json_object *result = NULL;
    int rc = parse(&request, line, bytes);

    rc = rc == POL_OK ? pd_verb_run(&request, &result) : rc;
    pd_put_u64(answer, "schema", PD_SCHEMA);
    pd_put_bool(answer, "ok", rc == POL_OK);
    if (rc == POL_OK) {
        json_object_object_add(answer, "result", result);
    } else {
        struct json_object *error = json_object_new_object();

        pd_put_text(error, "code", pol_error_name(rc));
        pd_put_text(error, "message",
                    request.why[0] != '\0' ? request.why : pol_strerror(rc));
        json_object_object_add(answer, "error", error);
    }
    json_object_put(request.in);
    return answer;
}
