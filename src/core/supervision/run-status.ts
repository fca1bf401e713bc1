import { type ErrorInfo, errorInfo } from '../../protocol/error-codes.ts';
import { isFinal, type RunState } from '../../protocol/run-state.ts';
import { summariseLog } from '../run/log-summary.ts';
import { readRun } from '../run/read-run.ts';
import { type RunSummary, summaryOf } from '../run/run-summary.ts';
import type { RunHost } from '../run/workspace.ts';

/** The status of a run, for a surface that translates it for its clients. */
export interface RunStatus {
  run: string;
  tool: string;
  state: RunState;
  createdAt: string;
  /** The time of its last event. */
  updatedAt: string;
  /** The last progress event. */
  progress: Readonly<Record<string, unknown>> | undefined;
  /** How it ended; null until then. */
  summary: RunSummary | null;
  /** The error table's row for its final code. */
  codeInfo: ErrorInfo | undefined;
}

/** Reads the status of a run. Throws E_RUN_NOT_FOUND. */
export async function statusOf(
  host: RunHost,
  runId: string,
  errorCodes: () => Promise<Readonly<Record<string, ErrorInfo>>>,
): Promise<RunStatus> {
  const { store } = host;
  const record = await readRun(store, runId);
  const { tool, state, created_at: createdAt, code } = record;
  const { lastEvent, progress } = await summariseLog(store, runId);
  return {
    run: runId,
    tool,
    state,
    createdAt,
    updatedAt: typeof lastEvent?.ts === 'string' ? lastEvent.ts : createdAt,
    progress,
    summary: isFinal(state) ? await summaryOf(host, runId, record) : null,
    codeInfo: code === null ? undefined : errorInfo(code, await errorCodes()),
  };
}
