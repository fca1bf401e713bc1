import { AcorError } from '../../protocol/acor-error.ts';
import { isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { type FileLease, type FileLeases, HeldByAnother } from './file-leases.ts';
import type { KeyOfRun } from './idempotency-keys.ts';
import type { RunLayout } from './layout.ts';
import type { RunFiles } from './run-files.ts';

/** What removing and packing runs needs of a store of files. */
export interface FileRuns {
  readonly root: string;
  readonly leases: FileLeases;
  readonly files: RunFiles;
  listNow(): string[];
  readNow(runId: string): RunRecord;
  findNow(runId: string): RunRecord | undefined;
  layout(runId: string): RunLayout;
  forgetKeys(runs: readonly KeyOfRun[]): Promise<void>;
  forgetPackedKeys(runs: readonly KeyOfRun[]): Promise<void>;
  packKeys(runs: readonly KeyOfRun[]): Promise<void>;
}

/** A run that is to be removed or packed. On a full disk there is no room for its lease, and removing it is what makes room. */
export interface Claimed {
  record: RunRecord;
  lease: FileLease | undefined;
}

/** Packing needs a run whose supervisor is done with its folder; a run that is removed may also be lost. */
type Purpose = 'remove' | 'pack';

/** Does `work` while none of the runs can be resumed. Runs that another process uses are left out. */
export async function withClaimed<T>(
  store: FileRuns,
  runIds: readonly string[],
  purpose: Purpose,
  work: (claimed: readonly Claimed[]) => Promise<T>,
): Promise<T> {
  const wanted = wantedOf(store, runIds, purpose);
  const taken = store.leases.acquireAll([...wanted].map(([runId, { epoch }]) => ({ runId, epoch })));
  try {
    const claimed: Claimed[] = [];
    for (const [runId, { record }] of wanted) {
      const lease = taken.get(runId);
      if (lease instanceof HeldByAnother) continue;
      if (lease instanceof AcorError && (purpose === 'pack' || lease.code !== 'E_DISK_FULL')) throw lease;
      const now = readOrUndefined(store, runId);
      if (now?.epoch === record.epoch)
        claimed.push({ record: now, lease: lease instanceof AcorError ? undefined : lease });
    }
    return await work(claimed);
  } finally {
    for (const lease of taken.values()) if (!(lease instanceof AcorError)) await lease.release();
  }
}

/** The runs that no other process uses, with their next epoch. */
function wantedOf(
  store: FileRuns,
  runIds: readonly string[],
  purpose: Purpose,
): Map<string, { record: RunRecord; epoch: number }> {
  const leases = new Map(store.leases.listNow().map((lease) => [lease.runId, lease]));
  const wanted = new Map<string, { record: RunRecord; epoch: number }>();
  for (const runId of runIds) {
    const record = readOrUndefined(store, runId);
    if (record === undefined || !isRemovable(store, record)) continue;
    if (purpose === 'pack' && !isFinal(record.state)) continue;
    const newest = leases.get(runId);
    // The lease of the recorded epoch is that of the supervisor that has just ended the run; a later one is held by another process.
    const isHeld = newest !== undefined && newest.state !== 'lost';
    if (isHeld && (purpose === 'pack' || newest.epoch > record.epoch)) continue;
    wanted.set(runId, { record, epoch: Math.max(record.epoch, newest?.epoch ?? 0) + 1 });
  }
  return wanted;
}

/** False for a live run, and for the steps of a live workflow at any depth: the workflow reads them. */
export function isRemovable(store: FileRuns, record: RunRecord): boolean {
  if (isLive(store, record)) return false;
  return ancestorsOf(store, record).every((whole) => !isLive(store, whole) && !isReopened(store, whole));
}

/** The runs that a run is a step of, the nearest first. */
export function ancestorsOf(store: FileRuns, record: RunRecord): RunRecord[] {
  const ancestors: RunRecord[] = [];
  const seen = new Set([record.run_id]);
  for (let whole = parentOf(store, record); whole !== undefined && !seen.has(whole.run_id); ) {
    ancestors.push(whole);
    seen.add(whole.run_id);
    whole = parentOf(store, whole);
  }
  return ancestors;
}

/** Those of some runs that an idempotency key started. */
export function keysOf(records: readonly RunRecord[]): KeyOfRun[] {
  return records.flatMap(({ idempotency_key: key, run_id: runId }) => (key ? [{ key, runId }] : []));
}

export function readOrUndefined(store: FileRuns, runId: string): RunRecord | undefined {
  try {
    return store.findNow(runId);
  } catch {
    return undefined;
  }
}

/** Records of earlier builds have no `parent`. */
function parentOf(store: FileRuns, { parent }: RunRecord): RunRecord | undefined {
  return parent ? readOrUndefined(store, parent.run_id) : undefined;
}

function isLive(store: FileRuns, { run_id, state }: RunRecord): boolean {
  return !isFinal(state) && ['live', 'recovering'].includes(store.leases.stateOf(run_id));
}

/** Whether a supervisor has taken an ended run over and has not recorded that yet. */
function isReopened(store: FileRuns, { run_id, state, epoch }: RunRecord): boolean {
  const newest = isFinal(state) ? store.leases.newestNow(run_id) : undefined;
  return newest?.state === 'live' && newest.epoch > epoch;
}
