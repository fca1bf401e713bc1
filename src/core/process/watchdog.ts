import { existsSync } from 'node:fs';
import { childrenOf, processesOfCommand, readProcess, workingFolderOf } from '../../util/process-table.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { forgetCompanion, registerCompanion, send } from './kill-tree.ts';
import { isSameFolder } from './run-processes.ts';
import type { Companion, Runtime } from './runtime.ts';

/**
 * Kills everything that the supervisor started for the run: the process group of the tool, and every process with the
 * run's id in its environment, as `run-processes.ts` finds them: in a copy of the store, a process of the same run names
 * another folder. A reaper around the tool kills what is below it first. This happens in two cases: the supervisor has
 * died, which ends the watchdog's input without the word `done`; or the time limit has passed, because the supervisor did not stop the tool. Only after the first case the
 * secrets in the run's folder are removed. The last line prevents the shell from replacing itself with `rm`, which other
 * processes could not recognise as the watchdog.
 *
 * The working folder is the run's while the shell watches the run, and / before and after: this is how other processes
 * recognise the watchdog of a run. `done` frees the shell for the next run of the same supervisor.
 *
 * Bash waits for the next line and for the time limit at once. The `read` of other shells cannot: they wait for the limit in a
 * subshell with `sleep`. `disarm` waits until both have ended, because the supervisor would
 * adopt what is left of them and take it for a process of the tool. The subshell kills by SIGKILL: a shell loses a SIGTERM
 * that arrives between its fork and the start of `sleep`. `others` is the last process of the shell around it, which is over.
 */
const SCRIPT = `
case \${BASH_VERSION-} in '' | [0-3].*) reads_in_time= ;; *) reads_in_time=1 ;; esac
is_ours() {
  [ -n "$folder" ] || return 0
  named=
  for name in WORKSPACE CANCEL_FILE; do
    grep -qsF "$name=$folder/" "$1" && return 0
    other=$(2>/dev/null tr '\\0' '\\n' <"$1" | sed -n "s,^$name=\\(.*/$run\\)/.*,\\1,p")
    [ -z "$other" ] || named=1
    [ -n "$other" ] && [ "$other" -ef "$folder" ] && return 0
  done
  [ -z "$named" ]
}
kill_run() {
  [ -n "$run" ] || return 0
  round=0
  [ -z "$reaper" ] || kill -s USR2 "$reaper" 2>/dev/null
  while [ -n "$reaper" ] && [ "$round" -lt 100 ] && kill -0 "$reaper" 2>/dev/null; do
    sleep 0.02
    round=$((round + 1))
  done
  round=0
  while [ "$round" -lt 50 ]; do
    [ -z "$group" ] || kill -s KILL -- "-$group" 2>/dev/null
    found=
    for file in $(grep -ls "RUN_ID=$run" /proc/[0-9]*/environ 2>/dev/null); do
      is_ours "$file" || continue
      pid=\${file#/proc/}
      pid=\${pid%/environ}
      kill -s KILL "$pid" 2>/dev/null && found=1
    done
    [ -n "$found" ] || break
    round=$((round + 1))
  done
  [ -z "$last_resort" ] || eval "$last_resort" >/dev/null 2>&1
}
disarm() {
  limit=
  [ -z "$timer" ] || kill "$timer" 2>/dev/null
  [ -z "$timer" ] || wait "$timer"
  timer=
}
arm() {
  disarm
  limit=$1
  [ -z "$reads_in_time" ] || return 0
  (
    others=\${!:-}
    trap '[ "\${!:-}" = "$others" ] || { kill -s KILL "$!"; wait "$!"; }; exit 0' TERM
    sleep "$1" &
    wait "$!" && kill -0 "$$" && kill_run
  ) </dev/null &
  timer=$!
}
next_line() {
  while [ -n "$reads_in_time" ] && [ -n "$limit" ]; do
    IFS= read -r -t "$limit" line && return 0
    [ "$?" -gt 128 ] || return 1
    limit=
    kill_run
  done
  IFS= read -r line
}
begin() {
  run=$1
  folder=\${PWD%/}
  group=
  reaper=
  last_resort=
}
limit=
timer=
begin ''
while next_line; do
  case $line in
    in\\ *) cd -- "\${line#in }" || cd / ;;
    run\\ *) begin "\${line#run }" ;;
    done) disarm; cd /; begin '' ;;
    end\\ *) last_resort=\${line#end } ;;
    limit\\ *) arm "\${line#limit }" ;;
    unlimited) disarm ;;
    gone) disarm; group=; reaper= ;;
    reaper\\ *) reaper=\${line#reaper } ;;
    *) group=$line ;;
  esac
done
kill_run
disarm
[ -z "$folder" ] || rm -rf -- "$folder/secrets"
exit 0
`;

const NAME = 'acor-watchdog';

/**
 * The watchdogs that wait or kill for the run in this folder, without their subshells. One that its supervisor has left
 * behind in / has not yet read which run it watches.
 */
export function watchdogsOf(supervisorPid: number, folder: string): number[] {
  const pids = processesOfCommand(`${NAME} ${supervisorPid}`);
  return pids.filter((pid) => {
    const parentPid = readProcess(pid)?.parentPid ?? 0;
    if (pids.includes(parentPid)) return false;
    const watched = workingFolderOf(pid);
    if (watched === '/') return parentPid !== supervisorPid;
    return watched !== undefined && isSameFolder(watched, folder);
  });
}

/** Kills a watchdog, its subshell, and the `sleep` by which that waits: nothing else would end it before the time limit. */
export function killWatchdog(pid: number): void {
  const below = childrenOf(pid).flatMap((subshell) => [subshell, ...childrenOf(subshell)]);
  for (const each of [pid, ...below]) send(each, 'SIGKILL');
}

/** A run that goes on without its tool, for instance until the next attempt, lets the shell forget the group after that. */
const GONE_MS = 20;

/** `sleep` of some systems knows no larger number. */
const MAX_LIMIT_S = 2 ** 31 - 1;

/** Bash, where it is installed, needs no further process for the time limit. The first that exists is used. */
const SHELLS = ['/bin/bash', '/bin/sh'];

/**
 * Kills the processes of a run when its supervisor dies without notice, for example by SIGKILL, and when it has not
 * stopped them at the time limit, for example because its event loop is blocked.
 */
export class Watchdog implements Disposable {
  readonly #shell: Companion;
  readonly #release: (shell: Companion) => void;
  /** Set while the shell is to forget the group. */
  #gone: NodeJS.Timeout | undefined;

  /**
   * Starts before the tool, so the tool is never without a watchdog. When the supervisor dies, `secrets` in the run's folder is removed.
   * Without the folder, only the id identifies the processes of the run. `release` gets the shell when the run has ended.
   */
  constructor(
    runtime: Runtime,
    runId: string,
    {
      folder,
      shell,
      release = end,
    }: { folder?: string; shell?: Companion | undefined; release?: (shell: Companion) => void } = {},
  ) {
    this.#shell = shell ?? startShell(runtime, folder);
    this.#release = release;
    // One write wakes the shell once.
    this.#shell.write(shell === undefined ? `run ${runId}` : `in ${folder ?? '/'}\nrun ${runId}`);
  }

  get pid(): number {
    return this.#shell.pid;
  }

  /**
   * Sends the tool's process group, which is killed even if it cleared its environment. A reaper that leads the group
   * kills everything below it first.
   */
  watchGroup(groupId: number, { hasReaper }: { hasReaper?: boolean } = {}): void {
    if (hasReaper) this.#write(`reaper ${groupId}`);
    this.#write(String(groupId));
  }

  /**
   * Sends the time that the run's processes have from now on, in milliseconds; undefined for no limit. It replaces the
   * time sent before.
   */
  limitTime(ms: number | undefined): void {
    const seconds = ms === undefined ? undefined : Math.ceil(ms / 1000);
    const isLimited = seconds !== undefined && seconds <= MAX_LIMIT_S;
    this.#write(isLimited ? `limit ${Math.max(1, seconds)}` : 'unlimited');
  }

  /** Forgets the tool's process group, whose id another program may get: all processes of the tool have ended. */
  forgetGroup(): void {
    // Mostly the run ends now, and the shell need not wake twice. No id of a process is used again so soon.
    this.#gone ??= setTimeout(() => this.#writeGone(), GONE_MS);
  }

  /** Sends a command that ends what signals on this system cannot reach. No word of it contains a newline. */
  endBy(argv: readonly string[]): void {
    this.#write(`end ${shellCommand(argv)}`);
  }

  /** Closes the watchdog's input without `done`, as the death of this process would. */
  abandon(): void {
    this.#writeGone();
    this.#shell.close();
  }

  #write(line: string): void {
    this.#writeGone();
    this.#shell.write(line);
  }

  #writeGone(): void {
    if (this.#gone === undefined) return;
    clearTimeout(this.#gone);
    this.#gone = undefined;
    this.#shell.write('gone');
  }

  /** Ends the watch: no process of the run is alive. */
  [Symbol.dispose](): void {
    clearTimeout(this.#gone);
    this.#gone = undefined;
    this.#shell.write('done');
    this.#release(this.#shell);
  }
}

/** A shell that has waited for the next run for so long ends: a program that uses the library may have no further one. */
const IDLE_MS = 30_000;

/** A process that supervises many runs at once ends the other shells with their runs. */
const MOST_FREE = 4;

/** The watchdogs of a process that supervises one run after the other, or some at once: a shell that is free takes the next run. */
export class Watchdogs {
  readonly #free: Companion[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #idleMs: number;

  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  watch(runtime: Runtime, runId: string, folder: string): Watchdog {
    const shell = folder.includes('\n') ? undefined : this.#take();
    return new Watchdog(runtime, runId, { folder, shell, release: (each) => this.#keep(each) });
  }

  /** A tool without isolation may have killed or stopped a shell. One that has not yet read the end of its run is not free. */
  #take(): Companion | undefined {
    for (let shell = this.#free.shift(); shell !== undefined; shell = this.#free.shift()) {
      const { state = 'X' } = readProcess(shell.pid) ?? {};
      if ('SRD'.includes(state) && workingFolderOf(shell.pid) === '/') return shell;
      end(shell);
    }
    return undefined;
  }

  #keep(shell: Companion): void {
    if (this.#free.length === MOST_FREE) end(this.#free.shift()!);
    this.#free.push(shell);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#endFree(), this.#idleMs);
    this.#timer.unref();
  }

  #endFree(): void {
    for (const shell of this.#free.splice(0)) end(shell);
  }
}

export function startShell(
  runtime: Runtime,
  folder = '/',
  program = SHELLS.find((path) => existsSync(path))!,
): Companion {
  // A clean environment: with the RUN_ID of an outer run in it, that run's watchdog would kill this one.
  const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
  // Standard input is a socket: bash takes that for a connection from another machine, and would read the user's .bashrc first.
  const options = program.endsWith('/bash') ? ['--norc'] : [];
  const argv: [string, ...string[]] = [program, ...options, '-c', SCRIPT, NAME, String(process.pid)];
  const shell = runtime.startCompanion(argv, env, folder);
  registerCompanion(shell.pid);
  return shell;
}

/** Closes the input of a shell that watches no run, which ends it. */
function end(shell: Companion): void {
  shell.close();
  forgetCompanion(shell.pid);
}
