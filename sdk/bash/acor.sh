# shellcheck shell=bash
# The ACOR SDK for bash tools: source "$ACOR_LIB/acor.sh". Bash 4.2 or newer; no jq and no Python needed.
# The TypeScript and Python SDKs offer the same words; a test holds the three lists together.
#
# A FIELD is key=value or key:=JSON. With `=`, a number (of at most 15 digits), true and false keep their kind, and
# everything else is text; with `:=` the value is JSON as it stands: zip:='"01234"', sizes:='[1,2]'.

if [[ -n ${_acor_loaded-} ]]; then return 0; fi
_acor_loaded=1
_acor_out='' _acor_json='' _acor_step='' _acor_ended='' _acor_asked=0
_acor_beat_fd='' _acor_beat_pid='' _acor_beat_every='' _acor_beat_step='' _acor_beat_max=''
_acor_stdin_ended='' _acor_partial_line='' _acor_dir='' _acor_file='' _acor_owner='' _acor_lock_text=''
declare -A _acor_stdin_answers=() _acor_saved=()
_acor_uncaught=()
ANSWER='' ANSWER_JSON='' ACTION_ID='' ACOR_ERROR='' CHECKPOINT_VERSION=''

# --- Messages (contract §1) -----------------------------------------------------------------------------------------

# emit TYPE [FIELD…]: writes a message of any type.
emit() {
  local _acor_out='' type=$1
  shift
  _acor_fields "$@" && _acor_write "$type"
}

# emit_start STEP [ARG=VALUE…]: says once, first, what begins and with what.
emit_start() {
  local _acor_out=''
  _acor_text step "$1"
  shift
  json_object "$@" >/dev/null && _acor_out+=",\"args\":$_acor_json" && _acor_write start
}

# emit_progress STEP PCT [MSG [FIELD…]]: says how far the work is, in per cent.
emit_progress() {
  local _acor_out='' pct=$2
  if ! _acor_is_number "$pct"; then
    _acor_problem E_USAGE "emit_progress: not a number: $pct" 'Give per cent as a number from 0 to 100.'
    return 1
  fi
  if [[ $pct == -* ]]; then pct=0; elif [[ ${pct%%[.eE]*} -ge 100 ]]; then pct=100; fi
  _acor_text step "$1"
  _acor_out+=",\"pct\":$pct"
  _acor_text msg "${3-}"
  shift "$(($# < 3 ? $# : 3))"
  _acor_fields "$@" && _acor_write progress
}

# emit_heartbeat STEP [FIELD…]: a sign of life from the work itself.
emit_heartbeat() {
  local _acor_out=''
  _acor_text step "$1"
  shift
  _acor_fields "$@" && _acor_write heartbeat
}

# emit_action ACTION [msg=TEXT] [CONTEXT=VALUE…]: asks a question without waiting; answer_to takes the ACTION_ID that it sets.
# The text of msg is the question in words.
emit_action() {
  local _acor_out='' action=$1 field context=()
  shift
  _acor_next_action_id "$action"
  _acor_text action "$action"
  _acor_text action_id "$ACTION_ID"
  for field in "$@"; do
    if [[ $field == msg=* ]]; then _acor_text msg "${field#*=}"; else context+=("$field"); fi
  done
  json_object ${context[@]+"${context[@]}"} >/dev/null || return
  _acor_out+=",\"context\":$_acor_json,\"blocking\":false"
  _acor_write action_required
}

# emit_result [STATUS [FIELD…]]: says that the work is done; the last message of a tool.
#   emit_result ok artifacts:="[$(artifact report.txt)]" metrics:="$(json_object rows=12)"
emit_result() {
  local _acor_out=''
  _acor_text status "${1-ok}"
  shift "$(($# < 1 ? $# : 1))"
  _acor_fields "$@" && _acor_write result
}

# emit_error CODE MSG [HINT [FIELD…]]: says what went wrong and how to put it right; the last message of a tool.
# Without the field retryable the exit code and the table of error codes decide whether a retry may help.
emit_error() {
  local _acor_out=''
  _acor_text code "$1"
  _acor_text msg "$2"
  _acor_text hint "${3-}"
  shift "$(($# < 3 ? $# : 3))"
  _acor_fields "$@" && _acor_write error
}

# emit_log LEVEL MSG [FIELD…]: a remark for the readers of the events.
emit_log() {
  local _acor_out=''
  _acor_text level "$1"
  _acor_text msg "${2-}"
  shift "$(($# < 2 ? $# : 2))"
  _acor_fields "$@" && _acor_write log
}

# emit_record [FIELD…]: hands a record on to the tool that comes next in a pipe.
emit_record() {
  json_object "$@" >/dev/null || return
  emit_log info record record:="$_acor_json"
}

# emit_cancelled REASON: reports that the tool stopped on request; check_cancel does it for you.
emit_cancelled() {
  local _acor_out=''
  _acor_text reason "$1"
  _acor_write cancelled
}

# _acor_write TYPE: writes one line from the fields collected in _acor_out.
_acor_write() {
  # Bash before 5.0 knows whole seconds only. The separator is that of the locale.
  local type=$1 ts line paused='' now=${EPOCHREALTIME:-} seconds=-1 part=''
  [[ -z $now ]] || { seconds=${now%[.,]*} part=${now#*[.,]} part=.${part:0:3}; }
  TZ=UTC printf -v ts '%(%Y-%m-%dT%H:%M:%S)T%sZ' "$seconds" "$part"
  _acor_string "$type"
  line="{\"v\":1,\"type\":$_acor_json,\"ts\":\"$ts\"$_acor_envelope$_acor_out}"
  case $type in result | error | cancelled) _acor_ended=1 && acor_heartbeat_stop ;; esac
  if [[ -n $_acor_beat_fd ]]; then
    if _acor_is_long "$line"; then
      # Bash writes a long line in pieces, and a beat must not come between them.
      paused=1
      acor_heartbeat_stop
    elif kill -0 "$_acor_beat_pid" 2>/dev/null; then
      printf '%s\n' "${_acor_step//$'\n'/ }" >&"$_acor_beat_fd"
    fi
  fi
  # A tool that goes on has handled it.
  [[ $type == error ]] || _acor_uncaught=()
  # Where SIGPIPE is ignored, a reader that has gone shows as an error.
  printf '%s\n' "$line" 2>/dev/null || exit 141
  if [[ -n $paused ]]; then
    acor_heartbeat_start "$_acor_beat_every" "$_acor_beat_step" "$_acor_beat_max"
  fi
}

# More than one write of the shell holds, in bytes.
_acor_is_long() {
  ((${#1} >= 1024)) || return 1
  local LC_ALL=C
  ((${#1} >= 4096))
}

# --- JSON -----------------------------------------------------------------------------------------------------------

# json_object [FIELD…]: prints a JSON object.
json_object() {
  local _acor_out=''
  _acor_fields_of object "$@" || return
  _acor_json="{${_acor_out#,}}"
  printf '%s\n' "$_acor_json"
}

# json_array [VALUE…]: prints a JSON array; values keep their kind as in key=value.
json_array() {
  local value list=''
  for value in "$@"; do
    _acor_value "$value"
    list+=,$_acor_json
  done
  _acor_json="[${list#,}]"
  printf '%s\n' "$_acor_json"
}

# json_get KEY: reads a JSON object from stdin and prints one value, text without its quotes; 1 when the key is absent.
json_get() {
  _acor_json_awk text "$1"
}

_acor_fields() {
  _acor_fields_of message "$@"
}

_acor_fields_of() {
  local kind=$1 field key
  shift
  for field in "$@"; do
    key=${field%%=*}
    if [[ $field != *=* || -z ${key%:} ]]; then
      _acor_problem E_USAGE "not a field: $field" 'Write key=value, or key:=JSON.'
      return 1
    fi
    if [[ $kind == message ]]; then
      # The envelope is not the caller's to replace.
      case ${key%:} in
        v | type | ts | run_id | trace_id | span_id) continue ;;
        step) _acor_step=${field#*=} ;;
      esac
    fi
    if [[ $key == *: ]]; then
      if ! _acor_json=$(printf '%s' "${field#*=}" | _acor_json_awk compact); then
        _acor_problem E_USAGE "not JSON: $field" 'After := comes JSON; for text write key=value.'
        return 1
      fi
    else
      _acor_value "${field#*=}"
    fi
    field=$_acor_json
    _acor_string "${key%:}"
    _acor_out+=",$_acor_json:$field"
  done
}

_acor_text() {
  if [[ $1 == step ]]; then _acor_step=$2; fi
  _acor_string "$2"
  _acor_out+=",\"$1\":$_acor_json"
}

_acor_value() {
  if [[ $1 == true || $1 == false ]] || _acor_is_number "$1"; then
    _acor_json=$1
  else
    _acor_string "$1"
  fi
}

# More than 15 digits would be rounded by a reader whose numbers are IEEE doubles.
_acor_is_number() {
  [[ $1 == [-0123456789]* ]] || return 1
  local LC_ALL=C
  [[ $1 =~ ^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9][0-9]?)?$ && ${#1} -le 16 ]]
}

# _acor_string TEXT: sets _acor_json to TEXT as a JSON string.
_acor_string() {
  _acor_json=$1
  if [[ $1 == *[\\\"[:cntrl:]]* ]]; then _acor_escape; fi
  _acor_json="\"$_acor_json\""
}

_acor_escape() {
  local LC_ALL=C code char escape
  _acor_json=${_acor_json//\\/\\\\}
  _acor_json=${_acor_json//\"/\\\"}
  _acor_json=${_acor_json//$'\n'/\\n}
  _acor_json=${_acor_json//$'\t'/\\t}
  if [[ $_acor_json == *[$'\x01'-$'\x1f']* ]]; then
    for ((code = 1; code < 32; code++)); do
      printf -v escape '\\u%04x' "$code"
      printf -v char '%b' "\\x${escape:4}"
      _acor_json=${_acor_json//"$char"/"$escape"}
    done
  fi
}

# _acor_json_awk compact: prints the JSON value on stdin on one line. _acor_json_awk (raw|text) KEY…: prints a line for
# each key of the object on stdin, raw or, with text, a string's own text; 1 when a key is absent, 2 when it is not JSON.
_acor_json_awk() {
  local mode=$1
  shift
  LC_ALL=C awk -v mode="$mode" '
    BEGIN {
      for (i = 1; i < 32; i++) control = control sprintf("%c", i)
      for (i = 1; i < ARGC; i++) { wanted[i] = ARGV[i]; ARGV[i] = "" }
      count = ARGC - 1
      ARGC = 1
    }
    { text = text $0 "\n" }
    END {
      at = 1; bad = 0
      whole = value(0)
      space()
      if (bad || at <= length(text)) exit 2
      if (mode == "compact") { print whole; exit 0 }
      if (substr(whole, 1, 1) != "{") exit 2
      absent = 0
      for (i = 1; i <= count; i++) {
        found = (wanted[i] in top) ? top[wanted[i]] : ""
        if (!(wanted[i] in top)) absent = 1
        print (mode == "text" && substr(found, 1, 1) == "\"") ? decoded(found) : found
      }
      exit absent
    }
    function space() { while (at <= length(text) && index(" \t\r\n", substr(text, at, 1))) at++ }
    function value(depth,   c, start) {
      space()
      c = substr(text, at, 1)
      if (bad || depth > 200) { bad = 1; return "" }
      if (c == "{") return members(depth)
      if (c == "[") return items(depth)
      if (c == "\"") return string()
      start = at
      while (at <= length(text) && index("+-.0123456789abcdefghijklmnopqrstuvwxyzE", substr(text, at, 1))) at++
      c = substr(text, start, at - start)
      if (c !~ /^(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?)$/) bad = 1
      return c
    }
    function members(depth,   out, key, item) {
      at++; space()
      if (substr(text, at, 1) == "}") { at++; return "{}" }
      while (!bad) {
        space()
        if (substr(text, at, 1) != "\"") break
        key = string(); space()
        if (substr(text, at++, 1) != ":") break
        item = value(depth + 1)
        if (depth == 0) top[decoded(key)] = item
        out = out "," key ":" item
        space()
        if (substr(text, at, 1) == "}") { at++; return "{" substr(out, 2) "}" }
        if (substr(text, at++, 1) != ",") break
      }
      bad = 1
      return ""
    }
    function items(depth,   out) {
      at++; space()
      if (substr(text, at, 1) == "]") { at++; return "[]" }
      while (!bad) {
        out = out "," value(depth + 1)
        space()
        if (substr(text, at, 1) == "]") { at++; return "[" substr(out, 2) "]" }
        if (substr(text, at++, 1) != ",") break
      }
      bad = 1
      return ""
    }
    function string(   start, c) {
      start = at++
      while (at <= length(text)) {
        c = substr(text, at, 1)
        if (c == "\"") { at++; return substr(text, start, at - start) }
        if (index(control, c)) break
        if (c == "\\") {
          c = substr(text, at + 1, 1)
          if (c == "u" && hex(substr(text, at + 2, 4)) < 0) break
          if (c == "" || !index("\"\\/bfnrtu", c)) break
          at += (c == "u") ? 6 : 2
        } else at++
      }
      bad = 1
      return ""
    }
    function hex(digits,   n, i, d) {
      for (i = 1; i <= 4; i++) {
        d = index("0123456789abcdef", tolower(substr(digits, i, 1)))
        if (d == 0 || i > length(digits)) return -1
        n = n * 16 + d - 1
      }
      return n
    }
    function decoded(raw,   out, i, c, code, low) {
      for (i = 2; i < length(raw); i++) {
        c = substr(raw, i, 1)
        if (c != "\\") { out = out c; continue }
        c = substr(raw, ++i, 1)
        if (c == "b") out = out "\b"
        else if (c == "f") out = out "\f"
        else if (c == "n") out = out "\n"
        else if (c == "r") out = out "\r"
        else if (c == "t") out = out "\t"
        else if (c != "u") out = out c
        else {
          code = hex(substr(raw, i + 1, 4)); i += 4
          low = (substr(raw, i + 1, 2) == "\\u") ? hex(substr(raw, i + 3, 4)) : -1
          if (code >= 55296 && code < 56320 && low >= 56320 && low < 57344) {
            code = 65536 + (code - 55296) * 1024 + low - 56320
            i += 6
          }
          out = out utf8(code)
        }
      }
      return out
    }
    function utf8(code) {
      # A bash variable cannot hold a NUL.
      if (code == 0) return ""
      if (code >= 55296 && code < 57344) code = 65533
      if (code < 128) return sprintf("%c", code)
      if (code < 2048) return byte(192 + int(code / 64)) tail(code)
      if (code < 65536) return byte(224 + int(code / 4096)) tail(int(code / 64)) tail(code)
      return byte(240 + int(code / 262144)) tail(int(code / 4096)) tail(int(code / 64)) tail(code)
    }
    function byte(code) { return sprintf("%c", code) }
    function tail(code) { return byte(128 + code % 64) }
  ' "$@"
}

# --- The run --------------------------------------------------------------------------------------------------------

# run_id: prints the id of this run; outside ACOR a local one, so that a tool can be tried by hand.
run_id() {
  printf '%s\n' "${RUN_ID:-r-local-$$}"
}

# workspace: prints the folder that a tool may write to (contract §2); outside ACOR the current one.
workspace() {
  printf '%s\n' "${WORKSPACE:-$PWD}"
}

# deadline_left_s: prints the seconds until the runner ends this run, negative once it is past; 1 without a deadline.
deadline_left_s() {
  local LC_ALL=C now
  [[ ${DEADLINE_TS-} =~ ^([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(\.[0-9]+)?(Z|\+00:00)$ ]] || return 1
  local y=$((10#${BASH_REMATCH[1]})) m=$((10#${BASH_REMATCH[2]})) d=$((10#${BASH_REMATCH[3]}))
  local s=$((10#${BASH_REMATCH[4]} * 3600 + 10#${BASH_REMATCH[5]} * 60 + 10#${BASH_REMATCH[6]}))
  # Days since 1970 in the Gregorian calendar, with the year beginning in March; `date -d` is not portable.
  if ((m <= 2)); then y=$((y - 1)) m=$((m + 12)); fi
  local days=$((365 * y + y / 4 - y / 100 + y / 400 + (153 * (m - 3) + 2) / 5 + d - 719469))
  printf -v now '%(%s)T' -1
  printf '%s\n' "$((days * 86400 + s - now))"
}

# artifact PATH: prints a file's description for the `artifacts` of a result; the runner hashes it again.
artifact() {
  local _acor_out='' sum size
  if ! { sum=$(_acor_sha256 <"$1") && size=$(wc -c <"$1"); } 2>/dev/null; then
    _acor_problem E_INPUT_NOT_FOUND "cannot read the artifact $1" 'Write the file before you describe it.'
    return 1
  fi
  _acor_text path "$1"
  printf '{%s,"sha256":"%s","size":%d}\n' "${_acor_out#,}" "${sum:0:64}" "$size"
}

# args NAME [DEFAULT]: prints the value of an input that the manifest declares, checked; a list as JSON. Without a value it prints the
# default; without both it fails.
args() {
  local given=${ACOR_INPUTS-} part=1 name=ACOR_INPUTS_1
  # Long inputs come in several variables.
  while [[ -z ${ACOR_INPUTS-} && -n ${!name-} ]]; do
    given+=${!name}
    name=ACOR_INPUTS_$((++part))
  done
  if [[ -z $given ]]; then
    _acor_problem E_USAGE 'this run has no declared inputs' \
      'Declare inputs in tool.yaml, and run the tool with: acor run <tool>'
    return 1
  fi
  local value
  if ! value=$(json_get "$1" <<<"$given"); then
    if (($# > 1)); then
      value=$2
    else
      _acor_problem E_USAGE "the input '$1' has no value" \
        "If it may be missing, write: args $1 DEFAULT. Otherwise check its name in tool.yaml"
      return 1
    fi
  fi
  printf '%s\n' "$value"
}

# secret NAME: prints a secret that the manifest lists under `secrets:`.
secret() {
  _acor_check_name 'secret name' "$1" || return
  if [[ -z ${SECRETS_DIR-} || ! -r $SECRETS_DIR/$1 ]]; then
    _acor_problem E_ENV_MISSING "the secret '$1' was not given to this run" \
      "List '$1' under secrets: in tool.yaml and store it with: acor secret set $1"
    return 1
  fi
  printf '%s\n' "$(<"$SECRETS_DIR/$1")"
}

_acor_sha256() {
  if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi
}

_acor_check_name() {
  local LC_ALL=C
  if [[ $2 =~ ^[A-Za-z0-9_-][A-Za-z0-9_.-]*$ && ${#2} -le 128 ]]; then return 0; fi
  _acor_problem E_USAGE "not a $1: $2" 'Use letters, digits, "_", "-" and ".", at most 128, not beginning with a dot.'
  return 1
}

# Says on stderr what a function of this file could not do, and leaves the code in ACOR_ERROR.
_acor_problem() {
  ACOR_ERROR=$1
  printf 'acor: %s: %s. %s\n' "$1" "$2" "${3-}" >&2
  # What ends the tool if it does not handle this. A subshell, as in $(args who), hands it over in a file.
  _acor_uncaught=("$(_acor_function)" "$1" "$2" "${3-}")
  if ((BASH_SUBSHELL > 0)) && [[ -n ${LOG_DIR-} ]]; then
    printf '%s\0' "${_acor_uncaught[@]}" >"$LOG_DIR/.acor-uncaught-$$" 2>/dev/null || :
  fi
}

# The function of the SDK that the tool has called.
_acor_function() {
  local i
  for ((i = 1; i < ${#FUNCNAME[@]}; i++)); do
    if [[ ${BASH_SOURCE[i]} != "${BASH_SOURCE[0]}" ]]; then break; fi
  done
  printf '%s' "${FUNCNAME[i - 1]}"
}

# Reports, when the tool ends, the problem of the SDK that ended it: the last command was the function, or contains it.
_acor_at_exit() {
  local status=$1 command=$2 file=${LOG_DIR-}/.acor-uncaught-$$ part
  # An SDK function that fails ends with `return`.
  if [[ $command != return* || ${#_acor_uncaught[@]} == 0 ]]; then
    if [[ -n ${LOG_DIR-} && -e $file ]]; then
      _acor_uncaught=()
      while IFS= read -r -d '' part; do _acor_uncaught+=("$part"); done <"$file"
    fi
    if ((${#_acor_uncaught[@]} < 4)) || [[ $command != *"${_acor_uncaught[0]}"* ]]; then _acor_uncaught=(); fi
  fi
  if [[ -n ${LOG_DIR-} && -e $file ]]; then rm -f "$file"; fi
  if ((status == 0 || status >= 128 || ${#_acor_uncaught[@]} == 0)) || [[ -n $_acor_ended ]]; then return; fi
  emit_error "${_acor_uncaught[@]:1:3}"
  exit 30
}

# --- Liveness and cancellation (contract §3) ------------------------------------------------------------------------

# acor_heartbeat_start [EVERY_S [STEP [MAX_SILENT_S]]]: emits a heartbeat whenever nothing was emitted for EVERY_S
# seconds (15). It says that the process lives, not that the work advances: that is what emit_progress says. After
# MAX_SILENT_S (1800) without a message of the work itself it falls silent, so that the runner sees a tool that hangs.
acor_heartbeat_start() {
  acor_heartbeat_stop
  _acor_beat_every=${1:-15} _acor_beat_step=${2-} _acor_beat_max=${3:-1800}
  # The loop ends when this process does, however it ends: then no process holds the other end of its stdin.
  exec {_acor_beat_fd}> >(_acor_beat "${_acor_beat_step:-$_acor_step}")
  _acor_beat_pid=$!
}

# acor_heartbeat_stop: ends the background heartbeat; the final message does it too.
acor_heartbeat_stop() {
  if [[ -z $_acor_beat_fd ]]; then return 0; fi
  exec {_acor_beat_fd}>&-
  wait "$_acor_beat_pid" 2>/dev/null || :
  _acor_beat_fd='' _acor_beat_pid=''
}

_acor_beat() {
  local step=$1 since=$SECONDS line status
  # The step is taken over from the messages, unless one was given.
  _acor_beat_fd=''
  while :; do
    status=0
    IFS= read -r -t "$_acor_beat_every" line || status=$?
    if ((status == 0)); then
      since=$SECONDS
      if [[ -z $_acor_beat_step ]]; then step=$line; fi
    elif ((status <= 128)) || ! kill -0 "$$" 2>/dev/null; then
      exit 0
    elif ((SECONDS - since < _acor_beat_max)); then
      emit_heartbeat "$step"
    fi
  done
}

# cancelled: succeeds when the runner asked this tool to stop.
cancelled() {
  [[ -n ${CANCEL_FILE-} && -e $CANCEL_FILE ]]
}

# check_cancel: call it between batches; when a stop was requested, it reports that and exits with 130.
check_cancel() {
  local reason=''
  if ! cancelled; then return 0; fi
  IFS= read -r -d '' reason <"$CANCEL_FILE" || :
  reason=${reason%$'\n'}
  if [[ -z $_acor_ended ]]; then emit_cancelled "${reason:-cancel-file}"; fi
  exit 130
}

# --- Checkpoints (contract §6) --------------------------------------------------------------------------------------

# save_checkpoint STAGE [FIELD…]: saves a stage's state, on disk when it returns; sets CHECKPOINT_VERSION.
save_checkpoint() {
  local stage=$1 data lock draft line saved_at status=0
  shift
  _acor_check_name 'checkpoint stage' "$stage" || return
  json_object "$@" >/dev/null || return
  data=$_acor_json
  _acor_find_checkpoint "$stage"
  [[ -d $_acor_dir ]] || mkdir -p -m 700 "$_acor_dir" || return
  lock=$_acor_dir/.$stage.lock
  TZ=UTC printf -v saved_at '%(%Y-%m-%dT%H:%M:%SZ)T' -1
  while :; do
    _acor_lock "$lock" || return
    printf -v draft '%s/.%s.%d.%04x%04x.tmp' "$_acor_dir" "$stage" "$BASHPID" "$RANDOM" "$RANDOM"
    if ! _acor_checkpoint_version "$stage"; then
      status=1
      break
    fi
    CHECKPOINT_VERSION=$((CHECKPOINT_VERSION + 1))
    line="{\"stage\":\"$stage\",\"version\":$CHECKPOINT_VERSION,\"saved_at\":\"$saved_at\",\"data\":$data}"
    if ! { printf '%s\n' "$line" >"$draft" && _acor_sync "$draft"; } 2>/dev/null; then
      _acor_cannot_save "$draft"
      status=1
    elif ! _acor_owns "$lock"; then
      # A rival broke the lock, having judged it stale.
      rm -f "$draft"
      continue
    else
      mv -f "$draft" "$_acor_file" && _acor_sync "$_acor_dir" || status=1
    fi
    if ((status == 0)); then _acor_saved[$stage]=$line; else rm -f "$draft"; fi
    break
  done
  if _acor_owns "$lock"; then rm -f "$lock"; fi
  return "$status"
}

# load_checkpoint STAGE: prints the state saved last as JSON, for json_get; nothing and 1 when this stage has none yet,
# 2 when the file is torn or foreign.
load_checkpoint() {
  _acor_check_name 'checkpoint stage' "$1" || return 2
  _acor_find_checkpoint "$1"
  if [[ ! -e $_acor_file && ! -L $_acor_file ]]; then return 1; fi
  _acor_checkpoint_version "$1" || return 2
  _acor_json_awk raw data <"$_acor_file"
}

_acor_cannot_save() {
  local dir=${1%/*}
  _acor_problem E_STORAGE "the checkpoint cannot be written to $dir" "See whether its disk is full or read-only: df -h '$dir'"
}

_acor_find_checkpoint() {
  _acor_dir=${CHECKPOINT_DIR:-${WORKSPACE:-$PWD}/.checkpoints}
  _acor_file=$_acor_dir/$1.json
}

# Sets CHECKPOINT_VERSION to that of the file, 0 without one; fails when the file is not this stage's checkpoint.
_acor_checkpoint_version() {
  local parts stage version line=''
  CHECKPOINT_VERSION=0
  if [[ ! -e $_acor_file && ! -L $_acor_file ]]; then return 0; fi
  if [[ -f $_acor_file && ! -L $_acor_file ]]; then
    IFS= read -r line <"$_acor_file" || :
    if [[ -n $line && $line == "${_acor_saved[$1]-}" ]]; then
      # This process wrote it, so it need not be read as JSON.
      line=${line#*'"version":'}
      CHECKPOINT_VERSION=${line%%,*}
      return 0
    fi
    if parts=$(_acor_json_awk raw stage version data <"$_acor_file"); then
      stage=${parts%%$'\n'*} version=${parts#*$'\n'}
      version=${version%%$'\n'*}
      if [[ $stage == "\"$1\"" && $version =~ ^[1-9][0-9]{0,17}$ ]]; then
        CHECKPOINT_VERSION=$version
        return 0
      fi
    fi
  fi
  _acor_problem E_STORAGE "$_acor_file is not a checkpoint of the stage $1" "To restart this stage: rm '$_acor_file'"
  return 1
}

# The lock file holds `<pid> <attempt> <token>`, the same for the SDKs of all languages. One whose owner is dead, of an
# earlier attempt or a minute old is broken.
_acor_lock() {
  local path=$1 give_up=$((SECONDS + 90)) draft created misses=0
  _acor_lock_text="$BASHPID ${ACOR_ATTEMPT:--} $RANDOM$RANDOM$RANDOM"
  draft=$path.${_acor_lock_text// /.}
  while :; do
    created=0
    _acor_create "$path" || created=$?
    if ((created == 0)); then return 0; fi
    # The owner may release it between two checks; a folder without write permission stays locked.
    if ((created == 1)); then misses=0; else misses=$((misses + 1)); fi
    if ((misses == 3)); then
      _acor_cannot_save "$path"
      return 1
    fi
    if ((created == 1)) && _acor_lock_is_stale "$path"; then
      if ! { printf '%s\n' "$_acor_lock_text" >"$draft" && mv -f "$draft" "$path"; } 2>/dev/null; then
        rm -f "$draft" 2>/dev/null || :
        _acor_cannot_save "$path"
        return 1
      fi
      # Longer than it takes a rival that judged the same lock stale to put its own in place.
      sleep 0.02
      if _acor_owns "$path"; then
        # Its owner may have left a file behind.
        rm -f "${path%.lock}."[0-9]*.tmp
        return 0
      fi
    fi
    if ((SECONDS > give_up)); then
      _acor_problem E_STORAGE "the checkpoint lock $path is held by another process" "rm '$path'"
      return 1
    fi
    sleep 0.005
  done
}

# With noclobber the shell creates a file with O_EXCL. Fails with 1 when it is there already, with 2 when it cannot be made.
_acor_create() {
  local options=$- status=0 fd
  set -C
  if ! { exec {fd}>"$1"; } 2>/dev/null; then
    status=2
    if [[ -e $1 || -L $1 ]]; then status=1; fi
  elif ! { printf '%s\n' "$_acor_lock_text" >&"$fd"; } 2>/dev/null; then
    # Left there empty, it would hold up the next one.
    rm -f "$1"
    status=2
  fi
  if [[ -n ${fd-} ]]; then exec {fd}>&-; fi
  if [[ $options != *C* ]]; then set +C; fi
  return "$status"
}

_acor_owns() {
  _acor_read_owner "$1"
  [[ $_acor_owner == "$_acor_lock_text" ]]
}

_acor_read_owner() {
  _acor_owner=''
  { IFS= read -r _acor_owner <"$1"; } 2>/dev/null || :
}

_acor_lock_is_stale() {
  local pid attempt token now modified
  printf -v now '%(%s)T' -1
  modified=$(stat -c %Y "$1" 2>/dev/null || stat -f %m "$1" 2>/dev/null) || return 1
  _acor_read_owner "$1"
  IFS=' ' read -r pid attempt token <<<"$_acor_owner" || :
  # The owner writes right after it creates the file: one that stays empty was killed in between.
  if [[ -z $token ]]; then
    ((now - modified > 1))
    return
  fi
  [[ $attempt != "${ACOR_ATTEMPT:--}" ]] || ! kill -0 "$pid" 2>/dev/null || ((now - modified > 60))
}

# GNU sync takes a file; elsewhere everything is synced.
_acor_sync() {
  sync "$1" 2>/dev/null || sync
}

# --- Questions (contract §4) ----------------------------------------------------------------------------------------

# ask ACTION [--option ID[=LABEL]]… [--schema JSON] [--default VALUE] [--timeout S] [--audience ai|user|model|client] [--msg TEXT]
#     [--id ID] [CONTEXT=VALUE…]: puts a question and waits. ANSWER holds the answer, text without its quotes, and
# ANSWER_JSON the same as JSON; an answer that an earlier attempt got is taken without asking again. Fails with
# ACOR_ERROR=E_ACTION_TIMEOUT when no answer arrives in time and there is no default. Do not call it in $(…).
ask() {
  local _acor_out='' action=$1 id='' options='' default='' timeout='' schema='' audience='' msg='' has_default=''
  if _acor_is_captured; then
    _acor_problem E_USAGE "ask: the script takes what it writes, in \$(…) or a pipe, so the question does not reach the runner" \
      "Call it alone: ask $action …; then read \$ANSWER."
    return 1
  fi
  shift
  while [[ ${1-} == --* ]]; do
    if (($# < 2)); then
      _acor_problem E_USAGE "ask: $1 has no value" "Write a value behind it, in quotes where it may be empty: $1 \"\$value\""
      return 1
    fi
    case $1 in
      --option)
        _acor_string "${2%%=*}"
        options+=",{\"id\":$_acor_json"
        if [[ $2 == *=* ]]; then _acor_string "${2#*=}" && options+=",\"label\":$_acor_json"; fi
        options+='}'
        ;;
      --schema) schema=$2 ;;
      --default) default=$2 has_default=1 ;;
      --timeout) timeout=$2 ;;
      --audience) audience=$2 ;;
      --msg) msg=$2 ;;
      --id) id=$2 ;;
      *)
        _acor_problem E_USAGE "ask: unknown option $1" 'See the comment above ask in acor.sh.'
        return 1
        ;;
    esac
    shift 2
  done
  if [[ -n $id ]]; then ACTION_ID=$id; else _acor_next_action_id "$action"; fi
  _acor_check_name action_id "$ACTION_ID" || return
  if answer_to "$ACTION_ID"; then return 0; fi

  _acor_text action "$action"
  _acor_text action_id "$ACTION_ID"
  json_object "$@" >/dev/null || return
  # Before what may be long: of a message above the limit, the runner sees the beginning.
  _acor_out+=",\"blocking\":true,\"context\":$_acor_json"
  if [[ -n $options ]]; then _acor_out+=",\"options\":[${options#,}]"; fi
  if [[ -n $schema ]]; then _acor_fields "schema:=$schema" || return; fi
  if [[ -n $has_default ]]; then _acor_fields "default=$default"; fi
  if [[ -n $timeout ]]; then _acor_fields "timeout_s=$timeout"; fi
  if [[ -n $audience ]]; then _acor_text audience "$audience"; fi
  if [[ -n $msg ]]; then _acor_text msg "$msg"; fi
  _acor_write action_required
  _acor_wait_for_answer "$action" "$timeout" "$has_default" "$default"
}

# Whether what a subshell writes goes elsewhere than what the script writes. Without /proc it cannot be known.
_acor_is_captured() {
  local own=/proc/$BASHPID/fd/1 script=/proc/$$/fd/1
  [[ $BASH_SUBSHELL -gt 0 && -e $own && -e $script && ! $own -ef $script ]]
}

# answer_to ACTION_ID: sets ANSWER and ANSWER_JSON when the answer to a question of emit_action is there, else 1.
answer_to() {
  local file=${ANSWERS_DIR-}/$1.json
  _acor_check_name action_id "$1" || return
  [[ -n ${ANSWERS_DIR-} && -f $file ]] || return 1
  _acor_take_answer "$1" "$(<"$file")"
}

# a-1, a-2 … in the order of asking, so that a restarted attempt finds its earlier answers. A number whose answer
# belongs to another action is left out: an attempt that resumes may not ask everything again.
_acor_next_action_id() {
  local file earlier
  while :; do
    _acor_asked=$((_acor_asked + 1))
    ACTION_ID=a-$_acor_asked
    file=${ANSWERS_DIR-}/$ACTION_ID.json
    if [[ -z ${ANSWERS_DIR-} || ! -f $file ]]; then return 0; fi
    earlier=$(json_get action <"$file") || return 0
    if [[ $earlier == "$1" ]]; then return 0; fi
  done
}

# _acor_take_answer ACTION_ID TEXT: sets ANSWER and ANSWER_JSON when TEXT is the answer to that question.
_acor_take_answer() {
  local parts
  parts=$(printf '%s' "$2" | _acor_json_awk raw type action_id answer) || return 1
  [[ ${parts%%$'\n'*} == '"action_answer"' ]] || return 1
  parts=${parts#*$'\n'}
  [[ ${parts%%$'\n'*} == "\"$1\"" ]] || return 1
  ANSWER_JSON=${parts#*$'\n'}
  _acor_put_off_deadline "$2"
  # The dot keeps the newlines at the end of an answer.
  ANSWER=$(printf '%s' "$2" | json_get answer && printf .)
  ANSWER=${ANSWER%$'\n'.}
}

# Takes over a later deadline, where an answer of this attempt brings one; both are written by the runner, in one form.
_acor_put_off_deadline() {
  local LC_ALL=C parts later
  parts=$(printf '%s' "$1" | _acor_json_awk text attempt deadline_ts) || return 0
  later=${parts#*$'\n'}
  if [[ ${parts%%$'\n'*} == "${ACOR_ATTEMPT-}" && -n ${DEADLINE_TS-} && $later > $DEADLINE_TS ]]; then DEADLINE_TS=$later; fi
}

_acor_wait_for_answer() {
  local action=$1 timeout=$2 has_default=$3 default=$4 give_up='' grace=0 left now line id
  # The runner has the same deadline and time limit and its decision counts, so wait a little longer than it does.
  if [[ -n ${ANSWERS_DIR-} ]]; then grace=1; fi
  if [[ -n $timeout ]]; then give_up=$((SECONDS + ${timeout%%.*} + 1)); fi
  while :; do
    if [[ -n ${_acor_stdin_answers[$ACTION_ID]-} ]]; then
      _acor_take_answer "$ACTION_ID" "${_acor_stdin_answers[$ACTION_ID]}" && return 0
    fi
    if answer_to "$ACTION_ID"; then return 0; fi
    check_cancel
    if [[ ${ACOR_WAITING_STOPS_DEADLINE-} != 1 ]] && left=$(deadline_left_s) && ((left <= -grace)); then
      _acor_problem E_DEADLINE "the deadline passed while '$action' waited for an answer"
      return 1
    fi
    if [[ -n $give_up ]] && ((SECONDS >= give_up)); then
      _acor_default_or_fail E_ACTION_TIMEOUT "'$action' got no answer within $timeout s" "$has_default" "$default"
      return
    fi
    if [[ -n $_acor_stdin_ended && -z ${ANSWERS_DIR-} ]]; then
      _acor_default_or_fail E_ACTION_REQUIRED "no one can answer '$action' here" "$has_default" "$default"
      return
    fi
    _acor_read_stdin
  done
}

_acor_default_or_fail() {
  if [[ -n $3 ]]; then
    ANSWER=$4
    _acor_value "$4"
    ANSWER_JSON=$_acor_json
    return 0
  fi
  _acor_problem "$1" "$2" 'Answer it beforehand with --answer, or give the question a --default.'
  return 1
}

# Waits a moment for a line on stdin and keeps it under the id of its question.
_acor_read_stdin() {
  local part='' status=0 id
  # In a pipe stdin belongs to the tool itself, and answers come as files alone.
  if [[ -n $_acor_stdin_ended || ${ACOR_STDIN-} == records ]]; then
    sleep 0.1
    return
  fi
  IFS= read -r -t 0.1 part || status=$?
  _acor_partial_line+=$part
  if ((status > 128)); then return; fi
  if ((status != 0)); then _acor_stdin_ended=1; fi
  if id=$(printf '%s' "$_acor_partial_line" | _acor_json_awk text action_id) && [[ -n $id ]]; then
    _acor_stdin_answers[$id]=$_acor_partial_line
  fi
  _acor_partial_line=''
}

# --- Set up ---------------------------------------------------------------------------------------------------------

_acor_string "${RUN_ID:-r-local-$$}"
_acor_envelope=",\"run_id\":$_acor_json"
if [[ ${TRACE_ID-} =~ ^[0-9a-f]{32}$ ]]; then _acor_envelope+=",\"trace_id\":\"$TRACE_ID\""; fi
if [[ ${SPAN_ID-} =~ ^[0-9a-f]{16}$ ]]; then _acor_envelope+=",\"span_id\":\"$SPAN_ID\""; fi
if [[ -z $(trap -p EXIT) ]]; then trap '_acor_at_exit "$?" "$BASH_COMMAND"' EXIT; fi
