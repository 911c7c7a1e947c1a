#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The core's rules that the text of its sources can show: no floating point, no
# clock, no randomness, no allocation, no printing, no exit, no headers but its
# own and a handful that every compiler brings.
# Usage: core_rules.sh [CORE-FOLDER]
set -eu

core=${1:-$(cd "$(dirname "$0")/../../libpolicy" && pwd)}
failed=0

# Source text without comments and string literals, each line with its place.
# The compiler keeps line numbers; -fpreprocessed keeps it from expanding.
bare_text()
{
    gcc -fpreprocessed -dD -E -x c "$1" 2>/dev/null |
        awk -v file="$1" '
            /^# [0-9]+ / { line = $2 - 1; next }
            { line++; gsub(/"[^"]*"/, "\"\""); print file ":" line ": " $0 }'
}

files=$(find "$core/src" "$core/include" -name '*.[ch]' | sort)
if [ -z "$files" ]; then
    echo "no sources in $core"
    exit 1
fi

words='float|double|_Complex|long double|setjmp|errno|FILE'
calls='time|clock|clock_gettime|gettimeofday|rand|srand|random|rand_r|drand48'
calls="$calls|malloc|calloc|realloc|free|alloca|printf|fprintf|sprintf"
calls="$calls|snprintf|puts|fputs|exit|abort|assert|qsort|bsearch|strlen"
calls="$calls|strcmp|strcpy|strncpy|getenv"
for file in $files; do
    found=$(bare_text "$file" | grep -E \
        "(^|[^A-Za-z0-9_>.])(($words)([^A-Za-z0-9_]|\$)|($calls) ?\()" || true)
    if [ -n "$found" ]; then
        echo "forbidden in the core:"
        echo "$found"
        failed=1
    fi
    foreign=$(grep -n -E '^ *# *include' "$file" |
        grep -v -E '<(stdint|stddef|stdbool|limits|string)\.h>' |
        grep -v -E '"(policy/)?[a-z0-9_]+\.h"' || true)
    if [ -n "$foreign" ]; then
        echo "foreign header in $file:"
        echo "$foreign"
        failed=1
    fi
done

echo "$(echo "$files" | wc -l) core files looked at"
exit "$failed"
