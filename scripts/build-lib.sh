#!/bin/sh
# Bundles JavaScript for Node into a folder: the library, the command, and the programs that it starts. Argument: the folder.
# Packages that a user of the library may also use, or that are optional, are not part of the bundle.
set -eu
target=$1
cd "$(dirname "$0")/.."
node_modules/.bin/bun --no-env-file build --root=src --target=node --format=esm --splitting --chunk-naming='chunks/[name]-[hash].[ext]' --outdir "$target" \
  --external 'bun:*' --external zod --external openai --external ai --external @anthropic-ai/sandbox-runtime --external @cedar-policy/cedar-wasm \
  src/index.ts src/protocol/index.ts src/tool/index.ts src/compose/index.ts src/compose/beside.ts src/client/index.ts src/ai-sdk/index.ts \
  src/cli/start-in-node.ts src/core/plugins/host/main.ts src/core/task/responses/main.ts >/dev/null
sh scripts/build-web.sh "$target/web"
