#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: headers.sh INCLUDE-FOLDER...
# Each public header compiles alone, and twice in a row, as C11 and as C++17.
set -eu

includes=
for folder in "$@"; do
    includes="$includes -I $folder"
done
count=0
failed=0
for folder in "$@"; do
    for header in $(cd "$folder" && find . -name '*.h' | sed 's|^\./||' | sort)
    do
        text="#include \"$header\"
#include \"$header\"
extern int not_empty;"
        for language in 'gcc -x c -std=c11' 'g++ -x c++ -std=c++17' \
            'clang -x c -std=c11' 'clang++ -x c++ -std=c++17'; do
            command -v "${language%% *}" >/dev/null || continue
            # shellcheck disable=SC2086
            echo "$text" | $language -Wall -Wextra -Wpedantic -Werror \
                -fsyntax-only $includes - || {
                echo "$header fails alone with $language"
                failed=1
            }
        done
        count=$((count + 1))
    done
done
echo "$count headers compiled alone"
[ "$count" -gt 0 ] || exit 1
exit "$failed"
