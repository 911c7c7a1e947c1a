/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The assembler puts the files into the read-only data as they are. This
 * takes no time, where a C array of their bytes takes seconds to compile.
 */
#include "assets.h"

#define EMBED(name, path)                                                      \
    __asm__(".pushsection .rodata\n"                                           \
            ".local asset_" #name "_begin\n"                                   \
            ".local asset_" #name "_end\n"                                     \
            "asset_" #name "_begin:\n"                                         \
            ".incbin \"" path "\"\n"                                           \
            "asset_" #name "_end:\n"                                           \
            ".byte 0\n"                                                        \
            ".popsection\n");                                                  \
    extern const char asset_##name##_begin[];                                  \
    extern const char asset_##name##_end[];                                    \
    const struct asset asset_##name = { asset_##name##_begin,                  \
                                        asset_##name##_end }

EMBED(chart_js, CHART_JS_PATH);
EMBED(report_js, REPORT_JS_PATH);
EMBED(report_css, REPORT_CSS_PATH);
