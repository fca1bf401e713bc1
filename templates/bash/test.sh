#!/usr/bin/env bash
set -euo pipefail
source "$(dirname "$0")/greeting.sh"

[[ $(greeting Ada) == 'Hello, Ada!' ]] || { echo 'FAILED: it names whom it greets'; exit 1; }
echo ok
