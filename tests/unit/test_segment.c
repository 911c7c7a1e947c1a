/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Segments, case by case. Pictures show a host of ten pages: letters are
 * VMs, dots free pages.
 */
#include "expect.h"

#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "policy/segment.h"

#define PAGES 10u

static _Alignas(64) uint8_t block[65536];
static struct pol_segments *host;
static struct pol_segment held[128]; /* by letter */

static void new_host(uint32_t extents)
{
    MUST(pol_segments_init(block, sizeof(block), 1, extents, &host));
    MUST(pol_segments_add(host, 0, 0, PAGES));
}

static struct pol_segment_request want(char owner, uint64_t pages)
{
    return (struct pol_segment_request){ .owner = (uint64_t)owner,
                                         .pages = pages,
                                         .node = POL_SEGMENT_ANY_NODE };
}

/* Make the host look like the picture: fill it, then free the dots. */
static void set_up(const char *picture)
{
    uint32_t count;

    new_host(64);
    for (uint32_t p = 0; p < PAGES;) {
        uint32_t end = p;
        struct pol_segment_request r;

        while (end < PAGES && picture[end] == picture[p]) {
            end++;
        }
        r = want(picture[p], end - p);
        MUST(pol_segments_alloc(
            host, &r,
            &held[(unsigned char)picture[p] == '.' ? p
                                                   : (unsigned char)picture[p]],
            &count));
        p = end;
    }
    for (uint32_t p = 0; p < PAGES; p++) {
        if (picture[p] == '.' && (p == 0 || picture[p - 1] != '.')) {
            MUST(pol_segments_free(host, '.', &held[p], 1));
        }
    }
}

static int draw(void *user, const struct pol_segment_extent *e)
{
    memset((char *)user + e->range.start_page, e->used ? (int)e->owner : '.',
           (size_t)e->range.pages);
    return POL_OK;
}

static const char *looks(void)
{
    static char picture[PAGES + 1];

    MUST(pol_segments_visit(host, draw, picture));
    MUST(pol_segments_check(host));
    return picture;
}

static void best_fit_takes_the_smallest_hole(void)
{
    static const struct {
        const char *before;
        uint64_t pages, align, lifetime_ms;
        int rc;
        uint32_t segments;
        const char *after;
    } rows[] = {
        /* clang-format off */
        { "..........",  3, 0, 0, POL_OK, 1, "xxx......." },
        { "...a..b...",  2, 0, 0, POL_OK, 1, "...axxb..." },
        { "....ab...c",  3, 0, 0, POL_OK, 1, "....abxxxc" },
        { "....ab...c",  2, 0, 1, POL_OK, 1, "....ab.xxc" },
        { "....ab...c",  6, 0, 0, POL_OK, 2, "xxxxabxx.c" },
        { ".a.b.c.d.e",  3, 0, 0, POL_OK, 3, "" },
        { ".a.b.c.d.e",  4, 0, 0, POL_ERR_MEMORY_SHORT, 0, ".a.b.c.d.e" },
        { "a.........",  4, 4, 0, POL_OK, 1, "a...xxxx.." },
        { "a.........",  3, 4, 1, POL_OK, 1, "a...xxx..." },
        { "a....bbbbb",  4, 4, 0, POL_ERR_MEMORY_SHORT, 0, "a....bbbbb" },
        { "..........", 10, 0, 0, POL_OK, 1, "xxxxxxxxxx" },
        { "..........", 11, 0, 0, POL_ERR_MEMORY_SHORT, 0, ".........." },
        /* clang-format on */
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        struct pol_segment out[POL_SEGMENT_DEFAULT];
        struct pol_segment_request r = want('x', rows[i].pages);
        struct pol_segment_fit fit = { .segments = 0 };
        uint32_t count = 0;

        r.align_pages = rows[i].align;
        r.lifetime_ms = rows[i].lifetime_ms;
        set_up(rows[i].before);
        EXPECT(rows[i].before, pol_segments_fit(host, &r, &fit), rows[i].rc);
        EXPECT(rows[i].before, pol_segments_alloc(host, &r, out, &count),
               rows[i].rc);
        EXPECT(rows[i].before, count, rows[i].segments);
        EXPECT(rows[i].before, fit.segments, rows[i].segments);
        if (rows[i].after[0] != '\0') {
            EXPECT_TEXT(rows[i].before, looks(), rows[i].after);
        }
    }
}

static void segments_grow_and_shrink_where_they_are(void)
{
    static const struct {
        const char *before;
        uint64_t pages;
        int rc;
        const char *after;
    } rows[] = {
        { "aaa...bbbb", 5, POL_OK, "aaaaa.bbbb" },
        { "aaa...bbbb", 6, POL_OK, "aaaaaabbbb" },
        { "aaa...bbbb", 7, POL_ERR_MEMORY_SHORT, "aaa...bbbb" },
        { "aaabbbbbbb", 4, POL_ERR_MEMORY_SHORT, "aaabbbbbbb" },
        { "aaa...bbbb", 1, POL_OK, "a.....bbbb" },
        { "aaabbbbbbb", 2, POL_OK, "aa.bbbbbbb" },
        { "aaabbbbbbb", 3, POL_OK, "aaabbbbbbb" },
        { "aaabbbbbbb", 0, POL_ERR_RANGE, "aaabbbbbbb" },
        { "aaa.......", UINT64_MAX, POL_ERR_RANGE, "aaa......." },
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        set_up(rows[i].before);
        EXPECT(rows[i].before,
               pol_segments_resize(host, 'a', &held['a'], rows[i].pages),
               rows[i].rc);
        EXPECT_TEXT(rows[i].before, looks(), rows[i].after);
        EXPECT(rows[i].before, pol_segments_free(host, 'a', &held['a'], 1),
               POL_OK);
    }
}

static void a_balloon_gives_whole_segments_back(void)
{
    static const struct {
        uint64_t pages;
        int rc;
        uint32_t left;
    } rows[] = {
        { 1, POL_OK, 2 }, /* from the end of the smaller */
        { 2, POL_OK, 1 }, /* the smaller, whole */
        { 3, POL_OK, 1 },        { 5, POL_OK, 0 },
        { 6, POL_ERR_RANGE, 2 }, { 0, POL_ERR_RANGE, 2 },
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        struct pol_segment list[2];
        struct pol_segment_request r = want('v', 3);
        struct pol_segment_stats stats;
        uint32_t n = 0;
        uint32_t count;

        new_host(16);
        MUST(pol_segments_alloc(host, &r, &list[0], &count));
        r.pages = 2;
        MUST(pol_segments_alloc(host, &r, &list[1], &count));
        n = 2;
        EXPECT(NULL, pol_segments_release(host, 'v', list, &n, rows[i].pages),
               rows[i].rc);
        EXPECT(NULL, n, rows[i].left);
        MUST(pol_segments_check(host));
        MUST(pol_segments_stats(host, 0, &stats));
        EXPECT(NULL, stats.used_pages,
               rows[i].rc == POL_OK ? 5 - rows[i].pages : 5);
        EXPECT(NULL, n == 1 && list[0].pages == 5 - rows[i].pages, n == 1);
    }
}

static void wrong_frees_change_nothing(void)
{
    static const struct {
        const char *what;
        uint64_t start, pages, owner;
        int64_t handle_off;
        int rc;
    } rows[] = {
        { "another start", 1, 3, 'a', 0, POL_ERR_NOTFOUND },
        { "another length", 0, 2, 'a', 0, POL_ERR_MISMATCH },
        { "another owner", 0, 3, 'b', 0, POL_ERR_OWNER },
        { "no handle", 0, 3, 'a', -1000, POL_ERR_NOTFOUND },
        { "far handle", 0, 3, 'a', 1000, POL_ERR_NOTFOUND },
        { "wrapped", UINT64_MAX, 2, 'a', 0, POL_ERR_NOTFOUND },
        { "as it is", 0, 3, 'a', 0, POL_OK },
    };

    set_up("aaabbb....");
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct pol_segment s = { rows[i].start, rows[i].pages, 0,
                                 held['a'].handle };

        s.handle = rows[i].handle_off == -1000
                       ? 0
                       : s.handle + (uint32_t)rows[i].handle_off;
        EXPECT(rows[i].what, pol_segments_free(host, rows[i].owner, &s, 1),
               rows[i].rc);
    }
    EXPECT_TEXT("once freed", looks(), "...bbb....");
    EXPECT("freed twice", pol_segments_free(host, 'a', &held['a'], 1),
           POL_ERR_NOTFOUND);
    held['a'] = held['b'];
    EXPECT("listed twice",
           pol_segments_free(host, 'b',
                             (struct pol_segment[]){ held['b'], held['b'] }, 2),
           POL_ERR_NOTFOUND);
    EXPECT("none", pol_segments_free(host, 'b', &held['b'], 0), POL_ERR_RANGE);
    EXPECT_TEXT("still", looks(), "...bbb....");
}

static void wrong_requests_are_refused(void)
{
    static const struct {
        const char *what;
        struct pol_segment_request request;
        int rc;
    } rows[] = {
        /* clang-format off */
        { "no pages", { .pages = 0 }, POL_ERR_RANGE },
        { "too many", { .pages = POL_SEGMENT_MAX_PAGES + 1 }, POL_ERR_RANGE },
        { "wrapped", { .pages = UINT64_MAX }, POL_ERR_RANGE },
        { "alignment", { .pages = 1, .align_pages = 3 }, POL_ERR_INVALID },
        { "alignment", { .pages = 1, .align_pages = UINT64_MAX },
          POL_ERR_INVALID },
        { "huge alignment", { .pages = 1, .align_pages = UINT64_C(1) << 63 },
          POL_ERR_RANGE },
        { "no such node", { .pages = 1, .node = 1 }, POL_ERR_RANGE },
        { "segments", { .pages = 1, .max_segments = 65 }, POL_ERR_RANGE },
        { "flags", { .pages = 1, .flags = 4 }, POL_ERR_INVALID },
        { "strictly any", { .pages = 1, .node = POL_SEGMENT_ANY_NODE,
          .flags = POL_SEGMENT_STRICT_NODE }, POL_ERR_INVALID },
        { "reserved", { .pages = 1, .reserved = 1 }, POL_ERR_INVALID },
        /* clang-format on */
    };
    struct pol_segment out[POL_SEGMENT_MAX_COUNT];
    struct pol_segment_fit fit;
    uint32_t count;

    set_up("..........");
    for (size_t i = 0; i < ROWS(rows); i++) {
        EXPECT(rows[i].what,
               pol_segments_alloc(host, &rows[i].request, out, &count),
               rows[i].rc);
        EXPECT(rows[i].what, pol_segments_fit(host, &rows[i].request, &fit),
               rows[i].rc);
    }
    EXPECT_TEXT("untouched", looks(), "..........");
}

static void memory_may_not_overlap(void)
{
    static const struct {
        uint32_t node;
        uint64_t start, pages;
        int rc;
    } rows[] = {
        { 0, 0, 10, POL_ERR_EXISTS },
        { 0, 9, 1, POL_ERR_EXISTS },
        { 0, 5, 100, POL_ERR_EXISTS },
        { 1, 20, 1, POL_ERR_RANGE },
        { 0, 20, 0, POL_ERR_RANGE },
        { 0, UINT64_MAX, 2, POL_ERR_RANGE },
        { 0, POL_SEGMENT_MAX_PAGES, 1, POL_ERR_RANGE },
        { 0, 20, UINT64_MAX - 10, POL_ERR_RANGE },
        { 0, 10, 5, POL_OK },
        { 0, POL_SEGMENT_MAX_PAGES - 1, 1, POL_OK },
    };

    new_host(16);
    for (size_t i = 0; i < ROWS(rows); i++) {
        EXPECT(
            NULL,
            pol_segments_add(host, rows[i].node, rows[i].start, rows[i].pages),
            rows[i].rc);
    }
    MUST(pol_segments_check(host));
}

static void exhausted_extents_change_nothing(void)
{
    struct pol_segment out[POL_SEGMENT_DEFAULT];
    struct pol_segment_request r = want('x', 2);
    uint32_t count;

    new_host(2);
    MUST(pol_segments_alloc(host, &r, out, &count));
    EXPECT("full", pol_segments_alloc(host, &r, &out[1], &count),
           POL_ERR_NOMEM);
    EXPECT_TEXT("full", looks(), "xx........");
    r.pages = 8;
    EXPECT("the whole hole needs none",
           pol_segments_alloc(host, &r, &out[1], &count), POL_OK);
    EXPECT("no extent for the rest", pol_segments_resize(host, 'x', &out[1], 7),
           POL_ERR_NOMEM);
    EXPECT_TEXT("still", looks(), "xxxxxxxxxx");
}

static void blocks_are_checked(void)
{
    size_t bytes = pol_segments_size(2, 10);

    EXPECT("nodes", pol_segments_size(0, 10), 0);
    EXPECT("nodes", pol_segments_size(65, 10), 0);
    EXPECT("extents", pol_segments_size(1, 0), 0);
    EXPECT("extents", pol_segments_size(1, POL_SEGMENT_MAX_EXTENTS + 1), 0);
    EXPECT("small", pol_segments_init(block, bytes - 1, 2, 10, &host),
           POL_ERR_NOMEM);
    EXPECT("odd", pol_segments_init(block + 1, bytes, 2, 10, &host),
           POL_ERR_INVALID);
    EXPECT("none", pol_segments_init(NULL, bytes, 2, 10, &host),
           POL_ERR_INVALID);
    EXPECT("right", pol_segments_init(block, bytes, 2, 10, &host), POL_OK);
    EXPECT_TRUE("per extent",
                pol_segments_size(1, 1000) - pol_segments_size(1, 0 + 1) <=
                    64 * 999);
}

/* Node 0 has pages 0..9, node 1 has 100..119. */
static void nodes_are_preferred_or_kept_to(void)
{
    static const struct {
        const char *what;
        uint64_t pages;
        uint32_t node, flags;
        int rc;
        uint32_t segments;
        uint64_t first;
    } rows[] = {
        { "least waste", 8, POL_SEGMENT_ANY_NODE, 0, POL_OK, 1, 0 },
        { "preferred", 8, 1, 0, POL_OK, 1, 100 },
        { "the other has room", 15, 0, 0, POL_OK, 1, 100 },
        { "strict", 15, 0, POL_SEGMENT_STRICT_NODE, POL_ERR_MEMORY_SHORT, 0,
          0 },
        { "both", 25, 0, 0, POL_OK, 2, 100 },
        { "one of them", 25, POL_SEGMENT_ANY_NODE, POL_SEGMENT_ONE_NODE,
          POL_ERR_MEMORY_SHORT, 0, 0 },
    };

    for (size_t i = 0; i < ROWS(rows); i++) {
        struct pol_segment out[POL_SEGMENT_DEFAULT];
        struct pol_segment_request r = want('x', rows[i].pages);
        uint32_t count = 0;

        MUST(pol_segments_init(block, sizeof(block), 2, 16, &host));
        MUST(pol_segments_add(host, 0, 0, 10));
        MUST(pol_segments_add(host, 1, 100, 20));
        r.node = rows[i].node;
        r.flags = rows[i].flags;
        EXPECT(rows[i].what, pol_segments_alloc(host, &r, out, &count),
               rows[i].rc);
        EXPECT(rows[i].what, count, rows[i].segments);
        if (count > 0) {
            EXPECT(rows[i].what, out[0].start_page, rows[i].first);
        }
        MUST(pol_segments_check(host));
    }
}

static void scores_prefer_whole_holes_kept(void)
{
    static const struct pol_segment_fit in_order[] = {
        { .segments = 1, .waste_pages = 0, .free_pages = 900 },
        { .segments = 1, .waste_pages = 7, .free_pages = 7 },
        { .segments = 1, .waste_pages = POL_SEGMENT_MAX_PAGES },
        { .segments = 2, .waste_pages = 50, .free_pages = 60 },
        { .segments = 2, .waste_pages = 0, .free_pages = 600 },
        { .segments = 3, .waste_pages = 0, .free_pages = 1 },
        { .segments = 0 },
    };

    for (size_t i = 1; i < ROWS(in_order); i++) {
        EXPECT_TRUE(NULL, pol_segment_fit_score(&in_order[i - 1]) <
                              pol_segment_fit_score(&in_order[i]));
    }
}

struct bytes {
    uint8_t data[512];
    size_t n;
};

static void keep(void *user, const uint8_t *bytes, size_t n)
{
    struct bytes *to = user;

    memcpy(to->data + to->n, bytes, n);
    to->n += n;
}

static void snapshots_are_checked(void)
{
    struct pol_segments *restored = NULL;
    struct bytes saved = { .n = 0 };

    set_up("aa..bbb..c");
    pol_segments_save(host, keep, &saved);
    EXPECT("as it is",
           pol_segments_load(block, sizeof(block), 1, 16, saved.data, saved.n,
                             &restored),
           POL_OK);
    host = restored;
    EXPECT_TEXT("restored", looks(), "aa..bbb..c");
    EXPECT("too few extents",
           pol_segments_load(block, sizeof(block), 1, 4, saved.data, saved.n,
                             &restored),
           POL_ERR_NOMEM);
    for (size_t n = 0; n < saved.n; n++) {
        EXPECT_TRUE("cut short",
                    pol_segments_load(block, sizeof(block), 1, 16, saved.data,
                                      n, &restored) != POL_OK);
        saved.data[n] ^= 0x10;
        EXPECT_TRUE("one bit wrong",
                    pol_segments_load(block, sizeof(block), 1, 16, saved.data,
                                      saved.n, &restored) != POL_OK);
        saved.data[n] ^= 0x10;
    }
    saved.data[8] = 2;
    EXPECT("of the future",
           pol_segments_load(block, sizeof(block), 1, 16, saved.data, saved.n,
                             &restored),
           POL_ERR_VERSION);
}

static const struct test_case cases[] = {
    { "best fit takes the smallest hole", best_fit_takes_the_smallest_hole },
    { "segments grow and shrink where they are",
      segments_grow_and_shrink_where_they_are },
    { "a balloon gives whole segments back",
      a_balloon_gives_whole_segments_back },
    { "wrong frees change nothing", wrong_frees_change_nothing },
    { "wrong requests are refused", wrong_requests_are_refused },
    { "memory may not overlap", memory_may_not_overlap },
    { "exhausted extents change nothing", exhausted_extents_change_nothing },
    { "blocks are checked", blocks_are_checked },
    { "nodes are preferred or kept to", nodes_are_preferred_or_kept_to },
    { "scores prefer whole holes kept", scores_prefer_whole_holes_kept },
    { "snapshots are checked", snapshots_are_checked },
};

EXPECT_MAIN("segment", cases)
