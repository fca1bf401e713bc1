import { environmentOf, processesOfCommand, readProcess } from '../../util/process-table.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { forgetCompanion, registerCompanion } from './kill-tree.ts';
import { isSameFolder, type RunIdentity } from './run-processes.ts';
import type { Companion, Runtime } from './runtime.ts';

/**
 * Kills everything that the supervisor started for the run: the process group of the tool, and every process with the
 * run's id in its environment, as `run-processes.ts` finds them: in a copy of the store, a process of the same run names
 * another folder. It does so in two cases: the supervisor has died, which ends the watchdog's input without the word
 * `done`; or the time limit has passed, because the supervisor did not stop the tool. Only after the first case the
 * folder that must not remain is removed. The last line prevents the shell from replacing itself with `rm`, which other
 * processes could not recognise as the watchdog.
 *
 * The time limit is a subshell that waits for `sleep`. `disarm` waits until both have ended, because the supervisor would
 * adopt what is left of them and take it for a process of the tool. The subshell kills by SIGKILL: a shell loses a SIGTERM
 * that arrives between its fork and the start of `sleep`. `others` is the last process of the shell around it, which is over.
 */
const SCRIPT = `
run=\${1:?}
is_ours() {
  [ -n "$RUN_FOLDER" ] || return 0
  named=
  for name in WORKSPACE CANCEL_FILE; do
    grep -qsF "$name=$RUN_FOLDER/" "$1" && return 0
    folder=$(2>/dev/null tr '\\0' '\\n' <"$1" | sed -n "s,^$name=\\(.*/$run\\)/.*,\\1,p")
    [ -z "$folder" ] || named=1
    [ -n "$folder" ] && [ "$folder" -ef "$RUN_FOLDER" ] && return 0
  done
  [ -z "$named" ]
}
kill_run() {
  round=0
  while [ "$round" -lt 50 ]; do
    [ -z "$group" ] || kill -KILL -- "-$group" 2>/dev/null
    found=
    for file in $(grep -ls "RUN_ID=$run" /proc/[0-9]*/environ 2>/dev/null); do
      is_ours "$file" || continue
      pid=\${file#/proc/}
      pid=\${pid%/environ}
      kill -KILL "$pid" 2>/dev/null && found=1
    done
    [ -n "$found" ] || break
    round=$((round + 1))
  done
  [ -z "$last_resort" ] || eval "$last_resort" >/dev/null 2>&1
}
disarm() {
  [ -z "$timer" ] || kill "$timer" 2>/dev/null
  [ -z "$timer" ] || wait "$timer"
  timer=
}
arm() {
  disarm
  (
    others=\${!:-}
    trap '[ "\${!:-}" = "$others" ] || { kill -KILL "$!"; wait "$!"; }; exit 0' TERM
    sleep "$1" &
    wait "$!" && kill -0 "$$" && kill_run
  ) </dev/null &
  timer=$!
}
group=
last_resort=
timer=
while read -r line; do
  case $line in
    done) disarm; exit 0 ;;
    end\\ *) last_resort=\${line#end } ;;
    limit\\ *) arm "\${line#limit }" ;;
    unlimited) disarm ;;
    gone) disarm; group= ;;
    *) group=$line ;;
  esac
done
kill_run
disarm
[ -z "$REMOVED_FOLDER" ] || rm -rf -- "$REMOVED_FOLDER"
exit 0
`;

const NAME = 'acor-watchdog';

/** The watchdogs that wait or kill for a run with this id, without their subshells. */
export function watchdogsOf(runId: string): number[] {
  const pids = processesOfCommand(`${NAME} ${runId}`);
  return pids.filter((pid) => !pids.includes(readProcess(pid)?.parentPid ?? 0));
}

/** The watchdogs of this run, without those of the same run in another store. */
export function watchdogsOfRun({ runId, folder }: RunIdentity): number[] {
  return watchdogsOf(runId).filter((pid) => {
    const named = environmentOf(pid, 'RUN_FOLDER');
    return !named || isSameFolder(named, folder);
  });
}

/** `sleep` of some systems knows no larger number. */
const MAX_LIMIT_S = 2 ** 31 - 1;

/**
 * Kills the processes of a run when its supervisor dies without notice, for example by SIGKILL, and when it has not
 * stopped them at the time limit, for example because its event loop is blocked.
 */
export class Watchdog implements Disposable {
  readonly #companion: Companion;

  /**
   * Starts before the tool, so the tool is never without a watchdog. `removedFolder` is removed when the supervisor
   * dies. Without the run's folder, only its id identifies its processes.
   */
  constructor(
    runtime: Runtime,
    runId: string,
    { folder = '', removedFolder = '' }: { folder?: string; removedFolder?: string } = {},
  ) {
    // A clean environment: with the RUN_ID of an outer run in it, that run's watchdog would kill this one. The folders
    // are variables, because a watchdog is recognised by the last words of its command.
    const env = {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      RUN_FOLDER: folder,
      REMOVED_FOLDER: removedFolder,
    };
    this.#companion = runtime.startCompanion(['/bin/sh', '-c', SCRIPT, NAME, runId], env);
    registerCompanion(this.pid);
  }

  get pid(): number {
    return this.#companion.pid;
  }

  /** Sends the tool's process group, which is killed even if it cleared its environment. */
  watchGroup(groupId: number): void {
    this.#companion.write(String(groupId));
  }

  /**
   * Sends the time that the run's processes have from now on, in milliseconds; undefined for no limit. It replaces the
   * time sent before.
   */
  limitTime(ms: number | undefined): void {
    const seconds = ms === undefined ? undefined : Math.ceil(ms / 1000);
    const isLimited = seconds !== undefined && seconds <= MAX_LIMIT_S;
    this.#companion.write(isLimited ? `limit ${Math.max(1, seconds)}` : 'unlimited');
  }

  /** Forgets the tool's process group, whose id another program may get: all processes of the tool have ended. */
  forgetGroup(): void {
    this.#companion.write('gone');
  }

  /** Sends a command that ends what signals on this system cannot reach. No word of it contains a newline. */
  endBy(argv: readonly string[]): void {
    this.#companion.write(`end ${shellCommand(argv)}`);
  }

  /** Closes the watchdog's input without `done`, as the death of this process would. */
  abandon(): void {
    this.#companion.close();
  }

  /** Ends the watchdog: no process of the run is alive. */
  [Symbol.dispose](): void {
    this.#companion.write('done');
    this.#companion.close();
    forgetCompanion(this.pid);
  }
}
