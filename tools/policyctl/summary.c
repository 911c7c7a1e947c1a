/* SPDX-License-Identifier: BSD-2-Clause */
#include "summary.h"

#include <stdlib.h>

#include "text.h"

static const char *const figure_headers[] = { "figure", "value" };
static const char *const vm_headers[] = {
    "id",       "VM",     "size",    "shares",  "reserved", "target",
    "consumed", "active", "balloon", "swapped", "slowdown", "why",
};
#define VM_COLUMNS 12
#define VM_LEFT    (1u << 1 | 1u << 11)
static const char *const size_headers[] = {
    "size",    "VMs",     "running",     "mean held", "consumed",
    "balloon", "swapped", "swapped out", "OOM kills", "slowdown",
};
#define SIZE_COLUMNS 10

static uint32_t page_bytes(const struct record *record)
{
    return sim_run_scenario(record->run)->host.page_bytes;
}

static const char *pages(const struct record *record, char buf[TEXT_MAX],
                         uint64_t amount)
{
    return text_pages(buf, amount, page_bytes(record));
}

/* Part of a whole in basis points, rounded. */
static uint64_t part_bp(uint64_t part, uint64_t whole)
{
    return whole == 0
               ? 0
               : (uint64_t)((double)part * 10000.0 / (double)whole + 0.5);
}

static void states_rows(struct table *table, const struct record *record,
                        const struct sim_run_totals *totals)
{
    uint64_t all = 0;
    char a[TEXT_MAX];
    char b[TEXT_MAX];

    (void)record;
    for (int i = 0; i < POL_STATES; i++) {
        all += totals->state_ms[i];
    }
    for (int i = 0; i < POL_STATES; i++) {
        if (i == POL_STATE_CLEAR && totals->state_ms[i] == 0) {
            continue; /* most presets do not have it */
        }
        table_cell(table, "time in state %s", pol_state_name(i));
        table_cell(table, "%s (%s)", text_span(a, totals->state_ms[i]),
                   text_bp(b, part_bp(totals->state_ms[i], all)));
    }
    table_cell(table, "changes of state");
    table_cell(table, "%s", text_count(a, totals->state_changes));
}

static void memory_rows(struct table *table, const struct record *record,
                        const struct sim_run_totals *totals)
{
    struct sim_run_host host;
    char a[TEXT_MAX];
    char b[TEXT_MAX];

    sim_run_host(record->run, &host);
    table_cell(table, "host memory");
    table_cell(table, "%s, now %s free", pages(record, a, host.total_pages),
               pages(record, b, host.free_pages));
    table_cell(table, "lowest free memory");
    table_cell(table, "%s (%s)", pages(record, a, totals->min_free_pages),
               text_bp(b, part_bp(totals->min_free_pages, host.total_pages)));
    table_cell(table, "configured in VMs, most at once");
    table_cell(table, "%s of host memory",
               text_bp(a, totals->peak_overcommit_bp));
}

static void vms_rows(struct table *table, const struct record *record,
                     const struct sim_run_totals *totals)
{
    char a[TEXT_MAX];
    char b[TEXT_MAX];
    char c[TEXT_MAX];

    table_cell(table, "VMs");
    table_cell(table, "%s started, %s stopped, at most %s at once",
               text_count(a, totals->started), text_count(b, totals->stopped),
               text_count(c, totals->peak_vms));
    if (totals->not_asked > 0) {
        table_cell(table, "requests left out by the scenario");
        table_cell(table, "%s", text_count(a, totals->not_asked));
    }
    table_cell(table, "admissions refused");
    if (totals->refused == 0) {
        table_cell(table, "0");
    } else {
        table_cell(table, "%llu (memory %llu, swap space %llu, group %llu)",
                   (unsigned long long)totals->refused,
                   (unsigned long long)totals->refused_memory,
                   (unsigned long long)totals->refused_swap,
                   (unsigned long long)totals->refused_group);
    }
    (void)record;
    table_cell(table, "OOM kills in guests");
    table_cell(table, "%s", text_count(a, totals->oom_kills));
    table_cell(table, "guests that died of a fault");
    table_cell(table, "%s", text_count(a, totals->deaths));
}

static void moves_rows(struct table *table, const struct record *record,
                       const struct sim_run_totals *totals)
{
    char a[TEXT_MAX];
    char b[TEXT_MAX];

    table_cell(table, "swapped by the host");
    table_cell(table, "%s out, %s in", pages(record, a, totals->swap_out_pages),
               pages(record, b, totals->swap_in_pages));
    table_cell(table, "swapped by guests themselves");
    table_cell(table, "%s out, %s in",
               pages(record, a, totals->guest_swap_out_pages),
               pages(record, b, totals->guest_swap_in_pages));
    table_cell(table, "asked of balloons");
    table_cell(table, "%s taken, %s given back",
               pages(record, a, totals->moved_down_pages),
               pages(record, b, totals->moved_up_pages));
    table_cell(table, "time VMs lost to memory");
    table_cell(table, "%s of their time", text_bp(a, totals->slowdown_bp));
}

static void actions_rows(struct table *table, const struct record *record,
                         const struct sim_run_totals *totals)
{
    char a[TEXT_MAX];

    for (int i = 1; i < POL_ACTION_KINDS; i++) {
        if (totals->actions[i] > 0) {
            table_cell(table, "actions: %s", pol_action_name(i));
            table_cell(table, "%s", text_count(a, totals->actions[i]));
        }
    }
    table_cell(table, "failures of actions and readings");
    table_cell(table, "%s", text_count(a, totals->failures));
    if (record->unread_ticks > 0) {
        table_cell(table, "ticks without a reading of the host");
        table_cell(table, "%s", text_count(a, record->unread_ticks));
    }
}

struct table *summary_host(const struct record *record)
{
    struct table *table = table_new(figure_headers, 2, 3);
    struct sim_run_totals totals;

    sim_run_totals(record->run, &totals);
    memory_rows(table, record, &totals);
    states_rows(table, record, &totals);
    vms_rows(table, record, &totals);
    moves_rows(table, record, &totals);
    actions_rows(table, record, &totals);
    return table;
}

static int by_id(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static void vm_row(struct table *table, const struct record *record,
                   const struct sim_run_vm *vm)
{
    const struct pol_vm_params *params = &record->vms[vm->vm - 1].params;
    const uint64_t amounts[] = { params->reservation_pages, vm->target_pages,
                                 vm->consumed_pages,        vm->active_pages,
                                 vm->balloon_pages,         vm->swapped_pages };
    char a[TEXT_MAX];

    table_cell(table, "%llu", (unsigned long long)vm->vm);
    table_cell(table, "%s", vm->name);
    table_cell(table, "%s", pages(record, a, vm->size_pages));
    table_cell(table, "%s", text_count(a, params->shares));
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        table_cell(table, "%s", pages(record, a, amounts[i]));
    }
    table_cell(table, "%s", text_bp(a, vm->slowdown_bp));
    if (vm->stop_ms != SIM_NONE) {
        table_cell(table, "stopped at %s", text_span(a, vm->stop_ms));
    } else {
        table_cell(table, "%s", pol_reason_text((int)vm->reason));
    }
}

struct table *summary_vms(const struct record *record, const uint64_t *by_rank,
                          size_t most)
{
    struct table *table = table_new(vm_headers, VM_COLUMNS, VM_LEFT);
    size_t count = record->vms_n < most ? record->vms_n : most;
    uint64_t *ids = must_alloc(count, sizeof *ids);
    struct sim_run_vm vm;

    for (size_t i = 0; i < count; i++) {
        ids[i] = by_rank[i];
    }
    qsort(ids, count, sizeof *ids, by_id);
    for (size_t i = 0; i < count; i++) {
        if (sim_run_vm(record->run, ids[i], &vm) == POL_OK) {
            vm_row(table, record, &vm);
        }
    }
    free(ids);
    return table;
}

/* All VMs of one configured size. */
struct size_class {
    uint64_t size_pages;
    uint64_t vms;
    uint64_t running;
    double held_sum; /**< pages times milliseconds */
    double life_ms;
    uint64_t consumed;
    uint64_t balloon;
    uint64_t swapped;
    uint64_t swap_out;
    uint64_t oom_kills;
    uint64_t stall_ms;
    uint64_t run_ms;
};

static struct size_class *class_of(struct size_class **classes, size_t *n,
                                   uint64_t size)
{
    for (size_t i = 0; i < *n; i++) {
        if ((*classes)[i].size_pages == size) {
            return &(*classes)[i];
        }
    }
    *classes = must_grow(*classes, *n + 1, sizeof **classes);
    (*classes)[*n] = (struct size_class){ .size_pages = size };
    return &(*classes)[(*n)++];
}

static void class_add(struct size_class *class, const struct record *record,
                      const struct sim_run_vm *vm)
{
    bool running = vm->stop_ms == SIM_NONE;
    uint64_t end = running ? sim_run_now_ms(record->run) : vm->stop_ms;

    class->vms++;
    class->held_sum += record->vms[vm->vm - 1].consumed_sum;
    class->life_ms += (double)(end - vm->start_ms);
    class->swap_out += vm->swap_out_pages;
    class->oom_kills += vm->oom_kills;
    class->stall_ms += vm->stall_ms;
    class->run_ms += (uint64_t)(end - vm->start_ms);
    if (running) {
        class->running++;
        class->consumed += vm->consumed_pages;
        class->balloon += vm->balloon_pages;
        class->swapped += vm->swapped_pages;
    }
}

static int by_size(const void *left, const void *right)
{
    uint64_t a = ((const struct size_class *)left)->size_pages;
    uint64_t b = ((const struct size_class *)right)->size_pages;

    return a < b ? -1 : a > b;
}

static void class_row(struct table *table, const struct record *record,
                      const struct size_class *class, const char *label)
{
    double held = class->life_ms > 0 ? class->held_sum / class->life_ms : 0.0;
    const uint64_t amounts[] = { (uint64_t)held, class->consumed,
                                 class->balloon, class->swapped,
                                 class->swap_out };
    char a[TEXT_MAX];

    table_cell(table, "%s", label);
    table_cell(table, "%s", text_count(a, class->vms));
    table_cell(table, "%s", text_count(a, class->running));
    for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++) {
        table_cell(table, "%s", pages(record, a, amounts[i]));
    }
    table_cell(table, "%s", text_count(a, class->oom_kills));
    table_cell(table, "%s",
               text_bp(a, part_bp(class->stall_ms, class->run_ms)));
}

struct table *summary_sizes(const struct record *record)
{
    struct table *table = table_new(size_headers, SIZE_COLUMNS, 1);
    struct size_class total = { 0 };
    struct size_class *classes = NULL;
    size_t n = 0;
    struct sim_run_vm vm;
    char a[TEXT_MAX];

    for (size_t i = 0; i < record->vms_n; i++) {
        if (sim_run_vm(record->run, i + 1, &vm) == POL_OK) {
            class_add(class_of(&classes, &n, vm.size_pages), record, &vm);
            class_add(&total, record, &vm);
        }
    }
    if (n > 0) {
        qsort(classes, n, sizeof *classes, by_size);
    }
    for (size_t i = 0; i < n; i++) {
        class_row(table, record, &classes[i],
                  pages(record, a, classes[i].size_pages));
    }
    class_row(table, record, &total, "all");
    free(classes);
    return table;
}

char *summary_title(const struct record *record)
{
    const struct sim_scenario *scenario = sim_run_scenario(record->run);
    char count[TEXT_MAX];
    char memory[TEXT_MAX];
    char span[TEXT_MAX];

    return must_format("%s: %s VM%s on a %s host for %s, seed %llu",
                       scenario->name == NULL ? "scenario" : scenario->name,
                       text_count(count, record->vms_n),
                       record->vms_n == 1 ? "" : "s",
                       pages(record, memory, scenario->host.memory_pages),
                       text_span(span, sim_run_now_ms(record->run)),
                       (unsigned long long)scenario->seed);
}

static void print_free(struct table *table, FILE *out)
{
    table_print(table, out);
    table_free(table);
}

void summary_print(const struct record *record, FILE *out)
{
    uint64_t *by_rank = record_rank(record);
    char *title = summary_title(record);
    char *safe = must_alloc(1024, 1);

    fprintf(out, "%s\n\n", text_safe(safe, 1024, title));
    print_free(summary_vms(record, by_rank, SUMMARY_VMS), out);
    if (record->vms_n > SUMMARY_VMS) {
        fprintf(out,
                "\n(the %u VMs that held most memory; all of them by size:)"
                "\n\n",
                SUMMARY_VMS);
        print_free(summary_sizes(record), out);
    }
    fputs("\n", out);
    print_free(summary_host(record), out);
    free(safe);
    free(title);
    free(by_rank);
}
