/* SPDX-License-Identifier: BSD-2-Clause */
/* Segments: the calls of policy/segment.h that change something. */
#include "policy/segment.h"

#include <string.h>

#include "arith.h"
#include "check.h"
#include "segment_int.h"

static size_t round8(size_t n)
{
    return (n + 7u) & ~(size_t)7u;
}

size_t pol_segments_size(uint32_t nodes, uint32_t extents)
{
    if (nodes == 0 || nodes > POL_SEGMENT_MAX_NODES || extents == 0 ||
        extents > POL_SEGMENT_MAX_EXTENTS) {
        return 0;
    }
    return round8(sizeof(struct pol_segments)) +
           nodes * round8(sizeof(struct polx_seg_node)) +
           ((size_t)extents + 1u) * sizeof(struct polx_extent) +
           POL_SEGMENT_MAX_RANGES * sizeof(struct polx_range) + POLX_LINE;
}

int pol_segments_init(void *block, size_t bytes, uint32_t nodes,
                      uint32_t extents, struct pol_segments **out)
{
    size_t size = pol_segments_size(nodes, extents);
    struct pol_segments *s = block;
    uint8_t *at = block;

    if (size == 0) {
        return POL_ERR_RANGE;
    }
    if (block == NULL || out == NULL ||
        (uintptr_t)block % sizeof(uint64_t) != 0) {
        return POL_ERR_INVALID;
    }
    if (bytes < size) {
        return POL_ERR_NOMEM;
    }
    memset(s, 0, sizeof(*s));
    s->nodes_n = nodes;
    s->extents_n = extents;
    s->fresh = 1;
    s->left = extents;
    at += round8(sizeof(*s));
    s->nodes = (struct polx_seg_node *)(void *)at;
    memset(s->nodes, 0, nodes * sizeof(*s->nodes));
    at += nodes * round8(sizeof(*s->nodes));
    at += (POLX_LINE - (uintptr_t)at % POLX_LINE) % POLX_LINE;
    s->ext = (struct polx_extent *)(void *)at;
    at += ((size_t)extents + 1u) * sizeof(*s->ext);
    s->ranges = (struct polx_range *)(void *)at;
    *out = s;
    return POL_OK;
}

static bool touches(const struct polx_range *range, uint64_t start,
                    uint64_t pages)
{
    return start < range->start + range->pages && range->start < start + pages;
}

int pol_segments_add(struct pol_segments *s, uint32_t node, uint64_t start_page,
                     uint64_t pages)
{
    struct polx_extent *e;
    uint32_t x;

    if (node >= s->nodes_n || pages == 0 || pages > POL_SEGMENT_MAX_PAGES ||
        start_page > POL_SEGMENT_MAX_PAGES - pages) {
        return POL_ERR_RANGE;
    }
    for (uint32_t i = 0; i < s->ranges_n; i++) {
        if (touches(&s->ranges[i], start_page, pages)) {
            return POL_ERR_EXISTS;
        }
    }
    if (s->ranges_n == POL_SEGMENT_MAX_RANGES || s->left == 0) {
        return POL_ERR_NOMEM;
    }
    x = polx_ext_new(s);
    e = &s->ext[x];
    e->start = start_page;
    e->pages = pages;
    e->node = (uint16_t)node;
    e->prev = POLX_NONE;
    e->next = POLX_NONE;
    s->ranges[s->ranges_n++] =
        (struct polx_range){ start_page, pages, node, x };
    s->nodes[node].total += pages;
    s->nodes[node].free += pages;
    polx_bins_add(s, x);
    return POL_OK;
}

static int room_for(const struct pol_segments *s,
                    const struct polx_seg_plan *plan)
{
    uint32_t cost = 0;

    for (uint32_t i = 0; i < plan->count; i++) {
        cost += polx_ext_cost(s, &plan->cut[i]);
    }
    return cost > s->left ? POL_ERR_NOMEM : POL_OK;
}

int pol_segments_alloc(struct pol_segments *s,
                       const struct pol_segment_request *request,
                       struct pol_segment *out, uint32_t *count)
{
    struct polx_seg_plan plan;
    struct polx_seg_ask ask;
    int rc = polx_seg_ask(s, request, &ask);

    if (rc != POL_OK) {
        return rc;
    }
    rc = polx_seg_plan(s, &ask, &plan);
    if (rc != POL_OK) {
        return rc;
    }
    rc = room_for(s, &plan);
    if (rc != POL_OK) {
        return rc;
    }
    for (uint32_t i = 0; i < plan.count; i++) {
        const struct polx_cut *cut = &plan.cut[i];

        uint32_t node = s->ext[cut->hole].node;
        uint32_t x = polx_ext_use(s, cut, request->owner);

        out[i] = (struct pol_segment){ cut->start, cut->pages, node, x };
    }
    *count = plan.count;
    return POL_OK;
}

/* Find a used segment; believe nothing that the caller says of it. */
static int find_used(const struct pol_segments *s, uint64_t owner,
                     const struct pol_segment *segment)
{
    const struct polx_extent *e;

    if (segment->handle == POLX_NONE || segment->handle >= s->fresh) {
        return POL_ERR_NOTFOUND;
    }
    e = &s->ext[segment->handle];
    if (e->state != POLX_EXT_USED || e->start != segment->start_page) {
        return POL_ERR_NOTFOUND;
    }
    if (e->u.owner != owner) {
        return POL_ERR_OWNER;
    }
    return e->pages == segment->pages ? POL_OK : POL_ERR_MISMATCH;
}

/* Check a list and mark what it names, so that naming one twice shows. */
static int mark_leaving(struct pol_segments *s, uint64_t owner,
                        const struct pol_segment *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int rc = find_used(s, owner, &list[i]);

        if (rc != POL_OK) {
            while (i-- > 0) {
                s->ext[list[i].handle].state = POLX_EXT_USED;
            }
            return rc;
        }
        s->ext[list[i].handle].state = POLX_EXT_LEAVING;
    }
    return POL_OK;
}

int pol_segments_free(struct pol_segments *s, uint64_t owner,
                      const struct pol_segment *list, uint32_t count)
{
    int rc;

    if (count == 0) {
        return POL_ERR_RANGE;
    }
    if (count == 1) {
        rc = find_used(s, owner, list); /* nothing to be listed twice */
    } else {
        rc = mark_leaving(s, owner, list, count);
    }
    if (rc != POL_OK) {
        return rc;
    }
    for (uint32_t i = 0; i < count; i++) {
        polx_ext_free(s, list[i].handle);
    }
    return POL_OK;
}

/* May x grow by so many pages, or shrink, with the extents left? */
static int may_resize(const struct pol_segments *s, uint32_t x,
                      uint64_t new_pages)
{
    uint64_t old = s->ext[x].pages;
    uint32_t next = s->ext[x].next;

    if (new_pages > old) {
        bool fits =
            polx_ext_is_free(s, next) && s->ext[next].pages >= new_pages - old;

        return fits ? POL_OK : POL_ERR_MEMORY_SHORT;
    }
    if (new_pages < old && !polx_ext_is_free(s, next) && s->left == 0) {
        return POL_ERR_NOMEM;
    }
    return POL_OK;
}

static void resize(struct pol_segments *s, uint32_t x, uint64_t new_pages)
{
    uint64_t old = s->ext[x].pages;

    if (new_pages > old) {
        polx_ext_grow(s, x, new_pages - old);
    } else if (new_pages < old) {
        polx_ext_shrink(s, x, old - new_pages);
    }
}

int pol_segments_resize(struct pol_segments *s, uint64_t owner,
                        struct pol_segment *segment, uint64_t new_pages)
{
    uint32_t x = segment->handle;
    int rc = find_used(s, owner, segment);

    if (rc != POL_OK) {
        return rc;
    }
    if (new_pages == 0 || new_pages > POL_SEGMENT_MAX_PAGES) {
        return POL_ERR_RANGE;
    }
    rc = may_resize(s, x, new_pages);
    if (rc == POL_OK) {
        resize(s, x, new_pages);
        segment->pages = new_pages;
    }
    return rc;
}

static uint32_t smallest(const struct pol_segment *list, uint32_t count)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < count; i++) {
        if (list[i].pages < list[best].pages) {
            best = i;
        }
    }
    return best;
}

static int may_release(const struct pol_segments *s, uint64_t owner,
                       const struct pol_segment *list, uint32_t count,
                       uint64_t pages)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < count; i++) {
        int rc = find_used(s, owner, &list[i]);

        if (rc != POL_OK) {
            return rc;
        }
        for (uint32_t j = 0; j < i; j++) {
            if (list[j].handle == list[i].handle) {
                return POL_ERR_NOTFOUND;
            }
        }
        all += list[i].pages;
    }
    return pages <= all ? POL_OK : POL_ERR_RANGE;
}

/* How many pages remain to be cut once whole segments have gone, and from
 * which; `kept` loses those that go whole. */
static uint64_t whole_ones(struct pol_segment *kept, uint32_t *count,
                           struct pol_segment *gone, uint32_t *gone_n,
                           uint64_t pages)
{
    *gone_n = 0;
    while (*count > 0) {
        uint32_t i = smallest(kept, *count);

        if (kept[i].pages > pages) {
            break;
        }
        pages -= kept[i].pages;
        gone[(*gone_n)++] = kept[i];
        (*count)--;
        memmove(&kept[i], &kept[i + 1u], (*count - i) * sizeof(*kept));
    }
    return pages;
}

int pol_segments_release(struct pol_segments *s, uint64_t owner,
                         struct pol_segment *list, uint32_t *count,
                         uint64_t pages)
{
    struct pol_segment kept[POL_SEGMENT_MAX_COUNT];
    struct pol_segment gone[POL_SEGMENT_MAX_COUNT];
    uint32_t kept_n = *count;
    uint32_t gone_n, x, i = 0;
    uint64_t rest;
    int rc;

    if (kept_n == 0 || kept_n > POL_SEGMENT_MAX_COUNT || pages == 0) {
        return POL_ERR_RANGE;
    }
    rc = may_release(s, owner, list, kept_n, pages);
    if (rc != POL_OK) {
        return rc;
    }
    memcpy(kept, list, kept_n * sizeof(*list));
    rest = whole_ones(kept, &kept_n, gone, &gone_n, pages);
    if (rest > 0) {
        i = smallest(kept, kept_n);
        x = kept[i].handle;
        rc = may_resize(s, x, kept[i].pages - rest);
        if (rc != POL_OK) {
            return rc;
        }
        resize(s, x, kept[i].pages - rest);
        kept[i].pages -= rest;
    }
    for (i = 0; i < gone_n; i++) {
        polx_ext_free(s, gone[i].handle);
    }
    memcpy(list, kept, kept_n * sizeof(*list));
    *count = kept_n;
    return POL_OK;
}
