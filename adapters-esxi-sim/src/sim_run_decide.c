/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs in which somebody else than libpolicy decides. */
#include <string.h>

#include "sim_run_int.h"

int sim_run_decide_by(struct sim_run *run, sim_run_decider *decide, void *user)
{
    if (run->begun) {
        return POL_ERR_BUSY;
    }
    run->decide = decide;
    run->decide_user = user;
    return POL_OK;
}

/* Admission stays libpolicy's, so its context must know how things are. */
static int tell_ctx(struct sim_run *run)
{
    struct pol_host_obs host;
    int rc;

    memset(&host, 0, sizeof(host));
    host.size = sizeof(host);
    if (sim_host_ops.read_host(&run->adapter, &host) != POL_OK) {
        return POL_ERR_HOST;
    }
    rc = pol_observe_host(run->ctx, &host);
    for (size_t i = 0; rc == POL_OK && i < run->live_n; i++) {
        struct pol_vm_obs vm;

        memset(&vm, 0, sizeof(vm));
        vm.size = sizeof(vm);
        if (sim_host_ops.read_vm(&run->adapter, run->live[i], &vm) == POL_OK) {
            rc = pol_observe_vm(run->ctx, run->live[i], &vm);
            /* One that stops is forgotten a tick later. */
            rc = rc == POL_ERR_NOTFOUND ? POL_OK : rc;
        }
    }
    return rc;
}

int sim_run_decide(struct sim_run *run)
{
    int rc = tell_ctx(run);

    return rc != POL_OK ? rc
                        : run->decide(run->decide_user, &sim_host_ops,
                                      &run->adapter, run->now_ms);
}
