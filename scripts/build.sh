#!/bin/sh
# Compiles dist/acor (one program) and dist/lib (JavaScript for Node: the library and the command).
set -eu
cd "$(dirname "$0")/.."
root=$(pwd -P)
bun=$root/node_modules/.bin/bun
work=dist/.build-$$
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

sh scripts/build-lib.sh "$work/lib"
sh scripts/build-program.sh "$work/acor" "$root"
rm -rf dist/lib
mv "$work/lib" dist/lib
# Last, because a newer program is what says that the build is done.
mv "$work/acor" dist/acor
