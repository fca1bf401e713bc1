# Runs `acor` with the lines of ACOR_ACTION_RUN as arguments, and shows the end of the run in the job: an annotation of an error,
# a summary, and the outputs run-id, state and dir. The answer of `--no-stream` is data: it is never evaluated.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
args=()
while IFS= read -r line; do
  if [ -n "$line" ]; then args+=("$line"); fi
done <<<"$ACOR_ACTION_RUN"
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
status=0
acor "${args[@]}" --no-stream >"$answer" || status=$?
cat "$answer"
node "$here/report.mjs" "$answer"
exit "$status"
