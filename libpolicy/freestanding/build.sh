#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: build.sh COMPILER OUTPUT-FOLDER GENERATED-INCLUDE-FOLDER
# Builds the core as a hypervisor's kernel would, without libc's headers, links
# it into one object (OUTPUT-FOLDER/libpolicy.o), and checks that the object
# wants nothing but the four memory functions and holds no writable data.
set -eu

compiler=$1
out=$2
generated=$3
core=$(cd "$(dirname "$0")/.." && pwd)
: "${POL_ASSERT_LEVEL:=0}"

case $("$compiler" -dumpmachine) in
x86_64*) machine="-mgeneral-regs-only -mno-red-zone" ;;
aarch64*) machine="-mgeneral-regs-only" ;;
*) machine="" ;;
esac
if "$compiler" --version | grep -q clang; then
    builtin=$("$compiler" -print-resource-dir)/include
else
    builtin=$("$compiler" -print-file-name=include)
fi

export OUT="$out"

rm -rf "$out"
mkdir -p "$out"
# shellcheck disable=SC2086
find "$core/src" -name '*.c' | sort | xargs -P 2 -I '{}' sh -c '
    source=$1
    shift
    exec "$@" -c "$source" -o "$OUT/$(basename "$source" .c).o"
' build '{}' env "$compiler" -std=c11 -O2 $machine \
    -ffreestanding -fno-stack-protector -fno-pic -nostdlib \
    -Wall -Wextra -Werror -DPOL_ASSERT_LEVEL="$POL_ASSERT_LEVEL" \
    -nostdinc -isystem "$builtin" -isystem "$core/freestanding" \
    -I "$core/include" -I "$core/src" -I "$generated"

if ! ls "$out"/*.o >/dev/null 2>&1; then
    echo "freestanding: no sources in $core/src" >&2
    exit 1
fi
ld -r -o "$out/libpolicy.o" "$out"/*.o

failed=0
undefined=$(nm -u "$out/libpolicy.o" | awk '{ print $2 }' |
    grep -v -x -E 'memcpy|memmove|memset|memcmp' || true)
if [ -n "$undefined" ]; then
    echo "freestanding ($compiler): undefined symbols:" $undefined >&2
    failed=1
fi
writable=$(nm "$out/libpolicy.o" | awk '$2 ~ /^[bBdDC]$/ { print $3 }')
if [ -n "$writable" ]; then
    echo "freestanding ($compiler): writable globals:" $writable >&2
    failed=1
fi
if [ "$failed" -eq 0 ]; then
    echo "freestanding ($compiler): linked into one object;" \
        "undefined: $(nm -u "$out/libpolicy.o" | awk '{ print $2 }' | xargs)"
    size "$out/libpolicy.o"
fi
exit "$failed"
