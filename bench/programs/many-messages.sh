#!/bin/bash
# Writes $1 progress messages and a result, after $2 seconds.
set -eu
sed "s/@RUN_ID@/$RUN_ID/" "${0%/*}/messages.jsonl" > messages.jsonl
sleep "${2:-0}"
# `yes` ends by SIGPIPE.
set +o pipefail
yes messages.jsonl | head -n $(($1 / 10 + 1)) | xargs cat | head -n "$1"
echo '{"type":"result","status":"ok"}'
