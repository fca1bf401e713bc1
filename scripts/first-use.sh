#!/bin/sh
# Installs the dependencies and compiles the program, once, also when many start at the same time. Argument: the root.
set -eu
root=$1
lock=$root/dist/.first-use
mkdir -p "$root/dist"

# The lock is a folder that holds the pid of its maker, so that one left by a killed build is seen through.
until mkdir "$lock" 2>/dev/null; do
  maker=$(cat "$lock/pid" 2>/dev/null || true)
  if [ -n "$maker" ] && ! kill -0 "$maker" 2>/dev/null; then
    rm -rf "$lock"
    continue
  fi
  sleep 0.2
done
echo $$ > "$lock/pid"
trap 'rm -rf "$lock"' EXIT
trap 'exit 1' INT TERM HUP

[ ! -x "$root/dist/acor" ] || exit 0

if [ ! -x "$root/node_modules/.bin/bun" ]; then
  command -v npm >/dev/null 2>&1 || {
    echo "acor: npm is needed for the first start: install Node.js 20 or later" >&2
    exit 1
  }
  echo "acor: first use: installing dependencies with npm ci"
  (cd "$root" && npm ci --no-audit --no-fund --loglevel=error)
fi
echo "acor: first use: compiling"
sh "$root/scripts/build.sh"
echo "acor: ready"
