#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: format.sh [--fix]. Checks C files against .clang-format, or mends them.
set -eu

cd "$(dirname "$0")/../.."
. tests/style/files.sh

if ! command -v clang-format >/dev/null; then
    echo "skipped: no clang-format here"
    exit 77
fi
files=$(own_files '*.c' '*.h')
if [ "${1:-}" = --fix ]; then
    echo "$files" | xargs clang-format -i
else
    echo "$files" | xargs clang-format --dry-run -Werror
    echo "$(echo "$files" | wc -l) C files are formatted"
fi
