/* SPDX-License-Identifier: BSD-2-Clause */
/* Between core and backend: completes parameters, logs actions. */
#include <inttypes.h>
#include <stdio.h>

#include "daemon.h"
#include "log.h"

#define REPEAT_MS 60000u

static int read_host(void *arg, struct pol_host_obs *obs)
{
    struct pd_daemon *d = arg;

    return d->backend->ops->read_host(d->host, obs);
}

/* The hypervisor's word, or the defaults where it says nothing; then what was
 * set by command; then what the configuration says of that VM by name. */
static void complete(struct pd_daemon *d, uint64_t vm,
                     struct pol_vm_params *params)
{
    const struct pd_vm_config *layers[3] = { NULL };
    struct pol_vm_params silent;
    const char *name = d->backend->vm_name(d->host, vm);
    uint64_t most;

    pol_vm_params_init(&silent, params->size_pages);
    if (params->shares == silent.shares && params->reservation_pages == 0 &&
        params->limit_pages == POL_NO_LIMIT && params->flags == 0) {
        layers[0] = &d->config.defaults;
    }
    layers[1] = pd_vm_list_find(&d->state.vms, name);
    layers[2] = pd_vm_list_find(&d->config.vms, name);
    for (size_t i = 0; i < 3; i++) {
        if (layers[i] != NULL) {
            pd_vm_config_apply(layers[i], d->page_bytes, params);
        }
    }
    /* What fits all VMs may ask for more than a small one can have. */
    most = params->limit_pages < params->size_pages ? params->limit_pages
                                                    : params->size_pages;
    if (params->reservation_pages > most) {
        params->reservation_pages = most;
    }
}

int pd_vm_params(struct pd_daemon *d, uint64_t vm, struct pol_vm_params *out)
{
    struct pol_vm_params params;
    uint64_t cursor = 0;
    uint64_t found = 0;

    do {
        pol_vm_params_init(&params, 0);
        if (d->backend->ops->next_vm(d->host, &cursor, &found, &params) !=
            POL_OK) {
            return POL_ERR_NOTFOUND;
        }
    } while (found != vm);
    complete(d, vm, &params);
    *out = params;
    return POL_OK;
}

static int next_vm(void *arg, uint64_t *cursor, uint64_t *vm,
                   struct pol_vm_params *params)
{
    struct pd_daemon *d = arg;
    int rc = d->backend->ops->next_vm(d->host, cursor, vm, params);

    if (rc == POL_OK) {
        complete(d, *vm, params);
    }
    return rc;
}

static int read_vm(void *arg, uint64_t vm, struct pol_vm_obs *obs)
{
    struct pd_daemon *d = arg;

    return d->backend->ops->read_vm(d->host, vm, obs);
}

static int set_balloon(void *arg, uint64_t vm, uint64_t pages, uint64_t *done)
{
    struct pd_daemon *d = arg;

    return d->backend->ops->set_balloon(d->host, vm, pages, done);
}

static int swap_out(void *arg, uint64_t vm, uint64_t pages, uint64_t *done)
{
    struct pd_daemon *d = arg;

    return d->backend->ops->swap_out(d->host, vm, pages, done);
}

static int swap_in(void *arg, uint64_t vm, uint64_t pages, uint64_t *done)
{
    struct pd_daemon *d = arg;

    return d->backend->ops->swap_in(d->host, vm, pages, done);
}

static int set_blocked(void *arg, uint64_t vm, int blocked)
{
    struct pd_daemon *d = arg;

    return d->backend->ops->set_blocked(d->host, vm, blocked);
}

static int set_share_rate(void *arg, uint64_t pages_per_s)
{
    struct pd_daemon *d = arg;

    return d->backend->ops->set_share_rate(d->host, pages_per_s);
}

static int set_hard_cap(void *arg, uint64_t vm, uint64_t pages)
{
    struct pd_daemon *d = arg;

    return d->backend->ops->set_hard_cap(d->host, vm, pages);
}

static int sample_begin(void *arg, uint64_t vm, const uint64_t *pages, size_t n)
{
    struct pd_daemon *d = arg;

    return d->backend->ops->sample_begin(d->host, vm, pages, n);
}

static int sample_read(void *arg, uint64_t vm, uint32_t *touched,
                       uint64_t *vm_time_ms)
{
    struct pd_daemon *d = arg;

    return d->backend->ops->sample_read(d->host, vm, touched, vm_time_ms);
}

/* Caps and sampling follow everything else, and would drown it. */
static int level_of(const struct pol_action *action, int error)
{
    if (error != POL_OK && error != POL_ERR_UNSUPPORTED) {
        return PD_WARNING;
    }
    return action->kind == POL_ACT_HARD_CAP ? PD_DEBUG : PD_INFO;
}

static void log_action(struct pd_daemon *d, const struct pol_action *action,
                       uint64_t done, int error)
{
    bool vm = action->vm != 0 && action->kind != POL_ACT_SHARE_RATE;
    const char *name = vm ? d->backend->vm_name(d->host, action->vm) : NULL;
    uint64_t kind = (action->vm << 16) ^ ((uint64_t)action->kind << 8) ^
                    action->reason ^ ((uint64_t)(error != POL_OK) << 15);
    struct pol_vm_status status;
    char figures[160] = "";

    if (!pd_log_due(kind, pd_clock_ms(), REPEAT_MS)) {
        return;
    }
    if (vm && pol_vm_status(d->ctx, action->vm, &status) == POL_OK) {
        snprintf(figures, sizeof(figures),
                 "; target %" PRIu64 " KiB, consumed %" PRIu64
                 " KiB, active %" PRIu64 " KiB",
                 status.target_pages * (d->page_bytes / 1024),
                 status.consumed_pages * (d->page_bytes / 1024),
                 status.active_pages * (d->page_bytes / 1024));
    }
    pd_log(level_of(action, error), name,
           "%s%s %" PRIu64 " KiB (done %" PRIu64 " KiB%s%s) because: %s%s",
           d->loop.dry_run && d->cmp == NULL ? "would " : "",
           pol_action_name((int)action->kind),
           action->pages * (d->page_bytes / 1024),
           done * (d->page_bytes / 1024), error != POL_OK ? ", " : "",
           error != POL_OK ? pol_strerror(error) : "",
           pol_reason_text((int)action->reason), figures);
}

static void on_action(void *arg, const struct pol_action *action, uint64_t done,
                      int error)
{
    struct pd_daemon *d = arg;

    if (d->backend->ops->on_action != NULL) {
        d->backend->ops->on_action(d->host, action, done, error);
    }
    log_action(d, action, done, error);
}

void pd_shim_init(struct pd_daemon *daemon)
{
    const struct pol_host_ops *theirs = daemon->backend->ops;
    struct pol_host_ops *ops = &daemon->ops;

    ops->size = sizeof(*ops);
    ops->name = theirs->name;
    ops->read_host = read_host;
    ops->next_vm = next_vm;
    ops->read_vm = read_vm;
    ops->set_balloon = set_balloon;
    ops->swap_out = theirs->swap_out != NULL ? swap_out : NULL;
    ops->swap_in = theirs->swap_in != NULL ? swap_in : NULL;
    ops->set_blocked = theirs->set_blocked != NULL ? set_blocked : NULL;
    ops->set_share_rate =
        theirs->set_share_rate != NULL ? set_share_rate : NULL;
    ops->set_hard_cap = theirs->set_hard_cap != NULL ? set_hard_cap : NULL;
    ops->sample_begin = theirs->sample_begin != NULL ? sample_begin : NULL;
    ops->sample_read = theirs->sample_read != NULL ? sample_read : NULL;
    ops->on_action = on_action;
}
