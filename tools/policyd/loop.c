/* SPDX-License-Identifier: BSD-2-Clause */
/* Ticks, wake-ups and signals. */
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon.h"
#include "log.h"

/* However often a backend calls, ticks are at least so far apart. */
#define MIN_GAP_MS 200u

static struct timeval span(uint64_t ms)
{
    struct timeval tv = { .tv_sec = (time_t)(ms / 1000),
                          .tv_usec = (suseconds_t)(ms % 1000 * 1000) };

    return tv;
}

static void next_tick(struct pd_daemon *d, uint64_t ms)
{
    struct timeval tv = span(ms);

    evtimer_add(d->tick, &tv);
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
    struct pd_daemon *d = arg;

    (void)fd;
    (void)what;
    next_tick(d, d->config.interval_ms);
    pd_policy_tick(d);
}

/* From any thread. */
static void wake(void *arg)
{
    struct pd_daemon *d = arg;
    uint64_t one = 1;

    /* Full means that a wake-up is waiting already. */
    if (write(d->wake_fd, &one, sizeof(one)) < 0) {
        return;
    }
}

static void hook_log(void *arg, int level, const char *vm, const char *text)
{
    (void)arg;
    pd_log(level, vm, "%s", text);
}

static void on_woken(evutil_socket_t fd, short what, void *arg)
{
    struct pd_daemon *d = arg;
    uint64_t count;
    uint64_t since = pd_clock_ms() - d->ticked_ms;

    (void)what;
    if (read(fd, &count, sizeof(count)) < 0) {
        return;
    }
    next_tick(d, since >= MIN_GAP_MS ? 0 : MIN_GAP_MS - since);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
    struct pd_daemon *d = arg;

    (void)fd;
    (void)what;
    event_base_loopbreak(d->base);
}

static void on_hup(evutil_socket_t fd, short what, void *arg)
{
    char why[PD_WHY_BYTES] = "";

    (void)fd;
    (void)what;
    if (pd_policy_reload(arg, why) == POL_OK) {
        pd_log(PD_INFO, NULL, "the configuration has been read again");
    } else {
        pd_log(PD_ERROR, NULL, "%s; the old configuration stays", why);
    }
}

static int add_signal(struct pd_daemon *d, size_t i, int number,
                      event_callback_fn call)
{
    d->signals[i] = evsignal_new(d->base, number, call, d);
    return d->signals[i] != NULL && event_add(d->signals[i], NULL) == 0;
}

int pd_loop_open(struct pd_daemon *d, char *why)
{
    signal(SIGPIPE, SIG_IGN);
    d->hooks.arg = d;
    d->hooks.wake = wake;
    d->hooks.log = hook_log;
    d->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    d->base = event_base_new();
    d->started_ms = pd_clock_ms();
    if (d->wake_fd >= 0 && d->base != NULL) {
        d->tick = evtimer_new(d->base, on_tick, d);
        d->woken =
            event_new(d->base, d->wake_fd, EV_READ | EV_PERSIST, on_woken, d);
        if (d->tick != NULL && d->woken != NULL &&
            event_add(d->woken, NULL) == 0 &&
            add_signal(d, 0, SIGTERM, on_end) &&
            add_signal(d, 1, SIGINT, on_end) &&
            add_signal(d, 2, SIGHUP, on_hup)) {
            return POL_OK;
        }
    }
    snprintf(why, PD_WHY_BYTES, "cannot set up the event loop: %s",
             strerror(errno));
    return POL_ERR_NOMEM;
}

void pd_loop_retime(struct pd_daemon *d)
{
    next_tick(d, 0);
}

void pd_loop_run(struct pd_daemon *d)
{
    next_tick(d, 0);
    event_base_dispatch(d->base);
}

void pd_loop_close(struct pd_daemon *d)
{
    if (d->tick != NULL) {
        event_free(d->tick);
    }
    for (size_t i = 0; i < sizeof(d->signals) / sizeof(d->signals[0]); i++) {
        if (d->signals[i] != NULL) {
            event_free(d->signals[i]);
        }
    }
    if (d->woken != NULL) {
        event_free(d->woken);
    }
    if (d->base != NULL) {
        event_base_free(d->base);
    }
    if (d->wake_fd >= 0) {
        close(d->wake_fd);
    }
}

void pd_notify(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    socklen_t size;
    int fd;

    if (path == NULL || (path[0] != '/' && path[0] != '@') ||
        strlen(path) >= sizeof(to.sun_path)) {
        return;
    }
    memcpy(to.sun_path, path, strlen(path));
    size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (path[0] == '@') { /* a name outside the file system */
        to.sun_path[0] = '\0';
    }
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        if (sendto(fd, state, strlen(state), MSG_NOSIGNAL,
                   (struct sockaddr *)&to, size) < 0) {
            pd_log(PD_WARNING, NULL, "%s: %s", path, strerror(errno));
        }
        close(fd);
    }
}
