#!/bin/sh
# Bundles the dashboard into a folder. Argument: the folder.
set -eu
target=$1
cd "$(dirname "$0")/.."
node_modules/.bin/bun --no-env-file build --target=browser --format=iife --minify --outdir "$target" web/app.ts web/stream-worker.ts >/dev/null
cp web/index.html web/style.css "$target"
