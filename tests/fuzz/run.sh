#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: run.sh PROGRAM NAME WORK-FOLDER
# Fuzzes for FUZZ_SECONDS (60 unless set), beginning with the committed seeds.
# What it learns stays in the work folder; a finding is written there, named in
# the output, and makes the run fail.
set -eu

program=$1
name=$2
work=$3/$name
here=$(dirname "$0")
seconds=${FUZZ_SECONDS:-60}

mkdir -p "$work/corpus" "$work/findings"
set -- "$work/corpus"
if [ -d "$here/corpus/$name" ]; then
    set -- "$@" "$here/corpus/$name"
fi
if [ -f "$here/$name.dict" ]; then
    set -- "-dict=$here/$name.dict" "$@"
fi
exec "$program" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix="$work/findings/" "$@"
