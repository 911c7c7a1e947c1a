#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Shows that core_rules.sh can fail: each line below must be refused, and each
# harmless look-alike let through. Usage: core_rules_selftest.sh WORK-FOLDER
set -eu

here=$(cd "$(dirname "$0")" && pwd)
work=$1
failed=0

try()
{
    rm -rf "$work"
    mkdir -p "$work/src" "$work/include"
    printf '%s\n' "$2" >"$work/src/a.c"
    if sh "$here/core_rules.sh" "$work" >/dev/null; then
        got=allowed
    else
        got=refused
    fi
    if [ "$got" != "$1" ]; then
        echo "should be $1: $2"
        failed=1
    fi
}

try refused 'double x;'
try refused 'static float f(void);'
try refused 'void *p = malloc(4);'
try refused 'int t = time(0);'
try refused 'int r = 1 + rand();'
try refused '#include <stdio.h>'
try refused '#include "../../adapters/a.h"'
try allowed '/* a float, time(0), malloc(4) */'
try allowed 'const char *s = "float time(0)";'
try allowed 'int lifetime(int x);'
try allowed '#include <stdint.h>'
try allowed '#include "policy/types.h"'
try allowed 'int v = ops->free(1);'
exit "$failed"
