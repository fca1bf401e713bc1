import type { RunStore } from '../ports/run-store.ts';
import { isLive } from './read-run.ts';
import { recoverRun } from './recover-lost-run.ts';
import { SupervisorWatch, untilEndRecorded } from './supervisor-watch.ts';
import type { RunHost } from './workspace.ts';

/**
 * Cancels the live children of a run, recursively, and waits until they have ended. The children of a workflow outlive a supervisor
 * that was killed.
 */
export async function endChildren(
  host: RunHost,
  runId: string,
  reason: string,
  signal?: AbortSignal,
): Promise<void> {
  // A child that ends may still have started children of its own.
  for (const ended = new Set<string>(); ; ) {
    const found = (await leasedChildrenOf(host.store, runId)).filter((id) => !ended.has(id));
    if (found.length === 0) return;
    await Promise.all(found.map((id) => endChild(host, id, reason, signal)));
    for (const id of found) ended.add(id);
  }
}

async function endChild(
  host: RunHost,
  runId: string,
  reason: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { store } = host;
  if (await isLive(store, runId)) {
    await store.control.requestCancel(runId, reason);
    const watch = new SupervisorWatch(store, runId);
    const isAbandoned = () => watch.isGone();
    const options = { wait: true, isAbandoned, ...(signal && { signal }) };
    for await (const _ of store.follow(runId, options));
    await untilEndRecorded(store, runId, signal);
  }
  await recoverRun(host, runId);
}

/** The uppermost runs with a lease below a run: a child may have ended before its own children. */
async function leasedChildrenOf(store: RunStore, runId: string): Promise<string[]> {
  const leased = new Set((await store.leases.list()).map((lease) => lease.runId));
  const found = new Set<string>();
  for (const id of leased) {
    const uppermost = await uppermostBelow(store, runId, id, leased);
    if (uppermost !== undefined) found.add(uppermost);
  }
  return [...found];
}

/** The uppermost leased run on the way from a run up to an ancestor; undefined when that is not its ancestor. */
async function uppermostBelow(
  store: RunStore,
  ancestor: string,
  from: string,
  leased: ReadonlySet<string>,
): Promise<string | undefined> {
  let uppermost: string | undefined;
  const seen = new Set<string>();
  for (let id: string | undefined = from; id !== undefined && !seen.has(id); ) {
    if (id === ancestor) return uppermost;
    seen.add(id);
    if (leased.has(id)) uppermost = id;
    // A run that is just being made or removed has no record.
    id = (await store.read(id).catch(() => undefined))?.parent?.run_id;
  }
  return undefined;
}
