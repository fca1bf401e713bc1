import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { attachTo, cancelRun } from '../../protocol/next-steps.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { withFileLock } from '../../util/file-lock.ts';
import { makePrivateFolder } from '../../util/files.ts';
import { readOwn } from '../../util/regular-file.ts';
import type { Metrics } from '../cost/run-spending.ts';
import type { RunStore } from '../ports/run-store.ts';
import { livenessOf } from '../run/read-run.ts';
import { untilEndRecorded } from '../run/supervisor-watch.ts';
import type { RunWorkspace } from '../run/workspace.ts';

/** The persistent state of a task, in `.runs/tasks/<id>.json`. */
export interface TaskRecord {
  task_id: string;
  /** The conversation id of each executor, opaque to ACOR. */
  sessions: Record<string, string>;
  /** The totals that each conversation reported last, of executors that report totals. */
  totals: Record<string, Metrics>;
  /** The task's latest run. */
  run_id: string | null;
  /** The number of turns of that run. */
  turns: number;
}

/** Reads the state of a task; empty for a new task. */
export function readTask(runsDir: string, taskId: string): TaskRecord {
  const none: TaskRecord = { task_id: taskId, sessions: {}, totals: {}, run_id: null, turns: 0 };
  let text: string;
  try {
    text = readOwn(fileOf(runsDir, taskId)).toString();
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return none;
    throw error;
  }
  try {
    return { ...none, ...(JSON.parse(text) as TaskRecord) };
  } catch {
    throw new AcorError('E_STORAGE', `the record of the task '${taskId}' cannot be read`, {
      hint: `Remove it; the next run starts a new conversation: rm '${fileOf(runsDir, taskId)}'`,
    });
  }
}

/** Rejects a second run of a task while one is live: a conversation has one turn at a time. */
export async function refuseWhileLive(
  store: RunStore,
  { task_id, run_id }: TaskRecord,
  own?: string,
): Promise<void> {
  if (run_id === null || run_id === own) return;
  // A removed run has ended.
  const liveness = () => livenessOf(store, run_id).catch(() => undefined);
  if ((await liveness())?.liveness === 'live') await untilEndRecorded(store, run_id);
  const other = await liveness();
  if (other?.liveness !== 'live') return;
  throw new AcorError(
    'E_USAGE',
    `task '${task_id}' already has a live run ${run_id} (${other.record.state})`,
    {
      hint: 'Follow that run, or cancel it.',
      next: [attachTo(run_id), cancelRun(run_id)],
      details: { run_id },
    },
  );
}

/** Changes the state of a task, under a lock. */
export function changeTask(
  runsDir: string,
  taskId: string,
  change: (record: TaskRecord) => TaskRecord | Promise<TaskRecord>,
): Promise<TaskRecord> {
  const file = fileOf(runsDir, taskId);
  makePrivateFolder(join(runsDir, 'tasks'));
  return withFileLock(`${file}.lock`, async () => {
    const changed = await change(readTask(runsDir, taskId));
    writeAtomic(file, `${JSON.stringify(changed)}\n`, { durable: true, mode: 0o600 });
    return changed;
  });
}

function fileOf(runsDir: string, taskId: string): string {
  return join(runsDir, 'tasks', `${taskId}.json`);
}

const MAX_BYTES = 65_536;
const MAX_ID_CHARS = 256;

/**
 * The conversation id that an executor left as the checkpoint `session`; undefined without one. The executor can write
 * this folder, so no link is followed and only one line of text is accepted.
 */
export function sessionLeftIn({ checkpoints }: RunWorkspace): string | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(
      join(checkpoints, 'session.json'),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    const stats = fstatSync(fd);
    if (!stats.isFile() || stats.size > MAX_BYTES) return undefined;
    const id: unknown = JSON.parse(readFileSync(fd, 'utf8'))?.data?.session_id;
    // The id becomes an argument, so it must not look like a flag.
    const isId = typeof id === 'string' && id.length <= MAX_ID_CHARS && /^[A-Za-z0-9][\w.:-]*$/.test(id);
    return isId ? id : undefined;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
