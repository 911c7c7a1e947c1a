/* SPDX-License-Identifier: BSD-2-Clause */
/* The context, and what one tick does with it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon.h"
#include "log.h"

uint64_t pd_clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

static double cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Another program's policy decides by the same ops, when asked to. */
static int open_comparator(struct pd_daemon *d, int use,
                           struct comparator **out)
{
    struct cmp_config config;

    *out = NULL;
    if (use == CMP_NONE) {
        return POL_OK;
    }
    cmp_config_init(&config);
    config.page_bytes = d->page_bytes;
    return cmp_new(use, &config, out);
}

int pd_policy_open(struct pd_daemon *d, char *why)
{
    struct pol_config *policy = &d->config.policy;
    size_t bytes = 0;
    int rc;

    policy->page_bytes = d->page_bytes;
    rc = pol_ctx_size(policy, &bytes);
    if (rc == POL_OK) {
        bytes = (bytes + 63) / 64 * 64;
        d->block = aligned_alloc(64, bytes);
        d->loop.actions_cap = pol_replay_bound(policy);
        d->loop.actions = calloc(d->loop.actions_cap, sizeof(*d->loop.actions));
        d->loop.sample_pages = calloc(1000, sizeof(*d->loop.sample_pages));
        rc = d->block == NULL || d->loop.actions == NULL ||
                     d->loop.sample_pages == NULL
                 ? POL_ERR_NOMEM
                 : pol_ctx_init(d->block, bytes, policy, &d->ctx);
    }
    rc = rc == POL_OK ? open_comparator(d, d->config.use, &d->cmp) : rc;
    if (rc != POL_OK) {
        snprintf(why, PD_WHY_BYTES, "policy: %s", pol_strerror(rc));
        return rc;
    }
    pd_shim_init(d);
    d->loop.size = sizeof(d->loop);
    d->loop.ops = &d->ops;
    d->loop.host = d;
    d->loop.dry_run = d->config.dry_run || d->cmp != NULL;
    return POL_OK;
}

void pd_policy_close(struct pd_daemon *d)
{
    cmp_free(d->cmp);
    free(d->loop.actions);
    free(d->loop.sample_pages);
    free(d->block);
}

/* Losing the hypervisor is said once; targets stay as they are. */
static void say_connection(struct pd_daemon *d, int rc, const char *why)
{
    if (rc != POL_OK && (d->connected || d->ticks == 0)) {
        pd_log(PD_ERROR, NULL, "%s; targets stay as they are until it is back",
               why);
    } else if (rc == POL_OK && !d->connected && d->ticks > 0) {
        pd_log(PD_INFO, NULL, "the hypervisor answers again");
    }
    d->connected = rc == POL_OK;
    snprintf(d->trouble, sizeof(d->trouble), "%s", rc == POL_OK ? "" : why);
}

static int step(struct pd_daemon *d)
{
    struct pol_host_status status;
    int rc = pol_host_step(d->ctx, &d->loop);

    if (rc == POL_OK && d->cmp != NULL && !d->config.dry_run &&
        pol_host_get(d->ctx, &status) == POL_OK) {
        rc = cmp_step(d->cmp, &d->ops, d, status.now_ms);
    }
    return rc;
}

void pd_policy_tick(struct pd_daemon *d)
{
    char why[PD_WHY_BYTES] = "";
    int rc = d->backend->refresh(d->host, why);
    double before = cpu_ms();

    if (rc == POL_OK) {
        rc = step(d);
        if (rc != POL_OK) {
            snprintf(why, sizeof(why), "%s", pol_strerror(rc));
        }
    }
    say_connection(d, rc, why);
    if (rc == POL_OK) {
        pd_holds_tend(d);
    }
    d->cost.tick_ms = cpu_ms() - before;
    if (d->cost.tick_ms > d->cost.tick_max_ms) {
        d->cost.tick_max_ms = d->cost.tick_ms;
    }
    d->ticks++;
    d->ticked_ms = pd_clock_ms();
}

/* What only a restart can change. */
static int check_fixed(const struct pd_daemon *d, const struct pd_config *next,
                       char *why)
{
    const char *field =
        strcmp(next->backend, d->config.backend) != 0       ? "backend"
        : strcmp(next->socket, d->config.socket) != 0       ? "control.socket"
        : strcmp(next->state_dir, d->config.state_dir) != 0 ? "state-dir"
        : next->max_vms != d->config.max_vms                ? "max-vms"
                                                            : NULL;

    if (field == NULL) {
        return POL_OK;
    }
    snprintf(why, PD_WHY_BYTES,
             "%s: %s: cannot change while policyd runs (accepted: as it was, "
             "or a restart)",
             d->config_path, field);
    return POL_ERR_UNSUPPORTED;
}

int pd_policy_reload(struct pd_daemon *d, char *why)
{
    struct comparator *cmp = NULL;
    struct pd_config next;
    int rc = pd_config_load(d->config_path, d->backend_wanted, &next, why);

    if (rc != POL_OK) {
        return rc;
    }
    next.dry_run = next.dry_run || d->dry_run_wanted;
    next.policy.page_bytes = d->page_bytes;
    rc = check_fixed(d, &next, why);
    if (rc == POL_OK) {
        rc = open_comparator(d, next.use, &cmp);
        rc = rc == POL_OK ? pol_ctx_tune(d->ctx, &next.policy) : rc;
        if (rc != POL_OK) {
            snprintf(why, PD_WHY_BYTES, "%s: policy: %s", d->config_path,
                     pol_strerror(rc));
        }
    }
    if (rc != POL_OK) {
        cmp_free(cmp);
        pd_config_clear(&next);
        return rc;
    }
    cmp_free(d->cmp);
    d->cmp = cmp;
    pd_config_clear(&d->config);
    d->config = next;
    d->loop.dry_run = next.dry_run || cmp != NULL;
    pd_log_level(next.log_level);
    pd_loop_retime(d);
    return POL_OK;
}
