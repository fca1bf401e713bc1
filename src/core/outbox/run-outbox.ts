import { spawn } from 'node:child_process';
import { AcorError } from '../../protocol/acor-error.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { RunWriter } from '../ports/run-store.ts';
import { forgetCompanion, registerCompanion } from '../process/kill-tree.ts';
import type { RunOutbox } from '../run/services.ts';
import { launchEnvironment } from '../supervision/launch-environment.ts';
import { ownCommand } from '../supervision/own-command.ts';
import { OutboxFiles } from './outbox-files.ts';

/** What may be worth a message. Most batches of a busy tool hold none of it. */
const SIGNS = ['"action_required"', '"task_action_required"', '"runner_end"', '"E_BUDGET"'].map((sign) =>
  Buffer.from(sign),
);

/**
 * The outbox of the runs that this process supervises. It only wakes another process, which delivers: a receiver that is dead or slow costs
 * the run nothing.
 */
export function runOutbox(
  config: LoadedConfig,
  runsDir: string,
  env: Readonly<Record<string, string | undefined>>,
): RunOutbox {
  const files = new OutboxFiles(runsDir);
  const { endpoint, file } = config.config.telemetry;
  const hasTraces = endpoint !== undefined || file !== undefined;
  return {
    watch({ record, log }: RunWriter) {
      // A replay is not a run of its own, and without traces the parent asks and ends for its children.
      if (record.replays !== null || (record.parent !== null && !hasTraces)) return undefined;
      try {
        files.enter(record.run_id, log.events);
      } catch (error) {
        if (error instanceof AcorError) return error;
        throw error;
      }
      log.observe({
        stored(lines) {
          const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
          if (SIGNS.some((sign) => bytes.includes(sign))) wake();
        },
      });
      return undefined;
    },
  };

  function wake(): void {
    files.wake();
    const release = files.claim();
    // The process that delivers has been woken.
    if (release === undefined) return;
    release();
    const { argv, env: own } = ownCommand();
    const [program, ...args] = argv;
    const child = spawn(program, [...args, 'outbox', '--keep-trying'], {
      cwd: config.root,
      env: { ...launchEnvironment(config, [], env), ...own },
      detached: true,
      stdio: 'ignore',
    });
    child.on('error', () => {});
    const { pid } = child;
    if (pid !== undefined) {
      registerCompanion(pid);
      child.once('exit', () => forgetCompanion(pid));
    }
    child.unref();
  }
}
