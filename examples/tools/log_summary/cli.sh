#!/usr/bin/env bash
# Shows the bash SDK: awk does the counting, the SDK implements the protocol.
set -euo pipefail
export LC_ALL=C
source "${ACOR_LIB:-$(dirname "$0")/../../../sdk/bash}/acor.sh"

main() {
  local log='' top=5
  while (($# > 0)); do
    case $1 in
      --log) log=${2-} ;;
      --top) top=${2-} ;;
      --selftest) selftest && return ;;
      *) fail E_USAGE "unknown argument: $1" 'Use --log FILE and --top N.' ;;
    esac
    shift "$(($# < 2 ? 1 : 2))"
  done
  [[ -n $log ]] || fail E_USAGE '--log is missing' 'Give --log a file.'
  [[ $top =~ ^[1-9][0-9]*$ ]] || fail E_USAGE "--top is not a count: $top" 'Give --top a whole number.'
  emit_start summarise log="$log" top="$top"
  [[ -f $log && -r $log ]] || fail E_INPUT_NOT_FOUND "cannot read $log" 'Check --log.'
  summarise "$log" "$top"
}

summarise() {
  local requests malformed status count path statuses=() paths=()
  emit_progress summarise 0 'Counting by status'
  while read -r status count; do
    statuses+=("$status=$count")
  done < <(fields <"$1" | awk '$1 != "-" { n[$1]++ } END { for (s in n) print s, n[s] }' | sort)
  check_cancel
  emit_progress summarise 50 'Ranking paths'
  while read -r count path; do
    paths+=("$(json_object path="$path" requests="$count")")
  done < <(fields <"$1" | awk '$1 != "-" { n[$2]++ } END { for (p in n) print n[p], p }' | sort -k1,1nr -k2 | awk -v top="$2" 'NR <= top')
  malformed=$(fields <"$1" | awk '$1 == "-" { n++ } END { print n + 0 }')
  requests=$(($(wc -l <"$1") - malformed))
  if ((malformed > 0)); then emit_log warn "$malformed lines are not in the common log format"; fi
  emit_result ok data:="$(json_object requests="$requests" malformed="$malformed" \
    by_status:="$(json_object "${statuses[@]}")" top_paths:="[$(join "${paths[@]}")]")"
}

# One line for each request: status and path; a dash for what is no request.
fields() {
  awk '{ ok = match($0, /"[A-Z]+ [^ "]+ HTTP\/[0-9.]+" [0-9][0-9][0-9] /)
    if (!ok) { print "-"; next }
    split(substr($0, RSTART + 1, RLENGTH - 2), part, " "); print part[4], part[2] }'
}

join() {
  local IFS=,
  printf '%s' "$*"
}

selftest() {
  local line='192.0.2.1 - - [30/Aug/2025:12:00:00 +0000] "GET /shop HTTP/1.1" 200 512'
  [[ $(fields <<<"$line") == '200 /shop' ]] || fail E_TOOL_FAILED 'the counting is wrong' 'Check that awk works.'
  emit_result ok data:='{"selftest":"ok"}'
}

fail() {
  emit_error "$@"
  exit 30
}

main "$@"
