/* SPDX-License-Identifier: BSD-2-Clause */
#define _POSIX_C_SOURCE 200809L

#include <argp.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "policy/version.h"

const char *argp_program_version = "policyctl (libpolicy) " POL_VERSION_STRING;

static const struct {
    const char *name;
    const char *title; /**< what its usage calls it */
    command_run *run;
    const char *summary;
} commands[] = {
    { "simulate", "policyctl simulate", cmd_simulate,
      "run a scenario on the simulated host" },
    { "compare", "policyctl compare", cmd_compare,
      "run a scenario under libpolicy and under others' policies" },
    { "experiments", "policyctl experiments", cmd_experiments,
      "repeat published experiments and compare" },
    { "replay", "policyctl replay", cmd_replay,
      "replay a recorded policy trace and compare every plan" },
    { "explain", "policyctl explain", cmd_explain,
      "say why a VM in a trace has what it has" },
    { "segments", "policyctl segments", cmd_segments,
      "replay VM requests and count the segments VMs get" },
    { "lint", "policyctl lint", cmd_lint,
      "say which parameters of a scenario will hurt" },
};

#define COMMANDS (sizeof commands / sizeof commands[0])

static char *help_filter(int key, const char *text, void *input)
{
    char *list = NULL;
    size_t bytes = 0;
    FILE *out;

    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC) {
        return (char *)text;
    }
    out = open_memstream(&list, &bytes);
    if (out == NULL) {
        return (char *)text;
    }
    fputs("Commands:\n", out);
    for (size_t i = 0; i < COMMANDS; i++) {
        fprintf(out, "  %-12s%s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n`policyctl COMMAND --help' says more about each.\n"
          "Exit status: 0 done, 1 ran but failed, 2 bad input or usage.",
          out);
    fclose(out);
    return list;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    switch (key) {
    case ARGP_KEY_ARG:
        for (size_t i = 0; i < COMMANDS; i++) {
            if (strcmp(arg, commands[i].name) == 0) {
                /* The rest belongs to the subcommand. */
                *(size_t *)state->input = i;
                state->argv[state->next - 1] = (char *)commands[i].title;
                state->next = state->argc;
                return 0;
            }
        }
        argp_failure(state, STATUS_USAGE, 0, "no such command: %s", arg);
        return EINVAL;
    case ARGP_KEY_NO_ARGS:
        argp_failure(state, STATUS_USAGE, 0, "a command is missing");
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    /* argp adds the list of commands after the vertical tab. */
    static const struct argp argp = {
        NULL,
        parse,
        "COMMAND [ARGUMENT...]",
        "Look at, simulate and explain how a host's memory is divided among "
        "its VMs.\v ",
        NULL,
        help_filter,
        NULL
    };
    size_t chosen = 0;
    int at = 1;
    int status;

    argp_err_exit_status = STATUS_USAGE;
    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &chosen) != 0) {
        return STATUS_USAGE;
    }
    while (at < argc && argv[at] != commands[chosen].title) {
        at++;
    }
    status = commands[chosen].run(argc - at, argv + at);
    /* Results that did not get out are no results. */
    if (fflush(stdout) != 0 || ferror(stdout)) {
        status = fail(STATUS_FAILED, "standard output: cannot be written");
    }
    return status;
}
