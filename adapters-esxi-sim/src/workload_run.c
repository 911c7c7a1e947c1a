/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The loop in which a guest's program runs: draws accesses a few ahead, so
 * that the processor can fetch what they will need, and does them in order
 * until work or time is used up.
 */
#include "guest_access.h"

#define OP_BATCH (OP_RING / 2)

static void draw_idle(struct sim_vm *vm, struct op *op)
{
    uint64_t r = sim_rng_next(&vm->rng);

    if ((r & 1) || vm->ws_pages == 0) {
        op->page = (uint32_t)sim_rng_below(&vm->rng, vm->cfg.kernel_pages);
        op->flags = OP_KERNEL;
        return;
    }
    op->page =
        (uint32_t)(vm->ws_offset + sim_rng_below(&vm->rng, vm->ws_pages));
    op->flags = (r >> 16 & 0xffff) < vm->write_cut ? OP_WRITE : 0;
}

static uint64_t next_of(uint64_t *cursor, uint64_t n)
{
    uint64_t at = *cursor < n ? *cursor : 0;

    *cursor = at + 1;
    return at;
}

static uint64_t next_cyclic(struct sim_vm *vm, uint64_t n)
{
    return next_of(&vm->cursor, n);
}

static uint64_t draw_file(struct sim_vm *vm, const struct sim_phase *ph)
{
    return ph->kind == SIM_ZIPF ? simx_zipf_draw(vm->zipf_file, &vm->rng)
                                : sim_rng_below(&vm->rng, ph->file_pages);
}

static uint64_t draw_anon(struct sim_vm *vm, const struct sim_phase *ph)
{
    if (ph->kind == SIM_SWEEP) {
        return next_cyclic(vm, vm->ws_pages);
    }
    return ph->kind == SIM_ZIPF ? simx_zipf_draw(vm->zipf, &vm->rng)
                                : sim_rng_below(&vm->rng, vm->ws_pages);
}

/* Streams and sweeps beside the phase's own kind of access; `r` is the draw
 * that chose them. */
static void draw_mixed(struct sim_vm *vm, const struct sim_phase *ph,
                       uint64_t r, struct op *op)
{
    if ((r >> 32 & 0xffff) < vm->stream_cut) {
        op->page = (uint32_t)(ph->file_pages +
                              next_of(&vm->stream_at, ph->stream_pages));
        op->flags = OP_FILE | OP_SEQ;
        op->flags |= (r & 0xffff) < vm->stream_write_cut ? OP_WRITE : 0u;
        return;
    }
    op->page = (uint32_t)(vm->ws_offset + vm->ws_pages);
    op->page +=
        (uint32_t)next_of(&vm->sweep_at, ph->footprint_pages - op->page);
    op->flags = (r & 0xffff) < vm->write_cut ? OP_WRITE : 0;
}

static void draw_work(struct sim_vm *vm, const struct sim_phase *ph,
                      struct op *op)
{
    uint64_t r = sim_rng_next(&vm->rng);
    uint32_t write = (r & 0xffff) < vm->write_cut ? OP_WRITE : 0;
    uint32_t write_file = (r & 0xffff) < vm->file_write_cut ? OP_WRITE : 0;

    if ((r >> 32 & 0xffff) < vm->mixed_cut) {
        draw_mixed(vm, ph, r, op);
    } else if (ph->kind == SIM_FILE_SCAN && ph->file_pages > 0) {
        op->page = (uint32_t)next_cyclic(vm, ph->file_pages);
        op->flags = OP_FILE | OP_SEQ | write_file;
    } else if (ph->file_pages > 0 && (r >> 16 & 0xffff) < vm->file_cut) {
        op->page = (uint32_t)draw_file(vm, ph);
        op->flags = OP_FILE | write_file;
    } else if (vm->ws_pages == 0) {
        op->page = (uint32_t)sim_rng_below(&vm->rng, vm->cfg.kernel_pages);
        op->flags = OP_KERNEL;
    } else {
        op->page = (uint32_t)(vm->ws_offset + draw_anon(vm, ph));
        op->flags = write;
    }
}

static void draw(struct sim_vm *vm, const struct sim_phase *ph, struct op *op)
{
    if (vm->fill_next < vm->fill_target) {
        op->page = (uint32_t)vm->fill_next++;
        op->flags = OP_FILL | OP_WRITE;
        return;
    }
    if (ph->kind == SIM_IDLE) {
        draw_idle(vm, op);
    } else {
        draw_work(vm, ph, op);
    }
    if (op->flags & OP_FILE && op->page < vm->cfg.image_file_pages) {
        op->flags &= ~(uint32_t)OP_WRITE; /* the image is read-only */
    }
}

/* Three steps of fetching: an access's map entry, its page record, and the
 * records next to it in LRU order, which moving it will write. */
static void fetch_map(const struct sim_vm *vm, const struct op *op)
{
    if (op->flags & OP_FILE) {
        __builtin_prefetch(&vm->file_map[op->page]);
    } else if (!(op->flags & OP_KERNEL)) {
        __builtin_prefetch(&vm->anon_map[op->page]);
    }
}

static const struct page *op_page(const struct sim_vm *vm, const struct op *op)
{
    uint32_t e;

    if (op->flags & OP_KERNEL) {
        return NULL;
    }
    e = op->flags & OP_FILE ? vm->file_map[op->page] : vm->anon_map[op->page];
    return e & MAP_PRESENT ? &vm->pages[e & MAP_GFN] : NULL;
}

static void fetch_page(const struct page *p)
{
    if (p != NULL) {
        __builtin_prefetch(p, 1);
    }
}

static void fetch_neighbours(const struct sim_vm *vm, const struct page *p)
{
    if (p != NULL && p->prev != NIL) {
        __builtin_prefetch(&vm->pages[p->prev].next, 1);
    }
    if (p != NULL && p->next != NIL) {
        __builtin_prefetch(&vm->pages[p->next].prev, 1);
    }
}

static void draw_batch(struct sim_vm *vm, const struct sim_phase *ph)
{
    const struct page *page[OP_BATCH];
    uint32_t i;

    vm->op_head = 0;
    vm->op_n = OP_BATCH;
    if (vm->fill_next < vm->fill_target) {
        if (vm->fill_target - vm->fill_next < OP_BATCH) {
            vm->op_n = (uint32_t)(vm->fill_target - vm->fill_next);
        }
    } else if (vm->backlog < OP_BATCH) {
        vm->op_n = (uint32_t)vm->backlog;
    }
    for (i = 0; i < vm->op_n; i++) {
        draw(vm, ph, &vm->ops[i]);
        fetch_map(vm, &vm->ops[i]);
    }
    for (i = 0; i < vm->op_n; i++) {
        page[i] = op_page(vm, &vm->ops[i]);
        fetch_page(page[i]);
    }
    for (i = 0; i < vm->op_n; i++) {
        fetch_neighbours(vm, page[i]);
    }
}

static enum touch_result do_anon(struct sim_vm *vm, const struct op *op)
{
    bool write = (op->flags & OP_WRITE) != 0;
    uint32_t e = vm->anon_map[op->page];
    uint32_t gfn = e & MAP_GFN;

    if (UNLIKELY(!(e & MAP_PRESENT))) {
        enum touch_result r = simx_guest_fault_anon(vm, op->page, write);

        if (r != TOUCH_OK) {
            return r;
        }
        gfn = vm->anon_map[op->page] & MAP_GFN;
        if (op->page >= vm->anon_used) {
            vm->anon_used = op->page + 1;
        }
    }
    if (UNLIKELY(touch(vm, gfn, write, false) != TOUCH_OK)) {
        return TOUCH_STALL;
    }
    if (UNLIKELY(op->flags & OP_FILL)) {
        vm->pages[gfn].content = simx_guest_anon_content(vm, op->page);
    }
    lru_use(vm, &vm->anon, gfn);
    return TOUCH_OK;
}

static enum touch_result do_file(struct sim_vm *vm, const struct op *op)
{
    bool write = (op->flags & OP_WRITE) != 0;
    uint32_t e = vm->file_map[op->page];
    uint32_t gfn = e & MAP_GFN;
    struct page *p;

    if (UNLIKELY(!(e & MAP_PRESENT))) {
        enum touch_result r = simx_guest_fault_file(vm, op->page, write,
                                                    (op->flags & OP_SEQ) != 0);

        if (r != TOUCH_OK) {
            return r;
        }
        gfn = vm->file_map[op->page] & MAP_GFN;
    }
    if (UNLIKELY(touch(vm, gfn, write, false) != TOUCH_OK)) {
        return TOUCH_STALL;
    }
    p = &vm->pages[gfn];
    if (write && !(p->gflags & GP_DIRTY)) {
        p->gflags |= GP_DIRTY;
        vm->file_dirty++;
    }
    lru_use(vm, &vm->file, gfn);
    return TOUCH_OK;
}

static enum touch_result do_op(struct sim_vm *vm, const struct op *op)
{
    if (op->flags & OP_KERNEL) {
        return touch(vm, op->page, false, false);
    }
    return op->flags & OP_FILE ? do_file(vm, op) : do_anon(vm, op);
}

/* The system call or interrupt that comes with every so many accesses. */
static enum touch_result kernel_touch(struct sim_vm *vm)
{
    uint64_t gfn = sim_rng_below(&vm->rng, vm->cfg.kernel_pages);
    enum touch_result r = touch(vm, (uint32_t)gfn, false, false);

    if (r == TOUCH_OK) {
        vm->kernel_count = 0;
        vm->host->accesses++;
    }
    return r;
}

/* The program ends, its memory is free, and the next one starts. */
static void renew(struct sim_vm *vm)
{
    simx_guest_free_anon(vm, 0);
    vm->anon_used = 0;
    vm->renew_left = vm->phases[vm->phase].renew_every;
}

/* One access. @return whether the program can go on */
static bool step(struct sim_vm *vm, const struct op *op)
{
    int64_t before = vm->budget_ns;
    enum touch_result r = TOUCH_OK;

    if (UNLIKELY(vm->kernel_count >= vm->cfg.kernel_every) &&
        vm->cfg.kernel_every != 0) {
        r = kernel_touch(vm);
    }
    if (LIKELY(r == TOUCH_OK)) {
        r = do_op(vm, op);
    }
    if (UNLIKELY(r != TOUCH_OK)) {
        if (r == TOUCH_STALL && vm->budget_ns > 0) {
            vm->host_wait_ns += (uint64_t)vm->budget_ns;
            vm->budget_ns = 0;
        }
        vm->spent_ns += (uint64_t)(before - vm->budget_ns);
        return false;
    }
    vm->host->accesses++;
    if (UNLIKELY(op->flags & OP_FILL)) {
        return true;
    }
    vm->budget_ns -= vm->cpu_ns;
    vm->spent_ns += (uint64_t)(before - vm->budget_ns);
    vm->ideal_ns += vm->cpu_ns;
    vm->kernel_count++;
    vm->work_done++;
    vm->backlog -= vm->backlog != UINT64_MAX;
    if (UNLIKELY(vm->renew_left != 0) && --vm->renew_left == 0) {
        renew(vm);
    }
    return true;
}

void simx_workload_run(struct sim_vm *vm)
{
    const struct sim_phase *ph;

    if (vm->phase >= vm->n_phases) {
        return;
    }
    ph = &vm->phases[vm->phase];
    while (
        vm->budget_ns > 0 &&
        (vm->backlog > 0 || vm->fill_next < vm->fill_target || vm->op_n > 0)) {
        if (vm->op_n == 0) {
            draw_batch(vm, ph);
        }
        if (!step(vm, &vm->ops[vm->op_head])) {
            return;
        }
        vm->op_head++;
        vm->op_n--;
    }
}
