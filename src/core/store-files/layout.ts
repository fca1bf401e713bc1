import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_RUNS } from '../../protocol/next-steps.ts';
import { RUN_ID_PATTERN } from '../../protocol/run-id.ts';
import type { RunWorkspace } from '../ports/run-workspace.ts';

/** The files of one run in its folder (contract §6): the store's own, and the workspace of the machine that executes it. */
export interface RunLayout extends RunWorkspace {
  events: string;
  metadata: string;
  /** Derived from the log: the events that concern questions. */
  questions: string;
  /** Asks the supervisor to end the run; holds the reason. */
  cancelRequest: string;
  /** Asks the supervisor to end the run without a grace period. */
  forceCancelFile: string;
  /** How many bytes of the log the next tool of a pipe has consumed. */
  consumed: string;
}

/** Where a run's things are. Throws E_RUN_NOT_FOUND for what cannot be a run id, so that no id becomes a path. */
export function layoutOf(runsDir: string, runId: string): RunLayout {
  if (!RUN_ID_PATTERN.test(runId)) {
    throw new AcorError('E_RUN_NOT_FOUND', `'${runId}' is not a run id`, {
      hint: 'A run id looks like r-0123456789abcdef. List the runs.',
      next: [LIST_RUNS],
    });
  }
  const dir = join(runsDir, runId);
  const work = join(dir, 'work');
  const logs = join(dir, 'logs');
  const control = join(dir, 'control');
  const toolControl = join(control, 'tool');
  return {
    dir,
    events: join(dir, 'events.jsonl'),
    metadata: join(dir, 'metadata.json'),
    questions: join(dir, 'questions.jsonl'),
    work,
    checkpoints: join(work, '.checkpoints'),
    staging: join(work, '.staged'),
    logs,
    toolLogs: join(logs, 'tool'),
    stdoutLog: join(logs, 'stdout.log'),
    stderrLog: join(logs, 'stderr.log'),
    artifacts: join(dir, 'artifacts'),
    control,
    toolControl,
    cancelRequest: join(control, 'CANCEL'),
    cancelFile: join(toolControl, 'CANCEL'),
    forceCancelFile: join(control, 'KILL'),
    consumed: join(control, 'taken'),
    answers: join(toolControl, 'answers'),
    secrets: join(dir, 'secrets'),
    ownershipRecord: join(control, 'ownership.json'),
  };
}
