/* SPDX-License-Identifier: BSD-2-Clause */
/**
 * @file embed.h
 * Files inside the program. The assembler puts them into the read-only data
 * as they are. This takes no time, where a C array of their bytes takes
 * seconds to compile.
 */
#ifndef POLICYCTL_EMBED_H
#define POLICYCTL_EMBED_H

#include "assets.h"

/** Define `const struct asset asset_NAME` with the file's bytes. */
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
    extern const struct asset asset_##name;                                    \
    const struct asset asset_##name = { asset_##name##_begin,                  \
                                        asset_##name##_end }

#endif /* POLICYCTL_EMBED_H */
