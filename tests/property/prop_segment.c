/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments against a map with one entry per page: who has it. After every
 * call of a random history the two agree page by page; a request gets as few
 * segments as the map allows, from the hole that fits best; a call that fails
 * leaves the snapshot byte for byte as it was; and a host restored from its
 * snapshot goes on as if nothing had happened.
 */
#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/segment.h"

#ifndef POL_TEST_DIVISOR
#define POL_TEST_DIVISOR 1
#endif

#define SEED      UINT64_C(0x5e600001)
#define HISTORIES 400
#define STEPS     300
#define PAGES     700
#define VMS       60
#define NODES     2
#define FREE      0u
#define HOLE      UINT64_MAX /* no memory there */

struct vm {
    uint64_t owner; /* 0: none */
    uint32_t count;
    struct pol_segment list[POL_SEGMENT_MAX_COUNT];
};

struct bytes {
    uint8_t data[65536];
    size_t n;
};

static uint64_t random_state;
static uint64_t map[PAGES]; /* owner of each page */
static uint32_t node_of[PAGES];
static struct vm vms[VMS];
static struct pol_segments *host;
static void *block;
static uint32_t capacity;
static struct bytes before, after;
static uint64_t next_owner;
static unsigned long calls[8];

static uint64_t rnd(void)
{
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static uint32_t pick(uint32_t n)
{
    return (uint32_t)(rnd() % n);
}

static void keep(void *user, const uint8_t *bytes, size_t n)
{
    struct bytes *to = user;

    CU_ASSERT_FATAL(to->n + n <= sizeof(to->data));
    memcpy(to->data + to->n, bytes, n);
    to->n += n;
}

static void snapshot(struct bytes *to)
{
    to->n = 0;
    pol_segments_save(host, keep, to);
}

static void unchanged(void)
{
    snapshot(&after);
    CU_ASSERT(after.n == before.n &&
              memcmp(after.data, before.data, after.n) == 0);
}

static void add_range(uint32_t node, uint32_t start, uint32_t pages)
{
    CU_ASSERT(pol_segments_add(host, node, start, pages) == POL_OK);
    for (uint32_t p = start; p < start + pages; p++) {
        map[p] = FREE;
        node_of[p] = node;
    }
}

/* Two nodes, three ranges, two of which touch. */
static void new_host(void)
{
    capacity = pick(4) == 0 ? 12 : 2 * VMS * 4;
    block = malloc(pol_segments_size(NODES, capacity));
    CU_ASSERT_FATAL(block != NULL);
    CU_ASSERT_FATAL(pol_segments_init(block, pol_segments_size(NODES, capacity),
                                      NODES, capacity, &host) == POL_OK);
    memset(vms, 0, sizeof(vms));
    for (uint32_t p = 0; p < PAGES; p++) {
        map[p] = HOLE;
        node_of[p] = UINT32_MAX;
    }
    add_range(0, 3, 297);
    add_range(1, 300, 250);
    add_range(0, 580, 100);
}

static bool is_free_run(uint32_t p, uint32_t *end)
{
    static const uint32_t borders[] = { 300, 550, PAGES };
    uint32_t at = p;

    if (map[p] != FREE) {
        return false;
    }
    while (at < PAGES && map[at] == FREE &&
           (at == p || (at != borders[0] && at != borders[1]))) {
        at++;
    }
    *end = at;
    return true;
}

/* Lengths of the free runs of a node, or of all. */
static uint32_t runs(uint32_t node, uint32_t *lengths)
{
    uint32_t n = 0;
    uint32_t end;

    for (uint32_t p = 0; p < PAGES; p++) {
        if (is_free_run(p, &end)) {
            if (node == POL_SEGMENT_ANY_NODE || node_of[p] == node) {
                lengths[n++] = end - p;
            }
            p = end - 1;
        }
    }
    return n;
}

static int longer_first(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* The fewest segments for so many pages: the longest runs, in order. */
static uint32_t fewest(uint32_t node, uint64_t pages)
{
    static uint32_t lengths[PAGES];
    uint32_t n = runs(node, lengths);
    uint64_t sum = 0;

    qsort(lengths, n, sizeof(lengths[0]), longer_first);
    for (uint32_t i = 0; i < n; i++) {
        sum += lengths[i];
        if (sum >= pages) {
            return i + 1;
        }
    }
    return UINT32_MAX;
}

static uint32_t wanted(const struct pol_segment_request *r)
{
    uint32_t max = r->max_segments == 0 ? 3 : r->max_segments;
    uint32_t best = UINT32_MAX;

    if (r->node != POL_SEGMENT_ANY_NODE) {
        best = fewest(r->node, r->pages);
        if (best <= max || (r->flags & POL_SEGMENT_STRICT_NODE) != 0) {
            return best <= max ? best : UINT32_MAX;
        }
    }
    for (uint32_t n = 0; n < NODES; n++) {
        uint32_t k = fewest(n, r->pages);

        best = k < best ? k : best;
    }
    if (best > max && (r->flags & POL_SEGMENT_ONE_NODE) == 0) {
        best = fewest(POL_SEGMENT_ANY_NODE, r->pages);
    }
    return best <= max ? best : UINT32_MAX;
}

static void set_pages(const struct pol_segment *segment, uint64_t from,
                      uint64_t to)
{
    for (uint64_t p = segment->start_page;
         p < segment->start_page + segment->pages; p++) {
        CU_ASSERT_FATAL(p < PAGES && map[p] == from);
        CU_ASSERT(node_of[p] == segment->node);
        map[p] = to;
    }
}

static struct pol_segment_request any_request(void)
{
    static const uint32_t flags[] = { 0, 0, POL_SEGMENT_ONE_NODE,
                                      POL_SEGMENT_STRICT_NODE };
    struct pol_segment_request r = {
        .owner = ++next_owner,
        .pages = 1 + pick(pick(3) == 0 ? 200 : 24),
        .align_pages = pick(3) == 0 ? UINT64_C(1) << pick(7) : 0,
        .lifetime_ms = pick(3) == 0 ? 1 : 0,
        .max_segments = pick(3) == 0 ? 1 + pick(8) : 0,
        .node = pick(2) == 0 ? POL_SEGMENT_ANY_NODE : pick(NODES),
        .flags = flags[pick(4)],
    };

    if (r.node == POL_SEGMENT_ANY_NODE) {
        r.flags &= ~POL_SEGMENT_STRICT_NODE;
    }
    return r;
}

/* One piece from the smallest run that holds it, when any node will do. */
static bool wastes_least(const struct pol_segment_request *r,
                         const struct pol_segment_fit *fit)
{
    static uint32_t lengths[PAGES];
    uint32_t n = runs(POL_SEGMENT_ANY_NODE, lengths);
    uint64_t least = UINT64_MAX;

    for (uint32_t i = 0; i < n; i++) {
        if (lengths[i] >= r->pages && lengths[i] - r->pages < least) {
            least = lengths[i] - r->pages;
        }
    }
    return fit->waste_pages == least;
}

static void took(const struct pol_segment_request *r, struct vm *vm,
                 const struct pol_segment_fit *fit)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < vm->count; i++) {
        sum += vm->list[i].pages;
        set_pages(&vm->list[i], FREE, r->owner);
        CU_ASSERT(r->align_pages == 0 ||
                  vm->list[i].start_page % r->align_pages == 0);
    }
    CU_ASSERT(sum == r->pages);
    CU_ASSERT(fit->segments == vm->count);
    CU_ASSERT(fit->node == vm->list[0].node);
    vm->owner = r->owner;
}

static void do_alloc(void)
{
    struct pol_segment_request r = any_request();
    struct vm *vm = &vms[pick(VMS)];
    struct pol_segment_fit fit;
    uint32_t want;
    bool least;
    int could, did;

    if (vm->owner != 0) {
        return;
    }
    want = wanted(&r);
    could = pol_segments_fit(host, &r, &fit);
    unchanged();
    least = could != POL_OK || wastes_least(&r, &fit);
    did = pol_segments_alloc(host, &r, vm->list, &vm->count);
    CU_ASSERT(did == could || (did == POL_ERR_NOMEM && could == POL_OK));
    if (r.align_pages <= 1) {
        CU_ASSERT((could == POL_OK) == (want != UINT32_MAX));
        CU_ASSERT(could != POL_OK || fit.segments == want);
        if (could == POL_OK && want == 1 && r.node == POL_SEGMENT_ANY_NODE) {
            CU_ASSERT(least);
        }
    }
    if (did == POL_OK) {
        took(&r, vm, &fit);
        calls[0]++;
    } else {
        unchanged();
        calls[1]++;
    }
}

static struct vm *any_vm(void)
{
    struct vm *vm = &vms[pick(VMS)];

    return vm->owner == 0 ? NULL : vm;
}

static void do_free(void)
{
    struct vm *vm = any_vm();

    if (vm == NULL) {
        return;
    }
    CU_ASSERT(pol_segments_free(host, vm->owner, vm->list, vm->count) ==
              POL_OK);
    for (uint32_t i = 0; i < vm->count; i++) {
        set_pages(&vm->list[i], vm->owner, FREE);
    }
    snapshot(&before);
    CU_ASSERT(pol_segments_free(host, vm->owner, vm->list, vm->count) ==
              POL_ERR_NOTFOUND);
    unchanged();
    vm->owner = 0;
    calls[2]++;
}

static void do_resize(void)
{
    struct vm *vm = any_vm();
    struct pol_segment *segment, old;
    uint64_t pages, end;
    int rc;

    if (vm == NULL) {
        return;
    }
    segment = &vm->list[pick(vm->count)];
    old = *segment;
    pages = 1 + pick((uint32_t)segment->pages + 10);
    rc = pol_segments_resize(host, vm->owner, segment, pages);
    if (rc != POL_OK) {
        CU_ASSERT(rc == POL_ERR_MEMORY_SHORT || rc == POL_ERR_NOMEM);
        CU_ASSERT(segment->pages == old.pages);
        unchanged();
        return;
    }
    CU_ASSERT(segment->pages == pages);
    end = old.start_page + (old.pages < pages ? old.pages : pages);
    for (uint64_t p = end; p < old.start_page + old.pages; p++) {
        map[p] = FREE;
    }
    for (uint64_t p = end; p < old.start_page + pages; p++) {
        CU_ASSERT_FATAL(p < PAGES && map[p] == FREE);
        map[p] = vm->owner;
    }
    calls[3]++;
}

static void do_release(void)
{
    struct vm *vm = any_vm();
    struct vm old;
    uint64_t all = 0, left = 0, pages;
    int rc;

    if (vm == NULL) {
        return;
    }
    old = *vm;
    for (uint32_t i = 0; i < vm->count; i++) {
        all += vm->list[i].pages;
    }
    pages = 1 + pick((uint32_t)all);
    rc = pol_segments_release(host, vm->owner, vm->list, &vm->count, pages);
    if (rc != POL_OK) {
        CU_ASSERT(rc == POL_ERR_NOMEM);
        unchanged();
        return;
    }
    for (uint32_t i = 0; i < old.count; i++) {
        set_pages(&old.list[i], vm->owner, FREE);
    }
    for (uint32_t i = 0; i < vm->count; i++) {
        set_pages(&vm->list[i], FREE, vm->owner);
        left += vm->list[i].pages;
    }
    CU_ASSERT(left == all - pages);
    if (vm->count == 0) {
        vm->owner = 0;
    }
    calls[4]++;
}

/* One thing wrong at a time. */
static void do_wrong(void)
{
    struct vm *vm = any_vm();
    struct pol_segment out[POL_SEGMENT_MAX_COUNT];
    struct pol_segment_request r = any_request();
    struct pol_segment two[2];
    uint32_t count;

    r.align_pages = 3 + 4 * pick(9);
    CU_ASSERT(pol_segments_alloc(host, &r, out, &count) == POL_ERR_INVALID);
    r.align_pages = 0;
    r.pages = pick(2) == 0 ? 0 : POL_SEGMENT_MAX_PAGES + 1 + rnd() / 2;
    CU_ASSERT(pol_segments_alloc(host, &r, out, &count) == POL_ERR_RANGE);
    CU_ASSERT(pol_segments_add(host, 0, pick(540), 5 + pick(400)) ==
              POL_ERR_EXISTS);
    if (vm != NULL) {
        two[0] = vm->list[0];
        two[1] = two[0];
        CU_ASSERT(pol_segments_free(host, vm->owner, two, 2) ==
                  POL_ERR_NOTFOUND);
        CU_ASSERT(pol_segments_free(host, vm->owner + 1, two, 1) ==
                  POL_ERR_OWNER);
        two[0].pages++;
        CU_ASSERT(pol_segments_free(host, vm->owner, two, 1) ==
                  POL_ERR_MISMATCH);
        two[0].start_page += PAGES;
        CU_ASSERT(pol_segments_free(host, vm->owner, two, 1) ==
                  POL_ERR_NOTFOUND);
        two[1].handle = (uint32_t)rnd();
        CU_ASSERT(pol_segments_free(host, vm->owner, &two[1], 1) != POL_OK ||
                  two[1].handle == vm->list[0].handle);
    }
    unchanged();
    calls[5]++;
}

/* Handles are others after restoring: take those that visiting shows. */
static int take_handle(void *user, const struct pol_segment_extent *extent)
{
    (void)user;
    for (uint32_t i = 0; extent->used && i < VMS; i++) {
        for (uint32_t j = 0; vms[i].owner != 0 && j < vms[i].count; j++) {
            if (vms[i].list[j].start_page == extent->range.start_page) {
                vms[i].list[j] = extent->range;
            }
        }
    }
    return POL_OK;
}

static void do_restore(void)
{
    size_t bytes = pol_segments_size(NODES, capacity);
    void *fresh = malloc(bytes);
    struct pol_segments *restored = NULL;

    CU_ASSERT_FATAL(fresh != NULL);
    snapshot(&before);
    CU_ASSERT_FATAL(pol_segments_load(fresh, bytes, NODES, capacity,
                                      before.data, before.n,
                                      &restored) == POL_OK);
    free(block);
    block = fresh;
    host = restored;
    unchanged();
    CU_ASSERT(pol_segments_visit(host, take_handle, NULL) == POL_OK);
    before.data[pick((uint32_t)before.n)] ^= (uint8_t)(1u << pick(8));
    fresh = malloc(bytes);
    CU_ASSERT_FATAL(fresh != NULL);
    CU_ASSERT(pol_segments_load(fresh, bytes, NODES, capacity, before.data,
                                before.n, &restored) != POL_OK);
    free(fresh);
    calls[6]++;
}

static int same_as_map(void *user, const struct pol_segment_extent *extent)
{
    uint64_t *seen = user;

    for (uint64_t p = 0; p < extent->range.pages; p++) {
        CU_ASSERT(map[extent->range.start_page + p] == extent->owner);
    }
    *seen += extent->range.pages;
    return POL_OK;
}

static void agree(void)
{
    struct pol_segment_stats stats;
    uint32_t lengths[PAGES];
    uint64_t seen = 0, free_pages = 0;
    uint32_t n = runs(POL_SEGMENT_ANY_NODE, lengths);

    CU_ASSERT(pol_segments_check(host) == POL_OK);
    CU_ASSERT(pol_segments_visit(host, same_as_map, &seen) == POL_OK);
    CU_ASSERT(seen == 297 + 250 + 100);
    CU_ASSERT(pol_segments_stats(host, POL_SEGMENT_ANY_NODE, &stats) == POL_OK);
    qsort(lengths, n, sizeof(lengths[0]), longer_first);
    for (uint32_t i = 0; i < n; i++) {
        free_pages += lengths[i];
    }
    CU_ASSERT(stats.free_pages == free_pages);
    CU_ASSERT(stats.total_pages == stats.free_pages + stats.used_pages);
    CU_ASSERT(stats.free_extents == n);
    CU_ASSERT(stats.largest_free_pages == (n == 0 ? 0 : lengths[0]));
}

static void histories(void)
{
    static void (*const todo[])(
        void) = { do_alloc,   do_alloc, do_alloc,   do_free,  do_resize,
                  do_release, do_wrong, do_restore, do_alloc, do_free };

    random_state = SEED;
    printf("\n    seed 0x%llx, ", (unsigned long long)SEED);
    for (int i = 0; i < HISTORIES / POL_TEST_DIVISOR; i++) {
        new_host();
        for (int j = 0; j < STEPS; j++) {
            snapshot(&before);
            todo[pick(10)]();
            agree();
        }
        free(block);
    }
    printf("allocated %lu, refused %lu, freed %lu, resized %lu, released %lu, "
           "restored %lu ",
           calls[0], calls[1], calls[2], calls[3], calls[4], calls[6]);
    for (int i = 0; i < 7; i++) {
        CU_ASSERT(calls[i] > 0);
    }
}

int main(void)
{
    CU_pSuite suite;
    unsigned failures;

    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    suite = CU_add_suite("segments", NULL, NULL);
    if (suite == NULL ||
        CU_add_test(suite, "random histories against a map of pages",
                    histories) == NULL) {
        return 1;
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures == 0 ? 0 : 1;
}
