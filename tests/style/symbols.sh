#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: symbols.sh SHARED-LIBRARY STATIC-LIBRARY
# The shared library exports pol_* alone, each with a version; the static one
# defines pol_* and polx_* alone, and wants nothing but memory functions.
set -eu

shared=$1
static=$2
failed=0

complain()
{
    if [ -n "$2" ]; then
        echo "$1:" $2
        failed=1
    fi
}

exported=$(nm -D --defined-only "$shared" | awk '$2 != "A" { print $3 }')
if [ -z "$exported" ]; then
    echo "$shared exports nothing"
    exit 1
fi
complain "exported, but not pol_*@@LIBPOLICY_" \
    "$(echo "$exported" | grep -v -E '^pol_[a-z0-9_]+@@LIBPOLICY_' || true)"
complain "wanted by the shared library, but defined nowhere" \
    "$(nm -D -u "$shared" | awk '{ print $2 }' | grep '^pol' || true)"
complain "global in the archive, but neither pol_* nor polx_*" \
    "$(nm -g --defined-only "$static" | awk 'NF == 3 { print $3 }' |
        grep -v -E '^polx?_' || true)"
complain "wanted by the archive, but not a memory function" \
    "$(nm -u "$static" | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u |
        grep -v -E '^polx?_|^mem(cpy|move|set|cmp)$|^_GLOBAL_OFFSET_TABLE_$' \
        || true)"

echo "$(echo "$exported" | wc -l) symbols exported"
exit "$failed"
