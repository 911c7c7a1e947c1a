/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replay: every recorded call once more, through the public functions.
 *
 * Only calls that succeeded are recorded, so in an exact replay one that fails
 * shows that the trace does not come from this library: it is damaged.
 */
#include "trace_replay.h"

#include <stdbool.h>
#include <string.h>

#include "trace_record.h"

/* Stands for a sink; compares instead of keeping. */
struct compare {
    const uint8_t *expected;
    size_t left;
    bool equal;
};

static void compare_piece(void *user, const uint8_t *bytes, size_t n)
{
    struct compare *c = user;

    if (c->equal && n <= c->left && memcmp(c->expected, bytes, n) == 0) {
        c->expected += n;
        c->left -= n;
    } else {
        c->equal = false;
    }
}

static bool plan_is_recorded(const struct polx_frame *frame,
                             const struct pol_action *actions, size_t n)
{
    struct compare c = { frame->bytes, frame->size, true };

    polx_plan_write(compare_piece, &c, actions, n);
    return c.equal && c.left == 0;
}

/* In a what-if, how many pages were watched stays as recorded: the touched
 * ones were counted among them. */
static int tune(struct polx_replay *replay, const struct pol_config *recorded)
{
    struct pol_config config;

    if (replay->what_if == NULL) {
        return pol_ctx_tune(replay->ctx, recorded);
    }
    config = *replay->what_if;
    config.sample_pages = recorded->sample_pages;
    return pol_ctx_tune(replay->ctx, &config);
}

/* In a what-if, the target on record is the recorded policy's own: it would
 * pass for somebody else's. */
static int observe_vm(struct polx_replay *replay, struct polx_call *call)
{
    if (replay->what_if != NULL) {
        call->u.vm_obs.valid &= ~(uint32_t)POL_OBS_TARGET;
    }
    return pol_observe_vm(replay->ctx, call->id, &call->u.vm_obs);
}

static int repeat(struct polx_replay *replay, uint32_t type,
                  struct polx_call *call)
{
    struct pol_ctx *ctx = replay->ctx;
    const struct pol_hold *hold = &call->u.hold;
    size_t n;

    switch (type) {
    case POLX_REC_TUNE:
        return tune(replay, &call->u.config);
    case POLX_REC_VM_ADD:
        return pol_vm_add(ctx, call->id, &call->u.vm);
    case POLX_REC_VM_SET:
        return pol_vm_set(ctx, call->id, &call->u.vm);
    case POLX_REC_VM_REMOVE:
        return pol_vm_remove(ctx, call->id);
    case POLX_REC_VM_RELEASE:
        return pol_vm_release(ctx, call->id);
    case POLX_REC_GROUP_ADD:
        return pol_group_add(ctx, call->id, &call->u.group);
    case POLX_REC_GROUP_SET:
        return pol_group_set(ctx, call->id, &call->u.group);
    case POLX_REC_GROUP_REMOVE:
        return pol_group_remove(ctx, call->id);
    case POLX_REC_HOST_OBS:
        return pol_observe_host(ctx, &call->u.host_obs);
    case POLX_REC_VM_OBS:
        return observe_vm(replay, call);
    case POLX_REC_WS_BEGIN:
        return pol_ws_begin(ctx, call->id, call->vm_time_ms, replay->pages,
                            POLX_SAMPLE_MAX, &n);
    case POLX_REC_WS_REPORT:
        return pol_ws_report(ctx, call->id, call->touched);
    case POLX_REC_REPORT:
        return pol_report(ctx, &call->u.action, call->done_pages,
                          polx_error_unfold(call->error));
    case POLX_REC_HOLD_ADD:
        return pol_hold_add(ctx, call->id, hold->owner, hold->pages,
                            hold->deadline_ms, hold->flags);
    case POLX_REC_HOLD_TAKE:
        return pol_hold_take(ctx, call->id, hold->owner, hold->vm);
    case POLX_REC_HOLD_RELEASE:
        return pol_hold_release(ctx, call->id, hold->owner);
    default:
        return POL_ERR_CORRUPT;
    }
}

/* A call that has failed: damage, or another policy's answer. */
static int refused(struct polx_replay *replay)
{
    if (replay->what_if == NULL) {
        return POL_ERR_CORRUPT;
    }
    replay->out->skipped++;
    return POL_OK;
}

/*
 * After a plan of another policy the host did what was recorded: balloons got
 * the recorded targets, not those just planned. Without this the VMs would
 * seem not to obey.
 */
static int as_recorded(struct polx_replay *replay,
                       const struct polx_frame *frame, size_t planned)
{
    struct polx_reader r;
    struct pol_action a;
    uint64_t i, n;
    int rc;

    for (i = 0; i < planned; i++) {
        const struct pol_action *mine = &replay->actions[i];

        if (mine->kind == POL_ACT_BALLOON) {
            rc = pol_report(replay->ctx, mine, 0, POL_ERR_UNSUPPORTED);
            replay->out->skipped += rc != POL_OK;
        }
    }
    rc = polx_plan_open(frame, &r, &n);
    for (i = 0; rc == POL_OK && i < n; i++) {
        rc = polx_plan_next(&r, &a);
        if (rc == POL_OK && a.kind == POL_ACT_BALLOON) {
            int done = pol_report(replay->ctx, &a, a.pages, POL_OK);

            replay->out->skipped += done != POL_OK;
        }
    }
    return rc;
}

static int plan(struct polx_replay *replay, const struct polx_frame *frame)
{
    struct pol_replay_result *out = replay->out;
    uint64_t recorded;
    size_t n = 0;
    int rc = polx_plan_check(frame, &recorded);

    if (rc != POL_OK) {
        return rc;
    }
    if (pol_plan(replay->ctx, replay->actions, replay->cap, &n) != POL_OK) {
        return refused(replay);
    }
    out->plans++;
    out->mismatches += !plan_is_recorded(frame, replay->actions, n);
    if (replay->on_plan != NULL) {
        rc = replay->on_plan(replay->user, replay->ctx, replay->actions, n);
    }
    if (rc == POL_OK && replay->what_if != NULL) {
        rc = as_recorded(replay, frame, n);
    }
    return rc;
}

static int step(struct polx_replay *replay)
{
    struct polx_frame frame;
    struct polx_call call;
    int rc = polx_frame_read(&replay->reader, &frame);

    if (rc != POL_OK) {
        return rc;
    }
    if (frame.type == POLX_REC_PLAN) {
        rc = plan(replay, &frame);
    } else {
        rc = polx_record_decode(&frame, &call);
        if (rc == POL_OK && repeat(replay, frame.type, &call) != POL_OK) {
            rc = refused(replay);
        }
    }
    replay->out->records += rc == POL_OK;
    return rc;
}

int polx_replay_run(struct polx_replay *replay)
{
    struct pol_replay_result *out = replay->out;
    int rc = POL_OK;

    out->bad_offset = replay->reader.at;
    while (rc == POL_OK && polx_left(&replay->reader) > 0) {
        rc = step(replay);
        if (rc == POL_OK) {
            out->bad_offset = replay->reader.at;
        }
    }
    if (rc == POL_OK && replay->what_if == NULL && out->mismatches > 0) {
        rc = POL_ERR_MISMATCH;
    }
    return rc;
}

int pol_replay_size(const struct pol_config *config, size_t *bytes)
{
    size_t ctx_bytes;
    int rc = pol_ctx_size(config, &ctx_bytes);

    if (rc == POL_OK) {
        *bytes = ctx_bytes + POLX_SAMPLE_MAX * sizeof(uint64_t);
    }
    return rc;
}

/* Observations are numbers of pages and calls need their room: another
 * policy must agree on both. */
static int what_if_check(const struct pol_config *config,
                         const struct pol_config *recorded)
{
    bool fits = config->max_vms >= recorded->max_vms &&
                config->max_groups >= recorded->max_groups &&
                config->max_holds >= recorded->max_holds &&
                config->page_bytes == recorded->page_bytes;

    return fits ? POL_OK : POL_ERR_INVALID;
}

/* Make the context, and the room for sampled pages behind it. */
static int prepare(struct polx_replay *replay, const struct pol_config *config,
                   void *block, size_t block_bytes)
{
    size_t ctx_bytes, need;
    int rc = pol_ctx_size(config, &ctx_bytes);

    if (rc == POL_OK) {
        rc = pol_replay_size(config, &need);
    }
    if (rc == POL_OK && block_bytes < need) {
        rc = POL_ERR_NOMEM;
    }
    if (rc == POL_OK && replay->cap < pol_replay_bound(config)) {
        rc = POL_ERR_BUFFER;
    }
    if (rc == POL_OK) {
        rc = pol_ctx_init(block, ctx_bytes, config, &replay->ctx);
    }
    if (rc == POL_OK) {
        replay->pages = (uint64_t *)(void *)((uint8_t *)block + ctx_bytes);
    }
    return rc;
}

int pol_trace_replay(const uint8_t *trace, size_t bytes,
                     const struct pol_config *config, void *block,
                     size_t block_bytes, struct pol_action *actions, size_t cap,
                     pol_replay_plan *on_plan, void *user,
                     struct pol_replay_result *out)
{
    struct polx_replay replay = {
        .reader = { trace, bytes, 0 },
        .what_if = config,
        .actions = actions,
        .cap = cap,
        .on_plan = on_plan,
        .user = user,
        .out = out,
    };
    struct pol_config use;
    int rc;

    memset(out, 0, sizeof(*out));
    rc = polx_header_read(&replay.reader, &use);
    if (rc == POL_OK && config != NULL) {
        uint32_t sample_pages = use.sample_pages;

        rc = what_if_check(config, &use);
        use = *config;
        use.sample_pages = sample_pages;
    }
    if (rc == POL_OK) {
        rc = prepare(&replay, &use, block, block_bytes);
    }
    return rc == POL_OK ? polx_replay_run(&replay) : rc;
}
