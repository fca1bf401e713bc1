#!/usr/bin/env bash
# Speaks the protocol: one JSON object a line on stdout. stderr is for people.
set -euo pipefail
source "$ACOR_LIB/acor.sh"
source "${BASH_SOURCE[0]%/*}/greeting.sh"

main() {
  if [[ ${1-} == --selftest ]]; then selftest; else greet "$(args who)" "$(args times)"; fi
}

greet() {
  local who=$1 times=$2 number greetings=()
  emit_start greet who="$who" times="$times"
  for ((number = 1; number <= times; number++)); do
    check_cancel
    greetings+=("$(greeting "$who")")
    emit_progress greet "$((100 * number / times))" "$number of $times"
  done
  emit_result ok data:="{\"greetings\":$(json_array "${greetings[@]}")}"
}

selftest() {
  [[ $(greeting x) == 'Hello, x!' ]] || fail E_TOOL_FAILED 'the greeting is wrong' 'Fix greeting.sh.'
  emit_result ok data:='{"selftest":"ok"}'
}

fail() {
  emit_error "$@"
  exit 30
}

main "$@"
