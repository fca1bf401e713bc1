import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { attachTo, cancelRun } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { withFileLock } from '../../util/file-lock.ts';
import type { RunLayout } from '../store-files/layout.ts';
import { isLive } from '../store-files/lost-runs.ts';
import type { RunStore } from '../store-files/run-store.ts';

/** What is kept of a task from one run to the next, in `.runs/tasks/<id>.json`. */
export interface TaskRecord {
  task_id: string;
  /** The id of the conversation with each executor: a text of theirs that means nothing to ACOR. */
  sessions: Record<string, string>;
  /** Its latest run. */
  run_id: string | null;
  /** How many turns that run has had. */
  turns: number;
}

/** Reads what is kept of a task; one that nobody has begun has nothing. */
export function readTask(store: RunStore, taskId: string): TaskRecord {
  const none: TaskRecord = { task_id: taskId, sessions: {}, run_id: null, turns: 0 };
  let text: string;
  try {
    text = readFileSync(fileOf(store, taskId), 'utf8');
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return none;
    throw error;
  }
  try {
    return { ...none, ...(JSON.parse(text) as TaskRecord) };
  } catch {
    throw new AcorError('E_STORAGE', `what is kept of the task '${taskId}' cannot be read`, {
      hint: `Remove it; the next run begins a new conversation: rm '${fileOf(store, taskId)}'`,
    });
  }
}

/** Refuses a second run of a task while one is going on: a conversation has one turn at a time. */
export function refuseWhileLive(store: RunStore, { task_id, run_id }: TaskRecord, own?: string): void {
  if (run_id === null || run_id === own) return;
  const other = recordOf(store, run_id);
  if (other === undefined || !isLive(other)) return;
  throw new AcorError('E_USAGE', `task '${task_id}' is going on already, as run ${run_id} (${other.state})`, {
    hint: 'Follow that run, or cancel it.',
    next: [attachTo(run_id), cancelRun(run_id)],
    details: { run_id },
  });
}

/** Changes what is kept of a task; one process at a time. */
export function changeTask(
  store: RunStore,
  taskId: string,
  change: (record: TaskRecord) => TaskRecord,
): Promise<TaskRecord> {
  const file = fileOf(store, taskId);
  mkdirSync(join(store.root, 'tasks'), { recursive: true });
  return withFileLock(`${file}.lock`, () => {
    const changed = change(readTask(store, taskId));
    writeAtomic(file, `${JSON.stringify(changed)}\n`, { durable: true, mode: 0o600 });
    return changed;
  });
}

/** A run that was cleaned away is over. */
function recordOf(store: RunStore, runId: string): RunRecord | undefined {
  try {
    return store.read(runId);
  } catch {
    return undefined;
  }
}

function fileOf(store: RunStore, taskId: string): string {
  return join(store.root, 'tasks', `${taskId}.json`);
}

const MAX_BYTES = 65_536;
const MAX_ID_CHARS = 256;

/**
 * The id of the conversation that an executor has left as the checkpoint `session`; undefined when there is none. The file lies where the
 * executor could write: no link is followed, and what comes of it is a text of one line.
 */
export function sessionLeftIn({ checkpoints }: RunLayout): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(
      join(checkpoints, 'session.json'),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    const id: unknown = JSON.parse(readFileSync(fd, 'utf8'))?.data?.session_id;
    // It becomes a word of a command line: what looks like a flag would be taken for one.
    const isId = typeof id === 'string' && id.length <= MAX_ID_CHARS && /^[A-Za-z0-9][\w.:-]*$/.test(id);
    return isId ? id : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
