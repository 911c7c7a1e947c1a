#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Checks every source file: licence line at its head, no tab in C, lines of at
# most 80 columns, files of at most 800 lines, functions of at most 80.
set -eu

cd "$(dirname "$0")/../.."
. tests/style/files.sh

sources=$(own_files '*.c' '*.h' '*.h.in' '*.sh' '*.cmake' '*.in' \
    CMakeLists.txt '*.map' '*.yaml' '*.py' '*.js' Makefile | sort -u)
c_files=$(own_files '*.c' '*.h' '*.h.in')
failed=0

complain()
{
    if [ -n "$2" ]; then
        echo "$1:"
        echo "$2" | sed 's/^/    /'
        failed=1
    fi
}

complain "no 'SPDX-License-Identifier: BSD-2-Clause' in the first five lines" \
    "$(for file in $sources; do
        head -n 5 "$file" |
            grep -q 'SPDX-License-Identifier: BSD-2-Clause' || echo "$file"
    done)"
complain "tab in a C file" "$(grep -n -P '\t' $c_files /dev/null || true)"
complain "line longer than 80 columns in a C file" \
    "$(grep -n -P '^.{81,}' $c_files /dev/null || true)"
complain "file longer than 800 lines" \
    "$(wc -l $c_files | awk '$1 > 800 && $2 != "total" { print $2, $1 }')"
# The formatter puts a function's braces, and nothing else's, in column one.
complain "function longer than 80 lines" \
    "$(awk '/^{/ { began = FNR }
        /^}/ { if (began > 0 && FNR - began > 81) {
            print FILENAME ":" began ": " FNR - began - 1 " lines" }
            began = 0 }' $c_files)"

echo "$(echo "$sources" | wc -l) files looked at"
exit "$failed"
