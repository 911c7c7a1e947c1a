/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef SIM_GUEST_CHECK_H
#define SIM_GUEST_CHECK_H

#include "engine_int.h"

/** Are the guest's lists, maps and counters of one mind? NULL: yes; else a
 *  static text saying what is not. */
const char *simx_guest_check(const struct sim_vm *vm);

#endif /* SIM_GUEST_CHECK_H */
