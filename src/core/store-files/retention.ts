import { AcorError } from '../../protocol/acor-error.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { isFinal } from '../../protocol/run-state.ts';
import type { RunStore } from '../ports/run-store.ts';

export interface RetentionRule {
  /** Keep this many of the newest runs. */
  keep?: number;
  /** Remove only what ended longer ago than this. */
  olderThanMs?: number;
}

/** The runs that a rule would remove, oldest first. A live run is never among them. */
export async function selectRemovable(
  store: RunStore,
  rule: RetentionRule,
  nowMs: number = Date.now(),
): Promise<string[]> {
  const ids = await store.list();
  const old = rule.keep === undefined ? ids : ids.slice(0, Math.max(0, ids.length - rule.keep));
  const removable: string[] = [];
  for (const runId of old) if (await isRemovable(store, runId, rule, nowMs)) removable.push(runId);
  return removable;
}

async function isRemovable(
  store: RunStore,
  runId: string,
  { olderThanMs }: RetentionRule,
  nowMs: number,
): Promise<boolean> {
  const record = await readOrUndefined(store, runId);
  if (record === undefined) return false;
  if ((await isLive(store, record)) || (await isPartOfLive(store, record))) return false;
  const endedMs = Date.parse(record.ended_at ?? record.created_at);
  return olderThanMs === undefined || nowMs - endedMs > olderThanMs;
}

/** A live workflow reads the results of its steps from their folders. */
async function isPartOfLive(store: RunStore, { parent }: RunRecord): Promise<boolean> {
  // Absent in records of earlier builds.
  const whole = parent ? await readOrUndefined(store, parent.run_id) : undefined;
  return whole !== undefined && isLive(store, whole);
}

/** Removes a run that is over; the ledger keeps its line and says that it was cleaned. */
export async function removeRun(store: RunStore, runId: string): Promise<void> {
  if (await isLive(store, await store.read(runId))) {
    throw new AcorError('E_USAGE', `run ${runId} is still going`, {
      hint: `Cancel it first: acor cancel ${runId}`,
      next: [`acor cancel ${runId}`],
    });
  }
  await store.remove(runId);
}

async function isLive(store: RunStore, { run_id, state }: RunRecord): Promise<boolean> {
  return !isFinal(state) && (await store.leases.inspect(run_id)) === 'live';
}

function readOrUndefined(store: RunStore, runId: string): Promise<RunRecord | undefined> {
  return store.read(runId).catch(() => undefined);
}
