/* SPDX-License-Identifier: BSD-2-Clause */
/* The state file on disk. */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

#define NEW_FILE PD_STATE_FILE ".new"
#define BAD_FILE PD_STATE_FILE ".bad"

static int open_dir(const char *dir)
{
    return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The file's text, the caller's; NULL with errno: ENOENT: there is none. */
static char *slurp(int dir, size_t *bytes)
{
    int fd = openat(dir, PD_STATE_FILE,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat found;
    char *text = NULL;
    ssize_t n;

    if (fd < 0) {
        return NULL;
    }
    errno = EINVAL;
    if (fstat(fd, &found) == 0 && S_ISREG(found.st_mode) &&
        (size_t)found.st_size <= PD_STATE_BYTES) {
        text = malloc((size_t)found.st_size + 1);
    }
    *bytes = 0;
    while (text != NULL && *bytes < (size_t)found.st_size) {
        n = read(fd, text + *bytes, (size_t)found.st_size - *bytes);
        if (n <= 0) {
            free(text);
            text = NULL;
            break;
        }
        *bytes += (size_t)n;
    }
    if (text != NULL) {
        text[*bytes] = '\0';
    }
    close(fd);
    return text;
}

static void load(int fd, const char *dir, struct pd_state *state,
                 struct pd_holds *holds)
{
    char why[PD_WHY_BYTES] = "cannot be read";
    size_t bytes = 0;
    char *text = slurp(fd, &bytes);
    int rc = POL_ERR_INVALID;

    if (text == NULL && errno == ENOENT) {
        return;
    }
    if (text != NULL) {
        rc = pd_state_parse(text, bytes, state, holds, why);
    }
    free(text);
    if (rc != POL_OK) {
        pd_log(PD_ERROR, NULL,
               "%s/" PD_STATE_FILE ": %s; it is put aside as " BAD_FILE
               ", what was set by command and holds are lost",
               dir, why);
        if (renameat(fd, PD_STATE_FILE, fd, BAD_FILE) != 0) {
            pd_log(PD_ERROR, NULL, "%s/" BAD_FILE ": %s", dir, strerror(errno));
        }
    }
}

void pd_state_open(const char *dir, struct pd_state *state,
                   struct pd_holds *holds)
{
    int fd;

    if (mkdir(dir, 0750) != 0 && errno != EEXIST) {
        pd_log(PD_WARNING, NULL, "state-dir: %s: %s; nothing will be kept", dir,
               strerror(errno));
        return;
    }
    fd = open_dir(dir);
    if (fd < 0 || faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) != 0) {
        pd_log(PD_WARNING, NULL, "state-dir: %s: %s; nothing will be kept", dir,
               strerror(errno));
    } else {
        state->usable = true;
    }
    if (fd >= 0) {
        load(fd, dir, state, holds);
        close(fd);
    }
}

void pd_state_close(struct pd_state *state)
{
    pd_vm_list_clear(&state->vms);
}

/* 0, or -1 with errno. */
static int write_new(int dir, const char *text, size_t bytes)
{
    int fd;
    int rc = 0;

    unlinkat(dir, NEW_FILE, 0);
    fd = openat(dir, NEW_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -1;
    }
    while (rc == 0 && bytes > 0) {
        ssize_t n = write(fd, text, bytes);

        if (n < 0) {
            rc = -1;
        } else {
            text += n;
            bytes -= (size_t)n;
        }
    }
    rc = rc == 0 ? fsync(fd) : rc;
    if (close(fd) != 0) {
        rc = -1;
    }
    return rc;
}

int pd_state_save(const char *dir, const struct pd_state *state,
                  const struct pd_holds *holds, char *why)
{
    char *text = state->usable ? pd_state_text(state, holds) : NULL;
    int fd = text == NULL ? -1 : open_dir(dir);
    int rc = -1;

    if (!state->usable) {
        errno = EROFS;
    }
    if (fd >= 0) {
        rc = write_new(fd, text, strlen(text));
        rc = rc == 0 ? renameat(fd, NEW_FILE, fd, PD_STATE_FILE) : rc;
        rc = rc == 0 ? fsync(fd) : rc;
    }
    if (rc != 0) {
        snprintf(why, PD_WHY_BYTES, "state-dir: %s/" PD_STATE_FILE ": %s", dir,
                 strerror(errno));
    }
    if (fd >= 0) {
        close(fd);
    }
    free(text);
    return rc == 0 ? POL_OK : POL_ERR_HOST;
}
