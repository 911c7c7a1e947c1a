/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of a trace: numbers, checksums, records and what is refused. */
#include <CUnit/Basic.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "policy/policy.h"
#include "trace_record.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct bytes {
    uint8_t at[1u << 20];
    size_t n;
    size_t pieces;
    size_t largest;
};

static struct bytes out;

static void keep(void *user, const uint8_t *bytes, size_t n)
{
    struct bytes *b = user;

    if (b->n + n <= sizeof(b->at)) {
        memcpy(b->at + b->n, bytes, n);
    }
    b->n += n;
    b->pieces++;
    b->largest = n > b->largest ? n : b->largest;
}

static void clear(void)
{
    out.n = out.pieces = out.largest = 0;
}

static struct polx_reader reader(void)
{
    struct polx_reader r = { out.at, out.n, 0 };

    return r;
}

/* --- numbers ---------------------------------------------------------- */

static void crc_is_the_usual_one(void)
{
    static const uint8_t digits[] = "123456789";
    uint32_t parts;

    CU_ASSERT(polx_crc32(0, digits, 9) == 0xcbf43926u);
    parts = polx_crc32(polx_crc32(0, digits, 4), digits + 4, 5);
    CU_ASSERT(parts == 0xcbf43926u);
    CU_ASSERT(polx_crc32(0, digits, 0) == 0);
}

static void numbers_survive(void)
{
    static const struct {
        uint64_t value;
        size_t bytes;
    } table[] = {
        { 0, 1 },           { 1, 1 },
        { 127, 1 },         { 128, 2 },
        { 16383, 2 },       { 16384, 3 },
        { UINT32_MAX, 5 },  { UINT64_C(1) << 52, 8 },
        { INT64_MAX, 9 },   { (uint64_t)INT64_MAX + 1, 10 },
        { UINT64_MAX, 10 },
    };
    size_t i;

    for (i = 0; i < COUNT(table); i++) {
        struct polx_writer w;
        struct polx_reader r;
        uint64_t value = 1234;

        clear();
        polx_writer_begin(&w, keep, &out);
        polx_put_varint(&w, table[i].value);
        polx_writer_end(&w);
        r = reader();
        CU_ASSERT(out.n == table[i].bytes + POLX_CRC_BYTES);
        CU_ASSERT(polx_varint_size(table[i].value) == table[i].bytes);
        CU_ASSERT(polx_get_varint(&r, &value) == POL_OK);
        CU_ASSERT(value == table[i].value && r.at == table[i].bytes);
    }
    printf("\n    %zu numbers ", COUNT(table));
}

static void bad_numbers_are_refused(void)
{
    static const struct {
        const char *what;
        uint8_t bytes[11];
        size_t n;
        int rc;
    } table[] = {
        { "nothing", { 0 }, 0, POL_ERR_TRUNCATED },
        { "one byte of two", { 0x80 }, 1, POL_ERR_TRUNCATED },
        { "nine bytes of ten",
          { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff },
          9,
          POL_ERR_TRUNCATED },
        { "0 in two bytes", { 0x80, 0x00 }, 2, POL_ERR_CORRUPT },
        { "127 in three bytes", { 0xff, 0x80, 0x00 }, 3, POL_ERR_CORRUPT },
        { "2^64",
          { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02 },
          10,
          POL_ERR_CORRUPT },
        { "eleven bytes",
          { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x81, 0x01 },
          11,
          POL_ERR_CORRUPT },
    };
    size_t i;

    for (i = 0; i < COUNT(table); i++) {
        struct polx_reader r = { table[i].bytes, table[i].n, 0 };
        uint64_t value;
        int rc = polx_get_varint(&r, &value);

        if (rc != table[i].rc) {
            printf("\n    %s: %s ", table[i].what, pol_error_name(rc));
        }
        CU_ASSERT(rc == table[i].rc);
    }
}

static void errors_survive(void)
{
    static const struct {
        int error;
        uint32_t folded;
    } table[] = {
        { 0, 0 },
        { -1, 1 },
        { 1, 2 },
        { -2, 3 },
        { -21, 41 },
        { INT_MAX, UINT32_MAX - 1 },
        { INT_MIN, UINT32_MAX },
    };
    size_t i;

    for (i = 0; i < COUNT(table); i++) {
        CU_ASSERT(polx_error_fold(table[i].error) == table[i].folded);
        CU_ASSERT(polx_error_unfold(table[i].folded) == table[i].error);
    }
}

/* --- records ---------------------------------------------------------- */

/* Bytes that no two fields share, so that a mixed-up table shows. */
static void fill(void *structure, size_t n)
{
    static uint32_t state = 1;
    uint8_t *byte = structure;

    while (n-- > 0) {
        state = state * 1664525u + 1013904223u;
        *byte++ = (uint8_t)(state >> 24);
    }
}

static bool survives(enum polx_record type, const struct polx_call *call,
                     struct polx_call *back)
{
    struct polx_reader r;
    struct polx_frame frame;

    clear();
    polx_record_write(keep, &out, type, call);
    r = reader();
    return out.pieces == 1 && polx_frame_read(&r, &frame) == POL_OK &&
           frame.type == (uint32_t)type && polx_left(&r) == 0 &&
           frame.size == out.n && polx_record_decode(&frame, back) == POL_OK;
}

/* Without what the compiler may have put behind the last field. */
#define CONFIG_BYTES                                                           \
    (offsetof(struct pol_config, reserved_0) + sizeof(uint32_t))

/* A field that a table forgets comes back as 0: the structures then differ. */
#define SURVIVES(type, member, bytes, prepare)                                 \
    do {                                                                       \
        struct polx_call call, back;                                           \
        fill(&call, sizeof(call));                                             \
        call.u.member.size = sizeof(call.u.member);                            \
        prepare;                                                               \
        CU_ASSERT(survives(type, &call, &back));                               \
        CU_ASSERT(memcmp(&call.u.member, &back.u.member, bytes) == 0);         \
    } while (0)

static void structures_survive(void)
{
    int i;

    for (i = 0; i < 1000; i++) {
        SURVIVES(POLX_REC_TUNE, config, CONFIG_BYTES,
                 call.u.config.reserved_0 = 0);
        SURVIVES(POLX_REC_VM_ADD, vm, sizeof(struct pol_vm_params), (void)0);
        SURVIVES(POLX_REC_VM_SET, vm, sizeof(struct pol_vm_params), (void)0);
        SURVIVES(POLX_REC_GROUP_ADD, group, sizeof(struct pol_group_params),
                 call.u.group.reserved_0 = 0);
        SURVIVES(POLX_REC_GROUP_SET, group, sizeof(struct pol_group_params),
                 call.u.group.reserved_0 = 0);
        SURVIVES(POLX_REC_HOST_OBS, host_obs, sizeof(struct pol_host_obs),
                 call.u.host_obs.reserved_0 = 0);
        SURVIVES(POLX_REC_VM_OBS, vm_obs, sizeof(struct pol_vm_obs),
                 (call.u.vm_obs.valid = POL_OBS_ALL,
                  call.u.vm_obs.reserved_0 = 0, call.u.vm_obs.reserved_1 = 0));
    }
}

static void arguments_survive(void)
{
    struct polx_call call, back;

    fill(&call, sizeof(call));
    CU_ASSERT(survives(POLX_REC_VM_REMOVE, &call, &back));
    CU_ASSERT(back.id == call.id);
    CU_ASSERT(survives(POLX_REC_WS_BEGIN, &call, &back));
    CU_ASSERT(back.id == call.id && back.vm_time_ms == call.vm_time_ms);
    CU_ASSERT(survives(POLX_REC_WS_REPORT, &call, &back));
    CU_ASSERT(back.id == call.id && back.touched == call.touched);
    CU_ASSERT(survives(POLX_REC_REPORT, &call, &back));
    CU_ASSERT(memcmp(&back.u.action, &call.u.action, sizeof(call.u.action)) ==
              0);
    CU_ASSERT(back.done_pages == call.done_pages && back.error == call.error);
    CU_ASSERT(survives(POLX_REC_HOLD_ADD, &call, &back));
    CU_ASSERT(back.id == call.id && back.u.hold.owner == call.u.hold.owner);
    CU_ASSERT(back.u.hold.pages == call.u.hold.pages);
    CU_ASSERT(back.u.hold.deadline_ms == call.u.hold.deadline_ms);
    CU_ASSERT(back.u.hold.flags == call.u.hold.flags);
    CU_ASSERT(survives(POLX_REC_HOLD_TAKE, &call, &back));
    CU_ASSERT(back.id == call.id && back.u.hold.owner == call.u.hold.owner);
    CU_ASSERT(back.u.hold.vm == call.u.hold.vm);
    CU_ASSERT(survives(POLX_REC_HOLD_RELEASE, &call, &back));
    CU_ASSERT(back.id == call.id && back.u.hold.owner == call.u.hold.owner);
}

/* Only what is valid is written, and only that comes back. */
static void unknown_figures_take_no_room(void)
{
    struct polx_call call = { .id = 7 }, back;
    uint32_t bit;
    size_t empty;

    CU_ASSERT(survives(POLX_REC_VM_OBS, &call, &back));
    empty = out.n;
    for (bit = 1; bit <= POL_OBS_ALL; bit <<= 1) {
        fill(&call.u.vm_obs, sizeof(call.u.vm_obs));
        call.u.vm_obs.valid = 0;
        CU_ASSERT(survives(POLX_REC_VM_OBS, &call, &back));
        CU_ASSERT(back.u.vm_obs.consumed_pages == 0);
        CU_ASSERT(back.u.vm_obs.guest_stall_bp == 0);
        CU_ASSERT(back.u.vm_obs.lifecycle == call.u.vm_obs.lifecycle);
        memset(&call.u.vm_obs, 0, sizeof(call.u.vm_obs));
        call.u.vm_obs.valid = bit;
        CU_ASSERT(survives(POLX_REC_VM_OBS, &call, &back));
        CU_ASSERT(out.n > empty);
    }
}

static void bytes_are_as_documented(void)
{
    static const uint8_t removal[] = { 0x04, 0x02, 0xac, 0x02,
                                       0xec, 0x0e, 0x1e, 0x41 };
    static const uint8_t plan[] = { 0x0d, 0x07, 0x01, 0x01, 0x05, 0x80, 0x80,
                                    0x04, 0x03, 0x84, 0x94, 0x41, 0x49 };
    static const uint8_t head[] = { 'P', 'O', 'L', 'T', 'R', 'A', 'C', 'E', 1 };
    struct pol_action action = { 5, 65536, POL_ACT_BALLOON,
                                 POL_WHY_OVER_TARGET };
    struct polx_call call = { .id = 300 };
    struct pol_config config;

    clear();
    polx_record_write(keep, &out, POLX_REC_VM_REMOVE, &call);
    CU_ASSERT(out.n == sizeof(removal));
    CU_ASSERT(memcmp(out.at, removal, sizeof(removal)) == 0);
    clear();
    polx_plan_write(keep, &out, &action, 1);
    CU_ASSERT(out.n == sizeof(plan));
    CU_ASSERT(memcmp(out.at, plan, sizeof(plan)) == 0);
    clear();
    pol_config_init(&config, 10, 2);
    polx_header_write(keep, &out, &config);
    CU_ASSERT(out.n > sizeof(head));
    CU_ASSERT(memcmp(out.at, head, sizeof(head)) == 0);
}

static void plans_of_any_size_survive(void)
{
    static struct pol_action actions[20000];
    static const size_t sizes[] = { 0, 1, 9, 10, 11, 12, 300, COUNT(actions) };
    size_t i, k;

    fill(actions, sizeof(actions));
    for (i = 0; i < COUNT(sizes); i++) {
        struct polx_reader r;
        struct polx_frame frame;
        uint64_t n = 0;

        clear();
        polx_plan_write(keep, &out, actions, sizes[i]);
        r = reader();
        CU_ASSERT_FATAL(out.n <= sizeof(out.at));
        CU_ASSERT(polx_frame_read(&r, &frame) == POL_OK);
        CU_ASSERT(polx_left(&r) == 0);
        CU_ASSERT(polx_plan_check(&frame, &n) == POL_OK && n == sizes[i]);
        CU_ASSERT(polx_plan_open(&frame, &r, &n) == POL_OK);
        for (k = 0; k < sizes[i]; k++) {
            struct pol_action a;

            CU_ASSERT(polx_plan_next(&r, &a) == POL_OK);
            CU_ASSERT(memcmp(&a, &actions[k], sizeof(a)) == 0);
        }
    }
    printf("\n    largest plan: %zu bytes in %zu pieces ", out.n, out.pieces);
    CU_ASSERT(out.pieces > 1 && out.largest <= 240);
}

/* --- refusals --------------------------------------------------------- */

/* A record made by hand, with the right checksum. */
static void put_raw(uint8_t type, const uint8_t *payload, size_t n)
{
    struct polx_writer w;
    size_t i;

    polx_writer_begin(&w, keep, &out);
    polx_put_byte(&w, type);
    polx_put_varint(&w, n);
    for (i = 0; i < n; i++) {
        polx_put_byte(&w, payload[i]);
    }
    polx_writer_end(&w);
}

static void wrong_records_are_refused(void)
{
    static const struct {
        const char *what;
        uint8_t type;
        uint8_t payload[16];
        size_t n;
        int rc;
    } table[] = {
        { "a right one", 4, { 5 }, 1, POL_OK },
        { "type 0", 0, { 5 }, 1, POL_ERR_CORRUPT },
        { "type 18", 18, { 5 }, 1, POL_ERR_CORRUPT },
        { "type 255", 255, { 5 }, 1, POL_ERR_CORRUPT },
        { "nothing in it", 4, { 0 }, 0, POL_ERR_CORRUPT },
        { "number ends early", 4, { 0x85 }, 1, POL_ERR_CORRUPT },
        { "number too long", 4, { 0x85, 0x00 }, 2, POL_ERR_CORRUPT },
        { "bytes left over", 4, { 5, 0 }, 2, POL_ERR_CORRUPT },
        { "32 bits", 12, { 1, 0xff, 0xff, 0xff, 0xff, 0x0f }, 6, POL_OK },
        { "33 bits",
          12,
          { 1, 0xff, 0xff, 0xff, 0xff, 0x1f },
          6,
          POL_ERR_CORRUPT },
        { "observation", 10, { 1, 0, 1, 3, 0, 0 }, 6, POL_OK },
        { "lifecycle of 9 bits",
          10,
          { 1, 0, 0x80, 0x02, 3, 0, 0 },
          7,
          POL_ERR_CORRUPT },
        { "a valid bit too many",
          10,
          { 1, 0x80, 0x80, 1, 1, 3, 0, 0 },
          8,
          POL_ERR_CORRUPT },
        { "valid but missing", 10, { 1, 1, 1, 3, 0, 0 }, 6, POL_ERR_CORRUPT },
        { "empty plan", 13, { 0 }, 1, POL_OK },
        { "plan without number", 13, { 0 }, 0, POL_ERR_CORRUPT },
        { "plan of one", 13, { 1, 1, 5, 9, 3 }, 5, POL_OK },
        { "plan of two lacks one", 13, { 2, 1, 5, 9, 3 }, 5, POL_ERR_CORRUPT },
        { "plan of one has more",
          13,
          { 1, 1, 5, 9, 3, 0 },
          6,
          POL_ERR_CORRUPT },
        { "endless plan",
          13,
          { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 },
          10,
          POL_ERR_CORRUPT },
    };
    struct pol_config config;
    size_t i, head;

    pol_config_init(&config, 10, 2);
    for (i = 0; i < COUNT(table); i++) {
        struct pol_trace_info info;
        int rc;

        clear();
        polx_header_write(keep, &out, &config);
        head = out.n;
        put_raw(table[i].type, table[i].payload, table[i].n);
        rc = pol_trace_scan(out.at, out.n, &info);
        if (rc != table[i].rc) {
            printf("\n    %s: %s ", table[i].what, pol_error_name(rc));
        }
        CU_ASSERT(rc == table[i].rc);
        CU_ASSERT(info.bad_offset == (rc == POL_OK ? out.n : head));
        CU_ASSERT(info.records == (rc == POL_OK));
    }
    printf("\n    %zu records ", COUNT(table));
}

static void wrong_headers_are_refused(void)
{
    static const struct {
        const char *what;
        size_t offset;
        uint8_t byte;
        int rc;
    } table[] = {
        { "a right one", 0, 'P', POL_OK },
        { "magic, first byte", 0, 'p', POL_ERR_CORRUPT },
        { "magic, last byte", 7, 'F', POL_ERR_CORRUPT },
        { "version 0", 8, 0, POL_ERR_VERSION },
        { "version 2", 8, 2, POL_ERR_VERSION },
        { "length", 9, 0x7f, POL_ERR_TRUNCATED },
        { "first field", 10, 11, POL_ERR_CORRUPT }, /* the checksum says so */
    };
    struct pol_trace_info info;
    struct pol_config config;
    size_t i;

    pol_config_init(&config, 10, 2);
    for (i = 0; i < COUNT(table); i++) {
        int rc;

        clear();
        polx_header_write(keep, &out, &config);
        out.at[table[i].offset] = table[i].byte;
        rc = pol_trace_scan(out.at, out.n, &info);
        if (rc != table[i].rc) {
            printf("\n    %s: %s ", table[i].what, pol_error_name(rc));
        }
        CU_ASSERT(rc == table[i].rc);
    }
    clear();
    config.max_vms = 0; /* well written, but no configuration */
    polx_header_write(keep, &out, &config);
    CU_ASSERT(pol_trace_scan(out.at, out.n, &info) == POL_ERR_RANGE);
    CU_ASSERT(pol_trace_scan(NULL, 0, &info) == POL_ERR_TRUNCATED);
    CU_ASSERT(pol_trace_scan((const uint8_t *)"PAL", 3, &info) ==
              POL_ERR_CORRUPT);
}

/* --- starting --------------------------------------------------------- */

static _Alignas(64) uint8_t block[64 * 1024];

static struct pol_ctx *new_ctx(void)
{
    struct pol_config config;
    struct pol_ctx *ctx = NULL;

    pol_config_init(&config, 4, 4);
    CU_ASSERT_FATAL(pol_ctx_init(block, sizeof(block), &config, &ctx) ==
                    POL_OK);
    return ctx;
}

static void make_vm(struct pol_ctx *ctx)
{
    struct pol_vm_params p;

    pol_vm_params_init(&p, 1000);
    CU_ASSERT(pol_vm_add(ctx, 1, &p) == POL_OK);
}

static void make_and_remove_vm(struct pol_ctx *ctx)
{
    make_vm(ctx);
    CU_ASSERT(pol_vm_remove(ctx, 1) == POL_OK);
}

static void make_group(struct pol_ctx *ctx)
{
    struct pol_group_params p;

    pol_group_params_init(&p);
    CU_ASSERT(pol_group_add(ctx, 1, &p) == POL_OK);
}

static void make_and_remove_group(struct pol_ctx *ctx)
{
    make_group(ctx);
    CU_ASSERT(pol_group_remove(ctx, 1) == POL_OK);
}

static void observe(struct pol_ctx *ctx)
{
    struct pol_host_obs obs = { .size = sizeof(obs),
                                .total_pages = 5000,
                                .free_pages = 2000 };

    CU_ASSERT(pol_observe_host(ctx, &obs) == POL_OK);
}

static void tune(struct pol_ctx *ctx)
{
    struct pol_config config = *pol_ctx_config(ctx);

    config.idle_tax_bp = 5000;
    CU_ASSERT(pol_ctx_tune(ctx, &config) == POL_OK);
}

static void only_new_contexts_start(void)
{
    static const struct {
        const char *what;
        void (*act)(struct pol_ctx *);
        int rc;
    } table[] = {
        { "new", NULL, POL_OK },
        { "tuned", tune, POL_OK },
        { "VM", make_vm, POL_ERR_BUSY },
        { "VM that has gone", make_and_remove_vm, POL_ERR_BUSY },
        { "group", make_group, POL_ERR_BUSY },
        { "group that has gone", make_and_remove_group, POL_ERR_BUSY },
        { "observed", observe, POL_ERR_BUSY },
    };
    size_t i;

    for (i = 0; i < COUNT(table); i++) {
        struct pol_ctx *ctx = new_ctx();
        struct pol_trace_info info;
        int rc;

        clear();
        if (table[i].act != NULL) {
            table[i].act(ctx);
        }
        rc = pol_trace_start(ctx, keep, &out);
        if (rc != table[i].rc) {
            printf("\n    %s: %s ", table[i].what, pol_error_name(rc));
        }
        CU_ASSERT(rc == table[i].rc);
        CU_ASSERT((out.n > 0) == (rc == POL_OK));
        if (rc == POL_OK) {
            CU_ASSERT(pol_trace_scan(out.at, out.n, &info) == POL_OK);
            CU_ASSERT(memcmp(&info.config, pol_ctx_config(ctx), CONFIG_BYTES) ==
                      0);
        }
    }
}

static void failures_and_looks_leave_no_record(void)
{
    struct pol_ctx *ctx = new_ctx();
    struct pol_vm_params p;
    struct pol_action actions[128];
    uint64_t target;
    size_t head, n = 0;

    clear();
    CU_ASSERT(pol_trace_start(ctx, keep, &out) == POL_OK);
    head = out.n;
    CU_ASSERT(pol_vm_remove(ctx, 1) == POL_ERR_NOTFOUND);
    CU_ASSERT(out.n == head);
    make_vm(ctx);
    CU_ASSERT(out.n > head);
    observe(ctx);
    head = out.n;
    CU_ASSERT(pol_vm_get(ctx, 1, &p) == POL_OK);
    CU_ASSERT(pol_vm_target(ctx, 1, &target) == POL_ERR_INVALID);
    CU_ASSERT(out.n == head); /* no plan yet: no target */
    CU_ASSERT(pol_plan(ctx, actions, COUNT(actions), &n) == POL_OK);
    CU_ASSERT(out.n > head);
    head = out.n;
    CU_ASSERT(pol_vm_target(ctx, 1, &target) == POL_OK);
    CU_ASSERT(out.n == head);
    CU_ASSERT(pol_trace_start(ctx, NULL, NULL) == POL_OK); /* stops */
    make_and_remove_group(ctx);
    CU_ASSERT(out.n == head);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        { "checksum", crc_is_the_usual_one },
        { "numbers survive", numbers_survive },
        { "bad numbers are refused", bad_numbers_are_refused },
        { "errors survive", errors_survive },
        { "structures survive", structures_survive },
        { "arguments survive", arguments_survive },
        { "unknown figures take no room", unknown_figures_take_no_room },
        { "bytes are as documented", bytes_are_as_documented },
        { "plans of any size survive", plans_of_any_size_survive },
        { "wrong records are refused", wrong_records_are_refused },
        { "wrong headers are refused", wrong_headers_are_refused },
        { "only new contexts start", only_new_contexts_start },
        { "failures and looks leave no record",
          failures_and_looks_leave_no_record },
    };
    CU_pSuite suite;
    unsigned failures;
    size_t i;

    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    suite = CU_add_suite("bytes of a trace", NULL, NULL);
    for (i = 0; i < COUNT(tests); i++) {
        CU_add_test(suite, tests[i].name, tests[i].run);
    }
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures != 0;
}
