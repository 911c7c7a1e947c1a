#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: tidy.sh BUILD-FOLDER. clang-tidy on the core, the adapters and the
# tools; the tests are left out, being long tables by design.
set -eu

cd "$(dirname "$0")/../.."
. tests/style/files.sh

if ! command -v clang-tidy >/dev/null; then
    echo "tidy: no clang-tidy here: apt-get install clang-tidy" >&2
    exit 1
fi
own_files '*.c' | grep -E '^\./(libpolicy|adapters-[^/]*|tools)/' |
    xargs -P 2 -n 4 clang-tidy -p "$1" --quiet
