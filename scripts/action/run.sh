# Runs `acor` with the lines of ACOR_ACTION_RUN as arguments. `--ci` shows the end of a run in the job: an annotation of a failure, a summary, and the
# outputs run-id, state and dir.
set -euo pipefail
args=()
while IFS= read -r line; do
  if [ -n "$line" ]; then args+=("$line"); fi
done <<<"$ACOR_ACTION_RUN"
if [ "${#args[@]}" -eq 0 ]; then
  echo "::error title=E_USAGE::The input 'run' is empty. Give the arguments of acor, one a line, such as run and word_count."
  exit 1
fi
# A command that streams events answers with one envelope, and shows its end in the job. The flags come first: after -- every word is for the tool.
case "${args[0]} ${args[1]-}" in
  workflow\ run | workflow\ resume) args=("${args[@]:0:2}" --no-stream --ci "${args[@]:2}") ;;
  run\ * | exec\ * | resume\ * | retry\ * | attach\ * | pipe\ * | task\ *)
    args=("${args[0]}" --no-stream --ci "${args[@]:1}")
    ;;
  replay\ *) args=("${args[0]}" --no-stream "${args[@]:1}") ;;
esac
exec acor "${args[@]}"
