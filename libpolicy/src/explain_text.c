/* SPDX-License-Identifier: BSD-2-Clause */
/* An explanation as a sentence, without a C library. */
#include "internal.h"

#include <string.h>

/** Text being written; `n` counts also what did not fit. */
struct text {
    char *out;
    size_t cap;
    size_t n;
};

static void put_char(struct text *t, char c)
{
    if (t->n + 1 < t->cap) {
        t->out[t->n] = c;
    }
    t->n++;
}

static void put(struct text *t, const char *s)
{
    while (*s != '\0') {
        put_char(t, *s++);
    }
}

/* A number with commas between thousands. */
static void put_number(struct text *t, uint64_t v)
{
    char digits[20];
    uint32_t n = 0;

    do {
        digits[n++] = (char)('0' + v % 10u);
        v /= 10u;
    } while (v != 0);
    while (n > 0) {
        n--;
        put_char(t, digits[n]);
        if (n > 0 && n % 3u == 0) {
            put_char(t, ',');
        }
    }
}

/* A number of hundredths, as "0.31". */
static void put_hundredths(struct text *t, uint64_t v)
{
    put_number(t, v / 100u);
    put_char(t, '.');
    put_char(t, (char)('0' + v / 10u % 10u));
    put_char(t, (char)('0' + v % 10u));
}

static void put_pages(struct text *t, uint64_t pages)
{
    put_number(t, pages);
    put(t, pages == 1 ? " page" : " pages");
}

static void put_ordinal(struct text *t, uint64_t v)
{
    static const char *const ends[] = { "th", "st", "nd", "rd" };
    uint64_t last = v % 10u;

    put_number(t, v);
    put(t, ends[v % 100u / 10u != 1u && last < 4u ? last : 0]);
}

/* What was done, up to the word "because". */
static void put_action(struct text *t, const struct pol_explanation *e)
{
    const struct pol_vm_status *s = &e->status;

    switch (s->action) {
    case POL_ACT_BALLOON:
        put(t, "balloon set to leave ");
        put_pages(t, s->action_pages);
        break;
    case POL_ACT_SWAP_OUT:
        put_pages(t, s->action_pages);
        put(t, " to be swapped out");
        break;
    case POL_ACT_SWAP_IN:
        put_pages(t, s->action_pages);
        put(t, " may be swapped in");
        break;
    case POL_ACT_BLOCK:
        put(t, "blocked");
        break;
    case POL_ACT_UNBLOCK:
        put(t, "unblocked");
        break;
    default:
        put(t, "left as it is");
        break;
    }
}

static void put_target(struct text *t, const struct pol_explanation *e)
{
    put(t, "state ");
    put(t, pol_state_name((int)e->state));
    put(t, "; ");
    if (e->excess_pages > 0) {
        put(t, "excess ");
        put_pages(t, e->excess_pages);
        put(t, " over target ");
    } else if (e->lacking_pages > 0) {
        put_pages(t, e->lacking_pages);
        put(t, " below target ");
    } else {
        put(t, "exactly at target ");
    }
    put_number(t, e->status.target_pages);
}

static void put_rho(struct text *t, const struct pol_explanation *e)
{
    /* hundredths of shares per page; the value is Q32 */
    uint64_t whole = e->rho_q32 >> 32, part = e->rho_q32 & UINT32_MAX;

    put(t, "; adjusted shares-per-page ");
    if (whole == 0 && part * 100u >> 32 == 0 && part != 0) {
        put(t, "below 0.01");
    } else {
        put_hundredths(t, whole * 100u + (part * 100u >> 32));
    }
    put(t, ", ");
    if (e->rho_rank == 1) {
        put(t, "lowest");
    } else {
        put_ordinal(t, e->rho_rank);
        put(t, " lowest");
    }
    put(t, " of ");
    put_number(t, e->rho_count);
}

static void put_evidence(struct text *t, const struct pol_explanation *e)
{
    put(t, "; ");
    put_pages(t, e->ws.active_pages);
    put(t, " active (");
    if (e->ws.distress) {
        put(t, "guest in distress, counts for more; ");
    }
    switch (e->ws.evidence) {
    case POL_EVIDENCE_NONE:
        put(t, "nothing known: all assumed active)");
        return;
    case POL_EVIDENCE_SAMPLED:
        put(t, "sampled ");
        break;
    case POL_EVIDENCE_MEASURED:
        put(t, "measured by the host ");
        break;
    default:
        put(t, "said by the guest ");
        break;
    }
    put_number(t, e->ws.age_ms / 1000u);
    put(t, " s ago)");
}

static void put_extras(struct text *t, const struct pol_explanation *e)
{
    if (e->status.stuck) {
        put(t, "; balloon stuck, tried again in ");
        put_number(t, e->retry_in_ms / 1000u);
        put(t, " s");
    }
    if (e->status.foreign) {
        put(t, "; target ");
        put_number(t, e->status.asked_pages);
        put(t, " set by somebody else");
    }
    if (e->status.failures > 0) {
        put(t, "; ");
        put_number(t, e->status.failures);
        put(t, " failed actions");
    }
}

int pol_explain_text(const struct pol_explanation *e, char *text, size_t cap)
{
    struct text t = { text, cap, 0 };

    put_action(&t, e);
    put(&t, " because: ");
    put(&t, pol_reason_text((int)e->status.reason));
    put(&t, " (");
    put_target(&t, e);
    put_rho(&t, e);
    put_evidence(&t, e);
    put_extras(&t, e);
    put(&t, ")");
    if (cap > 0) {
        text[t.n < cap ? t.n : cap - 1] = '\0';
    }
    return t.n < cap ? POL_OK : POL_ERR_BUFFER;
}
