import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { RUN_ID_PATTERN } from '../../protocol/run-id.ts';

/** The files and folders of one run (contract §6). All paths are absolute. */
export interface RunLayout {
  dir: string;
  events: string;
  metadata: string;
  work: string;
  checkpoints: string;
  staging: string;
  logs: string;
  stdoutLog: string;
  stderrLog: string;
  artifacts: string;
  control: string;
  cancelFile: string;
  /** Asks for an end without any more grace. */
  hurryFile: string;
  answers: string;
  secrets: string;
}

/** Where a run's things are. Throws E_RUN_NOT_FOUND for what cannot be a run id, so that no id becomes a path. */
export function layoutOf(runsDir: string, runId: string): RunLayout {
  if (!RUN_ID_PATTERN.test(runId)) {
    throw new AcorError('E_RUN_NOT_FOUND', `'${runId}' is not a run id`, {
      hint: 'A run id looks like r-0123456789abcdef; list them with: acor runs',
      next: ['acor runs'],
    });
  }
  const dir = join(runsDir, runId);
  const work = join(dir, 'work');
  const logs = join(dir, 'logs');
  const control = join(dir, 'control');
  return {
    dir,
    events: join(dir, 'events.jsonl'),
    metadata: join(dir, 'metadata.json'),
    work,
    checkpoints: join(work, '.checkpoints'),
    staging: join(work, '.staged'),
    logs,
    stdoutLog: join(logs, 'stdout.log'),
    stderrLog: join(logs, 'stderr.log'),
    artifacts: join(dir, 'artifacts'),
    control,
    cancelFile: join(control, 'CANCEL'),
    hurryFile: join(control, 'HURRY'),
    answers: join(control, 'answers'),
    secrets: join(dir, 'secrets'),
  };
}
