/* SPDX-License-Identifier: BSD-2-Clause */
/* Request traces: what is read, and every way to get one wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "expect.h"
#include "vm_trace.h"

#define HEAD "start_s,end_s,vcpus,memory_mib,tenant_batch\n"

static const struct {
    const char *shows;
    const char *text;
    const char *error;
} bad[] = {
    { "empty", "", "t.csv:1: the file is empty" },
    { "no memory", "start_s,end_s\n",
      "t.csv:1: memory_mib: column is missing" },
    { "column twice", "start_s,end_s,end_s,memory_mib\n",
      "t.csv:1: end_s: is given twice" },
    { "too few columns", HEAD "0,300,8,1024,0\n0,300,8\n",
      "t.csv:3: 3 columns (accepted: 5" },
    { "not a number", HEAD "0,300,8,big,0\n",
      "t.csv:2: memory_mib: \"big\" (accepted: a whole number, 1 to" },
    { "negative", HEAD "0,300,8,-5,0\n", "t.csv:2: memory_mib: \"-5\"" },
    { "fraction", HEAD "0.5,300,8,5,0\n", "t.csv:2: start_s: \"0.5\"" },
    { "zero memory", HEAD "0,300,8,0,0\n", "t.csv:2: memory_mib: \"0\"" },
    { "huge", HEAD "0,99999999999999999999,8,1,0\n", "t.csv:2: end_s: \"999" },
    { "no start", HEAD ",300,8,1,0\n", "t.csv:2: start_s: \"\"" },
    { "end before start", HEAD "600,300,8,1,0\n",
      "t.csv:2: end_s: 300 is before the start (accepted: 600 or more)" },
    { "unsorted", HEAD "600,700,8,1,0\n300,700,8,1,0\n",
      "t.csv:3: start_s: 300 is out of order (accepted: 600 or more" },
    { "empty line", HEAD "\n", "t.csv:2: empty line" },
    { "quotes", HEAD "\"0\",300,8,1,0\n", "t.csv:2: start_s: " },
    { "no gzip", "\x1f\x8b", "t.csv:1: the gzip data ends too early" },
    { "damaged gzip", "\x1f\x8b\x08\xff\xff\xff\xff\xff\xff\xff\xff",
      "t.csv:1: the gzip data is damaged" },
};

struct sum {
    uint64_t rows, mib, open;
};

static int add_row(void *user, const struct sim_request *request)
{
    struct sum *sum = user;

    sum->rows++;
    sum->mib += request->memory_mib;
    sum->open += request->stop_ms == SIM_NONE;
    return POL_OK;
}

static void test_bad(void)
{
    for (size_t i = 0; i < ROWS(bad); i++) {
        struct sum sum = { 0, 0, 0 };
        struct sim_error err;

        EXPECT(bad[i].shows,
               sim_vm_trace_parse((const uint8_t *)bad[i].text,
                                  strlen(bad[i].text), "t.csv", add_row, &sum,
                                  &err),
               POL_ERR_INVALID);
        err.text[strlen(bad[i].error)] = '\0';
        EXPECT_TEXT(bad[i].shows, err.text, bad[i].error);
    }
}

static void test_nul_and_long_lines(void)
{
    static const uint8_t nul[] = "start_s,end_s,memory_mib\n0,1\0,1\n";
    char *line = malloc(100000);
    struct sum sum = { 0, 0, 0 };
    struct sim_error err;

    EXPECT("NUL",
           sim_vm_trace_parse(nul, sizeof(nul) - 1, "t", add_row, &sum, &err),
           POL_ERR_INVALID);
    EXPECT_TRUE("NUL", strncmp(err.text, "t:2: is no line", 15) == 0);
    memset(line, ',', 100000);
    EXPECT(
        "long",
        sim_vm_trace_parse((uint8_t *)line, 100000, "t", add_row, &sum, &err),
        POL_ERR_INVALID);
    free(line);
}

static void test_good(void)
{
    static const char text[] = "memory_mib,start_s,colour,end_s\r\n"
                               "1024,0,red,300\r\n512,0,blue,\n2048,60,,60";
    struct sum sum = { 0, 0, 0 };
    struct sim_error err;

    MUST(sim_vm_trace_parse((const uint8_t *)text, strlen(text), "t", add_row,
                            &sum, &err));
    EXPECT("rows", sum.rows, 3);
    EXPECT("memory", sum.mib, 3584);
    EXPECT("still running", sum.open, 1);
}

#define AZURE POL_SOURCE_DIR "/examples/data/azure2017-vm-requests.csv.gz"

static void test_azure(void)
{
    struct sum sum = { 0, 0, 0 };
    struct sim_error err;
    uint8_t *bytes = NULL;
    size_t n = 0;

    MUST(sim_vm_trace_read(AZURE, add_row, &sum, &err));
    EXPECT("rows", sum.rows, 259159);
    EXPECT("still running", sum.open, 14317);

    /* Cut short it is an error that says where. */
    MUST(sim_file_read(AZURE, SIM_TRACE_MAX_BYTES, &bytes, &n, &err));
    EXPECT("cut", sim_vm_trace_parse(bytes, n / 2, "t", add_row, &sum, &err),
           POL_ERR_INVALID);
    EXPECT_TRUE("cut",
                strstr(err.text, "the gzip data ends too early") != NULL);
    /* So is a single bit that is wrong, wherever the check finds it. */
    bytes[n / 3] ^= 4;
    EXPECT("bit", sim_vm_trace_parse(bytes, n, "t", add_row, &sum, &err),
           POL_ERR_INVALID);
    free(bytes);
    EXPECT("missing", sim_vm_trace_read("/no/such", add_row, &sum, &err),
           POL_ERR_INVALID);
    EXPECT_TEXT("missing", err.text,
                "/no/such: cannot be opened: No such file or directory");
}

static const struct test_case cases[] = {
    { "rows that are wrong, by line and column", test_bad },
    { "NUL bytes and endless lines", test_nul_and_long_lines },
    { "columns in any order, others skipped", test_good },
    { "the Azure trace; cut, damaged, missing", test_azure },
};

EXPECT_MAIN("vm_trace", cases)
