/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine_int.h"

#define TRUE_ACTIVE_MS 60000u

uint64_t sim_vm_touched_pages(const struct sim_vm *vm, uint64_t window_ms)
{
    uint64_t k = window_ms / TOUCH_EPOCH_MS;
    uint64_t sum = 0;
    uint64_t i;

    k += window_ms % TOUCH_EPOCH_MS != 0;
    if (k >= TOUCH_EPOCHS) {
        k = TOUCH_EPOCHS - 1;
    }
    /* The present epoch has only begun: it comes on top. */
    for (i = 0; i <= k; i++) {
        sum += vm->touched[(uint16_t)(vm->epoch - i) % TOUCH_EPOCHS];
    }
    return sum;
}

static uint64_t per_s(uint64_t now, uint64_t then, uint64_t ms)
{
    return ms != 0 ? (now - then) * 1000 / ms : 0;
}

static void fill_host_side(const struct sim_vm *vm, struct sim_vm_stats *out)
{
    const struct window *w = &vm->win[WINDOWS - 1];
    uint64_t ms = vm->host->now_ms - w->at_ms;

    out->shared_pages = vm->zero_refs + vm->image_refs;
    out->consumed_pages = simx_host_consumed(vm);
    out->granted_pages = vm->private_pages + out->shared_pages;
    out->overhead_pages = vm->overhead;
    out->balloon_pages = vm->balloon;
    out->swapped_pages = vm->swapped;
    out->swap_in_per_s = per_s(vm->swap_in, w->swap_in, ms);
    out->swap_out_per_s = per_s(vm->swap_out, w->swap_out, ms);
    out->size_pages = vm->cfg.size_pages;
    out->balloon_target_pages = vm->balloon_target;
    out->hard_cap_pages = vm->hard_cap;
    out->swap_in_pages = vm->swap_in;
    out->swap_out_pages = vm->swap_out;
    out->run_ms = vm->run_ms;
    out->lifecycle = vm->life;
    out->driver = simx_guest_driver(vm);
    out->blocked = vm->blocked;
}

static void fill_guest_side(const struct sim_vm *vm, struct sim_vm_stats *out)
{
    out->guest = vm->report;
    out->true_active_pages = sim_vm_touched_pages(vm, TRUE_ACTIVE_MS);
    out->guest_free_pages = simx_guest_free(vm);
    out->guest_cache_pages = vm->file.n;
    out->guest_dirty_pages = vm->file_dirty;
    out->guest_anon_pages = vm->anon.n;
    out->guest_swapped_pages = vm->gswap_used;
    out->guest_swap_in_pages = vm->gswap_in;
    out->guest_swap_out_pages = vm->gswap_out;
    out->major_faults = vm->major_faults;
    out->oom_kills = vm->oom_kills;
    out->wasted_swap_reads = vm->wasted_reads;
    out->double_paging = vm->double_paging;
    out->stalls = vm->stalls;
    out->work_wanted = vm->work_wanted;
    out->work_done = vm->work_done;
    out->work_shed = vm->work_shed;
    out->ideal_ns = vm->ideal_ns;
    out->spent_ns = vm->spent_ns;
    out->host_wait_ns = vm->host_wait_ns;
    out->guest_wait_ns = vm->guest_wait_ns;
    out->phase = vm->phase < vm->n_phases ? (uint32_t)vm->phase : 0;
    out->boots = vm->boots;
}

void sim_vm_stats(const struct sim_vm *vm, struct sim_vm_stats *out)
{
    *out = (struct sim_vm_stats){ 0 };
    fill_host_side(vm, out);
    fill_guest_side(vm, out);
}
