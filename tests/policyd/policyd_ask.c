/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policyd_ask SOCKET REQUEST...: sends each request as a line and prints its
 * answer. Two odd requests: "@long" is a line that never ends, "@many" opens
 * 40 connections and prints how many were kept.
 * Status: 0 every request was answered; 1 the connection ended; 2 no
 * connection.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static int connect_to(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    struct timeval patience = { .tv_sec = 20, .tv_usec = 0 };
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
        perror(path);
        exit(2);
    }
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
}

static int send_all(int fd, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);

        if (sent <= 0) {
            return -1;
        }
        text += sent;
        n -= (size_t)sent;
    }
    return 0;
}

/* Prints one line; -1: there is none. */
static int print_answer(int fd)
{
    char c;

    while (recv(fd, &c, 1, 0) == 1) {
        putchar(c);
        if (c == '\n') {
            return 0;
        }
    }
    return -1;
}

static int ask_long(int fd)
{
    static char block[4096];

    memset(block, 'x', sizeof(block));
    for (int i = 0; i < 1024; i++) {
        if (send_all(fd, block, sizeof(block)) != 0) {
            break;
        }
    }
    return print_answer(fd);
}

static int ask_many(const char *path)
{
    static const char text[] = "{\"verb\":\"version\"}\n";
    int fds[40];
    int kept = 0;

    for (int i = 0; i < 40; i++) {
        fds[i] = connect_to(path);
    }
    for (int i = 0; i < 40; i++) {
        char c;

        if (send_all(fds[i], text, sizeof(text) - 1) == 0 &&
            recv(fds[i], &c, 1, 0) == 1) {
            kept++;
        }
    }
    printf("%d kept\n", kept);
    return 0;
}

int main(int argc, char **argv)
{
    int fd;
    int rc = 0;

    if (argc < 2) {
        return 2;
    }
    fd = connect_to(argv[1]);
    for (int i = 2; rc == 0 && i < argc; i++) {
        if (strcmp(argv[i], "@long") == 0) {
            rc = ask_long(fd);
        } else if (strcmp(argv[i], "@many") == 0) {
            rc = ask_many(argv[1]);
        } else {
            rc = send_all(fd, argv[i], strlen(argv[i]));
            rc = rc == 0 ? send_all(fd, "\n", 1) : rc;
            rc = rc == 0 ? print_answer(fd) : rc;
        }
    }
    close(fd);
    return rc == 0 ? 0 : 1;
}
