/* SPDX-License-Identifier: BSD-2-Clause */
/* What happens to holds as time goes by. */
#include <time.h>

#include "daemon.h"
#include "log.h"

#define REPEAT_MS 60000u

uint64_t pd_unix_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

int pd_hold_give(struct pd_daemon *d, struct pd_hold *hold)
{
    uint64_t now = pd_unix_ms();
    uint64_t left = hold->until_unix_ms > now ? hold->until_unix_ms - now : 0;
    struct pol_host_status status;
    int rc = pol_host_get(d->ctx, &status);

    if (rc == POL_OK) {
        rc = pol_hold_add(d->ctx, hold->hold, hold->owner,
                          (hold->bytes + d->page_bytes - 1) / d->page_bytes,
                          status.now_ms + left,
                          hold->urgent ? POL_HOLD_URGENT : 0);
    }
    if (rc == POL_OK) {
        hold->waiting = false;
    }
    return rc;
}

void pd_holds_keep(struct pd_daemon *d)
{
    char why[PD_WHY_BYTES];

    if (d->state.usable && pd_state_save(d->config.state_dir, &d->state,
                                         &d->holds, why) != POL_OK) {
        pd_log(PD_WARNING, NULL, "%s; holds will not outlive policyd", why);
    }
}

/* A hold of before. true: it has ended. */
static bool tend_waiting(struct pd_daemon *d, struct pd_hold *hold)
{
    int rc;

    if (hold->until_unix_ms <= pd_unix_ms()) {
        pd_log(PD_INFO, NULL, "hold %s has ended", hold->id);
        return true;
    }
    rc = pd_hold_give(d, hold);
    if (rc == POL_ERR_MEMORY_SHORT) { /* room may come before it ends */
        if (pd_log_due(hold->hold, pd_clock_ms(), REPEAT_MS)) {
            pd_log(PD_WARNING, NULL, "hold %s: %s", hold->id, pol_strerror(rc));
        }
        return false;
    }
    if (rc != POL_OK) {
        pd_log(PD_WARNING, NULL, "hold %s is given up: %s", hold->id,
               pol_strerror(rc));
    }
    return rc != POL_OK;
}

/* Handed to its VM when that has come. true: it has ended. */
static bool tend(struct pd_daemon *d, struct pd_hold *hold)
{
    struct pol_hold now;
    uint64_t vm;

    if (pol_hold_get(d->ctx, hold->hold, &now) != POL_OK) {
        pd_log(PD_INFO, NULL, "hold %s has ended", hold->id);
        return true;
    }
    if (!now.taken && hold->vm[0] != '\0' &&
        d->backend->vm_find(d->host, hold->vm, &vm) == POL_OK &&
        pol_hold_take(d->ctx, hold->hold, hold->owner, vm) == POL_OK) {
        pd_log(PD_INFO, hold->vm, "hold %s is handed over to it", hold->id);
    }
    return false;
}

void pd_holds_tend(struct pd_daemon *d)
{
    bool changed = false;

    for (size_t i = d->holds.n; i-- > 0;) {
        struct pd_hold *hold = &d->holds.items[i];

        if (hold->waiting ? tend_waiting(d, hold) : tend(d, hold)) {
            pd_holds_remove(&d->holds, hold);
            changed = true;
        }
    }
    if (changed) {
        pd_holds_keep(d);
    }
}
