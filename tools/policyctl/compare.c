/* SPDX-License-Identifier: BSD-2-Clause */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "comparator.h"

const char *compare_name(int policy)
{
    return policy == COMPARE_LIBPOLICY ? "libpolicy" : cmp_name(policy);
}

/* ---- Measures ---------------------------------------------------------- */

static double at_cost(const struct compare_claim *claim, double cost,
                      double tax)
{
    double pages = cost * claim->shares;

    if (pages > claim->active) {
        pages = claim->active + (pages - claim->active) * (1.0 - tax);
    }
    return pages < claim->min   ? claim->min
           : pages > claim->max ? claim->max
                                : pages;
}

void compare_divide(struct compare_claim *claims, size_t n, double pages,
                    double tax)
{
    double low = 0.0, high = 1.0;

    for (size_t i = 0; i < n; i++) {
        double all = claims[i].max / (1.0 - tax) / claims[i].shares;

        high = all > high ? all : high;
    }
    /* Enough halvings for any double; the sum grows with the cost. */
    for (int step = 0; step < 100; step++) {
        double middle = (low + high) / 2.0;
        double sum = 0.0;

        for (size_t i = 0; i < n; i++) {
            sum += at_cost(&claims[i], middle, tax);
        }
        *(sum < pages ? &low : &high) = middle;
    }
    for (size_t i = 0; i < n; i++) {
        claims[i].ideal = at_cost(&claims[i], high, tax);
    }
}

static void push(struct compare_moves *moves, uint64_t now_ms, uint64_t pages,
                 bool taken)
{
    if (moves->n == moves->capacity) {
        moves->capacity = moves->capacity == 0 ? 16 : moves->capacity * 2;
        moves->list =
            must_grow(moves->list, moves->capacity, sizeof *moves->list);
    }
    moves->list[moves->n].at_ms = now_ms;
    moves->list[moves->n].pages = pages;
    moves->list[moves->n++].taken = taken;
}

uint64_t compare_swing(struct compare_moves *moves, uint64_t now_ms,
                       uint64_t pages, bool taken)
{
    uint64_t swung = 0;

    while (pages > 0 && moves->n > 0) {
        struct compare_move *last = &moves->list[moves->n - 1];
        uint64_t back = pages < last->pages ? pages : last->pages;

        if (last->taken == taken || now_ms - last->at_ms > COMPARE_SWING_MS) {
            break;
        }
        swung += back;
        pages -= back;
        last->pages -= back;
        moves->n -= last->pages == 0;
    }
    if (pages > 0) {
        push(moves, now_ms, pages, taken);
    }
    return swung;
}

/* ---- A run ------------------------------------------------------------- */

struct vm_memory {
    uint64_t balloon_pages;
    uint64_t taken_pages;
    uint64_t given_pages;
    uint64_t touched_pages; /* the most ever held or swapped out */
    struct compare_moves moves;
};

struct measuring {
    struct compare_result *result;
    struct vm_memory *vms; /* by id - 1 */
    size_t vms_n;
    struct compare_claim *claims;
    double held_sum;
    double off_sum;
};

static void balloon_moved(struct measuring *m, struct vm_memory *memory,
                          uint64_t now_ms, uint64_t balloon)
{
    bool taken = balloon > memory->balloon_pages;
    uint64_t pages = taken ? balloon - memory->balloon_pages
                           : memory->balloon_pages - balloon;

    memory->balloon_pages = balloon;
    *(taken ? &memory->taken_pages : &memory->given_pages) += pages;
    m->result->swung_pages +=
        compare_swing(&memory->moves, now_ms, pages, taken);
}

static void claim_of(struct sim_run *run, const struct sim_run_vm *vm,
                     const struct vm_memory *memory,
                     struct compare_claim *claim)
{
    struct pol_vm_params params;
    uint64_t max = memory->touched_pages;

    if (pol_vm_get(sim_run_ctx(run), vm->vm, &params) != POL_OK) {
        pol_vm_params_init(&params, vm->size_pages);
    }
    max = max < vm->size_pages ? max : vm->size_pages;
    max = max < params.limit_pages ? max : params.limit_pages;
    claim->shares = (double)params.shares;
    claim->active = (double)vm->active_pages;
    claim->max = (double)max;
    claim->min =
        (double)(params.reservation_pages < max ? params.reservation_pages
                                                : max);
}

static double off(double a, double b)
{
    return a > b ? a - b : b - a;
}

static void measure_tick(struct measuring *m, struct sim_run *run)
{
    const struct sim_scenario *scenario = sim_run_scenario(run);
    size_t n = sim_run_vm_count(run);
    size_t ever = sim_run_vm_ever(run);
    double held = 0.0;
    struct sim_run_vm vm;

    if (ever > m->vms_n) {
        m->vms = must_grow(m->vms, ever, sizeof *m->vms);
        memset(m->vms + m->vms_n, 0, (ever - m->vms_n) * sizeof *m->vms);
        m->claims = must_grow(m->claims, ever, sizeof *m->claims);
        m->vms_n = ever;
    }
    for (size_t i = 0; i < n && sim_run_vm_at(run, i, &vm) == POL_OK; i++) {
        struct vm_memory *memory = &m->vms[vm.vm - 1];
        uint64_t touched = vm.granted_pages + vm.swapped_pages;

        memory->touched_pages =
            touched > memory->touched_pages ? touched : memory->touched_pages;
        balloon_moved(m, memory, sim_run_now_ms(run), vm.balloon_pages);
        claim_of(run, &vm, memory, &m->claims[i]);
        held += (double)vm.granted_pages;
    }
    compare_divide(m->claims, n, held,
                   (double)scenario->config.idle_tax_bp / 10000.0);
    for (size_t i = 0; i < n && sim_run_vm_at(run, i, &vm) == POL_OK; i++) {
        m->off_sum += off(m->claims[i].ideal, (double)vm.granted_pages);
    }
    m->held_sum += held;
}

static void add_vm(struct compare_result *result, const struct sim_run_vm *vm)
{
    uint64_t missed = 0;

    if (vm->accesses < vm->accesses_wanted) {
        missed = (uint64_t)((double)vm->run_ms *
                            (double)(vm->accesses_wanted - vm->accesses) /
                            (double)vm->accesses_wanted);
    }
    result->accesses_wanted += vm->accesses_wanted;
    result->missed_ms += missed;
    result->lost_ms += vm->stall_ms > missed ? vm->stall_ms : missed;
}

static void measure_end(struct measuring *m, struct sim_run *run)
{
    struct compare_result *result = m->result;
    bool groups = sim_run_scenario(run)->groups_n != 0;

    for (size_t i = 0; i < m->vms_n; i++) {
        const struct vm_memory *memory = &m->vms[i];
        struct sim_run_vm vm;

        result->taken_pages += memory->taken_pages;
        result->given_pages += memory->given_pages;
        result->returned_pages += memory->taken_pages < memory->given_pages
                                      ? memory->taken_pages
                                      : memory->given_pages;
        if (sim_run_vm(run, i + 1, &vm) == POL_OK) {
            add_vm(result, &vm);
        }
        free(memory->moves.list);
    }
    free(m->vms);
    free(m->claims);
    sim_run_totals(run, &result->totals);
    result->moves = result->totals.actions[POL_ACT_BALLOON];
    result->unfair_bp =
        groups            ? SIM_NONE
        : m->held_sum > 0 ? (uint64_t)(m->off_sum * 10000.0 / m->held_sum + 0.5)
                          : 0;
}

static int decide(void *user, const struct pol_host_ops *ops, void *host,
                  uint64_t now_ms)
{
    return cmp_step(user, ops, host, now_ms);
}

static int run_measured(const struct sim_scenario *scenario,
                        struct sim_run *run, struct compare_result *result)
{
    struct measuring m = { .result = result };
    int status = STATUS_OK;

    while (!sim_run_done(run) && status == STATUS_OK) {
        int rc = sim_run_step(run);

        if (rc == POL_ERR_HOST) {
            result->unread_ticks++;
        } else if (rc != POL_OK) {
            status =
                fail(STATUS_FAILED, "%s: %s: after %llu ms: %s", scenario->file,
                     compare_name(result->policy),
                     (unsigned long long)sim_run_now_ms(run), pol_strerror(rc));
        }
        measure_tick(&m, run);
    }
    measure_end(&m, run);
    return status;
}

int compare_run(const struct sim_scenario *scenario, int policy,
                struct compare_result *result)
{
    struct sim_error error = { "" };
    struct comparator *cmp = NULL;
    struct cmp_config config;
    struct sim_run *run = NULL;
    int status = STATUS_FAILED;
    int rc = sim_run_new(scenario, &run, &error);

    memset(result, 0, sizeof *result);
    result->policy = policy;
    if (rc == POL_OK && policy != COMPARE_LIBPOLICY) {
        cmp_config_init(&config);
        config.page_bytes = scenario->host.page_bytes;
        rc = cmp_new(policy, &config, &cmp);
        if (rc == POL_OK) {
            rc = sim_run_decide_by(run, decide, cmp);
        }
    }
    if (rc == POL_OK) {
        status = run_measured(scenario, run, result);
    } else {
        status = fail(STATUS_USAGE, "%s",
                      error.text[0] != '\0' ? error.text : pol_strerror(rc));
    }
    sim_run_free(run);
    cmp_free(cmp);
    return status;
}
