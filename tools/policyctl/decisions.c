/* SPDX-License-Identifier: BSD-2-Clause */
#include "decisions.h"

#include <stdlib.h>
#include <string.h>

#include "command.h"

double decision_weight(const struct decision *decision, uint64_t size_pages,
                       bool repeated)
{
    double weight = (double)decision->moved_pages;

    switch (decision->action.kind) {
    case POL_ACT_SWAP_OUT:
    case POL_ACT_SWAP_IN:
        weight *= 4.0;
        break;
    case POL_ACT_BLOCK:
    case POL_ACT_UNBLOCK:
        weight = 10.0 * (double)size_pages;
        break;
    case POL_ACT_HARD_CAP:
        weight *= 0.25;
        break;
    case POL_ACT_NOTE:
        /* Notes of the host are rare and mark turning points. */
        weight = decision->action.vm == 0 ? 1e18 : 0.05 * (double)size_pages;
        break;
    default:
        break;
    }
    if (decision->error != POL_OK) {
        weight = 4.0 * weight + 1.0;
    }
    return repeated ? 0.3 * weight : weight;
}

void decisions_init(struct decisions *decisions, uint64_t duration_ms)
{
    memset(decisions, 0, sizeof *decisions);
    decisions->duration_ms = duration_ms == 0 ? 1 : duration_ms;
    for (size_t i = 0; i < DECISIONS_PARTS; i++) {
        decisions->heaps[i].most = DECISIONS_PER_PART;
    }
    decisions->heaps[DECISIONS_PARTS].most = DECISIONS_WHOLE;
}

/* The part of the run a time falls into. */
static size_t part_of(const struct decisions *decisions, uint64_t now_ms)
{
    double part =
        (double)now_ms / (double)decisions->duration_ms * DECISIONS_PARTS;

    return part >= DECISIONS_PARTS ? DECISIONS_PARTS - 1 : (size_t)part;
}

static bool heap_wants(const struct decision_heap *heap, double weight)
{
    return heap->count < heap->most || weight > heap->list[0].weight;
}

bool decisions_want(const struct decisions *decisions, uint64_t now_ms,
                    double weight)
{
    return heap_wants(&decisions->heaps[DECISIONS_PARTS], weight) ||
           heap_wants(&decisions->heaps[part_of(decisions, now_ms)], weight);
}

static void swap(struct decision *a, struct decision *b)
{
    struct decision t = *a;

    *a = *b;
    *b = t;
}

static void sift_up(struct decision *heap, size_t i)
{
    while (i > 0 && heap[i].weight < heap[(i - 1) / 2].weight) {
        swap(&heap[i], &heap[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
}

static void sift_down(struct decision *heap, size_t count)
{
    size_t i = 0;

    for (;;) {
        size_t least = i;

        for (size_t child = 2 * i + 1; child <= 2 * i + 2; child++) {
            if (child < count && heap[child].weight < heap[least].weight) {
                least = child;
            }
        }
        if (least == i) {
            return;
        }
        swap(&heap[i], &heap[least]);
        i = least;
    }
}

/* Put one in; *out is what has no room: the lightest, or an empty one. */
static void heap_add(struct decision_heap *heap,
                     const struct decision *decision, struct decision *out)
{
    if (heap->list == NULL) {
        heap->list = must_alloc(heap->most, sizeof *heap->list);
    }
    memset(out, 0, sizeof *out);
    if (heap->count < heap->most) {
        heap->list[heap->count] = *decision;
        sift_up(heap->list, heap->count++);
    } else if (decision->weight > heap->list[0].weight) {
        *out = heap->list[0];
        heap->list[0] = *decision;
        sift_down(heap->list, heap->count);
    } else {
        *out = *decision;
    }
}

void decisions_add(struct decisions *decisions, const struct decision *decision)
{
    struct decision left;
    struct decision dropped = { .text = NULL };

    heap_add(&decisions->heaps[DECISIONS_PARTS], decision, &left);
    if (left.text != NULL) {
        heap_add(&decisions->heaps[part_of(decisions, left.now_ms)], &left,
                 &dropped);
    }
    free(dropped.text);
}

static int by_time(const void *left, const void *right)
{
    const struct decision *a = left;
    const struct decision *b = right;

    if (a->now_ms != b->now_ms) {
        return a->now_ms < b->now_ms ? -1 : 1;
    }
    if (a->action.vm != b->action.vm) {
        return a->action.vm < b->action.vm ? -1 : 1;
    }
    return (int)a->action.kind - (int)b->action.kind;
}

void decisions_finish(struct decisions *decisions)
{
    decisions->list = must_alloc(DECISIONS_MAX, sizeof *decisions->list);
    for (size_t i = 0; i <= DECISIONS_PARTS; i++) {
        struct decision_heap *heap = &decisions->heaps[i];

        if (heap->count > 0) {
            memcpy(decisions->list + decisions->count, heap->list,
                   heap->count * sizeof *heap->list);
        }
        decisions->count += heap->count;
        free(heap->list);
        memset(heap, 0, sizeof *heap);
    }
    if (decisions->count > 0) {
        qsort(decisions->list, decisions->count, sizeof *decisions->list,
              by_time);
    }
}

static void free_texts(struct decision *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(list[i].text);
    }
    free(list);
}

void decisions_clear(struct decisions *decisions)
{
    for (size_t i = 0; i <= DECISIONS_PARTS; i++) {
        free_texts(decisions->heaps[i].list, decisions->heaps[i].count);
    }
    free_texts(decisions->list, decisions->count);
    memset(decisions, 0, sizeof *decisions);
}
