/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What must outlive the daemon: parameters set by command that the hypervisor
 * cannot keep, and holds. One file, state.json in state-dir, replaced whole.
 */
#ifndef POLICYD_STATE_H
#define POLICYD_STATE_H

#include <stdbool.h>

#include "holds.h"
#include "vm_config.h"

#define PD_STATE_FILE  "state.json"
#define PD_STATE_BYTES ((size_t)8 << 20)

struct pd_state {
    struct pd_vm_list vms;
    bool usable; /* the folder can be written */
};

/* The file's text. The caller's to free; NULL: no memory. */
char *pd_state_text(const struct pd_state *state, const struct pd_holds *holds);

/*
 * Take over a file's text; holds become waiting ones. The text is untrusted.
 * @param why  PD_WHY_BYTES; names the field
 * @return POL_OK; POL_ERR_INVALID, POL_ERR_NOMEM: nothing was taken over
 */
int pd_state_parse(const char *text, size_t bytes, struct pd_state *state,
                   struct pd_holds *holds, char *why);

/* Read state-dir, made if need be. A daemon without its old state is better
 * than none: what is wrong is logged, and a bad file put aside. */
void pd_state_open(const char *dir, struct pd_state *state,
                   struct pd_holds *holds);
void pd_state_close(struct pd_state *state);

/* Replace the file; it is either the old one or the new one at any moment.
 * @return POL_OK, POL_ERR_HOST with a line in `why` */
int pd_state_save(const char *dir, const struct pd_state *state,
                  const struct pd_holds *holds, char *why);

#endif /* POLICYD_STATE_H */
