/* SPDX-License-Identifier: BSD-2-Clause */
/* Phases of the program: what is wanted, and when. Doing it is
 * workload_run.c's. */
#include "guest_access.h"

#define IDLE_RATE 20u
#define BACKLOG_S 60u /* more than this is given up */

/* Also when killed: what was in hand and in memory is gone. */
void simx_workload_stop(struct sim_vm *vm)
{
    vm->op_n = 0;
    vm->op_head = 0;
    vm->fill_next = 0;
    vm->fill_target = 0;
    vm->cursor = 0;
    vm->backlog = 0;
    vm->rate_carry = 0;
    vm->phase = vm->n_phases;
    vm->restart_ms = vm->host->now_ms + vm->cfg.oom_restart_ms;
    vm->anon_used = 0;
    vm->stream_at = 0;
    vm->sweep_at = 0;
    vm->renew_left = 0;
}

static uint32_t cut(uint32_t bp)
{
    return (bp << 16) / 10000;
}

static void set_mixed(struct sim_vm *vm, const struct sim_phase *ph)
{
    vm->file_write_cut = ph->file_write_bp == UINT32_MAX
                             ? cut(ph->write_bp)
                             : cut(ph->file_write_bp);
    vm->stream_cut = cut(ph->stream_bp);
    vm->stream_write_cut = cut(ph->stream_write_bp);
    vm->mixed_cut = cut(ph->stream_bp + ph->sweep_bp);
    vm->sweep_at = 0;
    vm->renew_left = ph->renew_every;
}

static void enter_phase(struct sim_vm *vm, size_t index)
{
    const struct sim_phase *ph = &vm->phases[index];
    uint32_t cpu = ph->cpu_ns != 0 ? ph->cpu_ns : vm->host->cfg.costs.cpu_ns;

    vm->phase = index;
    vm->phase_start_ms = vm->program_start_ms + ph->start_ms;
    vm->op_n = 0;
    vm->op_head = 0;
    vm->cursor = 0;
    vm->cpu_ns = cpu;
    vm->write_cut = cut(ph->write_bp);
    vm->file_cut = cut(ph->file_bp);
    set_mixed(vm, ph);
    if (vm->anon_used > ph->footprint_pages) {
        simx_guest_free_anon(vm, ph->footprint_pages);
        vm->anon_used = ph->footprint_pages;
    }
    if (vm->fill_next > ph->footprint_pages) {
        vm->fill_next = ph->footprint_pages;
    }
    vm->grow_from = vm->fill_next;
    vm->fill_target = ph->footprint_pages;
    vm->ws_pages = ph->working_set_pages != 0 ? ph->working_set_pages
                                              : ph->footprint_pages;
    /* What grows is used from its beginning. */
    vm->ws_offset = ph->kind == SIM_GROW ? 0 : ph->ws_offset_pages;
    if (ph->kind == SIM_ZIPF) {
        simx_zipf_set(vm->zipf, vm->ws_pages, ph->zipf_bp);
        simx_zipf_set(vm->zipf_file, ph->file_pages, ph->zipf_bp);
    }
}

static void grow(struct sim_vm *vm, const struct sim_phase *ph)
{
    uint64_t t = vm->host->now_ms - vm->phase_start_ms;
    uint64_t span = ph->footprint_pages - vm->grow_from;

    if (t > ph->grow_ms) {
        t = ph->grow_ms;
    }
    vm->fill_target =
        vm->grow_from + (uint64_t)((unsigned __int128)span * t / ph->grow_ms);
    vm->ws_pages = vm->fill_next;
}

static void want(struct sim_vm *vm, const struct sim_phase *ph, uint64_t ms)
{
    uint64_t rate = ph->rate;
    uint64_t n;

    if (rate == 0 && ph->kind == SIM_IDLE) {
        rate = IDLE_RATE;
    }
    if (rate == 0) {
        /* As many as will fit; the loop stops when time is up. */
        vm->work_wanted += ms * 1000000 / vm->cpu_ns * vm->cfg.threads;
        vm->backlog = UINT64_MAX;
        return;
    }
    if (vm->backlog == UINT64_MAX) {
        vm->backlog = 0;
    }
    n = rate * ms + vm->rate_carry;
    vm->rate_carry = n % 1000;
    vm->backlog += n / 1000;
    vm->work_wanted += n / 1000;
    if (vm->backlog > rate * BACKLOG_S + n / 1000) {
        uint64_t shed = vm->backlog - (rate * BACKLOG_S + n / 1000);

        vm->backlog -= shed;
        vm->work_shed += shed;
    }
}

void simx_workload_tick(struct sim_vm *vm, uint64_t ms)
{
    uint64_t now = vm->host->now_ms;
    size_t i = vm->phase < vm->n_phases ? vm->phase : 0;

    if (vm->n_phases == 0 || now < vm->restart_ms) {
        return;
    }
    vm->restart_ms = 0;
    while (i + 1 < vm->n_phases &&
           now - vm->program_start_ms >= vm->phases[i + 1].start_ms) {
        i++;
    }
    if (i != vm->phase) {
        enter_phase(vm, i);
    }
    if (vm->phases[i].kind == SIM_GROW) {
        grow(vm, &vm->phases[i]);
    }
    want(vm, &vm->phases[i], ms);
}
