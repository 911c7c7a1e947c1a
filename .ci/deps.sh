#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: deps.sh build|test
# Installs what is missing of the Debian packages in packages.txt; asks for no
# rights and touches no network when nothing is.
set -eu

wanted=$1
here=$(cd "$(dirname "$0")" && pwd)

if ! command -v dpkg-query >/dev/null; then
    echo "deps: not a Debian system; needed here, by Debian's names:" \
        "$(grep -E '^(build|test) ' "$here/packages.txt" | cut -d' ' -f2 |
            xargs)"
    exit 0
fi

installed()
{
    status=$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)
    case $status in
    installed*) return 0 ;;
    *) return 1 ;;
    esac
}

clang_major=$(dpkg-query -W -f '${Version}' clang 2>/dev/null |
    sed -n 's/^[0-9]*:\{0,1\}\([0-9][0-9]*\)\..*/\1/p' || true)
: "${clang_major:=14}"

case $wanted in
build) kinds='^build ' ;;
test) kinds='^(build|test) ' ;;
*)
    echo "usage: $0 build|test" >&2
    exit 2
    ;;
esac

missing=
for package in $(grep -E "$kinds" "$here/packages.txt" | cut -d' ' -f2 |
    sed "s/CLANG/$clang_major/"); do
    installed "$package" || missing="$missing $package"
done
if [ -z "$missing" ]; then
    echo "deps: every Debian package needed is there"
    exit 0
fi

give_up()
{
    echo "deps: $1; please install as root: apt-get install$missing" >&2
    exit 1
}

as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || give_up "neither root nor sudo"
    as_root=sudo
fi
echo "deps: installing Debian packages:$missing"
apt="$as_root env DEBIAN_FRONTEND=noninteractive apt-get"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086
if ! { $apt update && $apt install -y --no-install-recommends $missing; } \
    >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    give_up "apt-get failed"
fi
echo "deps: installed"
