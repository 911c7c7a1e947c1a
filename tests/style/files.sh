# SPDX-License-Identifier: BSD-2-Clause
# To be sourced. Lists the project's own files below the current folder, those
# of build trees left out; it asks no version control, so that it also works in
# an unpacked archive.

# own_files PATTERN...: paths whose names match any of the shell patterns.
own_files()
{
    for pattern in "$@"; do
        find . \( -name .git -o -path ./build -o -path ./tests/fuzz/corpus \) \
            -prune -o -type f -name "$pattern" -print
    done | sort
}
