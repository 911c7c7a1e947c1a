/* SPDX-License-Identifier: BSD-2-Clause */
/* The verb that changes a VM's parameters for good. */
#include <stdio.h>
#include <string.h>

#include "control.h"
#include "log.h"

struct change {
    uint64_t vm;
    const char *name;
    struct pd_vm_config to;
    uint32_t mask;  /* to be set */
    uint32_t clear; /* to go back to what they are by default */
};

static const struct {
    const char *name; /* in "clear", and in the configuration */
    const char *key;  /* of the request */
    uint32_t param;
} params[] = {
    { "shares", "shares", PD_PARAM_SHARES },
    { "reservation", "reservation_bytes", PD_PARAM_RESERVATION },
    { "limit", "limit_bytes", PD_PARAM_LIMIT },
    { "balloon", "balloon", PD_PARAM_BALLOON },
    { "swap", "swap", PD_PARAM_SWAP },
    { "block", "block", PD_PARAM_BLOCK },
};

#define PARAMS (sizeof(params) / sizeof(params[0]))

static int get_flag(struct pd_request *request, const char *key, int *out)
{
    bool value = *out > 0;
    int rc = pd_get_bool(request, key, &value);

    if (rc == POL_OK && json_object_object_get_ex(request->in, key, NULL)) {
        *out = value;
    }
    return rc;
}

static int get_limit(struct pd_request *request, uint64_t *out)
{
    struct json_object *value = NULL;

    if (json_object_object_get_ex(request->in, "limit_bytes", &value) &&
        value == NULL) {
        *out = PD_NO_LIMIT;
        return POL_OK;
    }
    return pd_get_u64(request, "limit_bytes", 1, PD_MAX_BYTES, out);
}

static int get_clear(struct pd_request *request, uint32_t *clear)
{
    struct json_object *list = NULL;

    if (!json_object_object_get_ex(request->in, "clear", &list)) {
        return POL_OK;
    }
    for (size_t i = 0; json_object_is_type(list, json_type_array) &&
                       i < json_object_array_length(list);
         i++) {
        struct json_object *one = json_object_array_get_idx(list, i);
        size_t j = 0;

        while (j < PARAMS &&
               !(json_object_is_type(one, json_type_string) &&
                 strcmp(json_object_get_string(one), params[j].name) == 0)) {
            j++;
        }
        if (j == PARAMS) {
            list = NULL;
            break;
        }
        *clear |= params[j].param;
    }
    return json_object_is_type(list, json_type_array)
               ? POL_OK
               : pd_refuse(request, POL_ERR_INVALID,
                           "clear: is no such list (accepted: of shares, "
                           "reservation, limit, balloon, swap, block)");
}

static int read_change(struct pd_request *request, struct change *change)
{
    int rc = pd_get_vm(request, &change->vm);

    pd_vm_config_init(&change->to);
    rc = rc == POL_OK ? pd_get_u64(request, "shares", 1, POL_MAX_SHARES,
                                   &change->to.shares)
                      : rc;
    rc = rc == POL_OK ? pd_get_u64(request, "reservation_bytes", 0,
                                   PD_MAX_BYTES, &change->to.reservation_bytes)
                      : rc;
    rc = rc == POL_OK ? get_limit(request, &change->to.limit_bytes) : rc;
    rc = rc == POL_OK ? get_flag(request, "balloon", &change->to.balloon) : rc;
    rc = rc == POL_OK ? get_flag(request, "swap", &change->to.swap) : rc;
    rc = rc == POL_OK ? get_flag(request, "block", &change->to.block) : rc;
    rc = rc == POL_OK ? get_clear(request, &change->clear) : rc;
    if (rc != POL_OK) {
        return rc;
    }
    change->mask = pd_vm_config_given(&change->to);
    if ((change->mask | change->clear) == 0 ||
        (change->mask & change->clear) != 0) {
        return pd_refuse(request, POL_ERR_INVALID,
                         "set: needs a parameter to set or to clear, and not "
                         "both for one (accepted: shares, reservation_bytes, "
                         "limit_bytes, balloon, swap, block, clear)");
    }
    change->name =
        request->daemon->backend->vm_name(request->daemon->host, change->vm);
    return change->name != NULL
               ? POL_OK
               : pd_refuse(request, POL_ERR_UNSUPPORTED,
                           "vm: has no name to keep parameters by");
}

/* What the configuration says of a VM by name would hide the change. */
static int check_config(struct pd_request *request, const struct change *change)
{
    const struct pd_vm_config *fixed =
        pd_vm_list_find(&request->daemon->config.vms, change->name);
    uint32_t hidden = fixed == NULL ? 0
                                    : pd_vm_config_given(fixed) &
                                          (change->mask | change->clear);

    for (size_t i = 0; i < PARAMS; i++) {
        if (hidden & params[i].param) {
            return pd_refuse(request, POL_ERR_BUSY,
                             "%s: the configuration says it for this VM; "
                             "change it in vms: there",
                             params[i].key);
        }
    }
    return POL_OK;
}

/* Would the VM's parameters be possible? */
static int check_result(struct pd_request *request, const struct change *change,
                        struct pol_vm_params *result)
{
    struct pd_daemon *d = request->daemon;
    const char *field = NULL;
    uint64_t most;
    int rc = pd_vm_params(d, change->vm, result);

    if (rc != POL_OK) {
        return pd_refuse(request, rc, "vm: has just gone");
    }
    if (change->clear & PD_PARAM_LIMIT) {
        result->limit_pages = POL_NO_LIMIT;
    }
    if (change->clear & PD_PARAM_RESERVATION) {
        result->reservation_pages = 0;
    }
    pd_vm_config_apply(&change->to, d->page_bytes, result);
    most = result->limit_pages < result->size_pages ? result->limit_pages
                                                    : result->size_pages;
    if (result->reservation_pages > most) {
        return pd_refuse(
            request, POL_ERR_RANGE,
            "%s: the reservation would exceed limit or size (accepted: a "
            "reservation up to %llu bytes)",
            change->mask & PD_PARAM_RESERVATION ? "reservation_bytes"
                                                : "limit_bytes",
            (unsigned long long)(most * d->page_bytes));
    }
    rc = pol_vm_params_check(result, &field);
    return rc == POL_OK
               ? rc
               : pd_refuse(request, rc, "%s: %s", field == NULL ? "set" : field,
                           pol_strerror(rc));
}

static int keep_ourselves(struct pd_request *request,
                          const struct change *change)
{
    struct pd_daemon *d = request->daemon;
    struct pd_vm_config *at = pd_vm_list_find(&d->state.vms, change->name);
    struct pd_vm_config before;
    struct pd_vm_config after;
    bool fresh = at == NULL;
    int rc;

    pd_vm_config_init(&before);
    before = fresh ? before : *at;
    after = before;
    after.name = (char *)change->name;
    pd_vm_config_merge(&after, &change->to, change->mask | change->clear);
    rc = pd_vm_list_put(&d->state.vms, &after);
    if (rc != POL_OK) {
        return rc;
    }
    if (pd_vm_config_given(&after) == 0) {
        pd_vm_list_remove(&d->state.vms, change->name);
    }
    rc = pd_state_save(d->config.state_dir, &d->state, &d->holds, request->why);
    if (rc == POL_OK) {
        return POL_OK;
    }
    before.name = (char *)change->name;
    if (fresh) {
        pd_vm_list_remove(&d->state.vms, change->name);
    } else if (pd_vm_list_put(&d->state.vms, &before) != POL_OK) {
        return POL_ERR_NOMEM;
    }
    return rc;
}

static int keep(struct pd_request *request, const struct change *change,
                const struct pol_vm_params *result, const char **kept_by)
{
    struct pd_daemon *d = request->daemon;
    int rc = POL_ERR_UNSUPPORTED;

    *kept_by = "hypervisor";
    if (d->backend->set_params != NULL) {
        rc = d->backend->set_params(d->host, change->vm, result, change->mask,
                                    change->clear, request->why);
    }
    if (rc == POL_ERR_UNSUPPORTED) {
        *kept_by = "policyd";
        rc = keep_ourselves(request, change);
    }
    return rc;
}

int pd_verb_set(struct pd_request *request, struct json_object *result)
{
    struct pd_daemon *d = request->daemon;
    struct pol_vm_params wanted;
    struct change change = { 0 };
    const char *kept_by = NULL;
    int rc = read_change(request, &change);

    rc = rc == POL_OK ? check_config(request, &change) : rc;
    rc = rc == POL_OK ? check_result(request, &change, &wanted) : rc;
    rc = rc == POL_OK ? keep(request, &change, &wanted, &kept_by) : rc;
    if (rc != POL_OK) {
        return rc;
    }
    /* The next tick would do so too; the answer shall show it now. */
    rc = pd_vm_params(d, change.vm, &wanted);
    rc = rc == POL_OK ? pol_vm_set(d->ctx, change.vm, &wanted) : rc;
    if (rc != POL_OK) {
        return pd_refuse(request, rc, "vm: %s", pol_strerror(rc));
    }
    pd_log(PD_INFO, change.name, "parameters are set by user %llu",
           (unsigned long long)request->user);
    d->hooks.wake(d->hooks.arg);
    json_object_object_add(result, "vm", pd_vm_json(d, change.vm));
    pd_put_text(result, "kept_by", kept_by);
    return POL_OK;
}
