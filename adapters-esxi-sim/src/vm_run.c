/* SPDX-License-Identifier: BSD-2-Clause */
/* A VM's slice of time. */
#include "engine_int.h"

uint16_t simx_touch_epoch(uint64_t now_ms)
{
    /* Pages never touched say 0, which must look old from the start. */
    return (uint16_t)(now_ms / TOUCH_EPOCH_MS + TOUCH_EPOCHS);
}

static void advance_epoch(struct sim_vm *vm)
{
    uint16_t now = simx_touch_epoch(vm->host->now_ms);

    while (vm->epoch != now) {
        vm->epoch++;
        vm->touched[vm->epoch % TOUCH_EPOCHS] = 0;
    }
}

static void roll_windows(struct sim_vm *vm)
{
    uint64_t now = vm->host->now_ms;
    int i;

    if (now - vm->win[0].at_ms < WINDOW_MS) {
        return;
    }
    for (i = WINDOWS - 1; i > 0; i--) {
        vm->win[i] = vm->win[i - 1];
    }
    vm->win[0].at_ms = now;
    vm->win[0].swap_in = vm->swap_in;
    vm->win[0].swap_out = vm->swap_out;
    vm->win[0].psi_ns = vm->psi_ns;
}

/* @return whether the guest runs in this slice at all */
static bool live(struct sim_vm *vm)
{
    uint64_t now = vm->host->now_ms;

    if (vm->die_ms != 0 && now >= vm->die_ms) {
        simx_vm_die(vm);
    }
    switch (vm->life) {
    case SIM_LIFE_BUILDING:
        if (now >= vm->life_ms) {
            vm->life = SIM_LIFE_RUNNING;
        }
        return vm->life == SIM_LIFE_RUNNING;
    case SIM_LIFE_SHUTTING_DOWN:
        if (now >= vm->life_ms) {
            simx_vm_die(vm);
        }
        return false;
    case SIM_LIFE_PAUSED:
    case SIM_LIFE_DEAD:
        return false;
    case SIM_LIFE_RUNNING:
    case SIM_LIFE_REBOOTING:
        break;
    }
    return true;
}

/* Time passes, work piles up, nothing happens. */
static void stay_blocked(struct sim_vm *vm, uint64_t ms)
{
    if (vm->booted) {
        simx_workload_tick(vm, ms);
        vm->host_wait_ns += ms * 1000000 * vm->cfg.threads;
        vm->spent_ns += ms * 1000000 * vm->cfg.threads;
    }
}

static void run_guest(struct sim_vm *vm, uint64_t ms)
{
    int64_t before;

    if (!vm->booted) {
        simx_guest_boot_run(vm, ms);
        return;
    }
    before = vm->budget_ns;
    simx_guest_balloon_run(vm, ms);
    vm->spent_ns += (uint64_t)(before - vm->budget_ns);
    if (vm->file_dirty != 0) {
        simx_guest_flush(vm, ms);
    }
    simx_workload_tick(vm, ms);
    simx_workload_run(vm);
}

void simx_vm_slice(struct sim_vm *vm, uint64_t ms)
{
    struct sim_host *host = vm->host;
    uint64_t waited = vm->host_wait_ns + vm->guest_wait_ns;
    int64_t start;
    uint64_t used;

    advance_epoch(vm);
    if (!live(vm)) {
        roll_windows(vm);
        return;
    }
    if (vm->blocked) {
        stay_blocked(vm, ms);
        roll_windows(vm);
        return;
    }
    if (vm->budget_ns > 0) {
        vm->budget_ns = 0; /* time not used is gone; debt stays */
    }
    vm->budget_ns += (int64_t)(ms * 100 * host->cpu_bp * vm->cfg.threads);
    start = vm->budget_ns;
    vm->run_ms += ms;
    run_guest(vm, ms);
    roll_windows(vm);
    if (vm->booted) {
        simx_guest_report_run(vm);
    }
    used = (uint64_t)(start - vm->budget_ns);
    waited = vm->host_wait_ns + vm->guest_wait_ns - waited;
    host->slice_cpu_ns += used > waited ? used - waited : 0;
}
