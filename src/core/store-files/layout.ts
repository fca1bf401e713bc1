import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_RUNS } from '../../protocol/next-steps.ts';
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
  /** LOG_DIR: the tool's own, so that the runner's logs beside it are the runner's alone. */
  toolLogs: string;
  stdoutLog: string;
  stderrLog: string;
  artifacts: string;
  control: string;
  /** What the tool may see of `control`: its supervisor writes here, and nobody else does. */
  toolControl: string;
  /** Asks the supervisor for an end; it holds the reason. */
  cancelRequest: string;
  /** CANCEL_FILE: tells the tool that it is to end. */
  cancelFile: string;
  /** Asks for an end without any more grace. */
  forceCancelFile: string;
  /** How many bytes of the events the next tool of a pipe has taken. */
  taken: string;
  answers: string;
  secrets: string;
  /** What belongs to the run's own user while it goes on, and whose it was. */
  ownershipRecord: string;
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
    taken: join(control, 'taken'),
    answers: join(toolControl, 'answers'),
    secrets: join(dir, 'secrets'),
    ownershipRecord: join(control, 'ownership.json'),
  };
}
