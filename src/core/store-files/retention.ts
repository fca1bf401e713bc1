import { rmSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { cancelRun } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { Ledger } from './ledger.ts';
import { isLive } from './lost-runs.ts';
import type { RunStore } from './run-store.ts';
import { storageError } from './storage-error.ts';

export interface RetentionRule {
  /** Keep this many of the newest runs. */
  keep?: number;
  /** Remove only what ended longer ago than this. */
  olderThanMs?: number;
}

/** The runs that a rule would remove, oldest first. A live run is never among them. */
export function selectRemovable(store: RunStore, rule: RetentionRule, nowMs: number = Date.now()): string[] {
  const ids = store.list();
  const old = rule.keep === undefined ? ids : ids.slice(0, Math.max(0, ids.length - rule.keep));
  return old.filter((runId) => {
    const record = readOrUndefined(store, runId);
    if (record === undefined) return false;
    if (isLive(record) || isPartOfLive(store, record)) return false;
    const endedMs = Date.parse(record.ended_at ?? record.created_at);
    return rule.olderThanMs === undefined || nowMs - endedMs > rule.olderThanMs;
  });
}

/** A workflow that goes on reads what its steps gave where they left it. */
function isPartOfLive(store: RunStore, { parent }: RunRecord): boolean {
  // Absent in records of earlier builds.
  const whole = parent ? readOrUndefined(store, parent.run_id) : undefined;
  return whole !== undefined && isLive(whole);
}

/** Removes a run's folder; the ledger keeps its line and says that it was cleaned. */
export async function removeRun(store: RunStore, runId: string): Promise<void> {
  const { dir } = store.layout(runId);
  const record = store.read(runId);
  if (isLive(record)) {
    throw new AcorError('E_USAGE', `run ${runId} is still going`, {
      hint: 'Cancel it first.',
      next: [cancelRun(runId)],
    });
  }
  await new Ledger(store.root).append({ type: 'cleaned', run_id: runId });
  if (record.idempotency_key) store.forgetKey(record.idempotency_key);
  try {
    rmSync(dir, { recursive: true, force: true });
  } catch (error) {
    throw storageError(error, 'remove the run', dir);
  }
}

function readOrUndefined(store: RunStore, runId: string): RunRecord | undefined {
  try {
    return store.read(runId);
  } catch {
    return undefined;
  }
}
