/* SPDX-License-Identifier: BSD-2-Clause */
#include "engine_int.h"

void sim_host_stats(const struct sim_host *host, struct sim_host_stats *out)
{
    size_t i;

    *out = (struct sim_host_stats){
        .now_ms = host->now_ms,
        .total_pages = host->cfg.total_pages - host->lost,
        .reserved_pages = host->cfg.reserved_pages,
        .free_pages = host->free_n,
        .lost_pages = host->lost,
        .overhead_pages = host->overhead,
        .swap_total_pages = host->cfg.swap_pages,
        .swap_free_pages = host->cfg.swap_pages - host->swap_used,
        .swap_in_pages = host->swap_in,
        .swap_out_pages = host->swap_out,
        .emergency_swaps = host->emergency_swaps,
        .stalls = host->stalls,
        .cow_breaks = host->cow_breaks,
        .pages_merged = host->merged,
        .pages_scanned = host->scanned,
        .share_scan_ns = host->scan_ns,
        .accesses = host->accesses,
        .disk_busy_ns = host->disk_ns,
        .vms = (uint32_t)host->vms_n,
    };
    out->used_pages = out->total_pages - out->reserved_pages - out->free_pages -
                      out->overhead_pages;
    out->shared_frames = host->zero_refs != 0;
    for (i = 1; i <= SIM_MAX_IMAGE; i++) {
        out->shared_frames += host->image[i].frames;
    }
    for (i = 0; i < host->vms_n; i++) {
        const struct sim_vm *vm = host->vms[i];

        out->shared_pages += vm->zero_refs + vm->image_refs;
        out->granted_pages += vm->private_pages;
    }
    out->granted_pages += out->shared_pages;
}

static void mix(uint64_t *h, uint64_t value)
{
    *h = (*h ^ value) * UINT64_C(0x100000001b3);
    *h ^= *h >> 29;
}

static void mix_vm(uint64_t *h, const struct sim_vm *vm)
{
    struct sim_vm_stats s;
    int i;

    sim_vm_stats(vm, &s);
    const uint64_t field[] = { vm->cfg.id,
                               s.shared_pages,
                               s.consumed_pages,
                               s.granted_pages,
                               s.overhead_pages,
                               s.balloon_pages,
                               s.swapped_pages,
                               s.swap_in_pages,
                               s.swap_out_pages,
                               s.balloon_target_pages,
                               s.hard_cap_pages,
                               s.run_ms,
                               s.lifecycle,
                               s.driver,
                               s.blocked,
                               s.guest.valid,
                               s.guest.at_ms,
                               s.guest.stall_bp,
                               s.guest.free_pages,
                               s.guest.available_pages,
                               s.true_active_pages,
                               s.guest_free_pages,
                               s.guest_cache_pages,
                               s.guest_dirty_pages,
                               s.guest_anon_pages,
                               s.guest_swapped_pages,
                               s.guest_swap_in_pages,
                               s.guest_swap_out_pages,
                               s.major_faults,
                               s.oom_kills,
                               s.wasted_swap_reads,
                               s.double_paging,
                               s.stalls,
                               s.work_wanted,
                               s.work_done,
                               s.work_shed,
                               s.ideal_ns,
                               s.spent_ns,
                               s.host_wait_ns,
                               s.guest_wait_ns,
                               s.phase,
                               s.boots,
                               vm->sample_hits };
    for (i = 0; i < (int)(sizeof(field) / sizeof(field[0])); i++) {
        mix(h, field[i]);
    }
    for (i = 0; i < 4; i++) {
        mix(h, vm->rng.s[i]);
    }
}

uint64_t sim_host_digest(const struct sim_host *host)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    struct sim_host_stats s;
    size_t i;

    sim_host_stats(host, &s);
    const uint64_t field[] = {
        s.now_ms,         s.total_pages,     s.free_pages,
        s.used_pages,     s.granted_pages,   s.shared_pages,
        s.shared_frames,  s.swap_free_pages, s.swap_in_pages,
        s.swap_out_pages, s.emergency_swaps, s.stalls,
        s.cow_breaks,     s.pages_merged,    s.pages_scanned,
        s.accesses,       s.disk_busy_ns,    s.vms
    };
    for (i = 0; i < sizeof(field) / sizeof(field[0]); i++) {
        mix(&h, field[i]);
    }
    for (i = 0; i < host->vms_n; i++) {
        mix_vm(&h, host->vms[i]);
    }
    return h;
}
