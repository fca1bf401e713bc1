import { errorInfo } from '../../protocol/error-codes.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { FinalState } from '../../protocol/run-state.ts';
import type { RunStore } from '../ports/run-store.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import { summariseLog } from './log-summary.ts';
import type { RunSummary } from './run-summary.ts';

/** How a run ended, read from the store: for a run that another process supervised. `record` is the run as `readRun` reports it. */
export async function summaryOf(store: RunStore, runId: string, record: RunRecord): Promise<RunSummary> {
  const layout = store.layout(runId);
  const { end, ending, failure, denial } = await summariseLog(store, runId);
  const told = failure ?? (ending?.type === 'error' ? ending : undefined);
  const code = (end?.code ?? record.code) as string | null;
  return {
    run_id: runId,
    tool: record.tool,
    state: (end?.state ?? record.state) as FinalState,
    code,
    message: record.message ?? textOrNull(told?.msg),
    hint:
      textOrNull(told?.hint) ??
      textOrNull(denial?.hint) ??
      (code === null ? null : (errorInfo(code)?.hint ?? null)),
    retryable: told?.retryable === true,
    rc: (end?.rc ?? record.rc) as number | null,
    signal: (end?.signal ?? record.signal) as string | null,
    attempt: record.attempt,
    duration_s: (end?.duration_s ?? record.duration_s ?? 0) as number,
    events: (end?.events ?? record.events ?? 0) as number,
    artifacts: (end?.artifacts ?? []) as MeasuredArtifact[],
    survivors: (end?.survivors ?? []) as RunSummary['survivors'],
    result: ending?.type === 'result' ? { ...ending } : null,
    next: (end?.next ?? []) as string[],
    dir: layout.dir,
  };
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
