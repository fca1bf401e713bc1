import type { RunRecord } from '../../protocol/run-record.ts';
import { STOP_MARGIN_MS, stopMs } from './attempt/guards/clocks.ts';
import { killProcessesOf } from './recover-lost-run.ts';
import { SupervisorWatch } from './supervisor-watch.ts';
import type { RunHost } from './workspace.ts';

/**
 * Asks the supervisor of a run to cancel it, and waits until the run has ended or its supervisor is gone. When the supervisor has not
 * stopped the tool after both grace periods, this process kills the tool: the supervisor may be stopped or blocked. Throws
 * E_RUNNER_LOST when the supervisor does not react at all.
 */
export async function cancelRun(
  host: RunHost,
  record: RunRecord,
  { reason, by, graceS, signal }: { reason: string; by: string; graceS: number; signal: AbortSignal },
): Promise<void> {
  const { store } = host;
  const { run_id: runId, kind } = record;
  const since = (await store.extent(runId)).events;
  await store.control.requestCancel(runId, reason, { by });
  const watch = new SupervisorWatch(store, runId);
  // Workflows and pipes have no processes of their own: the supervisors of their children stop these.
  let killAtMs =
    kind === 'tool' ? performance.now() + stopMs(graceS) + STOP_MARGIN_MS : Number.POSITIVE_INFINITY;
  const isAbandoned = async () => {
    if (await watch.isGone()) return true;
    if (performance.now() < killAtMs) return false;
    killAtMs = Number.POSITIVE_INFINITY;
    await store.control.requestCancel(runId, reason, { by, force: true });
    await killProcessesOf(record, host.workspaces.of(runId));
    return false;
  };
  for await (const _ of store.follow(runId, { since, wait: true, signal, isAbandoned }));
}
