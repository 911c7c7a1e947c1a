#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: segments_test.sh POLICYCTL WORK-FOLDER. `policyctl segments replay' on
# small traces whose answers are known, and on wrong ones: a line each.
set -u

policyctl=$1
work=$2
failed=0
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1

expect()
{
    if ! printf '%s\n' "$2" | grep -q -- "$3"; then
        printf '%s: "%s" is not in:\n%s\n' "$1" "$3" "$2"
        failed=1
    fi
}

# refuse NAME TEXT ARGUMENT...: one line, exit status 2, and this text in it.
refuse()
{
    name=$1
    text=$2
    shift 2
    out=$("$policyctl" segments "$@" 2>&1 >/dev/null)
    status=$?
    expect "$name" "$out" "$text"
    if [ "$status" -ne 2 ]; then
        echo "$name: exit status $status instead of 2"
        failed=1
    fi
}

# Four VMs fill a host of 4 GiB; the second and the fourth go; 2 GiB come.
cat >holes.csv <<EOF
start_s,end_s,memory_mib
0,,1024
0,10,1024
0,,1024
0,10,1024
20,,2048
EOF
out=$("$policyctl" segments replay holes.csv -q --json --hosts 1 \
    --host-memory 4GiB --rule first-fit --model libpolicy)
expect "split" "$out" '"one_segment_share": 0.8'
expect "split" "$out" '"max_segments": 2'
expect "split" "$out" '"refused": 0'
out=$("$policyctl" segments replay holes.csv -q --json --hosts 2 \
    --host-memory 4GiB --rule segment-aware --model libpolicy)
expect "another host" "$out" '"one_segment_share": 1.0'
out=$("$policyctl" segments replay holes.csv -q --json --hosts 1 \
    --host-memory 4GiB --rule segment-aware --model libpolicy)
expect "kept whole by refusing" "$out" '"refused": 1'
out=$("$policyctl" segments replay holes.csv -q --json --hosts 1 \
    --host-memory 4GiB --rule segment-aware --model libpolicy --one-segment 0%)
expect "split rather than refused" "$out" '"refused": 0'
out=$("$policyctl" segments replay holes.csv --host-memory 4GiB --hosts 2 \
    --report report.html 2>/dev/null)
expect "table" "$out" 'segment-aware *buddy'
expect "report" "$(cat report.html)" '<svg'

printf 'start_s,end_s,memory_mib\n10,5,1\n' >backwards.csv
printf 'start_s,end_s,memory_mib\n10,,1\n5,,1\n' >unsorted.csv
printf 'start_s,memory_mib\n10,1\n' >column.csv
printf 'start_s,end_s,memory_mib\n1,,1\n\n2,,1\n' >gap.csv
printf 'start_s,end_s,memory_mib\n' >none.csv
refuse "end before start" 'backwards.csv:2: end_s' replay backwards.csv
refuse "unsorted" 'unsorted.csv:3: start_s' replay unsorted.csv
refuse "missing column" 'column.csv:1: end_s' replay column.csv
refuse "gap" 'gap.csv:3' replay gap.csv
refuse "no requests" 'none.csv: no requests' replay none.csv
refuse "no file" 'absent.csv' replay absent.csv
refuse "rule" 'accepted: first-fit' replay holes.csv --rule worst
refuse "model" 'accepted: libpolicy' replay holes.csv --model slab
refuse "hosts" 'accepted: 1 to' replay holes.csv --hosts 0
refuse "memory" 'accepted: 1MiB' replay holes.csv --host-memory 4
refuse "percent" 'accepted: 1%' replay holes.csv --utilisation 101%
refuse "verb" 'accepted: replay' play holes.csv
refuse "trace" 'the trace is missing' replay
exit "$failed"
