/* SPDX-License-Identifier: BSD-2-Clause */
#include "control.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"

#define MAX_CLIENTS  32u
#define MAX_WAITING  ((size_t)4 << 20)
#define IDLE_SECONDS 300
/* Requests answered before others get their turn. */
#define BURST 16u

struct client {
    struct pd_control *control;
    struct bufferevent *stream;
    struct client *next;
    uint64_t user;
    bool may_change;
    bool closing; /* once the last answer is out */
};

struct pd_control {
    struct pd_daemon *daemon;
    struct evconnlistener *listener;
    struct client *clients;
    unsigned clients_n;
    gid_t group;
    bool has_group;
    bool bound; /* the socket in the file system is ours */
};

static void drop(struct client *client)
{
    struct client **link = &client->control->clients;

    while (*link != client) {
        link = &(*link)->next;
    }
    *link = client->next;
    client->control->clients_n--;
    bufferevent_free(client->stream);
    free(client);
}

/* false: the client has gone. */
static bool send_answer(struct client *client, struct json_object *answer)
{
    struct evbuffer *out = bufferevent_get_output(client->stream);
    const char *text = answer == NULL
                           ? NULL
                           : json_object_to_json_string_ext(
                                 answer, JSON_C_TO_STRING_PLAIN |
                                             JSON_C_TO_STRING_NOSLASHESCAPE);
    bool good = text != NULL && evbuffer_add(out, text, strlen(text)) == 0 &&
                evbuffer_add(out, "\n", 1) == 0 &&
                evbuffer_get_length(out) <= MAX_WAITING;

    json_object_put(answer);
    if (!good) {
        drop(client);
    }
    return good;
}

static void too_long(struct client *client)
{
    static const char text[] =
        "{\"schema\":1,\"ok\":false,\"error\":{\"code\":\"POL_ERR_INVALID\","
        "\"message\":\"the line is too long (accepted: up to 65536 bytes)\"}}"
        "\n";

    client->closing = true;
    bufferevent_disable(client->stream, EV_READ);
    if (bufferevent_write(client->stream, text, sizeof(text) - 1) != 0) {
        drop(client);
    }
}

static void on_read(struct bufferevent *stream, void *arg)
{
    struct client *client = arg;
    struct evbuffer *in = bufferevent_get_input(stream);
    unsigned n = 0;
    size_t bytes;
    char *line;

    while (n < BURST && (line = evbuffer_readln(in, &bytes, EVBUFFER_EOL_LF))) {
        struct json_object *answer =
            pd_control_answer(client->control->daemon, line, bytes,
                              client->user, client->may_change);

        free(line);
        n++;
        if (!send_answer(client, answer)) {
            return;
        }
    }
    if (n == BURST && evbuffer_get_length(in) > 0) {
        bufferevent_trigger(stream, EV_READ, BEV_TRIG_DEFER_CALLBACKS);
    } else if (n < BURST && evbuffer_get_length(in) >= PD_LINE_BYTES) {
        too_long(client);
    }
}

static void on_written(struct bufferevent *stream, void *arg)
{
    struct client *client = arg;

    if (client->closing &&
        evbuffer_get_length(bufferevent_get_output(stream)) == 0) {
        drop(client);
    }
}

static void on_event(struct bufferevent *stream, short what, void *arg)
{
    (void)stream;
    (void)what; /* its end, an error, or its time is over */
    drop(arg);
}

static bool may_change(const struct pd_control *control,
                       const struct ucred *peer)
{
    return peer->uid == 0 || peer->uid == geteuid() ||
           (control->has_group && peer->gid == control->group);
}

static void on_client(struct evconnlistener *listener, evutil_socket_t fd,
                      struct sockaddr *from, int from_bytes, void *arg)
{
    struct timeval idle = { .tv_sec = IDLE_SECONDS, .tv_usec = 0 };
    struct pd_control *control = arg;
    struct ucred peer;
    socklen_t bytes = sizeof(peer);
    struct client *client;

    (void)listener;
    (void)from;
    (void)from_bytes;
    if (control->clients_n >= MAX_CLIENTS ||
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 ||
        (client = calloc(1, sizeof(*client))) == NULL) {
        close(fd);
        return;
    }
    client->stream = bufferevent_socket_new(control->daemon->base, fd,
                                            BEV_OPT_CLOSE_ON_FREE);
    if (client->stream == NULL) {
        free(client);
        close(fd);
        return;
    }
    client->control = control;
    client->user = peer.uid;
    client->may_change = may_change(control, &peer);
    client->next = control->clients;
    control->clients = client;
    control->clients_n++;
    bufferevent_setcb(client->stream, on_read, on_written, on_event, client);
    bufferevent_setwatermark(client->stream, EV_READ, 0, PD_LINE_BYTES + 1);
    /* One who does not read what was asked for is as idle as one who is. */
    bufferevent_set_timeouts(client->stream, &idle, &idle);
    bufferevent_enable(client->stream, EV_READ | EV_WRITE);
}

/* A socket that nobody listens on is left over from a daemon that was killed.
 */
static int clear_way(const struct sockaddr_un *at, char *why)
{
    struct stat found;
    int fd;
    int rc;

    if (lstat(at->sun_path, &found) != 0) {
        return POL_OK;
    }
    if (!S_ISSOCK(found.st_mode)) {
        snprintf(why, PD_WHY_BYTES, "control.socket: %s is no socket",
                 at->sun_path);
        return POL_ERR_EXISTS;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    rc = fd < 0 ? -1 : connect(fd, (const struct sockaddr *)at, sizeof(*at));
    if (rc != 0 && errno == ECONNREFUSED && unlink(at->sun_path) == 0) {
        rc = 1;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (rc != 1) {
        snprintf(why, PD_WHY_BYTES,
                 "control.socket: %s is in use: another policyd runs",
                 at->sun_path);
        return POL_ERR_EXISTS;
    }
    return POL_OK;
}

static int find_group(struct pd_control *control, char *why)
{
    const char *name = control->daemon->config.group;
    struct group *group = name == NULL ? NULL : getgrnam(name);

    if (name != NULL && group == NULL) {
        snprintf(why, PD_WHY_BYTES, "control.group: there is no group %s",
                 name);
        return POL_ERR_INVALID;
    }
    control->has_group = group != NULL;
    control->group = group != NULL ? group->gr_gid : 0;
    return POL_OK;
}

static int listen_at(struct pd_control *control, const struct sockaddr_un *at)
{
    const struct pd_config *config = &control->daemon->config;
    /* Nobody gets in before mode and group are as they shall be. */
    mode_t mask = umask(0177);

    control->listener =
        evconnlistener_new_bind(control->daemon->base, on_client, control,
                                LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC,
                                64, (const struct sockaddr *)at, sizeof(*at));
    umask(mask);
    if (control->listener == NULL) {
        return -1;
    }
    control->bound = true;
    if (control->has_group &&
        chown(at->sun_path, (uid_t)-1, control->group) != 0) {
        return -1;
    }
    return chmod(at->sun_path, (mode_t)config->mode);
}

int pd_control_open(struct pd_daemon *daemon, char *why)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    struct pd_control *control = calloc(1, sizeof(*control));
    int rc;

    if (control == NULL) {
        return POL_ERR_NOMEM;
    }
    daemon->control = control;
    control->daemon = daemon;
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", daemon->config.socket);
    rc = find_group(control, why);
    rc = rc == POL_OK ? clear_way(&at, why) : rc;
    if (rc == POL_OK && listen_at(control, &at) != 0) {
        snprintf(why, PD_WHY_BYTES, "control.socket: %s: %s", at.sun_path,
                 strerror(errno));
        rc = POL_ERR_HOST;
    }
    return rc;
}

void pd_control_close(struct pd_daemon *daemon)
{
    struct pd_control *control = daemon->control;

    if (control == NULL) {
        return;
    }
    while (control->clients != NULL) {
        drop(control->clients);
    }
    if (control->listener != NULL) {
        evconnlistener_free(control->listener);
    }
    if (control->bound) {
        unlink(daemon->config.socket);
    }
    free(control);
    daemon->control = NULL;
}
