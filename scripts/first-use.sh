#!/bin/sh
# Compiles the program, once, also when many start at the same time. Argument: the root.
# Where nothing is installed, it installs only what compiling needs, and removes that afterwards: the program contains it.
set -eu
root=$1
install=$root/dist/.first-use
mkdir -p "$root/dist"
. "$root/scripts/take-lock.sh"
take_lock "$install.lock"
installed=
trap 'rm -rf "$install" "$install.lock" $installed' EXIT
trap 'exit 1' INT TERM HUP

if [ -x "$root/dist/acor" ] && [ -z "$(find "$root/src" "$root/package.json" -newer "$root/dist/acor" -print -quit)" ]; then
  exit 0
fi

if [ ! -x "$root/node_modules/.bin/bun" ]; then
  command -v npm >/dev/null 2>&1 || {
    echo "acor: npm is needed for the first start: install Node.js 20 or later" >&2
    exit 1
  }
  if [ -e "$root/node_modules" ]; then
    echo "acor: installing all dependencies with npm ci, because node_modules is there without Bun"
    (cd "$root" && npm ci --no-audit --no-fund --loglevel=error)
  else
    echo "acor: first use: installing what compiling needs with npm ci"
    node "$root/scripts/write-run-dependencies.mjs" "$install"
    # Bun's install script would only move its program.
    (cd "$install" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
    (cd "$install/node_modules/.bin" && ln -sf ../@oven/*/bin/bun bun)
    mv "$install/node_modules" "$root/node_modules"
    installed=$root/node_modules
  fi
fi
echo "acor: compiling"
sh "$root/scripts/build.sh" ${installed:+--standalone}
echo "acor: ready"
