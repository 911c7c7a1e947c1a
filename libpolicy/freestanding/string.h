/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that the core wants from a <string.h>. For kernels that have none: add
 * this folder to the include path and provide the four functions.
 */
#ifndef POLICY_FREESTANDING_STRING_H
#define POLICY_FREESTANDING_STRING_H

#include <stddef.h>

void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *a, const void *b, size_t size);

#endif
