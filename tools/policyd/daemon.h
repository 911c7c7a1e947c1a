/* SPDX-License-Identifier: BSD-2-Clause */
/* What the parts of the daemon share. All of it belongs to the main thread. */
#ifndef POLICYD_DAEMON_H
#define POLICYD_DAEMON_H

#include <stdbool.h>
#include <sys/types.h>

#include "backend.h"
#include "comparator.h"
#include "config.h"
#include "holds.h"
#include "state.h"

struct event_base;
struct event;
struct pd_control;

struct pd_cost {
    double tick_ms; /* CPU time of the last tick */
    double tick_max_ms;
};

struct pd_daemon {
    struct pd_config config;
    const char *config_path;
    const char *backend_wanted; /* of the command line, or NULL */
    bool dry_run_wanted;

    const struct pd_backend *backend;
    struct pd_hooks hooks;
    void *host;
    uint32_t page_bytes;
    bool connected;
    char trouble[PD_WHY_BYTES];

    struct pol_host_ops ops; /* the backend's, seen through host_shim.c */
    void *block;
    struct pol_ctx *ctx;
    struct pol_host_loop loop;
    struct comparator *cmp; /* NULL: libpolicy decides */
    struct pd_holds holds;
    struct pd_state state;

    struct event_base *base;
    struct event *tick;
    struct event *woken;
    struct event *signals[3];
    int wake_fd;
    uint64_t started_ms;
    uint64_t ticked_ms;
    uint64_t ticks;
    struct pd_cost cost;
    struct pd_control *control;
};

uint64_t pd_clock_ms(void);

/* ---- host_shim.c: the backend's ops, with the daemon in between --------- */

/* Fill daemon->ops; their host argument is the daemon. Parameters are
 * completed from the configuration, actions are logged. */
void pd_shim_init(struct pd_daemon *daemon);

/* A VM's parameters as they are now: hypervisor, defaults, commands and
 * configuration together. @return POL_OK, POL_ERR_NOTFOUND */
int pd_vm_params(struct pd_daemon *daemon, uint64_t vm,
                 struct pol_vm_params *out);

/* ---- hold_tend.c -------------------------------------------------------- */

uint64_t pd_unix_ms(void);

/* Tell the core of a hold, until its deadline. As pol_hold_add(). */
int pd_hold_give(struct pd_daemon *daemon, struct pd_hold *hold);

/* After every plan: give waiting ones, hand over, forget the ended. */
void pd_holds_tend(struct pd_daemon *daemon);

/* They have changed: write them down. A failure is logged. */
void pd_holds_keep(struct pd_daemon *daemon);

/* ---- policy.c: the context and one tick -------------------------------- */

/* A new context for the configuration in force. `why` says what failed. */
int pd_policy_open(struct pd_daemon *daemon, char *why);
void pd_policy_close(struct pd_daemon *daemon);
void pd_policy_tick(struct pd_daemon *daemon);
/* Take over another configuration, or leave all as it was. */
int pd_policy_reload(struct pd_daemon *daemon, char *why);

/* ---- loop.c ------------------------------------------------------------- */

int pd_loop_open(struct pd_daemon *daemon, char *why);
void pd_loop_close(struct pd_daemon *daemon);
void pd_loop_run(struct pd_daemon *daemon);
/* The interval has changed. */
void pd_loop_retime(struct pd_daemon *daemon);
/* Tell the service manager, if there is one ("READY=1"). */
void pd_notify(const char *state);

#endif /* POLICYD_DAEMON_H */
