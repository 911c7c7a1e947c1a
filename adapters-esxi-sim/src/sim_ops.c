/* SPDX-License-Identifier: BSD-2-Clause */
#include "sim_ops.h"

#include <stdlib.h>
#include <string.h>

#define ID_MAX (UINT64_C(1) << 24)

void sim_adapter_init(struct sim_adapter *adapter, struct sim_host *engine)
{
    memset(adapter, 0, sizeof(*adapter));
    adapter->engine = engine;
    adapter->sharing = true;
}

void sim_adapter_clean_up(struct sim_adapter *adapter)
{
    free(adapter->slots);
    adapter->slots = NULL;
    adapter->slots_n = 0;
}

static int grow(struct sim_adapter *adapter, size_t wanted)
{
    size_t n = adapter->slots_n == 0 ? 64 : adapter->slots_n;
    struct sim_slot *slots;

    while (n < wanted) {
        n *= 2;
    }
    slots = realloc(adapter->slots, n * sizeof(*slots));
    if (slots == NULL) {
        return POL_ERR_NOMEM;
    }
    memset(slots + adapter->slots_n, 0,
           (n - adapter->slots_n) * sizeof(*slots));
    adapter->slots = slots;
    adapter->slots_n = n;
    return POL_OK;
}

int sim_adapter_add(struct sim_adapter *adapter, struct sim_vm *vm,
                    const struct pol_vm_params *params, struct sim_slot **out)
{
    uint64_t id = sim_vm_id(vm);
    struct sim_slot *slot;

    if (id >= ID_MAX) {
        return POL_ERR_RANGE;
    }
    if (id >= adapter->slots_n) {
        int rc = grow(adapter, (size_t)id + 1);

        if (rc != POL_OK) {
            return rc;
        }
    }
    slot = &adapter->slots[id];
    if (slot->vm != NULL) {
        return POL_ERR_EXISTS;
    }
    memset(slot, 0, sizeof(*slot));
    slot->vm = vm;
    slot->params = *params;
    slot->guest_stats = true;
    *out = slot;
    return POL_OK;
}

struct sim_slot *sim_adapter_slot(struct sim_adapter *adapter, uint64_t vm)
{
    if (vm >= adapter->slots_n || adapter->slots[vm].vm == NULL) {
        return NULL;
    }
    return &adapter->slots[vm];
}

void sim_adapter_remove(struct sim_adapter *adapter, uint64_t vm)
{
    struct sim_slot *slot = sim_adapter_slot(adapter, vm);

    if (slot != NULL) {
        slot->vm = NULL;
    }
}

/* The engine's VM of this id, or NULL. */
static struct sim_vm *vm_of(void *host, uint64_t vm)
{
    struct sim_slot *slot = sim_adapter_slot(host, vm);

    return slot == NULL ? NULL : slot->vm;
}

uint8_t sim_lifecycle_of(const struct sim_vm_stats *stats, bool pinned)
{
    switch (stats->lifecycle) {
    case SIM_LIFE_BUILDING:
        return POL_LIFE_BUILDING;
    case SIM_LIFE_PAUSED:
        return POL_LIFE_PAUSED;
    case SIM_LIFE_REBOOTING:
        return POL_LIFE_REBOOTING;
    case SIM_LIFE_SHUTTING_DOWN:
    case SIM_LIFE_DEAD:
        return POL_LIFE_SHUTTING_DOWN;
    default:
        return pinned ? POL_LIFE_PINNED : POL_LIFE_RUNNING;
    }
}

/* A stuck driver looks like one that works: that is the point of it. */
uint8_t sim_driver_of(const struct sim_vm_stats *stats)
{
    switch (stats->driver) {
    case SIM_DRIVER_ABSENT:
        return POL_DRIVER_ABSENT;
    case SIM_DRIVER_BOOTING:
        return POL_DRIVER_BOOTING;
    default:
        return POL_DRIVER_PRESENT;
    }
}

static int op_read_host(void *host, struct pol_host_obs *obs)
{
    struct sim_adapter *adapter = host;
    struct sim_host_stats stats;

    if (adapter->unreadable) {
        return POL_ERR_HOST;
    }
    sim_host_stats(adapter->engine, &stats);
    obs->now_ms = stats.now_ms;
    obs->total_pages = stats.total_pages;
    obs->free_pages = stats.free_pages;
    obs->swap_total_pages = stats.swap_total_pages;
    obs->swap_free_pages = stats.swap_free_pages;
    if (!adapter->sharing) {
        obs->caps &= ~(uint32_t)POL_CAP_SHARE;
    }
    return POL_OK;
}

/* The cursor is the engine's, widened. */
static int op_next_vm(void *host, uint64_t *cursor, uint64_t *vm,
                      struct pol_vm_params *params)
{
    struct sim_adapter *adapter = host;
    size_t place = (size_t)*cursor;

    for (;;) {
        struct sim_vm *next = sim_host_next_vm(adapter->engine, &place);
        struct sim_slot *slot;

        *cursor = place;
        if (next == NULL) {
            return POL_ERR_NOTFOUND;
        }
        slot = sim_adapter_slot(adapter, sim_vm_id(next));
        if (slot != NULL) {
            *vm = sim_vm_id(next);
            *params = slot->params;
            return POL_OK;
        }
    }
}

static void read_guest(const struct sim_vm_stats *stats, uint64_t now_ms,
                       struct pol_vm_obs *obs)
{
    const struct sim_guest_report *guest = &stats->guest;
    uint64_t age = now_ms > guest->at_ms ? now_ms - guest->at_ms : 0;

    obs->guest_age_ms = age < UINT32_MAX ? (uint32_t)age : UINT32_MAX;
    if ((guest->valid & SIM_REP_MEMORY) != 0) {
        obs->valid |=
            POL_OBS_GUEST_FREE | POL_OBS_GUEST_AVAILABLE | POL_OBS_GUEST_TOTAL;
        obs->guest_free_pages = guest->free_pages;
        obs->guest_available_pages = guest->available_pages;
        obs->guest_total_pages = guest->total_pages;
    }
    if ((guest->valid & SIM_REP_COUNTERS) != 0) {
        obs->valid |= POL_OBS_GUEST_SWAP_IN | POL_OBS_GUEST_FAULTS;
        obs->guest_swap_in_pages = guest->swap_in_pages;
        obs->guest_faults = guest->major_faults;
    }
    if ((guest->valid & SIM_REP_STALL) != 0) {
        obs->valid |= POL_OBS_GUEST_STALL;
        obs->guest_stall_bp = guest->stall_bp;
    }
}

static int op_read_vm(void *host, uint64_t vm, struct pol_vm_obs *obs)
{
    struct sim_adapter *adapter = host;
    struct sim_slot *slot = sim_adapter_slot(adapter, vm);
    struct sim_vm_stats stats;

    if (slot == NULL) {
        return POL_ERR_NOTFOUND;
    }
    if (slot->unreadable) {
        return POL_ERR_HOST;
    }
    sim_vm_stats(slot->vm, &stats);
    if (stats.lifecycle == SIM_LIFE_DEAD) {
        return POL_ERR_NOTFOUND;
    }
    obs->lifecycle = sim_lifecycle_of(&stats, slot->pinned);
    obs->driver = sim_driver_of(&stats);
    obs->blocked = stats.blocked;
    obs->valid = POL_OBS_CONSUMED | POL_OBS_GRANTED | POL_OBS_ACTUAL |
                 POL_OBS_SWAPPED | POL_OBS_OVERHEAD;
    obs->consumed_pages = stats.consumed_pages;
    obs->granted_pages = stats.granted_pages;
    obs->actual_pages = stats.size_pages - stats.balloon_pages;
    obs->swapped_pages = stats.swapped_pages;
    obs->overhead_pages = stats.overhead_pages;
    if (obs->driver == POL_DRIVER_PRESENT) {
        obs->valid |= POL_OBS_TARGET;
        obs->target_seen_pages = stats.size_pages - stats.balloon_target_pages;
    }
    if (slot->guest_stats) {
        read_guest(&stats, sim_host_now_ms(adapter->engine), obs);
    }
    return POL_OK;
}

static int op_set_balloon(void *host, uint64_t vm, uint64_t actual_pages,
                          uint64_t *done)
{
    struct sim_vm *target = vm_of(host, vm);
    uint64_t size;
    uint64_t on_record = 0;
    int rc;

    if (target == NULL) {
        return POL_ERR_NOTFOUND;
    }
    size = sim_vm_config_get(target)->size_pages;
    rc = sim_vm_set_balloon(
        target, actual_pages < size ? size - actual_pages : 0, &on_record);
    *done = size - on_record;
    return rc;
}

static int op_swap_out(void *host, uint64_t vm, uint64_t pages, uint64_t *done)
{
    struct sim_vm *target = vm_of(host, vm);

    *done = 0;
    return target == NULL ? POL_ERR_NOTFOUND
                          : sim_vm_swap_out(target, pages, done);
}

static int op_swap_in(void *host, uint64_t vm, uint64_t pages, uint64_t *done)
{
    struct sim_vm *target = vm_of(host, vm);

    *done = 0;
    return target == NULL ? POL_ERR_NOTFOUND
                          : sim_vm_swap_in(target, pages, done);
}

static int op_set_blocked(void *host, uint64_t vm, int blocked)
{
    struct sim_vm *target = vm_of(host, vm);

    return target == NULL ? POL_ERR_NOTFOUND
                          : sim_vm_set_blocked(target, blocked != 0);
}

static int op_set_share_rate(void *host, uint64_t pages_per_s)
{
    struct sim_adapter *adapter = host;
    uint64_t most = SIM_MAX_RATE;

    return sim_host_set_share_rate(adapter->engine,
                                   pages_per_s < most ? pages_per_s : most);
}

static int op_set_hard_cap(void *host, uint64_t vm, uint64_t pages)
{
    struct sim_vm *target = vm_of(host, vm);
    struct sim_vm_stats stats;

    if (target == NULL) {
        return POL_ERR_NOTFOUND;
    }
    /* The library's figure includes the overhead, the engine's does not. */
    sim_vm_stats(target, &stats);
    return sim_vm_set_hard_cap(target, pages > stats.overhead_pages
                                           ? pages - stats.overhead_pages
                                           : 0);
}

static int op_sample_begin(void *host, uint64_t vm, const uint64_t *pages,
                           size_t n)
{
    struct sim_vm *target = vm_of(host, vm);

    return target == NULL ? POL_ERR_NOTFOUND
                          : sim_vm_sample_begin(target, pages, n);
}

static int op_sample_read(void *host, uint64_t vm, uint32_t *touched,
                          uint64_t *vm_time_ms)
{
    struct sim_vm *target = vm_of(host, vm);
    struct sim_vm_stats stats;

    if (target == NULL) {
        return POL_ERR_NOTFOUND;
    }
    sim_vm_stats(target, &stats);
    *touched = sim_vm_sample_count(target);
    *vm_time_ms = stats.run_ms;
    return POL_OK;
}

static void op_on_action(void *host, const struct pol_action *action,
                         uint64_t done_pages, int error)
{
    struct sim_adapter *adapter = host;

    if (adapter->listener != NULL) {
        adapter->listener(adapter->user, action, done_pages, error);
    }
}

const struct pol_host_ops sim_host_ops = {
    .size = sizeof(struct pol_host_ops),
    .name = "esxi-sim",
    .read_host = op_read_host,
    .next_vm = op_next_vm,
    .read_vm = op_read_vm,
    .set_balloon = op_set_balloon,
    .swap_out = op_swap_out,
    .swap_in = op_swap_in,
    .set_blocked = op_set_blocked,
    .set_share_rate = op_set_share_rate,
    .set_hard_cap = op_set_hard_cap,
    .sample_begin = op_sample_begin,
    .sample_read = op_sample_read,
    .on_action = op_on_action,
};
