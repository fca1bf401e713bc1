# Runs `acor` with the lines of ACOR_ACTION_RUN as arguments, and shows the end of the run in the job: an annotation of an error,
# a summary, and the outputs run-id, state and dir. The answer is data: it is never evaluated.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
args=()
while IFS= read -r line; do
  if [ -n "$line" ]; then args+=("$line"); fi
done <<<"$ACOR_ACTION_RUN"
if [ "${#args[@]}" -eq 0 ]; then
  echo "::error title=E_USAGE::The input 'run' is empty. Give the arguments of acor, one a line, such as run and word_count."
  exit 1
fi
# A command that streams events answers with one envelope. The flag comes first: after -- every word is for the tool.
case "${args[0]} ${args[1]-}" in
  workflow\ run | workflow\ resume) args=("${args[@]:0:2}" --no-stream "${args[@]:2}") ;;
  run\ * | resume\ * | retry\ * | replay\ * | attach\ * | pipe\ * | task\ *)
    args=("${args[0]}" --no-stream "${args[@]:1}")
    ;;
esac
answer=$(mktemp)
trap 'rm -f "$answer"' EXIT
status=0
acor "${args[@]}" >"$answer" || status=$?
cat "$answer"
node "$here/report.mjs" "$answer"
exit "$status"
