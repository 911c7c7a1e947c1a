/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file guest_access.h
 * The path of an access that finds its page: a few tens of nanoseconds, so
 * inline. Whatever is not there goes to simx_host_fault() or guest_fault_*().
 */
#ifndef SIM_GUEST_ACCESS_H
#define SIM_GUEST_ACCESS_H

#include "engine_int.h"

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* Move the page's touch to the present epoch. */
static inline void touch_date(struct sim_vm *vm, struct page *p)
{
    uint16_t now = vm->epoch;
    uint16_t age = (uint16_t)(now - p->epoch);

    if (age < TOUCH_EPOCHS) {
        vm->touched[p->epoch % TOUCH_EPOCHS]--;
    }
    vm->touched[now % TOUCH_EPOCHS]++;
    p->epoch = now;
}

/* The page is read or written by the guest: back it, and let the hypervisor's
 * bookkeeping see it. `overwrite` says that a write covers all of it. */
static inline enum touch_result touch(struct sim_vm *vm, uint32_t gfn,
                                      bool write, bool overwrite)
{
    struct page *p = &vm->pages[gfn];

    if (UNLIKELY(!page_is_backed(p))) {
        if (simx_host_fault(vm, gfn, overwrite) != TOUCH_OK) {
            return TOUCH_STALL;
        }
    }
    if (write) {
        if (UNLIKELY(p->hflags & HF_SHARED)) {
            if (simx_host_cow(vm, gfn) != TOUCH_OK) {
                return TOUCH_STALL;
            }
        }
        p->content = CONTENT_PRIVATE;
    }
    if (UNLIKELY(p->hflags & HF_SAMPLED)) {
        p->hflags &= (uint8_t)~HF_SAMPLED;
        vm->sample_hits++;
    }
    if (UNLIKELY(p->epoch != vm->epoch)) {
        touch_date(vm, p);
    }
    return TOUCH_OK;
}

static inline void lru_push(struct sim_vm *vm, struct lru *lru, uint32_t gfn)
{
    struct page *p = &vm->pages[gfn];

    p->prev = NIL;
    p->next = lru->head;
    if (lru->head != NIL) {
        vm->pages[lru->head].prev = gfn;
    } else {
        lru->tail = gfn;
    }
    lru->head = gfn;
    lru->n++;
}

static inline void lru_remove(struct sim_vm *vm, struct lru *lru, uint32_t gfn)
{
    struct page *p = &vm->pages[gfn];

    if (p->prev != NIL) {
        vm->pages[p->prev].next = p->next;
    } else {
        lru->head = p->next;
    }
    if (p->next != NIL) {
        vm->pages[p->next].prev = p->prev;
    } else {
        lru->tail = p->prev;
    }
    lru->n--;
}

static inline void lru_use(struct sim_vm *vm, struct lru *lru, uint32_t gfn)
{
    if (lru->head != gfn) {
        lru_remove(vm, lru, gfn);
        lru_push(vm, lru, gfn);
    }
}

static inline enum guest_page_state page_state(const struct page *p)
{
    return (enum guest_page_state)(p->gflags & GP_STATE);
}

#endif /* SIM_GUEST_ACCESS_H */
