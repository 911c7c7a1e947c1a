/* SPDX-License-Identifier: BSD-2-Clause */
/* What `policyctl compare' measures: ideal shares, and balloons that swing. */
#include <stdlib.h>

#include "compare.h"
#include "expect.h"

/* As the vectors of the policy's own targets: pages divided by shares and
 * tax, to the page. */
static void ideal_shares(void)
{
    static const struct {
        const char *row;
        double pages, tax;
        struct compare_claim a, b;
        double want_a, want_b;
    } table[] = {
        { "no tax",
          360,
          0.0,
          { 1, 0, 0, 256, 0 },
          { 1, 256, 0, 256, 0 },
          180,
          180 },
        { "tax 75 %",
          360,
          0.75,
          { 1, 0, 0, 256, 0 },
          { 1, 256, 0, 256, 0 },
          104,
          256 },
        { "tax 75 %, larger",
          360,
          0.75,
          { 1, 0, 0, 400, 0 },
          { 1, 256, 0, 400, 0 },
          84,
          276 },
        { "shares 2:1",
          300,
          0.0,
          { 2, 300, 0, 300, 0 },
          { 1, 300, 0, 300, 0 },
          200,
          100 },
        { "reservation",
          300,
          0.0,
          { 2, 300, 0, 300, 0 },
          { 1, 300, 150, 300, 0 },
          150,
          150 },
        { "more than all want",
          900,
          0.75,
          { 1, 0, 0, 100, 0 },
          { 1, 0, 0, 200, 0 },
          100,
          200 },
        { "nothing", 0, 0.75, { 1, 5, 0, 100, 0 }, { 1, 5, 0, 200, 0 }, 0, 0 },
    };

    for (size_t i = 0; i < ROWS(table); i++) {
        struct compare_claim claims[2] = { table[i].a, table[i].b };

        compare_divide(claims, 2, table[i].pages, table[i].tax);
        EXPECT(table[i].row, claims[0].ideal + 0.5, table[i].want_a);
        EXPECT(table[i].row, claims[1].ideal + 0.5, table[i].want_b);
    }
    compare_divide(NULL, 0, 100, 0.75);
}

static void swings(void)
{
    static const struct {
        const char *row;
        uint64_t at_ms, pages;
        bool taken;
        uint64_t swung;
    } table[] = {
        { "taken", 0, 100, true, 0 },
        { "taken again", 1000, 50, true, 0 },
        { "some given back", 2000, 60, false, 60 },
        { "the rest, and more", 3000, 100, false, 90 },
        { "the 10 more are taken", 4000, 10, true, 10 },
        { "taken", 5000, 70, true, 0 },
        { "given after two minutes", 125001, 70, false, 0 },
        { "taken within two minutes of that", 245000, 30, true, 30 },
        { "nothing", 245000, 0, true, 0 },
    };
    struct compare_moves moves = { NULL, 0, 0 };

    for (size_t i = 0; i < ROWS(table); i++) {
        EXPECT(table[i].row,
               compare_swing(&moves, table[i].at_ms, table[i].pages,
                             table[i].taken),
               table[i].swung);
    }
    free(moves.list);
}

static const struct test_case cases[] = {
    { "what VMs should hold by their shares", ideal_shares },
    { "what a balloon took and gave back", swings },
};

EXPECT_MAIN("compare", cases)
