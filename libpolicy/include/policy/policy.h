/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file policy.h
 * libpolicy: how much host memory each VM gets. Includes everything.
 *
 *   config.h       making a context, tuning, presets
 *   vm.h           VMs, groups and their parameters
 *   observe.h      telling the library what is the case
 *   working_set.h  sampling of working sets
 *   plan.h         targets, states, actions
 *   admission.h    may a VM start; holding memory for it
 *   explain.h      why
 *   lint.h         parameters that will hurt
 *   trace.h        recording and replaying
 *   segment.h      which host pages a VM gets
 *   share.h        sharing of equal pages: a table of its own
 *   host_ops.h     the seam for adapters
 *
 * See config.h for memory, threads and the rules all calls follow.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "policy/admission.h"
#include "policy/config.h"
#include "policy/error.h"
#include "policy/explain.h"
#include "policy/host_ops.h"
#include "policy/lint.h"
#include "policy/observe.h"
#include "policy/plan.h"
#include "policy/segment.h"
#include "policy/share.h"
#include "policy/trace.h"
#include "policy/types.h"
#include "policy/version.h"
#include "policy/vm.h"
#include "policy/working_set.h"

#endif /* POLICY_POLICY_H */
