/* SPDX-License-Identifier: BSD-2-Clause */
/* The section vms, and what VMs of a trace have in common. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_parts.h"

static const char *const balloon_words[] = { "yes", "no", "absent", NULL };

#define VM(key, kind, member, min, max)                                        \
    {                                                                          \
        key, kind, offsetof(struct sim_vm_spec, member), min, max, false, NULL \
    }

/* The first TEMPLATE_FIELDS are those that trace VMs have in common. */
static const struct sim_field fields[] = {
    VM("shares", SIM_F_U64, shares, 1, POL_MAX_SHARES),
    VM("reservation", SIM_F_AMOUNT, reservation, 0, SIM_MAX_PAGES),
    VM("limit", SIM_F_AMOUNT_NONE, limit, 1, SIM_MAX_PAGES),
    VM("tax", SIM_F_PERCENT, tax_bp, 0, POL_MAX_TAX_BP),
    VM("group", SIM_F_OTHER, group, 0, 0),
    VM("overhead", SIM_F_PAGES, overhead_pages, 0, SIM_MAX_PAGES),
    { "balloon", SIM_F_WORD, offsetof(struct sim_vm_spec, balloon), 0, 0, false,
      balloon_words },
    VM("swap", SIM_F_BOOL, may_swap, 0, 0),
    VM("block", SIM_F_BOOL, may_block, 0, 0),
    VM("touch_all", SIM_F_BOOL, touch_all, 0, 0),
    VM("guest_stats", SIM_F_BOOL, guest_stats, 0, 0),
    VM("guest_swap", SIM_F_AMOUNT_WIDE, guest_swap, 0, SIM_MAX_PAGES),
    VM("deflate_on_oom", SIM_F_BOOL, deflate_on_oom, 0, 0),
    VM("image", SIM_F_U32, image, 0, SIM_MAX_IMAGE),
    VM("balloon_speed", SIM_F_U64, balloon_speed, 1, SIM_MAX_PAGES),
    VM("image_files", SIM_F_AMOUNT_WIDE, image_files, 0, SIM_MAX_PAGES),
    VM("zero_memory", SIM_F_PERCENT, zero_memory_bp, 0, 10000),
    VM("image_memory", SIM_F_PERCENT, image_memory_bp, 0, 10000),
    VM("balloon_max", SIM_F_AMOUNT, balloon_max, 0, SIM_MAX_PAGES),
    VM("threads", SIM_F_U32, threads, 1, SIM_MAX_THREADS),
    VM("build", SIM_F_TIME, build_ms, 0, 3600000),
    VM("boot", SIM_F_TIME, boot_ms, 0, 3600000),
    VM("shutdown", SIM_F_TIME, shutdown_ms, 0, 3600000),
#define TEMPLATE_FIELDS 23
    { "name", SIM_F_TEXT, offsetof(struct sim_vm_spec, name), 1, SIM_NAME_BYTES,
      true, NULL },
    { "memory", SIM_F_PAGES, offsetof(struct sim_vm_spec, size_pages), 16,
      SIM_MAX_PAGES, true, NULL },
    VM("count", SIM_F_U64, count, 1, 10000),
    VM("pinned", SIM_F_BOOL, pinned, 0, 0),
    VM("start", SIM_F_TIME, start_ms, 0, SIM_MAX_TIME),
    VM("start_every", SIM_F_TIME, start_every_ms, 0, SIM_MAX_TIME),
    VM("stop", SIM_F_TIME, stop_ms, 1, SIM_MAX_TIME),
    VM("workload", SIM_F_OTHER, workload, 0, 0),
};

void sim_vm_spec_init(struct sim_vm_spec *vm)
{
    memset(vm, 0, sizeof(*vm));
    vm->count = 1;
    vm->limit.pages = SIM_NO_LIMIT;
    vm->tax_bp = POL_TAX_DEFAULT;
    vm->stop_ms = SIM_NONE;
    vm->overhead_pages = SIM_NONE;
    vm->may_swap = true;
    vm->may_block = true;
    vm->guest_stats = true;
    vm->guest_swap.relative_bp = 5000;
    vm->balloon_speed = SIM_NONE;
    vm->balloon_max.pages = SIM_NONE;
    vm->image_files.pages = SIM_NONE;
    vm->threads = 1;
    vm->boot_ms = 30000;
    vm->shutdown_ms = 5000;
}

int sim_bounds_check(struct sim_reading *rd, unsigned line, uint64_t size_pages,
                     struct sim_amount reservation, struct sim_amount limit)
{
    uint64_t least = sim_amount_pages(reservation, size_pages, 0);
    uint64_t most = sim_amount_pages(limit, size_pages, SIM_NO_LIMIT);

    if (most == 0) {
        return sim_reading_fail(rd, line, "limit",
                                "comes to 0 pages (accepted: 1 page or "
                                "more)");
    }
    if (least > size_pages) {
        return sim_reading_fail(rd, line, "reservation",
                                "of %" PRIu64 " pages exceeds the memory "
                                "(accepted: 0 to %" PRIu64 " pages)",
                                least, size_pages);
    }
    if (least > most) {
        return sim_reading_fail(rd, line, "reservation",
                                "of %" PRIu64 " pages exceeds the limit "
                                "(accepted: 0 to %" PRIu64 " pages)",
                                least, most);
    }
    return POL_OK;
}

static int read_group(struct sim_reading *rd, const struct sim_node *map,
                      const struct sim_scenario *scenario,
                      struct sim_vm_spec *vm)
{
    const struct sim_node *node = sim_yaml_member(map, "group");
    int rc;

    if (node == NULL) {
        return POL_OK;
    }
    rc = sim_expect_kind(rd, node, SIM_NODE_SCALAR, "group");
    if (rc != POL_OK) {
        return rc;
    }
    vm->group = sim_group_id(scenario, node->text);
    if (vm->group == SIM_NONE) {
        return sim_reading_fail(rd, node->line, "group",
                                "there is no group \"%.48s\"", node->text);
    }
    return POL_OK;
}

int sim_vm_template(struct sim_reading *rd, const struct sim_node *map,
                    const struct sim_scenario *scenario, struct sim_vm_spec *vm)
{
    int rc = sim_fields_read(rd, map, fields, TEMPLATE_FIELDS, vm);

    vm->line = map->line;
    return rc != POL_OK ? rc : read_group(rd, map, scenario, vm);
}

static int check_times(struct sim_reading *rd, const struct sim_node *map,
                       const struct sim_scenario *scenario,
                       const struct sim_vm_spec *vm)
{
    uint64_t last = vm->start_ms + (vm->count - 1) * vm->start_every_ms;

    if (vm->start_every_ms > SIM_MAX_TIME / vm->count ||
        last >= scenario->duration_ms) {
        return sim_reading_fail(rd, map->line, "start",
                                "is not before the end (accepted: less than "
                                "the duration, for every one of them)");
    }
    if (vm->stop_ms != SIM_NONE &&
        (vm->stop_ms <= last || vm->stop_ms > scenario->duration_ms)) {
        return sim_reading_fail(rd, map->line, "stop",
                                "is not between start and the end (accepted: "
                                "after start, up to the duration)");
    }
    return POL_OK;
}

static int read_vm(struct sim_reading *rd, const struct sim_node *map,
                   struct sim_scenario *scenario, struct sim_vm_spec *vm)
{
    const struct sim_node *load;
    int rc = sim_fields_read(rd, map, fields, SIM_COUNT(fields), vm);

    vm->line = map->line;
    if (rc == POL_OK) {
        rc = read_group(rd, map, scenario, vm);
    }
    if (rc == POL_OK) {
        rc = check_times(rd, map, scenario, vm);
    }
    if (rc == POL_OK) {
        rc = sim_bounds_check(rd, map->line, vm->size_pages, vm->reservation,
                              vm->limit);
    }
    load = rc == POL_OK ? sim_yaml_member(map, "workload") : NULL;
    if (load != NULL) {
        rc = sim_workload_read(rd, load, &vm->workload);
        if (rc == POL_OK) {
            rc = sim_workload_check(rd, load->line, &vm->workload,
                                    vm->size_pages);
        }
    }
    return rc;
}

/* Is `name` one of the names "other-1" ... that `vm` will be known by? */
static bool takes_name(const struct sim_vm_spec *vm, const char *name)
{
    size_t n = strlen(vm->name);
    char own[SIM_NAME_BYTES + 24];
    unsigned long i;

    if (vm->count == 1 || strcmp(vm->name, name) == 0) {
        return strcmp(vm->name, name) == 0;
    }
    if (strncmp(vm->name, name, n) != 0 || name[n] != '-') {
        return false;
    }
    i = strtoul(name + n + 1, NULL, 10);
    snprintf(own, sizeof(own), "%s-%lu", vm->name, i);
    return i >= 1 && i <= vm->count && strcmp(own, name) == 0;
}

static int check_names(struct sim_reading *rd,
                       const struct sim_scenario *scenario)
{
    for (size_t i = 0; i < scenario->vms_n; i++) {
        const struct sim_vm_spec *vm = &scenario->vms[i];

        for (size_t j = 0; j < i; j++) {
            const struct sim_vm_spec *other = &scenario->vms[j];

            if (takes_name(other, vm->name) || takes_name(vm, other->name)) {
                sim_reading_enter(rd, "vms", i);
                return sim_reading_fail(rd, vm->line, "name",
                                        "\"%s\" is the name of another VM "
                                        "(line %u)",
                                        vm->name, other->line);
            }
        }
    }
    return POL_OK;
}

int sim_vms_section(struct sim_reading *rd, const struct sim_node *list,
                    struct sim_scenario *scenario)
{
    uint64_t total = 0;
    size_t i = 0;
    int rc;

    sim_reading_enter(rd, "vms", SIZE_MAX);
    rc = sim_expect_kind(rd, list, SIM_NODE_LIST, "");
    if (rc != POL_OK || list->n == 0) {
        return rc;
    }
    if (list->n > SIM_MAX_LIST) {
        return sim_reading_fail(rd, list->line, "",
                                "too many (accepted: up to %u)", SIM_MAX_LIST);
    }
    scenario->vms = calloc(list->n, sizeof(*scenario->vms));
    if (scenario->vms == NULL) {
        return sim_fail_memory(rd->err, rd->file);
    }
    scenario->vms_n = list->n;
    for (const struct sim_node *node = list->first;
         node != NULL && rc == POL_OK; node = node->next) {
        sim_vm_spec_init(&scenario->vms[i]);
        sim_reading_enter(rd, "vms", i);
        rc = read_vm(rd, node, scenario, &scenario->vms[i]);
        total += scenario->vms[i++].count;
    }
    if (rc == POL_OK && total > SIM_MAX_VMS) {
        sim_reading_enter(rd, "vms", SIZE_MAX);
        rc = sim_reading_fail(rd, list->line, "",
                              "%" PRIu64 " in all (accepted: up to %u)", total,
                              SIM_MAX_VMS);
    }
    return rc != POL_OK ? rc : check_names(rd, scenario);
}
