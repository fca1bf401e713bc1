import { environmentOf, processesOfCommand } from '../../util/process-table.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { forgetCompanion, registerCompanion } from './kill-tree.ts';
import { isSameFolder, type RunIdentity } from './run-processes.ts';
import type { Companion, Runtime } from './runtime.ts';

/**
 * Waits for the end of its input. Without the word `done` before it, the supervisor has died. Then the watchdog kills
 * everything that the supervisor started for the run: the process group that the supervisor named, and every process
 * with the run's id in its environment, as `run-processes.ts` finds them: in a copy of the store, a process of the same
 * run names another folder. Then it removes the folder that must not remain. The last line prevents the shell from
 * replacing itself with `rm`, which other processes could not recognise as the watchdog.
 */
const SCRIPT = `
run=$1
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
group=
last_resort=
while read -r line; do
  case $line in
    done) exit 0 ;;
    end\\ *) last_resort=\${line#end } ;;
    *) group=$line ;;
  esac
done
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
[ -z "$REMOVED_FOLDER" ] || rm -rf -- "$REMOVED_FOLDER"
exit 0
`;

const NAME = 'acor-watchdog';

/** The watchdogs that wait or kill for a run with this id. */
export function watchdogsOf(runId: string): number[] {
  return processesOfCommand(`${NAME} ${runId}`);
}

/** The watchdogs of this run, without those of the same run in another store. */
export function watchdogsOfRun({ runId, folder }: RunIdentity): number[] {
  return watchdogsOf(runId).filter((pid) => {
    const named = environmentOf(pid, 'RUN_FOLDER');
    return !named || isSameFolder(named, folder);
  });
}

/** Kills the processes of a run when its supervisor dies without notice, for example by SIGKILL. */
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
