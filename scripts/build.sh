#!/bin/sh
# Compiles dist/acor (one program) and dist/lib (JavaScript for Node: the library and the command). With --standalone, the package that
# dist/lib imports is put beside it, because node_modules will be removed.
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
rm -rf dist/node_modules
if [ "${1:-}" = --standalone ]; then
  mkdir dist/node_modules
  cp -R node_modules/zod dist/node_modules/zod
fi
# Last, because a newer program is what says that the build is done.
mv "$work/acor" dist/acor
