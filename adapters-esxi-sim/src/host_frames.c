/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Host frames. A frame in use holds its number of references; any other is in
 * exactly one chain (free, reserved, lost, a VM's overhead) or was never used.
 */
#include "engine_int.h"

uint32_t simx_host_frame_get(struct sim_host *host)
{
    uint32_t frame = host->free_head;

    if (host->free_n == 0) {
        return FRAME_NONE;
    }
    host->free_n--;
    if (frame != FRAME_NONE) {
        host->free_head = host->frame[frame];
    } else {
        frame = host->frame_fresh++;
    }
    host->frame[frame] = 1;
    return frame;
}

void simx_host_frame_put(struct sim_host *host, uint32_t frame)
{
    if (host->lost < host->lost_target) {
        host->frame[frame] = host->lost_head;
        host->lost_head = frame;
        host->lost++;
        return;
    }
    host->frame[frame] = host->free_head;
    host->free_head = frame;
    host->free_n++;
}

bool simx_host_chain_take(struct sim_host *host, uint32_t *head, uint64_t n)
{
    if (n > host->free_n) {
        return false;
    }
    while (n-- > 0) {
        uint32_t frame = simx_host_frame_get(host);

        host->frame[frame] = *head;
        *head = frame;
    }
    return true;
}

void simx_host_chain_give(struct sim_host *host, uint32_t *head, uint64_t n)
{
    while (n-- > 0 && *head != FRAME_NONE) {
        uint32_t frame = *head;

        *head = host->frame[frame];
        simx_host_frame_put(host, frame);
    }
}

void simx_host_collect_lost(struct sim_host *host)
{
    if (host->lost > host->lost_target) {
        uint64_t back = host->lost - host->lost_target;

        host->lost = host->lost_target;
        simx_host_chain_give(host, &host->lost_head, back);
    } else {
        uint64_t want = host->lost_target - host->lost;
        uint64_t take = want < host->free_n ? want : host->free_n;

        if (simx_host_chain_take(host, &host->lost_head, take)) {
            host->lost += take;
        }
    }
}
