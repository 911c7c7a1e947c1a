/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records as bytes. Which fields a record has, and in which order, is said by
 * tables, so that writing and reading cannot disagree; whatever the platform's
 * structures look like, the bytes are the same.
 */
#include "trace_record.h"

#include <stdbool.h>
#include <string.h>

static const uint8_t magic[8] = { 'P', 'O', 'L', 'T', 'R', 'A', 'C', 'E' };

/** A number in struct polx_call. */
struct field {
    uint16_t offset;
    uint16_t width; /* 1, 4 or 8 bytes */
    uint32_t bit;   /* only there with this bit of vm_obs.valid; 0: always */
};

#define FIELD_IF(member, valid_bit)                                            \
    {                                                                          \
        offsetof(struct polx_call, member),                                    \
            sizeof(((struct polx_call *)0)->member), valid_bit                 \
    }
#define FIELD(member) FIELD_IF(member, 0)

static const struct field config_fields[] = {
    FIELD(u.config.max_vms),
    FIELD(u.config.max_groups),
    FIELD(u.config.max_holds),
    FIELD(u.config.page_bytes),
    FIELD(u.config.seed),
    FIELD(u.config.idle_tax_bp),
    FIELD(u.config.headroom_bp),
    FIELD(u.config.host_reserve_pages),
    FIELD(u.config.sample_period_ms),
    FIELD(u.config.sample_pages),
    FIELD(u.config.slow_gain_bp),
    FIELD(u.config.fast_gain_bp),
    FIELD(u.config.fresh_ms),
    FIELD(u.config.stale_ms),
    FIELD(u.config.thresholds.base),
    FIELD(u.config.thresholds.high_bp),
    FIELD(u.config.thresholds.clear_bp),
    FIELD(u.config.thresholds.soft_bp),
    FIELD(u.config.thresholds.hard_bp),
    FIELD(u.config.thresholds.low_bp),
    FIELD(u.config.thresholds.margin_bp),
    FIELD(u.config.thresholds.hard_stops_balloon),
    FIELD(u.config.balloon_cap_bp),
    FIELD(u.config.balloon_step_bp),
    FIELD(u.config.swap_step_bp),
    FIELD(u.config.dead_band_bp),
    FIELD(u.config.stuck_ms),
    FIELD(u.config.retry_ms),
    FIELD(u.config.retry_max_ms),
    FIELD(u.config.promise_ms),
    FIELD(u.config.block_max_ms),
    FIELD(u.config.share_scan_ms),
    FIELD(u.config.share_scan_min_ms),
    FIELD(u.config.distress_swap_in),
    FIELD(u.config.distress_faults),
    FIELD(u.config.distress_stall_bp),
    FIELD(u.config.distress_ms),
    FIELD(u.config.admission_needs_swap),
};

static const struct field vm_fields[] = {
    FIELD(id),
    FIELD(u.vm.group),
    FIELD(u.vm.size_pages),
    FIELD(u.vm.shares),
    FIELD(u.vm.reservation_pages),
    FIELD(u.vm.limit_pages),
    FIELD(u.vm.overhead_pages),
    FIELD(u.vm.granule_pages),
    FIELD(u.vm.tax_bp),
    FIELD(u.vm.flags),
};

static const struct field group_fields[] = {
    FIELD(id),
    FIELD(u.group.parent),
    FIELD(u.group.shares),
    FIELD(u.group.reservation_pages),
    FIELD(u.group.limit_pages),
    FIELD(u.group.tax_bp),
};

static const struct field id_fields[] = {
    FIELD(id),
};

static const struct field host_obs_fields[] = {
    FIELD(u.host_obs.now_ms),          FIELD(u.host_obs.total_pages),
    FIELD(u.host_obs.free_pages),      FIELD(u.host_obs.swap_total_pages),
    FIELD(u.host_obs.swap_free_pages), FIELD(u.host_obs.caps),
};

/* `valid` comes before the fields that depend on it. The guest's age matters
 * even when the guest says nothing else. */
static const struct field vm_obs_fields[] = {
    FIELD(id),
    FIELD(u.vm_obs.valid),
    FIELD(u.vm_obs.lifecycle),
    FIELD(u.vm_obs.driver),
    FIELD(u.vm_obs.blocked),
    FIELD(u.vm_obs.guest_age_ms),
    FIELD_IF(u.vm_obs.consumed_pages, POL_OBS_CONSUMED),
    FIELD_IF(u.vm_obs.granted_pages, POL_OBS_GRANTED),
    FIELD_IF(u.vm_obs.actual_pages, POL_OBS_ACTUAL),
    FIELD_IF(u.vm_obs.swapped_pages, POL_OBS_SWAPPED),
    FIELD_IF(u.vm_obs.target_seen_pages, POL_OBS_TARGET),
    FIELD_IF(u.vm_obs.overhead_pages, POL_OBS_OVERHEAD),
    FIELD_IF(u.vm_obs.measured_active_pages, POL_OBS_MEASURED),
    FIELD_IF(u.vm_obs.measured_age_ms, POL_OBS_MEASURED),
    FIELD_IF(u.vm_obs.guest_free_pages, POL_OBS_GUEST_FREE),
    FIELD_IF(u.vm_obs.guest_available_pages, POL_OBS_GUEST_AVAILABLE),
    FIELD_IF(u.vm_obs.guest_total_pages, POL_OBS_GUEST_TOTAL),
    FIELD_IF(u.vm_obs.guest_floor_pages, POL_OBS_GUEST_FLOOR),
    FIELD_IF(u.vm_obs.guest_swap_in_pages, POL_OBS_GUEST_SWAP_IN),
    FIELD_IF(u.vm_obs.guest_faults, POL_OBS_GUEST_FAULTS),
    FIELD_IF(u.vm_obs.guest_stall_bp, POL_OBS_GUEST_STALL),
};

static const struct field ws_begin_fields[] = {
    FIELD(id),
    FIELD(vm_time_ms),
};

static const struct field ws_report_fields[] = {
    FIELD(id),
    FIELD(touched),
};

static const struct field report_fields[] = {
    FIELD(u.action.kind),   FIELD(u.action.vm), FIELD(u.action.pages),
    FIELD(u.action.reason), FIELD(done_pages),  FIELD(error),
};

static const struct field hold_add_fields[] = {
    FIELD(id),           FIELD(u.hold.owner),
    FIELD(u.hold.pages), FIELD(u.hold.deadline_ms),
    FIELD(u.hold.flags),
};

static const struct field hold_take_fields[] = {
    FIELD(id),
    FIELD(u.hold.owner),
    FIELD(u.hold.vm),
};

static const struct field hold_release_fields[] = {
    FIELD(id),
    FIELD(u.hold.owner),
};

/* One action of a plan: the same fields a report of it begins with. */
#define ACTION_FIELDS 4u

#define NO_SIZE SIZE_MAX

/** The fields of a type of record. */
struct shape {
    const struct field *fields;
    size_t n;
    size_t size_offset; /* of the structure's own `size`, or NO_SIZE */
    size_t size;
};

#define SHAPE(table) table, sizeof(table) / sizeof((table)[0])
#define SIZED(member)                                                          \
    offsetof(struct polx_call, member.size),                                   \
        sizeof(((struct polx_call *)0)->member)

static const struct shape shapes[] = {
    [POLX_REC_TUNE] = { SHAPE(config_fields), SIZED(u.config) },
    [POLX_REC_VM_ADD] = { SHAPE(vm_fields), SIZED(u.vm) },
    [POLX_REC_VM_SET] = { SHAPE(vm_fields), SIZED(u.vm) },
    [POLX_REC_VM_REMOVE] = { SHAPE(id_fields), NO_SIZE, 0 },
    [POLX_REC_VM_RELEASE] = { SHAPE(id_fields), NO_SIZE, 0 },
    [POLX_REC_GROUP_ADD] = { SHAPE(group_fields), SIZED(u.group) },
    [POLX_REC_GROUP_SET] = { SHAPE(group_fields), SIZED(u.group) },
    [POLX_REC_GROUP_REMOVE] = { SHAPE(id_fields), NO_SIZE, 0 },
    [POLX_REC_HOST_OBS] = { SHAPE(host_obs_fields), SIZED(u.host_obs) },
    [POLX_REC_VM_OBS] = { SHAPE(vm_obs_fields), SIZED(u.vm_obs) },
    [POLX_REC_WS_BEGIN] = { SHAPE(ws_begin_fields), NO_SIZE, 0 },
    [POLX_REC_WS_REPORT] = { SHAPE(ws_report_fields), NO_SIZE, 0 },
    [POLX_REC_PLAN] = { NULL, 0, NO_SIZE, 0 },
    [POLX_REC_REPORT] = { SHAPE(report_fields), NO_SIZE, 0 },
    [POLX_REC_HOLD_ADD] = { SHAPE(hold_add_fields), NO_SIZE, 0 },
    [POLX_REC_HOLD_TAKE] = { SHAPE(hold_take_fields), NO_SIZE, 0 },
    [POLX_REC_HOLD_RELEASE] = { SHAPE(hold_release_fields), NO_SIZE, 0 },
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

uint32_t polx_error_fold(int error)
{
    uint32_t half = (uint32_t)(error < 0 ? -(error + 1) : error);

    return half << 1 | (uint32_t)(error < 0);
}

int polx_error_unfold(uint32_t folded)
{
    int half = (int)(folded >> 1);

    return (folded & 1u) != 0 ? -half - 1 : half;
}

static uint64_t load(const struct polx_call *call, const struct field *f)
{
    const uint8_t *at = (const uint8_t *)call + f->offset;
    uint32_t four;
    uint64_t eight;

    switch (f->width) {
    case 1:
        return *at;
    case 4:
        memcpy(&four, at, sizeof(four));
        return four;
    default:
        memcpy(&eight, at, sizeof(eight));
        return eight;
    }
}

/* False when the field is too narrow. */
static bool store(struct polx_call *call, const struct field *f, uint64_t value)
{
    uint8_t *at = (uint8_t *)call + f->offset;
    uint32_t four = (uint32_t)value;

    switch (f->width) {
    case 1:
        *at = (uint8_t)value;
        return value <= UINT8_MAX;
    case 4:
        memcpy(at, &four, sizeof(four));
        return value <= UINT32_MAX;
    default:
        memcpy(at, &value, sizeof(value));
        return true;
    }
}

static bool present(const struct polx_call *call, const struct field *f)
{
    return f->bit == 0 || (call->u.vm_obs.valid & f->bit) != 0;
}

static size_t fields_size(const struct shape *shape,
                          const struct polx_call *call)
{
    size_t i, sum = 0;

    for (i = 0; i < shape->n; i++) {
        if (present(call, &shape->fields[i])) {
            sum += polx_varint_size(load(call, &shape->fields[i]));
        }
    }
    return sum;
}

static void fields_put(struct polx_writer *w, const struct shape *shape,
                       const struct polx_call *call)
{
    size_t i;

    for (i = 0; i < shape->n; i++) {
        if (present(call, &shape->fields[i])) {
            polx_put_varint(w, load(call, &shape->fields[i]));
        }
    }
}

void polx_header_write(pol_trace_sink *sink, void *user,
                       const struct pol_config *config)
{
    const struct shape *shape = &shapes[POLX_REC_TUNE];
    struct polx_writer w;
    struct polx_call call;
    size_t i;

    call.u.config = *config;
    polx_writer_begin(&w, sink, user);
    for (i = 0; i < sizeof(magic); i++) {
        polx_put_byte(&w, magic[i]);
    }
    polx_put_varint(&w, POLX_TRACE_VERSION);
    polx_put_varint(&w, fields_size(shape, &call));
    fields_put(&w, shape, &call);
    polx_writer_end(&w);
}

void polx_record_write(pol_trace_sink *sink, void *user, enum polx_record type,
                       const struct polx_call *call)
{
    const struct shape *shape = &shapes[type];
    struct polx_writer w;

    polx_writer_begin(&w, sink, user);
    polx_put_byte(&w, (uint8_t)type);
    polx_put_varint(&w, fields_size(shape, call));
    fields_put(&w, shape, call);
    polx_writer_end(&w);
}

static size_t action_size(const struct pol_action *a)
{
    return polx_varint_size(a->kind) + polx_varint_size(a->vm) +
           polx_varint_size(a->pages) + polx_varint_size(a->reason);
}

void polx_plan_write(pol_trace_sink *sink, void *user,
                     const struct pol_action *actions, size_t n)
{
    struct polx_writer w;
    size_t i, size = polx_varint_size(n);

    for (i = 0; i < n; i++) {
        size += action_size(&actions[i]);
    }
    polx_writer_begin(&w, sink, user);
    polx_put_byte(&w, POLX_REC_PLAN);
    polx_put_varint(&w, size);
    polx_put_varint(&w, n);
    for (i = 0; i < n; i++) {
        polx_put_varint(&w, actions[i].kind);
        polx_put_varint(&w, actions[i].vm);
        polx_put_varint(&w, actions[i].pages);
        polx_put_varint(&w, actions[i].reason);
    }
    polx_writer_end(&w);
}

/* Inside a payload whose checksum is right, an early end is no truncation. */
static int get(struct polx_reader *r, uint64_t *value)
{
    return polx_get_varint(r, value) == POL_OK ? POL_OK : POL_ERR_CORRUPT;
}

static int fields_get(struct polx_reader *r, const struct field *fields,
                      size_t n, struct polx_call *call)
{
    size_t i;

    for (i = 0; i < n; i++) {
        uint64_t value;

        if (!present(call, &fields[i])) {
            continue;
        }
        if (get(r, &value) != POL_OK || !store(call, &fields[i], value)) {
            return POL_ERR_CORRUPT;
        }
    }
    return POL_OK;
}

static int decode(struct polx_reader r, uint32_t type, struct polx_call *call)
{
    const struct shape *shape = &shapes[type];
    int rc;

    memset(call, 0, sizeof(*call));
    rc = fields_get(&r, shape->fields, shape->n, call);
    if (rc != POL_OK || polx_left(&r) != 0 ||
        (type == POLX_REC_VM_OBS &&
         (call->u.vm_obs.valid & ~POL_OBS_ALL) != 0)) {
        return POL_ERR_CORRUPT;
    }
    if (shape->size_offset != NO_SIZE) {
        memcpy((uint8_t *)call + shape->size_offset, &shape->size,
               sizeof(shape->size));
    }
    return POL_OK;
}

/*
 * After the beginning at `start`, which the checksum covers too: a length, so
 * many bytes, and the checksum. `r` is left behind it.
 */
static int get_framed(struct polx_reader *r, size_t start,
                      struct polx_reader *payload)
{
    uint64_t size;
    uint32_t crc = 0;
    uint32_t i;
    int rc = polx_get_varint(r, &size);

    if (rc != POL_OK) {
        return rc;
    }
    if (polx_left(r) < POLX_CRC_BYTES || size > polx_left(r) - POLX_CRC_BYTES) {
        return POL_ERR_TRUNCATED;
    }
    payload->bytes = r->bytes + r->at;
    payload->size = (size_t)size;
    payload->at = 0;
    r->at += (size_t)size;
    for (i = 0; i < POLX_CRC_BYTES; i++) {
        crc |= (uint32_t)r->bytes[r->at + i] << (8 * i);
    }
    if (crc != polx_crc32(0, r->bytes + start, r->at - start)) {
        return POL_ERR_CORRUPT;
    }
    r->at += POLX_CRC_BYTES;
    return POL_OK;
}

static int header_get(struct polx_reader *r, struct polx_call *call)
{
    struct polx_reader payload;
    uint64_t version;
    size_t n = polx_left(r) < sizeof(magic) ? polx_left(r) : sizeof(magic);
    int rc;

    if (n > 0 && memcmp(r->bytes, magic, n) != 0) {
        return POL_ERR_CORRUPT;
    }
    r->at += n;
    rc = polx_get_varint(r, &version);
    if (rc != POL_OK) {
        return rc;
    }
    if (version != POLX_TRACE_VERSION) {
        return POL_ERR_VERSION;
    }
    rc = get_framed(r, 0, &payload);
    return rc == POL_OK ? decode(payload, POLX_REC_TUNE, call) : rc;
}

int polx_header_read(struct polx_reader *r, struct pol_config *config)
{
    struct polx_call call;
    int rc = header_get(r, &call);

    if (rc == POL_OK) {
        *config = call.u.config;
    } else {
        r->at = 0;
    }
    return rc;
}

static int frame_get(struct polx_reader *r, struct polx_frame *frame)
{
    size_t start = r->at;
    int rc;

    frame->bytes = r->bytes + start;
    frame->type = r->bytes[r->at++];
    if (frame->type == 0 || frame->type >= SHAPES) {
        return POL_ERR_CORRUPT;
    }
    rc = get_framed(r, start, &frame->payload);
    frame->size = r->at - start;
    return rc;
}

int polx_frame_read(struct polx_reader *r, struct polx_frame *frame)
{
    size_t start = r->at;
    int rc = polx_left(r) > 0 ? frame_get(r, frame) : POL_ERR_TRUNCATED;

    if (rc != POL_OK) {
        r->at = start;
    }
    return rc;
}

int polx_record_decode(const struct polx_frame *frame, struct polx_call *call)
{
    return decode(frame->payload, frame->type, call);
}

int polx_plan_open(const struct polx_frame *frame, struct polx_reader *r,
                   uint64_t *n)
{
    *r = frame->payload;
    return get(r, n);
}

int polx_plan_next(struct polx_reader *r, struct pol_action *action)
{
    struct polx_call call;
    int rc = fields_get(r, report_fields, ACTION_FIELDS, &call);

    if (rc == POL_OK) {
        *action = call.u.action;
    }
    return rc;
}

int polx_plan_check(const struct polx_frame *frame, uint64_t *n)
{
    struct polx_reader r;
    uint64_t i;
    int rc = polx_plan_open(frame, &r, n);

    /* A wrong n ends with the payload: it cannot keep this going. */
    for (i = 0; rc == POL_OK && i < *n; i++) {
        struct pol_action action;

        rc = polx_plan_next(&r, &action);
    }
    return rc == POL_OK && polx_left(&r) != 0 ? POL_ERR_CORRUPT : rc;
}
