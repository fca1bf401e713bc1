#!/bin/bash
# Writes $1 progress messages, and then asks the same question again and again.
set -eu
source "$ACOR_LIB/acor.sh"
sed "s/@RUN_ID@/$RUN_ID/" "${0%/*}/messages.jsonl" > messages.jsonl
# `yes` ends by SIGPIPE.
set +o pipefail
yes messages.jsonl | head -n $(($1 / 10 + 1)) | xargs cat | head -n "$1"
while true; do ask go --option yes; done
