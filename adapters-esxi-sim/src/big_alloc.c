/* SPDX-License-Identifier: BSD-2-Clause */
#define _DEFAULT_SOURCE /* mmap's MAP_ANONYMOUS, madvise */
#include "big_alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_BYTES ((size_t)2 << 20)

/* Below this, huge pages would waste more than they bring. The address
 * sanitizer sees errors only in what malloc gives, so it gets everything. */
#if defined(__SANITIZE_ADDRESS__)
#define SMALL_BYTES SIZE_MAX
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SMALL_BYTES SIZE_MAX
#endif
#endif
#ifndef SMALL_BYTES
#define SMALL_BYTES ((size_t)1 << 20)
#endif

static size_t rounded(size_t bytes)
{
    return (bytes + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
}

/* Map with room to spare, then give back what lies outside the alignment. */
static void *map_aligned(size_t bytes)
{
    size_t room = bytes + HUGE_BYTES;
    char *start = mmap(NULL, room, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t skip;

    if (start == MAP_FAILED) {
        return NULL;
    }
    skip =
        (HUGE_BYTES - ((uintptr_t)start & (HUGE_BYTES - 1))) & (HUGE_BYTES - 1);
    if (skip != 0) {
        (void)munmap(start, skip);
    }
    (void)munmap(start + skip + bytes, HUGE_BYTES - skip);
#ifdef MADV_HUGEPAGE
    (void)madvise(start + skip, bytes, MADV_HUGEPAGE);
#endif
    return start + skip;
}

void *simx_big_alloc(size_t n, size_t size)
{
    if (n > (SIZE_MAX >> 2) / size) {
        return NULL;
    }
    if (n * size < SMALL_BYTES) {
        return calloc(n != 0 ? n : 1, size);
    }
    return map_aligned(rounded(n * size));
}

void simx_big_free(void *block, size_t n, size_t size)
{
    if (block == NULL) {
        return;
    }
    if (n * size < SMALL_BYTES) {
        free(block);
    } else {
        (void)munmap(block, rounded(n * size));
    }
}
