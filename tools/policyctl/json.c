/* SPDX-License-Identifier: BSD-2-Clause */
#include "json.h"

#include <string.h>

#include "policy/version.h"

void json_put(struct json_object *object, const char *key,
              struct json_object *value)
{
    json_object_object_add(object, key, value);
}

void json_put_u64(struct json_object *object, const char *key, uint64_t value)
{
    json_put(
        object, key,
        json_object_new_int64(value > INT64_MAX ? INT64_MAX : (int64_t)value));
}

void json_put_text(struct json_object *object, const char *key,
                   const char *value)
{
    json_put(object, key, value == NULL ? NULL : json_object_new_string(value));
}

struct json_object *json_tenths(double value)
{
    static const char format[] = "%.1f";
    struct json_object *number = json_object_new_double(value);

    json_object_set_serializer(number, json_object_double_to_json_string,
                               (void *)format, NULL);
    return number;
}

static struct json_object *host_json(const struct record *record)
{
    struct json_object *object = json_object_new_object();
    struct sim_run_host host;

    sim_run_host(record->run, &host);
    json_put_text(object, "state", pol_state_name((int)host.policy.state));
    json_put_u64(object, "total_pages", host.total_pages);
    json_put_u64(object, "free_pages", host.free_pages);
    json_put_u64(object, "available_pages", host.policy.available_pages);
    json_put_u64(object, "configured_pages", host.configured_pages);
    json_put_u64(object, "consumed_pages", host.consumed_pages);
    json_put_u64(object, "active_pages", host.active_pages);
    json_put_u64(object, "balloon_pages", host.balloon_pages);
    json_put_u64(object, "swapped_pages", host.swapped_pages);
    json_put_u64(object, "shared_pages", host.shared_pages);
    json_put_u64(object, "swap_used_pages", host.swap_used_pages);
    json_put_u64(object, "high_pages", host.policy.high_pages);
    json_put_u64(object, "clear_pages", host.policy.clear_pages);
    json_put_u64(object, "soft_pages", host.policy.soft_pages);
    json_put_u64(object, "hard_pages", host.policy.hard_pages);
    json_put_u64(object, "low_pages", host.policy.low_pages);
    return object;
}

static struct json_object *states_json(const struct sim_run_totals *totals)
{
    struct json_object *object = json_object_new_object();

    for (int i = 0; i < POL_STATES; i++) {
        json_put_u64(object, pol_state_name(i), totals->state_ms[i]);
    }
    return object;
}

static struct json_object *actions_json(const struct sim_run_totals *totals)
{
    struct json_object *object = json_object_new_object();

    for (int i = 1; i < POL_ACTION_KINDS; i++) {
        json_put_u64(object, pol_action_name(i), totals->actions[i]);
    }
    return object;
}

static struct json_object *totals_json(const struct record *record)
{
    struct json_object *object = json_object_new_object();
    struct sim_run_totals t;

    sim_run_totals(record->run, &t);
    json_put_u64(object, "ticks", t.ticks);
    json_put_u64(object, "unread_ticks", record->unread_ticks);
    json_put_u64(object, "vms_started", t.started);
    json_put_u64(object, "vms_stopped", t.stopped);
    json_put_u64(object, "vms_peak", t.peak_vms);
    json_put_u64(object, "requests_left_out", t.not_asked);
    json_put_u64(object, "refused", t.refused);
    json_put_u64(object, "refused_memory", t.refused_memory);
    json_put_u64(object, "refused_swap", t.refused_swap);
    json_put_u64(object, "refused_group", t.refused_group);
    json_put_u64(object, "oom_kills", t.oom_kills);
    json_put_u64(object, "deaths", t.deaths);
    json_put_u64(object, "swap_in_pages", t.swap_in_pages);
    json_put_u64(object, "swap_out_pages", t.swap_out_pages);
    json_put_u64(object, "guest_swap_in_pages", t.guest_swap_in_pages);
    json_put_u64(object, "guest_swap_out_pages", t.guest_swap_out_pages);
    json_put_u64(object, "balloon_taken_pages", t.moved_down_pages);
    json_put_u64(object, "balloon_returned_pages", t.moved_up_pages);
    json_put_u64(object, "accesses", t.accesses);
    json_put_u64(object, "slowdown_bp", t.slowdown_bp);
    json_put_u64(object, "peak_overcommit_bp", t.peak_overcommit_bp);
    json_put_u64(object, "min_free_pages", t.min_free_pages);
    json_put_u64(object, "failures", t.failures);
    json_put_u64(object, "state_changes", t.state_changes);
    json_put(object, "state_ms", states_json(&t));
    json_put(object, "actions", actions_json(&t));
    return object;
}

/* Absent rather than a huge number: there is no limit, it has not stopped. */
static void put_if(struct json_object *object, const char *key, bool known,
                   uint64_t value)
{
    if (known) {
        json_put_u64(object, key, value);
    } else {
        json_put(object, key, NULL);
    }
}

static void vm_counters(struct json_object *object, const struct sim_run_vm *vm)
{
    json_put_u64(object, "swap_in_pages", vm->swap_in_pages);
    json_put_u64(object, "swap_out_pages", vm->swap_out_pages);
    json_put_u64(object, "guest_swapped_pages", vm->guest_swapped_pages);
    json_put_u64(object, "guest_swap_in_pages", vm->guest_swap_in_pages);
    json_put_u64(object, "guest_swap_out_pages", vm->guest_swap_out_pages);
    json_put_u64(object, "accesses", vm->accesses);
    json_put_u64(object, "accesses_wanted", vm->accesses_wanted);
    json_put_u64(object, "stall_ms", vm->stall_ms);
    json_put_u64(object, "slowdown_bp", vm->slowdown_bp);
    json_put_u64(object, "oom_kills", vm->oom_kills);
}

static struct json_object *vm_json(const struct record *record,
                                   const struct sim_run_vm *vm)
{
    const struct record_vm *kept = &record->vms[vm->vm - 1];
    const struct pol_vm_params *params = &kept->params;
    bool stopped = vm->stop_ms != SIM_NONE;
    uint64_t end = stopped ? vm->stop_ms : sim_run_now_ms(record->run);
    double life = (double)(end - vm->start_ms);
    struct json_object *object = json_object_new_object();

    json_put_u64(object, "id", vm->vm);
    json_put_text(object, "name", vm->name);
    json_put_text(object, "group", sim_run_group_name(record->run, vm->group));
    json_put_u64(object, "start_ms", vm->start_ms);
    put_if(object, "stop_ms", stopped, vm->stop_ms);
    json_put_text(object, "lifecycle", pol_lifecycle_name(vm->lifecycle));
    json_put_u64(object, "size_pages", vm->size_pages);
    json_put_u64(object, "shares", params->shares);
    json_put_u64(object, "reservation_pages", params->reservation_pages);
    put_if(object, "limit_pages", params->limit_pages != POL_NO_LIMIT,
           params->limit_pages);
    json_put_u64(object, "target_pages", vm->target_pages);
    json_put_u64(object, "consumed_pages", vm->consumed_pages);
    json_put_u64(object, "mean_consumed_pages",
                 life > 0 ? (uint64_t)(kept->consumed_sum / life) : 0);
    json_put_u64(object, "active_pages", vm->active_pages);
    json_put_u64(object, "estimate_pages", vm->estimate_pages);
    json_put_u64(object, "granted_pages", vm->granted_pages);
    json_put_u64(object, "shared_pages", vm->shared_pages);
    json_put_u64(object, "overhead_pages", vm->overhead_pages);
    json_put_u64(object, "balloon_pages", vm->balloon_pages);
    json_put_u64(object, "swapped_pages", vm->swapped_pages);
    vm_counters(object, vm);
    json_put_text(object, "reason", pol_reason_name((int)vm->reason));
    return object;
}

struct json_object *json_run(const struct record *record)
{
    const struct sim_scenario *scenario = sim_run_scenario(record->run);
    struct json_object *object = json_object_new_object();
    struct json_object *vms = json_object_new_array();
    struct sim_run_vm vm;

    json_put_text(object, "schema", "policyctl.simulate/1");
    json_put_text(object, "version", POL_VERSION_STRING);
    json_put_text(object, "scenario", scenario->name);
    json_put_text(object, "file", scenario->file);
    json_put_u64(object, "seed", scenario->seed);
    json_put_u64(object, "page_bytes", scenario->host.page_bytes);
    json_put_u64(object, "tick_ms", scenario->tick_ms);
    json_put_u64(object, "duration_ms", sim_run_now_ms(record->run));
    json_put_u64(object, "idle_tax_bp", scenario->config.idle_tax_bp);
    json_put(object, "host", host_json(record));
    json_put(object, "totals", totals_json(record));
    for (size_t i = 0; i < record->vms_n; i++) {
        if (sim_run_vm(record->run, i + 1, &vm) == POL_OK) {
            json_object_array_add(vms, vm_json(record, &vm));
        }
    }
    json_put(object, "vms", vms);
    return object;
}
