/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file share_int.h
 * What the files of page sharing have in common.
 *
 *   share.c          making a table, its VMs, its figures
 *   share_move.c     moving a table
 *   share_table.c    entries by hash, pages by VM and number
 *   share_scan.c     what to do with a page
 *   share_turn.c     which page is next
 *   share_account.c  who bears which part of a frame
 *   share_check.c    what must always hold
 */
#ifndef POLX_SHARE_INT_H
#define POLX_SHARE_INT_H

#include "arith.h"
#include "check.h"
#include "idmap.h"
#include "policy/share.h"

/* Entries and VMs are numbered from 1 in links, so that zeroed memory means
 * "none". */
#define POLX_SHARE_NONE 0u

/* struct polx_entry.pages of an entry in the chain of free ones. */
#define POLX_SHARE_UNUSED UINT32_MAX

/* A page of a VM: slot << 44 | gfn. */
#define POLX_GFN_BITS 44u

/*
 * One content. 64-bit values are kept in halves: the entry has 28 bytes, and
 * 32 together with its place in the buckets.
 */
struct polx_entry {
    uint32_t hash[2];
    uint32_t who[2]; /* hint: key of the page; shared: frame */
    uint32_t domain;
    uint32_t pages; /* on the frame; 0: a hint */
    uint32_t chain; /* next in the bucket, or free */
};
_Static_assert(sizeof(struct polx_entry) == 28, "32 bytes per entry");

struct polx_share_vm {
    uint64_t id;
    uint64_t size_pages;
    uint64_t shared_pages;
    uint64_t hints;
    uint64_t units; /* of 2^-32 page, while accounting */
    uint64_t consumed_pages;
    uint64_t start_gfn; /* of this pass */
    uint64_t done;      /* pages handed out in this pass */
    uint64_t sweep;     /* where pol_share_forget_vm() goes on */
    uint32_t domain;
    uint32_t turn; /* index + 1 in turns; 0: has had all of its pages */
    uint32_t used;
    uint32_t reserved_0;
};
_Static_assert(sizeof(struct polx_share_vm) == 88, "100 bytes per VM");

struct pol_share {
    struct pol_share_config config;
    struct pol_share_stats stats;

    struct polx_entry *entries;
    uint32_t *buckets;   /* max_entries of them: entry + 1 */
    uint32_t free_entry; /* entry + 1 */
    uint32_t fresh;      /* from here on never used */
    uint32_t hand;       /* of eviction */
    uint32_t reserved_0;
    uint64_t era; /* shared frames given up: dates verdicts */

    /* Pages on shared frames: open addressing, three quarters full at most. */
    uint64_t *page_key;
    uint32_t *page_entry; /* entry + 1; 0: empty */
    uint64_t page_slots;

    struct polx_share_vm *vms;
    struct polx_idmap vm_ids;
    uint32_t vm_low;  /* slots below it are all used */
    uint32_t vm_high; /* slots from here on are all unused */
    uint32_t vm_count;
    uint32_t reserved_1;

    /* Scanning. */
    uint32_t *turns; /* slots of VMs with pages left in this pass */
    uint32_t turns_n;
    uint32_t turn;     /* whose it is */
    uint32_t run_left; /* of its run */
    uint32_t clock_set;
    uint64_t random;
    uint64_t budget;
    uint64_t carry; /* thousandths of a page */
    uint64_t tick_ms;
    uint64_t all_pages; /* of all VMs */

    bool accounted; /* nothing has changed since */
};

static inline uint64_t polx_get64(const uint32_t half[2])
{
    return (uint64_t)half[1] << 32 | half[0];
}

static inline void polx_put64(uint32_t half[2], uint64_t v)
{
    half[0] = (uint32_t)v;
    half[1] = (uint32_t)(v >> 32);
}

static inline uint64_t polx_page_key(uint32_t slot, uint64_t gfn)
{
    return (uint64_t)slot << POLX_GFN_BITS | gfn;
}

static inline uint32_t polx_key_slot(uint64_t key)
{
    return (uint32_t)(key >> POLX_GFN_BITS);
}

static inline uint64_t polx_key_gfn(uint64_t key)
{
    return key & (POL_SHARE_MAX_GFN - 1);
}

static inline bool polx_is_hint(const struct polx_entry *e)
{
    return e->pages == 0;
}

/* ---- share_table.c: entries */

/** The entry of a content, or NULL. */
struct polx_entry *polx_entry_find(const struct pol_share *t, uint64_t hash,
                                   uint32_t domain);
/** A new hint; evicts an old one when it must. NULL: no room. */
struct polx_entry *polx_entry_add(struct pol_share *t, uint64_t hash,
                                  uint32_t domain, uint64_t key);
/** Entries, from another table of no more of them. */
void polx_entries_copy(struct pol_share *t, const struct pol_share *from);
void polx_entry_drop(struct pol_share *t, struct polx_entry *e);
/** Let a hint stand for another page of the same content. */
void polx_hint_move(struct pol_share *t, struct polx_entry *e, uint64_t key);

/* ---- share_table.c: pages */

/** The entry of the frame a page is on, or NULL. */
struct polx_entry *polx_page_find(const struct pol_share *t, uint64_t key);
/** Put a page, which is on no frame, on one. There must be room. */
void polx_page_add(struct pol_share *t, uint64_t key, struct polx_entry *e);
void polx_page_remove(struct pol_share *t, uint64_t key);

/** Pages, from another table whose entries have been copied. */
void polx_pages_copy(struct pol_share *t, const struct pol_share *from);

static inline uint64_t polx_page_room(const struct pol_share *t)
{
    return t->config.max_pages - t->stats.shared_pages;
}

/* ---- share.c */

/** Slot of a VM, or UINT32_MAX. */
uint32_t polx_share_slot(const struct pol_share *t, uint64_t vm);

/* ---- share_check.c */

/** Do all parts of a table agree? Looks at everything, most of it twice; for
 *  tests. */
bool polx_share_is_valid(const struct pol_share *t);

/* ---- share_turn.c */

/** A VM takes part in the running pass from now on. */
void polx_turn_add(struct pol_share *t, uint32_t slot);
/** A VM takes no further part in it. */
void polx_turn_remove(struct pol_share *t, uint32_t slot);

#endif /* POLX_SHARE_INT_H */
