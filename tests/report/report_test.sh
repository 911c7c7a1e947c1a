#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# A report in a browser: every chart is drawn, no script fails, nothing is
# fetched from anywhere, and names cannot break out of the page.
# Usage: report_test.sh two_vm|hostile POLICYCTL WORK-FOLDER
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
case=$1
policyctl=$2
work=$3
failed=0

browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ]; then
    echo "skipped: no chromium here"
    exit 77
fi
rm -rf "$work"
mkdir -p "$work"

# The page as the browser has it when its scripts have run.
dom()
{
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu \
        --disable-quic --no-first-run --disable-background-networking \
        --disable-component-update --disable-sync --hide-scrollbars \
        --host-resolver-rules="MAP * ~NOTFOUND" \
        --user-data-dir="$work/profile" --window-size=1280,2400 \
        --virtual-time-budget=10000 --dump-dom "file://$1" \
        2>"$work/browser.log"
}

check()
{
    if [ "$2" = yes ]; then
        echo "ok: $1"
    else
        echo "FAILED: $1"
        failed=1
    fi
}

holds()
{
    if "$@" >/dev/null 2>&1; then
        echo yes
    else
        echo no
    fi
}

case $case in
two_vm)
    scenario=$root/examples/scenarios/two-vm-idle-tax.yaml
    vms=2
    ;;
hostile)
    scenario=$here/hostile.yaml
    vms=4
    ;;
*)
    echo "no such case: $case"
    exit 2
    ;;
esac

report=$work/report.html
"$policyctl" simulate "$scenario" --quiet --report "$report"

size=$(wc -c <"$report")
check "the report has $size bytes, less than 5 MB" \
    "$(holds test "$size" -lt 5000000)"

# Chart.js names its home and a part's in comments about licences.
addresses=$(grep -oE '(https?|wss?|ftp):/?/[^ "<>)]+' "$report" | sort -u |
    grep -v -x -e 'https://www.chartjs.org' \
        -e 'https://github.com/kurkle/color#readme' || true)
check "no address of a network: ${addresses:-none}" \
    "$(holds test -z "$addresses")"
fetched=$(grep -cE '<(link|iframe|img|object|video)[ >]|<script[^>]* src|@import' \
    "$report" || true)
check "no element that fetches anything" "$(holds test "$fetched" = 0)"

dom "$report" >"$work/dom.html" || true
top=$(grep -o '<html[^>]*>' "$work/dom.html" | head -n 1)
echo "the page says: $top"
check "the scripts came to their end" \
    "$(holds grep -q 'data-done="yes"' "$work/dom.html")"
check "no script failed" "$(case $top in *data-errors*) echo no ;;
    *) echo yes ;; esac)"
check "four charts" "$(case $top in *'data-charts="4"'*) echo yes ;;
    *) echo no ;; esac)"
datasets=$(echo "$top" | sed -n 's/.*data-datasets="\([0-9]*\)".*/\1/p')
check "${datasets:-no} data sets, at least $((vms + 9))" \
    "$(holds test "${datasets:-0}" -ge $((vms + 9)))"

points=$(echo "$top" | sed -n 's/.*data-points="\([0-9]*\)".*/\1/p')
check "${points:-no} points in them, at least 2000" \
    "$(holds test "${points:-0}" -ge 2000)"

# name:percent of pixels painted:colours seen
painted=$(echo "$top" | sed -n 's/.*data-painted="\([^"]*\)".*/\1/p')
for canvas in layers free vm decisions; do
    one=$(echo "$painted" | tr ' ' '\n' | grep "^$canvas:" || true)
    percent=$(echo "$one" | cut -d: -f2)
    colours=$(echo "$one" | cut -d: -f3)
    check "chart $canvas is painted (${percent:-0} %, ${colours:-0} hues)" \
        "$(holds test "${percent:-0}" -ge 1 -a "${colours:-0}" -ge 8)"
done
options=$(grep -o '<option' "$work/dom.html" | wc -l)
check "$options VMs to choose from" "$(holds test "$options" = "$vms")"

if [ "$case" = two_vm ]; then
    # The checks above must be able to fail.
    sed 's/new Chart(/new Chrat(/' "$report" >"$work/broken.html"
    dom "$work/broken.html" >"$work/broken-dom.html" || true
    check "a broken report is noticed" \
        "$(holds grep -q '<html[^>]*data-errors="yes"' \
            "$work/broken-dom.html")"
fi
exit "$failed"
