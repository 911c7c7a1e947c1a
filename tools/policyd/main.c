/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * policyd: gives the VMs of a host the memory that libpolicy says.
 *
 * Exit status: 0 ended by a signal, or the configuration is good; 1 it failed;
 * 2 bad usage or a bad configuration.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "daemon.h"
#include "log.h"
#include "policy/version.h"

#define STATUS_FAILED 1
#define STATUS_USAGE  2

enum {
    KEY_DRY_RUN = 1000,
    KEY_CHECK,
    KEY_FOREGROUND
};

static const struct pd_backend *const backends[] = {
    &pd_backend_sim,
#ifdef PD_WITH_KVM
    &pd_backend_kvm,
#endif
#ifdef PD_WITH_XEN
    &pd_backend_xen,
#endif
};

struct options {
    const char *config;
    const char *backend;
    bool dry_run;
    bool check;
};

static const struct argp_option option_table[] = {
    { "config", 'c', "FILE", 0,
      "The configuration (default: /etc/libpolicy/policyd.conf)", 0 },
    { "backend", 'b', "NAME", 0, "kvm, xen or sim, whatever FILE says", 0 },
    { "dry-run", KEY_DRY_RUN, NULL, 0,
      "Say what would be done, and change nothing", 0 },
    { "check-config", KEY_CHECK, NULL, 0, "Check FILE and exit", 0 },
    { "foreground", KEY_FOREGROUND, NULL, 0,
      "Stay in the foreground; policyd always does", 0 },
    { NULL, 0, NULL, 0, NULL, 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'c':
        options->config = arg;
        return 0;
    case 'b':
        options->backend = arg;
        return 0;
    case KEY_DRY_RUN:
        options->dry_run = true;
        return 0;
    case KEY_CHECK:
        options->check = true;
        return 0;
    case KEY_FOREGROUND:
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "%s: policyd takes no such argument", arg);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = { option_table,
                                  parse_option,
                                  NULL,
                                  "Gives the VMs of this host the memory that "
                                  "libpolicy says.",
                                  NULL,
                                  NULL,
                                  NULL };

static const struct pd_backend *find_backend(const char *name)
{
    for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++) {
        if (strcmp(backends[i]->name, name) == 0) {
            return backends[i];
        }
    }
    return NULL;
}

static int open_backend(struct pd_daemon *d, char *why)
{
    struct pd_settings settings = { d->config.settings, d->config.settings_n,
                                    d->config.settings_n };
    char text[PD_WHY_BYTES] = "";
    int rc = d->backend->open(&settings, &d->hooks, &d->host, text);

    if (rc == POL_OK) {
        d->page_bytes = d->backend->page_bytes(d->host);
        return POL_OK;
    }
    if (settings.bad < settings.n) {
        const struct pd_setting *bad = &settings.items[settings.bad];

        snprintf(why, PD_WHY_BYTES, "%s:%u: %s.%s: %.300s", d->config_path,
                 d->config.setting_lines[settings.bad], d->backend->name,
                 bad->key, text);
    } else {
        snprintf(why, PD_WHY_BYTES, "backend %s: %.400s", d->backend->name,
                 text[0] != '\0' ? text : pol_strerror(rc));
    }
    return rc;
}

/* Opens everything; each part refuses with one line. */
static int run(struct pd_daemon *d, char *why)
{
    int rc = pd_loop_open(d, why);

    rc = rc == POL_OK ? open_backend(d, why) : rc;
    rc = rc == POL_OK ? pd_policy_open(d, why) : rc;
    if (rc == POL_OK) {
        pd_state_open(d->config.state_dir, &d->state, &d->holds);
    }
    rc = rc == POL_OK ? pd_control_open(d, why) : rc;
    if (rc == POL_OK) {
        pd_log(PD_INFO, NULL, "version %s, backend %s%s", POL_VERSION_STRING,
               d->backend->name, d->config.dry_run ? ", dry run" : "");
        pd_notify("READY=1");
        pd_loop_run(d);
        pd_notify("STOPPING=1");
        pd_log(PD_INFO, NULL, "ends; VMs keep what they have");
    }
    pd_control_close(d);
    pd_policy_close(d);
    pd_state_close(&d->state);
    if (d->host != NULL) {
        d->backend->close(d->host);
    }
    pd_loop_close(d);
    return rc;
}

int main(int argc, char **argv)
{
    static struct pd_daemon d;
    struct options options = { .config = "/etc/libpolicy/policyd.conf" };
    char why[PD_WHY_BYTES] = "";
    int rc;

    argp_err_exit_status = STATUS_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &options) != 0) {
        return STATUS_USAGE;
    }
    d.config_path = options.config;
    d.backend_wanted = options.backend;
    d.dry_run_wanted = options.dry_run;
    rc = pd_config_load(options.config, options.backend, &d.config, why);
    if (rc != POL_OK) {
        pd_log(PD_ERROR, NULL, "%s", why);
        return STATUS_USAGE;
    }
    d.config.dry_run = d.config.dry_run || options.dry_run;
    pd_log_level(d.config.log_level);
    d.backend = find_backend(d.config.backend);
    if (d.backend == NULL) {
        pd_log(PD_ERROR, NULL, "%s: backend: this policyd was built without %s",
               options.config, d.config.backend);
        pd_config_clear(&d.config);
        return STATUS_USAGE;
    }
    if (!options.check) {
        rc = run(&d, why);
        if (rc != POL_OK) {
            pd_log(PD_ERROR, NULL, "%s", why);
        }
    }
    pd_config_clear(&d.config);
    return rc == POL_OK            ? EXIT_SUCCESS
           : rc == POL_ERR_INVALID ? STATUS_USAGE
                                   : STATUS_FAILED;
}
