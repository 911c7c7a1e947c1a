/* SPDX-License-Identifier: BSD-2-Clause */
/* Starting a trace, and reading one without replaying it. */
#include "internal.h"
#include "trace_record.h"

#include <stdbool.h>
#include <string.h>

/* Identifiers and high-water marks outlive removal: a context whose VMs have
 * gone again hands out its slots in another order than a new one. Holds and
 * plans need an observed host. */
static bool is_new(const struct pol_ctx *ctx)
{
    return ctx->observed == 0 && ctx->vm_high == 0 &&
           (ctx->config.max_groups == 0 || ctx->groups[1].id == POL_ROOT_GROUP);
}

int pol_trace_start(struct pol_ctx *ctx, pol_trace_sink *sink, void *user)
{
    if (sink != NULL && !is_new(ctx)) {
        return POL_ERR_BUSY;
    }
    ctx->sink = sink;
    ctx->sink_user = user;
    if (sink != NULL) {
        polx_header_write(sink, user, &ctx->config);
    }
    return POL_OK;
}

static int scan_record(const struct polx_frame *frame,
                       struct pol_trace_info *out)
{
    struct polx_call call;
    uint64_t actions;
    int rc;

    if (frame->type == POLX_REC_PLAN) {
        rc = polx_plan_check(frame, &actions);
        if (rc == POL_OK) {
            out->plans++;
            out->actions += actions;
        }
    } else {
        rc = polx_record_decode(frame, &call);
    }
    out->records += rc == POL_OK;
    return rc;
}

int pol_trace_scan(const uint8_t *trace, size_t bytes,
                   struct pol_trace_info *out)
{
    struct polx_reader r = { trace, bytes, 0 };
    int rc;

    memset(out, 0, sizeof(*out));
    rc = polx_header_read(&r, &out->config);
    if (rc == POL_OK) {
        rc = pol_config_check(&out->config, NULL);
    }
    while (rc == POL_OK) {
        struct polx_frame frame;

        out->bad_offset = r.at;
        if (polx_left(&r) == 0) {
            break;
        }
        rc = polx_frame_read(&r, &frame);
        if (rc == POL_OK) {
            rc = scan_record(&frame, out);
        }
    }
    return rc;
}
