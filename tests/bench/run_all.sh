#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: run_all.sh BUILD-FOLDER. Runs each benchmark at full length, one by one.
set -eu

failed=0
for program in "$1"/tests/bench/bench_*; do
    if [ -x "$program" ] && [ -f "$program" ]; then
        echo "== $(basename "$program")"
        "$program" || failed=1
    fi
done
exit "$failed"
