/* SPDX-License-Identifier: BSD-2-Clause */
#include "report.h"

#include <stdlib.h>

#include "text.h"

/* Buckets of the axis that are in use. */
static uint32_t bucket_count(const struct record *record)
{
    return record->host.first + record->host.count;
}

static double mib(const struct record *record, double pages)
{
    return pages * sim_run_scenario(record->run)->host.page_bytes / 1048576.0;
}

static struct json_object *mib_json(const struct record *record, double pages)
{
    return json_tenths(mib(record, pages));
}

static struct json_object *seconds(uint64_t ms)
{
    return json_tenths((double)ms / 1000.0);
}

/* A field's mean per bucket of the axis; where there is nothing: 0 or null. */
static struct json_object *means(const struct record *record,
                                 const struct series *series, uint32_t field,
                                 bool zero)
{
    struct json_object *list = json_object_new_array();

    for (uint32_t i = 0; i < bucket_count(record); i++) {
        double mean;

        if (series_mean(series, i, field, &mean)) {
            json_object_array_add(list, mib_json(record, mean));
        } else {
            json_object_array_add(list, zero ? json_object_new_int(0) : NULL);
        }
    }
    return list;
}

/* A field's extremes from the series' first bucket on: two numbers a bucket
 * on a coarse axis, else one. */
static struct json_object *extremes(const struct record *record,
                                    const struct series *series, uint32_t field)
{
    bool coarse = series_axis_coarse(&record->axis);
    struct json_object *list = json_object_new_array();

    for (uint32_t i = 0; i < series->count; i++) {
        double pair[2];
        bool known = series_extremes(series, series->first + i, field, pair);

        json_object_array_add(list, known ? mib_json(record, pair[0]) : NULL);
        if (coarse) {
            json_object_array_add(list,
                                  known ? mib_json(record, pair[1]) : NULL);
        }
    }
    return list;
}

static struct json_object *axis_json(const struct record *record)
{
    struct json_object *object = json_object_new_object();

    json_put(object, "width", seconds(record->axis.width_ms));
    json_put_u64(object, "buckets", bucket_count(record));
    json_put_u64(object, "points", series_axis_coarse(&record->axis) ? 2 : 1);
    json_put(object, "end", seconds(sim_run_now_ms(record->run)));
    return object;
}

/* The worst state in each bucket. */
static struct json_object *states_json(const struct record *record)
{
    struct json_object *list = json_object_new_array();

    for (uint32_t i = 0; i < bucket_count(record); i++) {
        double pair[2] = { 0, 0 };
        double worst;

        if (!series_extremes(&record->host, i, HOST_STATE, pair)) {
            json_object_array_add(list, NULL);
            continue;
        }
        worst = pair[0] > pair[1] ? pair[0] : pair[1];
        json_object_array_add(list, json_object_new_int((int)worst));
    }
    return list;
}

static struct json_object *host_json(const struct record *record)
{
    const struct pol_config *config = &sim_run_scenario(record->run)->config;
    struct json_object *object = json_object_new_object();
    struct sim_run_host host;

    sim_run_host(record->run, &host);
    json_put(object, "total", mib_json(record, (double)host.total_pages));
    json_put(object, "high", mib_json(record, (double)host.policy.high_pages));
    if (config->thresholds.clear_bp != config->thresholds.soft_bp) {
        json_put(object, "clear",
                 mib_json(record, (double)host.policy.clear_pages));
    }
    json_put(object, "soft", mib_json(record, (double)host.policy.soft_pages));
    json_put(object, "hard", mib_json(record, (double)host.policy.hard_pages));
    json_put(object, "low", mib_json(record, (double)host.policy.low_pages));
    json_put(object, "states", states_json(record));
    json_put(object, "free", extremes(record, &record->host, HOST_FREE));
    json_put(object, "freeMean",
             means(record, &record->host, HOST_FREE, false));
    json_put(object, "consumed",
             means(record, &record->host, HOST_CONSUMED, false));
    return object;
}

static struct json_object *layer_json(const struct record *record, uint64_t vm)
{
    struct json_object *object = json_object_new_object();

    json_put_text(object, "name", sim_run_vm_name(record->run, vm));
    json_put(object, "mean",
             means(record, &record->vms[vm - 1].series, VM_CONSUMED, true));
    return object;
}

static struct json_object *layers_json(const struct record *record,
                                       const uint64_t *by_rank)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < record->vms_n && i < REPORT_LAYERS; i++) {
        json_object_array_add(list, layer_json(record, by_rank[i]));
    }
    return list;
}

static struct json_object *vm_json(const struct record *record,
                                   const struct sim_run_vm *vm)
{
    static const char *const names[VM_FIELDS] = {
        [VM_TARGET] = "target", [VM_CONSUMED] = "consumed",
        [VM_ACTIVE] = "active", [VM_ESTIMATE] = "estimate",
        [VM_ACTUAL] = "actual", [VM_SWAPPED] = "swapped",
    };
    const struct record_vm *kept = &record->vms[vm->vm - 1];
    struct json_object *object = json_object_new_object();
    char shares[TEXT_MAX];

    json_put_u64(object, "id", vm->vm);
    json_put_text(object, "name", vm->name);
    json_put(object, "size", mib_json(record, (double)vm->size_pages));
    json_put(object, "reservation",
             mib_json(record, (double)kept->params.reservation_pages));
    if (kept->params.limit_pages < vm->size_pages) {
        json_put(object, "limit",
                 mib_json(record, (double)kept->params.limit_pages));
    }
    json_put_text(object, "shares", text_count(shares, kept->params.shares));
    json_put_u64(object, "decisions", kept->decisions);
    json_put_u64(object, "first", kept->series.first);
    for (uint32_t field = 0; field < VM_FIELDS; field++) {
        json_put(object, names[field], extremes(record, &kept->series, field));
    }
    return object;
}

static struct json_object *vms_json(const struct record *record,
                                    const uint64_t *by_rank)
{
    struct json_object *list = json_object_new_array();
    struct sim_run_vm vm;

    for (size_t i = 0; i < record->vms_n && i < REPORT_DETAILS; i++) {
        if (sim_run_vm(record->run, by_rank[i], &vm) == POL_OK) {
            json_object_array_add(list, vm_json(record, &vm));
        }
    }
    return list;
}

/* One decision as a list, since names of members would be most of the file:
 * time, VM's id, VM's name, kind, reason, amount, by how much, failed, why. */
static struct json_object *decision_json(const struct record *record,
                                         const struct decision *decision)
{
    const struct pol_action *action = &decision->action;
    const char *name =
        action->vm == 0 ? NULL : sim_run_vm_name(record->run, action->vm);
    struct json_object *list = json_object_new_array();
    bool amount =
        action->kind == POL_ACT_BALLOON || action->kind == POL_ACT_SWAP_OUT ||
        action->kind == POL_ACT_SWAP_IN || action->kind == POL_ACT_HARD_CAP;
    struct json_object *const members[] = {
        seconds(decision->now_ms),
        json_object_new_int64((int64_t)action->vm),
        json_object_new_string(name == NULL ? "host" : name),
        json_object_new_string(pol_action_name((int)action->kind)),
        json_object_new_string(pol_reason_text((int)action->reason)),
        amount ? mib_json(record, (double)action->pages) : NULL,
        mib_json(record, decision->shrinks ? -(double)decision->moved_pages
                                           : (double)decision->moved_pages),
        json_object_new_int(decision->error != POL_OK),
        json_object_new_string(decision->text),
    };

    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        json_object_array_add(list, members[i]);
    }
    return list;
}

static struct json_object *decisions_json(const struct record *record)
{
    struct json_object *object = json_object_new_object();
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < record->decisions.count; i++) {
        json_object_array_add(
            list, decision_json(record, &record->decisions.list[i]));
    }
    json_put_u64(object, "seen", record->decisions.seen);
    json_put(object, "list", list);
    return object;
}

static struct json_object *marks_json(const struct record *record)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < record->marks_n; i++) {
        struct json_object *mark = json_object_new_array();

        json_object_array_add(mark, seconds(record->marks[i].now_ms));
        json_object_array_add(mark,
                              json_object_new_string(record->marks[i].text));
        json_object_array_add(list, mark);
    }
    return list;
}

struct json_object *report_data(const struct record *record,
                                const uint64_t *by_rank)
{
    struct json_object *object = json_object_new_object();

    json_put_text(object, "schema", "policyctl.report/1");
    json_put(object, "axis", axis_json(record));
    json_put(object, "host", host_json(record));
    json_put(object, "layers", layers_json(record, by_rank));
    json_put_u64(object, "vmCount", record->vms_n);
    json_put(object, "vms", vms_json(record, by_rank));
    json_put(object, "decisions", decisions_json(record));
    json_put(object, "marks", marks_json(record));
    return object;
}
