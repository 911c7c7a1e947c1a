/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What things take, for this page size, disk and load. See struct sim_costs.
 *
 * Contention is a feedback: when the requests of a slice would have kept the
 * disk busy for longer than the slice, latencies go up by a damped factor, so
 * that they settle where demand fits; likewise for the host's processors.
 */
#include "engine_int.h"

#define ONE_BP       10000u
#define QUEUE_MAX_BP (1000u * ONE_BP)
#define CPU_MIN_BP   100u

void sim_costs_init(struct sim_costs *costs)
{
    *costs = (struct sim_costs){
        .cpu_ns = 1000,
        .fault_ns = 2000,
        .zero_ns_per_kib = 100,
        .copy_ns_per_kib = 200,
        .disk_seek_ns = 4000000,
        .disk_ns_per_kib = 10000,
        .readahead_kib = 128,
        .swap_readahead_kib = 32,
        .write_cluster_kib = 256,
        .disk_parallel = 4,
        .share_scan_ns = 4000,
        .share_merge_ns = 6000,
    };
}

/* A seek for every `every_kib`, but at most one per page. */
static uint64_t seek_part(const struct sim_host *host, uint32_t every_kib)
{
    uint64_t seek = host->cfg.costs.disk_seek_ns;

    if (every_kib <= host->cfg.page_kib) {
        return seek;
    }
    return seek * host->cfg.page_kib / every_kib;
}

static uint64_t scale(uint64_t ns, uint64_t a_bp, uint64_t b_bp)
{
    return ns * a_bp / ONE_BP * b_bp / ONE_BP;
}

void simx_host_cost_derive(struct sim_host *host)
{
    const struct sim_costs *c = &host->cfg.costs;
    struct sim_derived *b = &host->base;
    uint64_t move = (uint64_t)c->disk_ns_per_kib * host->cfg.page_kib;
    uint64_t slow = host->slow_disk_bp;
    uint64_t queue = host->queue_bp;

    b->zero_ns = (uint64_t)c->zero_ns_per_kib * host->cfg.page_kib;
    b->copy_ns = (uint64_t)c->copy_ns_per_kib * host->cfg.page_kib;
    b->read_rand_ns = scale(c->disk_seek_ns + move, slow, ONE_BP);
    b->read_seq_ns =
        scale(seek_part(host, c->readahead_kib) + move, slow, ONE_BP);
    b->swap_seq_ns =
        scale(seek_part(host, c->swap_readahead_kib) + move, slow, ONE_BP);
    b->write_ns =
        scale(seek_part(host, c->write_cluster_kib) + move, slow, ONE_BP);
    b->write_rand_ns = b->read_rand_ns;

    host->cost = *b;
    host->cost.read_rand_ns = scale(b->read_rand_ns, queue, ONE_BP);
    host->cost.read_seq_ns = scale(b->read_seq_ns, queue, ONE_BP);
    host->cost.swap_seq_ns = scale(b->swap_seq_ns, queue, ONE_BP);
    host->cost.write_ns = scale(b->write_ns, queue, ONE_BP);
    host->cost.write_rand_ns = scale(b->write_rand_ns, queue, ONE_BP);
}

/* factor * (3 + busy/capacity) / 4, kept within [low, high]. */
static uint64_t damped(uint64_t factor, uint64_t num, uint64_t den,
                       uint64_t low, uint64_t high)
{
    unsigned __int128 wide;

    if (den == 0) {
        return high;
    }
    wide = (unsigned __int128)factor * num / den;
    if (wide > high * 4) {
        wide = high * 4;
    }
    factor = (factor * 3 + (uint64_t)wide) / 4;
    return factor < low ? low : factor > high ? high : factor;
}

void simx_host_cost_end_of_slice(struct sim_host *host, uint64_t ms)
{
    uint64_t ns = ms * 1000000;
    uint64_t disk = ns * host->cfg.costs.disk_parallel;
    uint64_t cpu = ns * host->cfg.host_cpus;
    uint64_t queue =
        damped(host->queue_bp, host->slice_disk_ns, disk, ONE_BP, QUEUE_MAX_BP);

    host->cpu_bp =
        damped(host->cpu_bp, cpu, host->slice_cpu_ns, CPU_MIN_BP, ONE_BP);
    if (queue != host->queue_bp) {
        host->queue_bp = queue;
        simx_host_cost_derive(host);
    }
    host->slice_disk_ns = 0;
    host->slice_cpu_ns = 0;
}
