/* SPDX-License-Identifier: BSD-2-Clause */
/* Recording: from arguments of calls to records. */
#include "record.h"

#include "internal.h"
#include "trace_record.h"

static void put(struct pol_ctx *ctx, enum polx_record type,
                const struct polx_call *call)
{
    polx_record_write(ctx->sink, ctx->sink_user, type, call);
}

void polx_trace_tune(struct pol_ctx *ctx)
{
    struct polx_call call;

    if (ctx->sink != NULL) {
        call.u.config = ctx->config;
        put(ctx, POLX_REC_TUNE, &call);
    }
}

void polx_trace_vm(struct pol_ctx *ctx, enum polx_record type, uint64_t vm,
                   const struct pol_vm_params *params)
{
    struct polx_call call;

    if (ctx->sink != NULL) {
        call.id = vm;
        call.u.vm = *params;
        put(ctx, type, &call);
    }
}

void polx_trace_group(struct pol_ctx *ctx, enum polx_record type,
                      uint64_t group, const struct pol_group_params *params)
{
    struct polx_call call;

    if (ctx->sink != NULL) {
        call.id = group;
        call.u.group = *params;
        put(ctx, type, &call);
    }
}

void polx_trace_id(struct pol_ctx *ctx, enum polx_record type, uint64_t id)
{
    struct polx_call call;

    if (ctx->sink != NULL) {
        call.id = id;
        put(ctx, type, &call);
    }
}

void polx_trace_host_obs(struct pol_ctx *ctx, const struct pol_host_obs *obs)
{
    struct polx_call call;

    if (ctx->sink != NULL) {
        call.u.host_obs = *obs;
        put(ctx, POLX_REC_HOST_OBS, &call);
    }
}

void polx_trace_vm_obs(struct pol_ctx *ctx, uint64_t vm,
                       const struct pol_vm_obs *obs)
{
    struct polx_call call;

    if (ctx->sink != NULL) {
        call.id = vm;
        call.u.vm_obs = *obs;
        put(ctx, POLX_REC_VM_OBS, &call);
    }
}

void polx_trace_ws_begin(struct pol_ctx *ctx, uint64_t vm, uint64_t vm_time_ms)
{
    struct polx_call call;

    if (ctx->sink != NULL) {
        call.id = vm;
        call.vm_time_ms = vm_time_ms;
        put(ctx, POLX_REC_WS_BEGIN, &call);
    }
}

void polx_trace_ws_report(struct pol_ctx *ctx, uint64_t vm, uint32_t touched)
{
    struct polx_call call;

    if (ctx->sink != NULL) {
        call.id = vm;
        call.touched = touched;
        put(ctx, POLX_REC_WS_REPORT, &call);
    }
}

void polx_trace_plan(struct pol_ctx *ctx, const struct pol_action *actions,
                     size_t n)
{
    if (ctx->sink != NULL) {
        polx_plan_write(ctx->sink, ctx->sink_user, actions, n);
    }
}

void polx_trace_report(struct pol_ctx *ctx, const struct pol_action *action,
                       uint64_t done_pages, int error)
{
    struct polx_call call;

    if (ctx->sink != NULL) {
        call.u.action = *action;
        call.done_pages = done_pages;
        call.error = polx_error_fold(error);
        put(ctx, POLX_REC_REPORT, &call);
    }
}

void polx_trace_hold_add(struct pol_ctx *ctx, const struct pol_hold *hold)
{
    struct polx_call call;

    if (ctx->sink != NULL) {
        call.id = hold->hold;
        call.u.hold = *hold;
        put(ctx, POLX_REC_HOLD_ADD, &call);
    }
}

void polx_trace_hold_end(struct pol_ctx *ctx, enum polx_record type,
                         uint64_t hold, uint64_t owner, uint64_t vm)
{
    struct polx_call call;

    if (ctx->sink != NULL) {
        call.id = hold;
        call.u.hold.owner = owner;
        call.u.hold.vm = vm;
        put(ctx, type, &call);
    }
}
