#!/bin/sh
# Compiles ACOR into one executable that contains everything it needs.
#   build-program.sh OUTPUT [CHECKOUT [BUN_BUILD_OPTION…]]
# With CHECKOUT, the program dist/acor of that folder uses the files of the checkout; a copy of it elsewhere does not.
set -eu
case $1 in /*) output=$1 ;; *) output=$(pwd -P)/$1 ;; esac
checkout=${2:-}
shift "$(($# < 2 ? $# : 2))"
cd "$(dirname "$0")/.."
root=$(pwd -P)
bun=$root/node_modules/.bin/bun
# The program contains paths relative to this folder, so its name must be the same in each build.
work=$root/dist/.program
mkdir -p "$root/dist"
. scripts/take-lock.sh
take_lock "$work.lock"
trap 'rm -rf "$work" "$work.lock"' EXIT
rm -rf "$work"

for program in src/tool/index.ts src/core/task/responses/main.ts; do
  "$bun" --no-env-file build --target=node --format=esm "$program" --external 'bun:*' --external openai \
    --outfile "$work/package/dist/lib/$(echo "${program#src/}" | sed 's/ts$/js/')" >/dev/null
done
sh scripts/build-web.sh "$work/package/dist/lib/web"
"$bun" --no-env-file scripts/write-own-files.ts "$work/package"
[ -z "$checkout" ] || set -- --define "ACOR_CHECKOUT=\"$checkout\"" "$@"
# A compiled program must not read .env or bunfig.toml of the folder in which it is started: that would run their code.
# Most commands end before compiled machine code pays: the JIT compiler waits 30 times as long as it would, until `expectShortLife` ends that.
# Assets get the paths that they have below the current folder.
cd "$work"
"$bun" --no-env-file build --compile --minify --bytecode --sourcemap --splitting --format=esm \
  --no-compile-autoload-dotenv --no-compile-autoload-bunfig --compile-jit-policy=30 --asset=package "$@" \
  "$root/src/cli/main.ts" --outfile out/acor >/dev/null
# Bun adds an extension on Windows.
if [ -e out/acor.exe ]; then mv out/acor.exe out/acor; fi
"$bun" --no-env-file "$root/scripts/rename-bun-variables.ts" out/acor
mkdir -p "$(dirname "$output")"
mv out/acor "$output"
