#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# `make check`: builds the tree three ways and runs every test of each.
#   release  gcc, optimised: all tiers; benchmarks only to see them work
#   asan     gcc, sanitizers and the dearest assertions: all but benchmarks
#   fuzz     clang, libFuzzer on each parser for FUZZ_SECONDS (60)
# A way that does not build counts as one failed test. The last line is the sum.
set -eu

cd "$(dirname "$0")/.."
: "${JOBS:=$(nproc)}"
: "${FUZZ_SECONDS:=60}"
: "${WAYS:=release asan fuzz}"
export FUZZ_SECONDS
# Leaks and memory errors end a test; so does undefined behaviour, with a trace.
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"

passed=0
failed=0
skipped=0
summary=

# attribute NAME FILE: a number in the head of a JUnit file, 0 if absent.
attribute()
{
    number=$(tr '\n\t' '  ' <"$2" |
        sed -n "s/.*<testsuite[^>]* $1=\"\([0-9]*\)\".*/\1/p")
    echo "${number:-0}"
}

build()
{
    cmake --preset "$1" >"build/$1.log" 2>&1 || return 1
    cmake --build "build/$1" -j "$JOBS" -- -k 0 >>"build/$1.log" 2>&1
}

run_way()
{
    way=$1
    began=$(date +%s)
    echo "== $way: building"
    if ! build "$way"; then
        tail -n 60 "build/$way.log"
        echo "== $way: does not build"
        failed=$((failed + 1))
        summary="$summary; $way does not build"
        return
    fi
    echo "== $way: testing"
    junit=$PWD/build/$way.xml
    rm -f "$junit"
    status=0
    ctest --preset "$way" -j "$JOBS" --output-junit "$junit" || status=$?
    if [ ! -f "$junit" ]; then
        echo "== $way: no test ran"
        failed=$((failed + 1))
        return
    fi
    bad=$(attribute failures "$junit")
    none=$(($(attribute skipped "$junit") + $(attribute disabled "$junit")))
    good=$(($(attribute tests "$junit") - bad - none))
    # Whatever the file says, ctest's own verdict stands.
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then
        bad=1
    fi
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + none))
    summary="$summary; $way $good of $((good + bad + none))"
    summary="$summary in $(($(date +%s) - began)) s"
}

mkdir -p build
for way in $WAYS; do
    run_way "$way"
done

echo
echo "make check: ${summary#; }"
if [ "$skipped" -gt 0 ]; then
    echo "$passed passed, $failed failed, $skipped skipped"
else
    echo "$passed passed, $failed failed"
fi
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
