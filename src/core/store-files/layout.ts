import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_RUNS } from '../../protocol/next-steps.ts';
import { isRunId } from '../../protocol/run.ts';
import { refuseLinks } from '../../util/regular-file.ts';

/** The names of the store's own files in the folder of a run. */
export const EVENTS = 'events.jsonl';
export const METADATA = 'metadata.json';
export const QUESTIONS = 'questions.jsonl';
/** The folder of the requests to the supervisor of a run. */
export const CONTROL = 'control';
/** The folder for what ACOR keeps of the places that a run writes. No tool sees it. */
export const KEPT = 'kept';
/** The file with the ids of the runs that the tool of a run has started: these keep changes of their own. */
export const STARTED: string = join(KEPT, 'started');

/** The folders of the store in which no link is allowed, besides those of its runs. `cache` is not in the list: ACOR works without a cache where that is a link. */
export const FOLDERS_OF_STORE: readonly string[] = [
  'leases',
  'queue',
  'packs',
  'keys',
  'removed',
  'ledger',
  'tasks',
  'outbox',
  'subscriptions',
  'removed-costs',
];

/** Throws `NOT_REGULAR` when a folder of the store is a link, as a cloned project can have: what changes runs would write where it leads. */
export function refuseLinkedFolders(runsDir: string): void {
  for (const name of FOLDERS_OF_STORE) refuseLinks(runsDir, name);
}

/** The store's own files of one run, in its folder (contract §6). All paths are absolute. */
export interface RunLayout {
  /** The run's folder. The executing machine's workspace is in it as well (`core/run/workspace.ts`). */
  dir: string;
  events: string;
  metadata: string;
  /** Derived from the log: the events that concern questions. */
  questions: string;
  /** Requests to the run's supervisor. */
  control: string;
  /** Asks the supervisor to end the run; holds the reason. */
  cancelRequest: string;
  /** Asks the supervisor to end the run without a grace period. */
  forceCancelFile: string;
  /** How many bytes of the log the next tool of a pipe has consumed. */
  consumed: string;
}

export function layoutOf(runsDir: string, runId: string): RunLayout {
  const dir = folderOf(runsDir, runId);
  const control = join(dir, CONTROL);
  return {
    dir,
    events: join(dir, EVENTS),
    metadata: join(dir, METADATA),
    questions: join(dir, QUESTIONS),
    control,
    cancelRequest: join(control, 'CANCEL'),
    forceCancelFile: join(control, 'KILL'),
    consumed: join(control, 'taken'),
  };
}

/** The folder of a run. Throws E_RUN_NOT_FOUND for a text that is not a run id, so that no id becomes a path. */
export function folderOf(runsDir: string, runId: string): string {
  if (isRunId(runId)) return join(runsDir, runId);
  throw new AcorError('E_RUN_NOT_FOUND', `'${runId}' is not a run id`, {
    hint: 'A run id looks like r-0123456789abcdef. List the runs.',
    next: [LIST_RUNS],
  });
}
