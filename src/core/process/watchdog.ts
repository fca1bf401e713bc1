import { processesOfCommand } from '../../util/process-table.ts';
import { shellCommand } from '../../util/shell-quote.ts';
import { forgetCompanion, registerCompanion } from './kill-tree.ts';
import type { Companion, Runtime } from './runtime.ts';

/**
 * Waits for the end of its input. If that comes without the word `done`, the supervisor is gone, and everything that
 * it had started for the run dies: the process group that the supervisor named, and every process that carries the run's id.
 * Then it removes the folder that must not be left behind. The last line keeps the shell from replacing itself with `rm`, which other processes could not recognise as the watchdog.
 */
const SCRIPT = `
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
  for file in $(grep -ls "RUN_ID=$1" /proc/[0-9]*/environ 2>/dev/null); do
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

/** The watchdogs of a run that are at work or on guard. */
export function watchdogsOf(runId: string): number[] {
  return processesOfCommand(`${NAME} ${runId}`);
}

/** Kills the processes of a run when its supervisor dies without a word, as it does by SIGKILL. */
export class Watchdog implements Disposable {
  readonly #companion: Companion;

  /** Starts before the tool does, so that there is no moment without a watch. `removedFolder` does not outlive the supervisor. */
  constructor(runtime: Runtime, runId: string, removedFolder = '') {
    // A scrubbed environment: with the RUN_ID of an outer run in it, the watchdog of that run would kill this one.
    // The folder is among the variables: a watchdog is known by the last words of its command.
    const env = {
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      REMOVED_FOLDER: removedFolder,
    };
    this.#companion = runtime.startCompanion(['/bin/sh', '-c', SCRIPT, NAME, runId], env);
    registerCompanion(this.pid);
  }

  get pid(): number {
    return this.#companion.pid;
  }

  /** Names the process group of the tool, which dies even when it has cleared its environment. */
  watchGroup(groupId: number): void {
    this.#companion.write(String(groupId));
  }

  /** Names a command that ends what no signal of this system may reach. No word of it holds a newline. */
  endBy(argv: readonly string[]): void {
    this.#companion.write(`end ${shellCommand(argv)}`);
  }

  /** Lets go of the watchdog without a word, as the death of this process would. */
  abandon(): void {
    this.#companion.close();
  }

  /** Ends the watchdog: the run is over, and nothing of it is alive. */
  [Symbol.dispose](): void {
    this.#companion.write('done');
    this.#companion.close();
    forgetCompanion(this.pid);
  }
}
