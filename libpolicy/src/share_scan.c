/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What to do with a page (ESX02 4): hints, comparisons, shared frames and
 * pages that leave them.
 */
#include "share_int.h"

#include <string.h>

/* Slot of a VM and key of one of its pages. */
static int locate(const struct pol_share *t, uint64_t vm, uint64_t gfn,
                  uint32_t *slot, uint64_t *key)
{
    *slot = polx_share_slot(t, vm);
    if (*slot == UINT32_MAX) {
        return POL_ERR_NOTFOUND;
    }
    if (gfn >= t->vms[*slot].size_pages) {
        return POL_ERR_RANGE;
    }
    *key = polx_page_key(*slot, gfn);
    return POL_OK;
}

/* ---- Leaving a shared frame -------------------------------------------- */

/* Take a page off its frame; what nobody uses any more is dropped. */
static void leave(struct pol_share *t, uint64_t key, struct polx_entry *e,
                  struct pol_share_left *out)
{
    out->frame = polx_get64(e->who);
    polx_page_remove(t, key);
    out->pages = e->pages;
    if (e->pages == 0) {
        /* An entry without pages is a hint; this one is of no page. */
        e->pages = POLX_SHARE_UNUSED;
        polx_entry_drop(t, e);
        t->stats.shared_frames--;
        t->era++;
    }
}

static int leave_page(struct pol_share *t, uint64_t vm, uint64_t gfn,
                      struct pol_share_left *out)
{
    struct polx_entry *e;
    uint32_t slot;
    uint64_t key;
    int rc = locate(t, vm, gfn, &slot, &key);

    if (rc != POL_OK) {
        return rc;
    }
    e = polx_page_find(t, key);
    if (e == NULL) {
        return POL_ERR_NOTFOUND;
    }
    leave(t, key, e, out);
    return POL_OK;
}

int pol_share_break(struct pol_share *t, uint64_t vm, uint64_t gfn,
                    struct pol_share_left *out)
{
    int rc = leave_page(t, vm, gfn, out);

    t->stats.broken += rc == POL_OK;
    return rc;
}

int pol_share_forget(struct pol_share *t, uint64_t vm, uint64_t gfn,
                     struct pol_share_left *out)
{
    return leave_page(t, vm, gfn, out);
}

int pol_share_forget_vm(struct pol_share *t, uint64_t id, uint64_t *frames,
                        size_t cap, size_t *n)
{
    uint32_t slot = polx_share_slot(t, id);
    struct polx_share_vm *vm;
    struct pol_share_left left;

    if (slot == UINT32_MAX) {
        return POL_ERR_NOTFOUND;
    }
    if (cap == 0) {
        return POL_ERR_BUFFER;
    }
    vm = &t->vms[slot];
    *n = 0;
    while (vm->shared_pages != 0 && *n < cap) {
        /* Other calls in between may have moved pages to slots passed. */
        if (vm->sweep >= t->page_slots) {
            vm->sweep = 0;
        }
        if (t->page_entry[vm->sweep] != POLX_SHARE_NONE &&
            polx_key_slot(t->page_key[vm->sweep]) == slot) {
            /* Another page may move here: look again. */
            leave(t, t->page_key[vm->sweep],
                  &t->entries[t->page_entry[vm->sweep] - 1u], &left);
            if (left.pages == 0) {
                frames[(*n)++] = left.frame;
            }
        } else {
            vm->sweep++;
        }
    }
    if (*n < cap) {
        vm->sweep = 0;
    }
    return POL_OK;
}

int pol_share_find(const struct pol_share *t, uint64_t vm, uint64_t gfn,
                   uint64_t *frame)
{
    const struct polx_entry *e;
    uint32_t slot;
    uint64_t key;
    int rc = locate(t, vm, gfn, &slot, &key);

    if (rc != POL_OK) {
        return rc;
    }
    e = polx_page_find(t, key);
    if (e == NULL) {
        return POL_ERR_NOTFOUND;
    }
    *frame = polx_get64(e->who);
    return POL_OK;
}

/* ---- Scanning ---------------------------------------------------------- */

/* A page already on a shared frame. Alone there it gains nothing but cannot
 * be written or swapped: it becomes a hint, in the same entry. */
static uint32_t scan_shared(struct pol_share *t, uint64_t key,
                            struct polx_entry *e, uint64_t *frame)
{
    if (e->pages > 1) {
        return POL_SHARE_NOTHING;
    }
    *frame = polx_get64(e->who);
    polx_page_remove(t, key);
    t->stats.shared_frames--;
    t->era++;
    t->vms[polx_key_slot(key)].hints++;
    t->stats.hints++;
    polx_put64(e->who, key);
    return POL_SHARE_PRIVATE;
}

/* A page whose hash has a hint. */
static uint32_t scan_hint(struct pol_share *t, uint64_t key,
                          struct polx_entry *e, struct pol_share_verdict *out)
{
    uint64_t other = polx_get64(e->who);

    if (other == key) {
        return POL_SHARE_NOTHING;
    }
    if (polx_page_find(t, other) != NULL) {
        /* Shared by another hash: its content is not this one any more. */
        polx_hint_move(t, e, key);
        return POL_SHARE_HINTED;
    }
    if (polx_page_room(t) < 2) {
        t->stats.full++;
        return POL_SHARE_NOTHING;
    }
    out->other_vm = t->vms[polx_key_slot(other)].id;
    out->other_gfn = polx_key_gfn(other);
    return POL_SHARE_COMPARE_PAGE;
}

int pol_share_scan(struct pol_share *t, uint64_t vm, uint64_t gfn,
                   uint64_t hash, struct pol_share_verdict *out)
{
    struct polx_entry *e;
    uint32_t slot;
    uint64_t key;
    int rc = locate(t, vm, gfn, &slot, &key);

    if (rc != POL_OK) {
        return rc;
    }
    memset(out, 0, sizeof(*out));
    out->vm = vm;
    out->gfn = gfn;
    out->hash = hash;
    out->era = t->era;
    t->stats.scanned++;
    e = polx_page_find(t, key);
    if (e != NULL) {
        out->what = scan_shared(t, key, e, &out->frame);
        return POL_OK;
    }
    e = polx_entry_find(t, hash, t->vms[slot].domain);
    if (e == NULL) {
        e = polx_entry_add(t, hash, t->vms[slot].domain, key);
        out->what = e != NULL ? POL_SHARE_HINTED : POL_SHARE_NOTHING;
    } else if (polx_is_hint(e)) {
        out->what = scan_hint(t, key, e, out);
    } else if (polx_page_room(t) == 0) {
        t->stats.full++;
    } else {
        out->frame = polx_get64(e->who);
        out->what = POL_SHARE_COMPARE_FRAME;
    }
    return POL_OK;
}

/* ---- Comparisons reported ---------------------------------------------- */

/* Is the frame still the one that was compared? It may have been given up and
 * be another content's by now: then the era differs. */
static uint32_t confirm_frame(struct pol_share *t, uint64_t key,
                              struct polx_entry *e,
                              const struct pol_share_verdict *v,
                              uint32_t compared)
{
    if (polx_is_hint(e) || polx_get64(e->who) != v->frame || t->era != v->era ||
        polx_page_room(t) == 0) {
        t->stats.stale++;
        return POL_SHARE_NOTHING;
    }
    if (compared != POL_SHARE_EQUAL) {
        t->stats.collisions += compared == POL_SHARE_UNEQUAL;
        t->stats.changed += compared == POL_SHARE_CHANGED;
        return POL_SHARE_NOTHING;
    }
    polx_page_add(t, key, e);
    t->stats.merged++;
    return POL_SHARE_MERGED;
}

/* The hinted page's frame becomes the shared one, in the same entry. */
static void hint_to_frame(struct pol_share *t, struct polx_entry *e,
                          uint64_t other, uint64_t frame)
{
    t->vms[polx_key_slot(other)].hints--;
    t->stats.hints--;
    t->stats.shared_frames++;
    polx_put64(e->who, frame);
    polx_page_add(t, other, e);
}

static uint32_t confirm_hint(struct pol_share *t, uint64_t key,
                             struct polx_entry *e, uint64_t other,
                             uint32_t compared, uint64_t frame)
{
    if (!polx_is_hint(e) || polx_get64(e->who) != other || key == other ||
        polx_page_find(t, other) != NULL || polx_page_room(t) < 2) {
        t->stats.stale++;
        return POL_SHARE_NOTHING;
    }
    if (compared == POL_SHARE_UNEQUAL) {
        t->stats.collisions++;
        return POL_SHARE_NOTHING;
    }
    if (compared == POL_SHARE_CHANGED) {
        t->stats.changed++;
        polx_hint_move(t, e, key);
        return POL_SHARE_HINTED;
    }
    hint_to_frame(t, e, other, frame);
    polx_page_add(t, key, e);
    t->stats.merged++;
    return POL_SHARE_MERGED;
}

int pol_share_confirm(struct pol_share *t, const struct pol_share_verdict *v,
                      uint32_t compared, uint64_t frame, uint32_t *what)
{
    struct polx_entry *e;
    uint32_t slot, other_slot;
    uint64_t key, other = 0;
    bool hint = v->what == POL_SHARE_COMPARE_PAGE;
    int rc;

    if (compared > POL_SHARE_CHANGED ||
        (!hint && v->what != POL_SHARE_COMPARE_FRAME)) {
        return POL_ERR_INVALID;
    }
    rc = locate(t, v->vm, v->gfn, &slot, &key);
    if (rc == POL_OK && hint) {
        rc = locate(t, v->other_vm, v->other_gfn, &other_slot, &other);
    }
    if (rc != POL_OK) {
        return rc;
    }
    t->stats.compared++;
    e = polx_entry_find(t, v->hash, t->vms[slot].domain);
    if (e == NULL || polx_page_find(t, key) != NULL) {
        t->stats.stale++;
        *what = POL_SHARE_NOTHING;
    } else if (hint) {
        *what = confirm_hint(t, key, e, other, compared, frame);
    } else {
        *what = confirm_frame(t, key, e, v, compared);
    }
    return POL_OK;
}
