/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The two indexes of page sharing: entries by hash and domain, chained in
 * buckets, because pages refer to entries by number and so they may not move;
 * and pages by VM and number, in place, because nothing refers to those.
 */
#include "share_int.h"

/* Entries the hand passes before a new hint is given up. */
#define HAND_STEPS 64u

/* ---- Entries ----------------------------------------------------------- */

static uint32_t *bucket(const struct pol_share *t, uint64_t hash,
                        uint32_t domain)
{
    uint64_t h = polx_spread(hash ^ polx_spread(t->config.seed ^ domain));

    return &t->buckets[polx_mulhi(h, t->config.max_entries)];
}

static uint32_t number_of(const struct pol_share *t, const struct polx_entry *e)
{
    return (uint32_t)(e - t->entries) + 1u;
}

struct polx_entry *polx_entry_find(const struct pol_share *t, uint64_t hash,
                                   uint32_t domain)
{
    uint32_t i = *bucket(t, hash, domain);

    while (i != POLX_SHARE_NONE) {
        struct polx_entry *e = &t->entries[i - 1u];

        if (polx_get64(e->hash) == hash && e->domain == domain) {
            return e;
        }
        i = e->chain;
    }
    return NULL;
}

static void hint_count(struct pol_share *t, uint64_t key, uint64_t one)
{
    t->vms[polx_key_slot(key)].hints += one;
    t->stats.hints += one;
}

void polx_entry_drop(struct pol_share *t, struct polx_entry *e)
{
    uint32_t number = number_of(t, e);
    uint32_t *link = bucket(t, polx_get64(e->hash), e->domain);

    while (*link != number) {
        link = &t->entries[*link - 1u].chain;
    }
    *link = e->chain;
    if (polx_is_hint(e)) {
        hint_count(t, polx_get64(e->who), UINT64_MAX);
    }
    e->pages = POLX_SHARE_UNUSED;
    e->chain = t->free_entry;
    t->free_entry = number;
}

/* Entries were taken in order, so the hand meets old hints first. */
static void evict(struct pol_share *t)
{
    uint32_t i;

    for (i = 0; i < HAND_STEPS; i++) {
        struct polx_entry *e = &t->entries[t->hand];

        t->hand = t->hand + 1u < t->config.max_entries ? t->hand + 1u : 0;
        if (polx_is_hint(e)) {
            polx_entry_drop(t, e);
            t->stats.evicted++;
            return;
        }
    }
}

static struct polx_entry *take(struct pol_share *t)
{
    uint32_t number;

    if (t->free_entry == POLX_SHARE_NONE && t->fresh < t->config.max_entries) {
        return &t->entries[t->fresh++];
    }
    if (t->free_entry == POLX_SHARE_NONE) {
        evict(t);
    }
    number = t->free_entry;
    if (number == POLX_SHARE_NONE) {
        return NULL;
    }
    t->free_entry = t->entries[number - 1u].chain;
    return &t->entries[number - 1u];
}

struct polx_entry *polx_entry_add(struct pol_share *t, uint64_t hash,
                                  uint32_t domain, uint64_t key)
{
    struct polx_entry *e = take(t);
    uint32_t *head;

    if (e == NULL) {
        t->stats.full++;
        return NULL;
    }
    head = bucket(t, hash, domain);
    polx_put64(e->hash, hash);
    polx_put64(e->who, key);
    e->domain = domain;
    e->pages = 0;
    e->chain = *head;
    *head = number_of(t, e);
    hint_count(t, key, 1);
    return e;
}

void polx_hint_move(struct pol_share *t, struct polx_entry *e, uint64_t key)
{
    hint_count(t, polx_get64(e->who), UINT64_MAX);
    polx_put64(e->who, key);
    hint_count(t, key, 1);
}

void polx_entries_copy(struct pol_share *t, const struct pol_share *from)
{
    uint32_t i;

    t->fresh = from->fresh;
    t->free_entry = from->free_entry;
    t->hand = from->hand;
    for (i = 0; i < from->fresh; i++) {
        struct polx_entry *e = &t->entries[i];
        uint32_t *head;

        *e = from->entries[i];
        if (e->pages != POLX_SHARE_UNUSED) {
            head = bucket(t, polx_get64(e->hash), e->domain);
            e->chain = *head;
            *head = i + 1u;
        }
    }
}

/* ---- Pages ------------------------------------------------------------- */

static uint64_t home(const struct pol_share *t, uint64_t key)
{
    return polx_mulhi(polx_spread(key ^ t->config.seed), t->page_slots);
}

static uint64_t after(const struct pol_share *t, uint64_t i)
{
    return i + 1 < t->page_slots ? i + 1 : 0;
}

/* How far slot i lies behind slot from, going round. */
static uint64_t behind(const struct pol_share *t, uint64_t from, uint64_t i)
{
    return i >= from ? i - from : i + t->page_slots - from;
}

/* The page's slot, or the empty one where it belongs. */
static uint64_t page_slot(const struct pol_share *t, uint64_t key)
{
    uint64_t i = home(t, key);

    while (t->page_entry[i] != POLX_SHARE_NONE && t->page_key[i] != key) {
        i = after(t, i);
    }
    return i;
}

struct polx_entry *polx_page_find(const struct pol_share *t, uint64_t key)
{
    uint32_t number = t->page_entry[page_slot(t, key)];

    return number == POLX_SHARE_NONE ? NULL : &t->entries[number - 1u];
}

void polx_page_add(struct pol_share *t, uint64_t key, struct polx_entry *e)
{
    uint64_t i = page_slot(t, key);

    POLX_ASSERT(t->page_entry[i] == POLX_SHARE_NONE && polx_page_room(t) > 0);
    t->page_key[i] = key;
    t->page_entry[i] = number_of(t, e);
    e->pages++;
    t->vms[polx_key_slot(key)].shared_pages++;
    t->stats.shared_pages++;
    t->accounted = false;
}

void polx_page_remove(struct pol_share *t, uint64_t key)
{
    uint64_t hole = page_slot(t, key);
    uint64_t i;

    POLX_ASSERT(t->page_entry[hole] != POLX_SHARE_NONE);
    t->entries[t->page_entry[hole] - 1u].pages--;
    t->vms[polx_key_slot(key)].shared_pages--;
    t->stats.shared_pages--;
    t->accounted = false;
    /* Close the gap: a page may move into the hole when its home does not lie
     * between the hole and where it is now. */
    for (i = after(t, hole); t->page_entry[i] != POLX_SHARE_NONE;
         i = after(t, i)) {
        uint64_t h = home(t, t->page_key[i]);

        if (behind(t, h, i) >= behind(t, hole, i)) {
            t->page_key[hole] = t->page_key[i];
            t->page_entry[hole] = t->page_entry[i];
            hole = i;
        }
    }
    t->page_entry[hole] = POLX_SHARE_NONE;
}

void polx_pages_copy(struct pol_share *t, const struct pol_share *from)
{
    uint64_t i;

    for (i = 0; i < from->page_slots; i++) {
        uint64_t key = from->page_key[i];

        if (from->page_entry[i] != POLX_SHARE_NONE) {
            uint64_t at = page_slot(t, key);

            t->page_key[at] = key;
            t->page_entry[at] = from->page_entry[i];
        }
    }
}
