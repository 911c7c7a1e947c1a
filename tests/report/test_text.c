/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures as text, times as read, and names that nobody may trust. */
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static void amounts(void)
{
    static const struct {
        uint64_t pages;
        uint32_t page_bytes;
        const char *text;
    } cases[] = {
        { 0, 4096, "0 B" },
        { 1, 4096, "4 KiB" },
        { 256, 4096, "1 MiB" },
        { 384, 4096, "1.50 MiB" },
        { 131072, 4096, "512 MiB" },
        { 67108864, 4096, "256 GiB" },
        { UINT64_C(1) << 52, 4096, "16 EiB" },
    };
    char buf[TEXT_MAX];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CU_ASSERT_STRING_EQUAL(
            text_pages(buf, cases[i].pages, cases[i].page_bytes),
            cases[i].text);
    }
    /* The largest there is fits the buffer. */
    CU_ASSERT(strlen(text_pages(buf, UINT64_MAX, 1u << 30)) < TEXT_MAX);
    CU_ASSERT_STRING_EQUAL(text_count(buf, 0), "0");
    CU_ASSERT_STRING_EQUAL(text_count(buf, 999), "999");
    CU_ASSERT_STRING_EQUAL(text_count(buf, 1000), "1,000");
    CU_ASSERT_STRING_EQUAL(text_count(buf, UINT64_MAX),
                           "18,446,744,073,709,551,615");
    CU_ASSERT_STRING_EQUAL(text_bp(buf, 7500), "75 %");
    CU_ASSERT_STRING_EQUAL(text_bp(buf, 25), "0.25 %");
    CU_ASSERT_STRING_EQUAL(text_bp(buf, 10010), "100.1 %");
}

static void spans(void)
{
    static const struct {
        uint64_t ms;
        const char *text;
    } cases[] = {
        { 0, "0 s" },
        { 250, "250 ms" },
        { 59999, "59 s" },
        { 125000, "2 min 05 s" },
        { 3720000, "1 h 02 min" },
        { 93600000, "1 d 02 h" },
    };
    char buf[TEXT_MAX];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CU_ASSERT_STRING_EQUAL(text_span(buf, cases[i].ms), cases[i].text);
    }
    CU_ASSERT(strlen(text_span(buf, UINT64_MAX)) < TEXT_MAX);
}

static void times(void)
{
    static const struct {
        const char *text;
        int result;
        uint64_t ms;
    } cases[] = {
        { "0", 0, 0 },
        { "90", 0, 90000 },
        { "90s", 0, 90000 },
        { "250ms", 0, 250 },
        { "10m", 0, 600000 },
        { "10min", 0, 600000 },
        { "1h30m", 0, 5400000 },
        { "1d", 0, 86400000 },
        { "1000000000000000ms", 0, UINT64_C(1000000000000000) },
        { "1000000000000001ms", -1, 0 },
        { "", -1, 0 },
        { "-1", -1, 0 },
        { " 1", -1, 0 },
        { "1x", -1, 0 },
        { "1h30", 0, 3630000 },
        { "1 h", -1, 0 },
        { "h", -1, 0 },
        { "99999999999999999999999", -1, 0 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t ms = 0;
        int result = text_parse_time(cases[i].text, &ms);

        CU_ASSERT_EQUAL(result, cases[i].result);
        CU_ASSERT(result != 0 || ms == cases[i].ms);
    }
}

static void safe_names(void)
{
    static const struct {
        const char *name;
        size_t cap;
        const char *safe;
    } cases[] = {
        { "web-1", 32, "web-1" },
        { "a\033[2Jb", 32, "a?[2Jb" },
        { "a\nb\tc\x7f", 32, "a?b?c?" },
        { "gr\xc3\xb6\xc3\x9f"
          "e",
          32,
          "gr\xc3\xb6\xc3\x9f"
          "e" },
        { "\xff\xc0\xaf", 32, "???" },
        { "\xed\xa0\x80", 32, "???" },
        { "\xe2\x80\xae"
          "evil",
          32, "?evil" },
        { "\xc2\x9b"
          "31m",
          32, "?31m" },
        { "\xf0\x9f\x98\x80", 32, "\xf0\x9f\x98\x80" },
        { "\xf4\x90\x80\x80", 32, "????" },
        { "abc", 3, "ab" },
        { "a\xc3\xb6", 3, "a" },
        { "abc", 1, "" },
    };
    char buf[32];

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        CU_ASSERT_STRING_EQUAL(text_safe(buf, cases[i].cap, cases[i].name),
                               cases[i].safe);
    }
    CU_ASSERT_EQUAL(text_width("gr\xc3\xb6\xc3\x9f"
                               "e"),
                    5);
}

/* What a writer puts into a file. */
static char *written(void (*write)(FILE *, const char *), const char *text)
{
    FILE *file = tmpfile();
    char *got = calloc(1, 512);

    if (file != NULL && got != NULL) {
        size_t n;

        write(file, text);
        rewind(file);
        n = fread(got, 1, 511, file);
        got[n] = '\0';
        fclose(file);
    }
    return got;
}

static void escapes(void)
{
    char *html = written(text_html, "<b>\"x\" & 'y'</b>");
    char *script = written(text_script, "{\"n\":\"</script><!-- & \\u2028\"}");

    CU_ASSERT_STRING_EQUAL(
        html, "&lt;b&gt;&quot;x&quot; &amp; &#39;y&#39;&lt;/b&gt;");
    CU_ASSERT_STRING_EQUAL(script,
                           "{\"n\":\"\\u003c/script\\u003e\\u003c!-- \\u0026 "
                           "\\u2028\"}");
    CU_ASSERT_PTR_NULL(strpbrk(script, "<>&"));
    free(html);
    free(script);
}

int main(void)
{
    unsigned failures;
    CU_pSuite suite;

    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    suite = CU_add_suite("text", NULL, NULL);
    CU_add_test(suite, "amounts, counts and parts", amounts);
    CU_add_test(suite, "time spans", spans);
    CU_add_test(suite, "reading times", times);
    CU_add_test(suite, "names on a terminal", safe_names);
    CU_add_test(suite, "names in HTML and scripts", escapes);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures == 0 ? 0 : 1;
}
