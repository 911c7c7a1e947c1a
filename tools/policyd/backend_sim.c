/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated host in place of a hypervisor: a scenario that runs in real time
 * or `speed` times as fast. The scenario's own policy section is not used:
 * policyd decides.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend.h"
#include "policy-esxi-sim/sim_run.h"

/* Ticks of the scenario that one look at it may catch up with. */
#define TICKS_MAX 1000u

struct sim {
    struct sim_scenario *scenario;
    struct sim_run *run;
    const struct pol_host_ops *ops; /* the run's own, since its first tick */
    void *host;
    uint64_t speed;
    uint64_t started_ms;
};

static uint64_t clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u;
}

/* Takes libpolicy's place in the run, and leaves decisions to the daemon. */
static int learn_ops(void *user, const struct pol_host_ops *ops, void *host,
                     uint64_t now_ms)
{
    struct sim *sim = user;

    (void)now_ms;
    sim->ops = ops;
    sim->host = host;
    return POL_OK;
}

static void sim_close(void *host)
{
    struct sim *sim = host;

    sim_run_free(sim->run);
    sim_scenario_free(sim->scenario);
    free(sim);
}

static int bad(struct pd_settings *settings, size_t i, char *why,
               const char *text)
{
    settings->bad = i;
    snprintf(why, PD_WHY_BYTES, "%s", text);
    return POL_ERR_INVALID;
}

static int read_speed(const char *text, uint64_t *speed)
{
    char *end = NULL;

    errno = 0;
    *speed = strtoull(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && text[0] >= '0' &&
           text[0] <= '9' && *speed >= 1 && *speed <= 10000;
}

static int load(struct sim *sim, struct pd_settings *settings, char *why)
{
    struct sim_error err = { "" };
    size_t at = settings->n;

    for (size_t i = 0; i < settings->n; i++) {
        const struct pd_setting *s = &settings->items[i];

        if (strcmp(s->key, "scenario") == 0) {
            at = i;
        } else if (strcmp(s->key, "speed") != 0) {
            return bad(settings, i, why,
                       "unknown key (accepted: scenario, speed)");
        } else if (!read_speed(s->value, &sim->speed)) {
            return bad(settings, i, why,
                       "is no such number (accepted: 1 to 10000)");
        }
    }
    if (at == settings->n) {
        return bad(settings, at, why, "sim.scenario is missing");
    }
    if (sim_scenario_load(settings->items[at].value, &sim->scenario, &err) !=
        POL_OK) {
        return bad(settings, at, why, err.text);
    }
    if (sim->scenario->groups_n != 0) {
        return bad(settings, at, why,
                   "the scenario has groups, which policyd does not know");
    }
    if (sim_run_new(sim->scenario, &sim->run, &err) != POL_OK) {
        return bad(settings, at, why, err.text);
    }
    return POL_OK;
}

static int sim_open(struct pd_settings *settings, const struct pd_hooks *hooks,
                    void **host, char *why)
{
    struct sim *sim = calloc(1, sizeof(*sim));
    int rc;

    (void)hooks;
    if (sim == NULL) {
        return POL_ERR_NOMEM;
    }
    sim->speed = 1;
    rc = load(sim, settings, why);
    if (rc == POL_OK) {
        rc = sim_run_decide_by(sim->run, learn_ops, sim);
    }
    /* A first tick whose host cannot be read is the scenario's own fault
     * injection; there is nothing to begin with then. */
    if (rc == POL_OK &&
        (sim_run_step(sim->run) != POL_OK || sim->ops == NULL)) {
        rc = bad(settings, settings->n, why,
                 "the scenario's host cannot be read in its first tick");
    }
    if (rc != POL_OK) {
        sim_close(sim);
        return rc;
    }
    sim->started_ms = clock_ms();
    *host = sim;
    return POL_OK;
}

static uint32_t sim_page_bytes(void *host)
{
    return ((struct sim *)host)->scenario->config.page_bytes;
}

static int sim_refresh(void *host, char *why)
{
    struct sim *sim = host;
    uint64_t want = (clock_ms() - sim->started_ms) * sim->speed;
    int rc = POL_OK;

    for (unsigned i = 0;
         i < TICKS_MAX && !sim_run_done(sim->run) &&
         sim_run_now_ms(sim->run) + sim->scenario->tick_ms <= want;
         i++) {
        rc = sim_run_step(sim->run);
    }
    if (sim_run_done(sim->run)) {
        snprintf(why, PD_WHY_BYTES, "the scenario is over");
        return POL_ERR_HOST;
    }
    if (rc != POL_OK) {
        snprintf(why, PD_WHY_BYTES, "the simulated host: %s", pol_strerror(rc));
        return POL_ERR_HOST;
    }
    return POL_OK;
}

static const char *sim_vm_name(void *host, uint64_t vm)
{
    return sim_run_vm_name(((struct sim *)host)->run, vm);
}

static int sim_vm_find(void *host, const char *name, uint64_t *vm)
{
    struct sim *sim = host;
    struct sim_run_vm figures;
    uint64_t found = sim_run_vm_find(sim->run, name);

    if (found == 0 || sim_run_vm(sim->run, found, &figures) != POL_OK ||
        figures.stop_ms != SIM_NONE) {
        return POL_ERR_NOTFOUND;
    }
    *vm = found;
    return POL_OK;
}

/* ---- The ops: the run's own -------------------------------------------- */

static int read_host(void *host, struct pol_host_obs *obs)
{
    struct sim *sim = host;

    return sim->ops->read_host(sim->host, obs);
}

static int next_vm(void *host, uint64_t *cursor, uint64_t *vm,
                   struct pol_vm_params *params)
{
    struct sim *sim = host;

    return sim->ops->next_vm(sim->host, cursor, vm, params);
}

static int read_vm(void *host, uint64_t vm, struct pol_vm_obs *obs)
{
    struct sim *sim = host;

    return sim->ops->read_vm(sim->host, vm, obs);
}

static int set_balloon(void *host, uint64_t vm, uint64_t pages, uint64_t *done)
{
    struct sim *sim = host;

    return sim->ops->set_balloon(sim->host, vm, pages, done);
}

static int swap_out(void *host, uint64_t vm, uint64_t pages, uint64_t *done)
{
    struct sim *sim = host;

    return sim->ops->swap_out(sim->host, vm, pages, done);
}

static int swap_in(void *host, uint64_t vm, uint64_t pages, uint64_t *done)
{
    struct sim *sim = host;

    return sim->ops->swap_in(sim->host, vm, pages, done);
}

static int set_hard_cap(void *host, uint64_t vm, uint64_t pages)
{
    struct sim *sim = host;

    return sim->ops->set_hard_cap(sim->host, vm, pages);
}

static int set_blocked(void *host, uint64_t vm, int blocked)
{
    struct sim *sim = host;

    return sim->ops->set_blocked(sim->host, vm, blocked);
}

static int set_share_rate(void *host, uint64_t pages_per_s)
{
    struct sim *sim = host;

    return sim->ops->set_share_rate(sim->host, pages_per_s);
}

static int sample_begin(void *host, uint64_t vm, const uint64_t *pages,
                        size_t n)
{
    struct sim *sim = host;

    return sim->ops->sample_begin(sim->host, vm, pages, n);
}

static int sample_read(void *host, uint64_t vm, uint32_t *touched,
                       uint64_t *vm_time_ms)
{
    struct sim *sim = host;

    return sim->ops->sample_read(sim->host, vm, touched, vm_time_ms);
}

static const struct pol_host_ops sim_ops = {
    .size = sizeof(struct pol_host_ops),
    .name = "sim",
    .read_host = read_host,
    .next_vm = next_vm,
    .read_vm = read_vm,
    .set_balloon = set_balloon,
    .swap_out = swap_out,
    .swap_in = swap_in,
    .set_blocked = set_blocked,
    .set_share_rate = set_share_rate,
    .set_hard_cap = set_hard_cap,
    .sample_begin = sample_begin,
    .sample_read = sample_read,
};

const struct pd_backend pd_backend_sim = {
    .name = "sim",
    .ops = &sim_ops,
    .open = sim_open,
    .close = sim_close,
    .page_bytes = sim_page_bytes,
    .refresh = sim_refresh,
    .vm_name = sim_vm_name,
    .vm_find = sim_vm_find,
};
