#!/bin/bash
# Writes $1 copies of a file of progress messages, as fast as `cat` can. Only the run's id is put into the file first.
set -eu
sed "s/@RUN_ID@/$RUN_ID/" "${0%/*}/messages.jsonl" > messages.jsonl
yes messages.jsonl | head -n "$1" | xargs cat
echo '{"type":"result","status":"ok"}'
