#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Usage: install.sh BUILD-FOLDER WORK-FOLDER VERSION COMPILER [COMPONENT...]
# Installs below a DESTDIR, then builds and runs a program outside the tree with
# what was installed: through find_package and through pkg-config, each with the
# shared and with the static library.
set -eu

build=$1
work=$2
version=$3
compiler=$4
shift 4
consumer=$(cd "$(dirname "$0")/consumer" && pwd)

rm -rf "$work"
mkdir -p "$work"
DESTDIR="$work/dest" cmake --install "$build" --prefix /opt/libpolicy \
    >"$work/install.log"
prefix=$work/dest/opt/libpolicy

fail()
{
    echo "$1" >&2
    exit 1
}

# needs_shared PROGRAM: whether the loader looks for libpolicy.so.
needs_shared()
{
    readelf -d "$1" | grep -q 'NEEDED.*libpolicy\.so'
}

[ -f "$prefix/include/policy/version.h" ] || fail "no version.h installed"
[ -f "$prefix/include/policy/policy.h" ] || fail "no policy.h installed"

echo "find_package:"
components=$(echo "$*" | tr ' ' ';')
cmake -S "$consumer" -B "$work/cmake" -G Ninja \
    -DCMAKE_C_COMPILER="${compiler%% *}" -DCMAKE_PREFIX_PATH="$prefix" \
    -DEXPECTED_VERSION="$version" -DCOMPONENTS="$components" \
    >"$work/cmake.log" || { cat "$work/cmake.log"; exit 1; }
cmake --build "$work/cmake" >"$work/build.log" ||
    { cat "$work/build.log"; exit 1; }
for program in policy policy_static "$@"; do
    "$work/cmake/with_$program"
done
needs_shared "$work/cmake/with_policy" || fail "policy::policy is not shared"
! needs_shared "$work/cmake/with_policy_static" ||
    fail "policy::policy_static wants the shared library"

echo "pkg-config:"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name libpolicy.pc)")
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion libpolicy)" = "$version" ] ||
    fail "libpolicy.pc gives another version"
flags="-std=c11 -Wall -Wextra -Werror -DEXPECTED_VERSION=\"$version\""
flags="$flags $(pkg-config --cflags libpolicy)"
libdir=$(pkg-config --variable=libdir libpolicy)
# shellcheck disable=SC2046,SC2086
{
    $compiler $flags "$consumer/main.c" -o "$work/shared" \
        $(pkg-config --libs libpolicy)
    $compiler $flags "$consumer/main.c" -o "$work/static" \
        -Wl,-Bstatic $(pkg-config --static --libs libpolicy) -Wl,-Bdynamic
}
needs_shared "$work/shared" || fail "-lpolicy did not link the shared library"
! needs_shared "$work/static" || fail "-Bstatic linked the shared library"
LD_LIBRARY_PATH=$libdir "$work/shared"
"$work/static"

for component in "$@"; do
    module=policy-$(echo "$component" | tr _ -)
    # shellcheck disable=SC2046,SC2086
    $compiler $flags $(pkg-config --cflags "$module") "$consumer/main.c" \
        -o "$work/$component" $(pkg-config --libs "$module")
    LD_LIBRARY_PATH=$libdir "$work/$component"
done

if [ -f "$build/tools/policyctl/policyctl" ]; then
    [ -x "$prefix/bin/policyctl" ] || fail "policyctl was not installed"
    "$prefix/bin/policyctl" --version
fi
