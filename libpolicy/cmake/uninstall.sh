#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: uninstall.sh MANIFEST [DESTDIR]
# Removes the files that the last install listed, and the folders of the
# project's own that this leaves empty.
set -eu

manifest=$1
destdir=${2:-}
if [ ! -f "$manifest" ]; then
    echo "uninstall: no $manifest; nothing was installed from here" >&2
    exit 1
fi
# The manifest's last line has no line end.
while IFS= read -r file || [ -n "$file" ]; do
    rm -f -- "$destdir$file"
    folder=$(dirname "$destdir$file")
    case $(basename "$folder") in
    *policy*) rmdir -- "$folder" 2>/dev/null || true ;;
    esac
done <"$manifest"
echo "uninstall: $(grep -c . "$manifest") files removed"
