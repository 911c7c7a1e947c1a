/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan_check.h"

#include <string.h>

#include "expect.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static void read_all(const struct plan_seen *p, struct pol_vm_status *out)
{
    size_t i;

    for (i = 0; i < MODEL_VMS; i++) {
        if (p->host->vms[i].alive) {
            MUST(pol_vm_status(p->ctx, p->host->vms[i].id, &out[i]));
        }
    }
}

void plan_before(struct plan_seen *p, const struct model_host *host,
                 const struct pol_ctx *ctx)
{
    memset(p, 0, sizeof(*p));
    p->host = host;
    p->ctx = ctx;
    p->bound = pol_plan_bound(ctx);
    read_all(p, p->before);
}

/* Sums of the least and the most that members of a group may have. */
struct span {
    uint64_t min, max;
};

static int group_of(const struct plan_seen *p, uint64_t id,
                    struct pol_group_params *g)
{
    return id != POL_ROOT_GROUP && pol_group_get(p->ctx, id, g) == POL_OK;
}

static struct span span_of(const struct plan_seen *p, uint64_t group)
{
    struct span sum = { 0, 0 }, inner;
    struct pol_group_params g;
    uint64_t id;
    size_t i;

    for (i = 0; i < MODEL_VMS; i++) {
        if (p->host->vms[i].alive && p->host->vms[i].params.group == group) {
            sum.min += p->after[i].min_pages;
            sum.max += p->after[i].max_pages;
        }
    }
    for (id = 1; id <= PLAN_GROUPS; id++) {
        if (group_of(p, id, &g) && g.parent == group) {
            inner = span_of(p, id);
            inner.max = least(inner.max, g.limit_pages);
            sum.max += inner.max;
            sum.min += least(most(inner.min, g.reservation_pages), inner.max);
        }
    }
    return sum;
}

/* Is a group above this VM limited to less than its members' minima? */
static int group_short(const struct plan_seen *p, uint64_t group)
{
    struct pol_group_params g;

    while (group_of(p, group, &g)) {
        if (span_of(p, group).min > g.limit_pages) {
            return 1;
        }
        group = g.parent;
    }
    return 0;
}

static const char *check_targets(const struct plan_seen *p)
{
    struct span all = span_of(p, POL_ROOT_GROUP);
    uint64_t sum = 0;
    size_t i;

    for (i = 0; i < MODEL_VMS; i++) {
        const struct model_vm *vm = &p->host->vms[i];
        const struct pol_vm_status *s = &p->after[i];
        int is_short;

        if (!vm->alive) {
            continue;
        }
        sum += s->target_pages;
        is_short = p->status.short_of_reservations ||
                   all.min > p->status.available_pages ||
                   group_short(p, vm->params.group);
        if (s->min_pages > s->max_pages) {
            return "least <= most";
        }
        if (s->target_pages > s->max_pages) {
            return "target <= most";
        }
        if (!is_short && s->target_pages < s->min_pages) {
            return "target >= least";
        }
        if (!is_short && s->target_pages < vm->params.reservation_pages &&
            vm->lifecycle != POL_LIFE_SHUTTING_DOWN) {
            return "target >= reservation";
        }
    }
    return sum == least(p->status.available_pages, all.max)
               ? NULL
               : "targets sum up to what there is";
}

static size_t index_of(const struct plan_seen *p, uint64_t id)
{
    size_t i;

    for (i = 0; i < MODEL_VMS; i++) {
        if (p->host->vms[i].alive && p->host->vms[i].id == id) {
            break;
        }
    }
    return i;
}

/* What the actions looked at so far amount to. */
struct tally {
    uint64_t growth;
    uint64_t swap_out;
    int distress;
};

/* Blocked before, and not let go by an action before this one. */
static int is_blocked(const struct plan_seen *p, const struct model_vm *vm,
                      const struct pol_action *upto)
{
    const struct pol_action *a;

    for (a = p->actions; a < upto; a++) {
        if (a->vm == vm->id && a->kind == POL_ACT_UNBLOCK) {
            return 0;
        }
    }
    return vm->blocked;
}

/* A stuck balloon is only ever asked to take less than it was to take, which
 * needs nothing from it: not for what it has taken already. */
static int is_call_back(const struct pol_vm_status *before,
                        const struct pol_action *a)
{
    return a->pages > before->asked_pages && a->pages <= before->actual_pages;
}

static const char *check_balloon(const struct plan_seen *p, size_t i,
                                 const struct pol_action *a, struct tally *t)
{
    const struct model_vm *vm = &p->host->vms[i];
    const struct pol_vm_status *b = &p->before[i], *s = &p->after[i];
    uint64_t size = vm->params.size_pages;
    uint32_t cap_bp = pol_ctx_config(p->ctx)->balloon_cap_bp;
    uint64_t most_ballooned =
        size / 10000 * cap_bp + size % 10000 * cap_bp / 10000;
    uint64_t has = most(b->actual_pages, b->asked_pages);

    if (vm->lifecycle != POL_LIFE_RUNNING || is_blocked(p, vm, a) ||
        s->foreign || (s->stuck && !is_call_back(b, a)) ||
        (vm->params.flags & POL_VM_NO_BALLOON) != 0 ||
        (vm->driver != POL_DRIVER_PRESENT &&
         vm->driver != POL_DRIVER_UNKNOWN)) {
        return "no balloon for a VM that must not have one";
    }
    if (a->pages > size || a->pages == 0) {
        return "1 <= balloon's target <= size";
    }
    if (a->pages == b->asked_pages) {
        return "a new balloon target differs from the old one";
    }
    if (a->pages < b->asked_pages) {
        if (t->growth > 0) {
            return "shrinks come before grows";
        }
        if (a->pages < size - most_ballooned) {
            return "balloon at most at its cap";
        }
    }
    if (a->pages > has) {
        t->growth += a->pages - has;
        t->distress |= s->distress;
    }
    return NULL;
}

static const char *check_action(const struct plan_seen *p,
                                const struct pol_action *a, struct tally *t)
{
    size_t i = index_of(p, a->vm);
    const struct model_vm *vm = &p->host->vms[i];

    if (a->kind == POL_ACT_NOTE || a->kind == POL_ACT_SHARE_RATE) {
        return NULL;
    }
    if (i == MODEL_VMS) {
        return "actions are on VMs that exist";
    }
    switch (a->kind) {
    case POL_ACT_BALLOON:
        return check_balloon(p, i, a, t);
    case POL_ACT_SWAP_OUT:
        t->swap_out += a->pages;
        return (p->host->caps & POL_CAP_SWAP) == 0 ||
                       (vm->params.flags & POL_VM_NO_SWAP) != 0 ||
                       a->pages == 0 || a->pages > vm->backed ||
                       (vm->lifecycle != POL_LIFE_RUNNING &&
                        vm->lifecycle != POL_LIFE_REBOOTING)
                   ? "swap out only where allowed, and what is there"
                   : NULL;
    case POL_ACT_SWAP_IN:
        t->growth += a->pages;
        return (p->host->caps & POL_CAP_SWAP_IN) == 0 || a->pages == 0 ||
                       a->pages > vm->swapped
                   ? "swap in only where possible, and what is swapped out"
                   : NULL;
    case POL_ACT_BLOCK:
        return (p->host->caps & POL_CAP_BLOCK) == 0 || vm->blocked ||
                       (vm->params.flags & POL_VM_NO_BLOCK) != 0 ||
                       vm->lifecycle != POL_LIFE_RUNNING ||
                       p->status.state != POL_STATE_LOW
                   ? "block only in state low and where allowed"
                   : NULL;
    case POL_ACT_UNBLOCK:
        return vm->blocked ? NULL : "unblock only what is blocked";
    case POL_ACT_HARD_CAP:
        return (p->host->caps & POL_CAP_HARD_CAP) == 0 ||
                       a->pages < less(vm->backed, vm->saved)
                   ? "no cap below what a VM holds"
                   : NULL;
    default:
        return "known kinds of actions";
    }
}

static const char *check_sums(const struct plan_seen *p, const struct tally *t)
{
    const struct pol_host_status *s = &p->status;
    uint64_t margin = s->aim_pages - s->high_pages;
    uint64_t keep = s->aim_pages;
    uint64_t left = less(s->free_pages, s->promised_pages + s->held_pages);

    if (t->distress && s->state < POL_STATE_HARD) {
        keep = (s->state <= POL_STATE_CLEAR ? s->soft_pages : s->hard_pages) +
               margin;
    }
    if (t->growth > less(left, keep)) {
        return "growth within free memory above the floor";
    }
    if (t->swap_out > model_host_obs(p->host).swap_free_pages) {
        return "no more swapped out than there is space";
    }
    return NULL;
}

const char *plan_check(struct plan_seen *p, const struct pol_action *actions,
                       size_t n)
{
    struct tally t = { 0, 0, 0 };
    const char *wrong;
    size_t i;

    p->actions = actions;
    p->n = n;
    MUST(pol_host_get(p->ctx, &p->status));
    read_all(p, p->after);
    if (n > p->bound) {
        return "no more actions than the bound";
    }
    wrong = check_targets(p);
    for (i = 0; i < n && wrong == NULL; i++) {
        wrong = check_action(p, &actions[i], &t);
    }
    for (i = 0; i < MODEL_VMS && wrong == NULL; i++) {
        if (p->host->vms[i].alive && p->after[i].reason == POL_WHY_NONE) {
            wrong = "every VM has a reason";
        }
    }
    return wrong != NULL ? wrong : check_sums(p, &t);
}
