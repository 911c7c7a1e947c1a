/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any bytes as a trace: read and replayed, as they are and once more with
 * right checksums, without which nearly all inputs would end at the first
 * record. What can be replayed must replay the same way twice.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "policy/policy.h"
#include "trace_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define BLOCK   (256u * 1024u)
#define ACTIONS 16384u

static _Alignas(64) uint8_t block[BLOCK];
static struct pol_action actions[ACTIONS];

static void require(bool condition)
{
    if (!condition) {
        abort();
    }
}

static int check_ctx(void *user, const struct pol_ctx *ctx,
                     const struct pol_action *planned, size_t n)
{
    uint64_t *plans = user;

    (void)planned;
    require(n <= ACTIONS);
    require(polx_ctx_is_valid(ctx));
    (*plans)++;
    return POL_OK;
}

static int replay(const uint8_t *data, size_t size,
                  const struct pol_config *config,
                  struct pol_replay_result *result)
{
    uint64_t plans = 0;
    int rc = pol_trace_replay(data, size, config, block, BLOCK, actions,
                              ACTIONS, check_ctx, &plans, result);

    require(result->plans == plans);
    require(result->bad_offset <= size);
    return rc;
}

static void run(const uint8_t *data, size_t size)
{
    struct pol_trace_info info;
    struct pol_replay_result first, second;
    int scanned = pol_trace_scan(data, size, &info);
    int rc = replay(data, size, NULL, &first);

    require(info.bad_offset <= size);
    require(first.records <= info.records);
    if (scanned == POL_OK) {
        require(info.bad_offset == size);
    } else {
        require(rc != POL_OK);
    }
    require(replay(data, size, NULL, &second) == rc);
    require(memcmp(&first, &second, sizeof(first)) == 0);
    if (scanned == POL_OK) {
        info.config.idle_tax_bp = 100;
        rc = replay(data, size, &info.config, &second);
        require(rc != POL_ERR_MISMATCH && rc != POL_ERR_INVALID);
    }
}

/* Put the right checksum behind the payload at `r`, as far as there is one. */
static bool mend_one(uint8_t *data, struct polx_reader *r, size_t start)
{
    uint64_t n;
    uint32_t crc, i;

    if (polx_get_varint(r, &n) != POL_OK || polx_left(r) < POLX_CRC_BYTES ||
        n > polx_left(r) - POLX_CRC_BYTES) {
        return false;
    }
    r->at += (size_t)n;
    crc = polx_crc32(0, data + start, r->at - start);
    for (i = 0; i < POLX_CRC_BYTES; i++) {
        data[r->at++] = (uint8_t)(crc >> (8 * i));
    }
    return true;
}

static void mend(uint8_t *data, size_t size)
{
    struct polx_reader r = { data, size, 9 }; /* behind magic and version */
    size_t start = 0;

    while (size > 9 && mend_one(data, &r, start) && polx_left(&r) > 0) {
        start = r.at++;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *mended = malloc(size + 1);

    if (mended == NULL) {
        return 0;
    }
    run(data, size);
    memcpy(mended, data, size);
    mend(mended, size);
    run(mended, size);
    free(mended);
    return 0;
}
