#!/bin/sh
# Compiles dist/acor (one program) and dist/lib (what `import` resolves to under Node).
set -eu
cd "$(dirname "$0")/.."
bun=node_modules/.bin/bun
work=dist/.build-$$
mkdir -p "$work"
trap 'rm -rf "$work"' EXIT

# A compiled program must not read .env or bunfig.toml of the folder in which it is started: that would run their code.
"$bun" --no-env-file build --compile --minify --bytecode --sourcemap --splitting --format=esm \
  --no-compile-autoload-dotenv --no-compile-autoload-bunfig \
  src/cli/main.ts --outfile "$work/acor" >/dev/null
"$bun" --no-env-file build --target=node --format=esm --splitting --outdir "$work/lib" --packages=external --external 'bun:*' \
  src/index.ts src/protocol/index.ts src/tool/index.ts src/compose/index.ts src/core/plugins/host/main.ts >/dev/null
rm -rf dist/lib
mv "$work/lib" dist/lib
# Last, because a newer program is what says that the build is done.
mv "$work/acor" dist/acor
