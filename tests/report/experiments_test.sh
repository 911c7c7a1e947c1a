#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The report of experiments in a browser: a chart for each, no script fails,
# nothing is fetched from anywhere.
# Usage: experiments_test.sh POLICYCTL WORK-FOLDER
set -eu

policyctl=$1
work=$2
failed=0

browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ]; then
    echo "skipped: no chromium here"
    exit 77
fi
rm -rf "$work"
mkdir -p "$work"

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

report=$work/report.html
"$policyctl" experiments --quick --quiet idle-tax working-set \
    --report "$report"
fetched=$(grep -cE '<(link|iframe|img|object|video)[ >]|<script[^>]* src|@import' \
    "$report" || true)
check "no element that fetches anything" "$(holds test "$fetched" = 0)"
timeout 120 "$browser" --headless --no-sandbox --disable-gpu \
    --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --hide-scrollbars \
    --host-resolver-rules="MAP * ~NOTFOUND" \
    --user-data-dir="$work/profile" --window-size=1280,2400 \
    --virtual-time-budget=10000 --dump-dom "file://$report" \
    >"$work/dom.html" 2>"$work/browser.log" || true
top=$(grep -o '<html[^>]*>' "$work/dom.html" | head -n 1)
echo "the page says: $top"
check "no script failed" "$(case $top in *data-errors*) echo no ;;
    *) echo yes ;; esac)"
for wanted in 'data-done="yes"' 'data-charts="2"' 'data-datasets="4"' \
    'data-points="600"'; do
    check "$wanted" "$(case $top in *"$wanted"*) echo yes ;;
        *) echo no ;; esac)"
done
exit "$failed"
