import type { AcorApp } from '../../operations/acor-app.ts';
import { type ErrorInfo, errorInfo } from '../../protocol/error-codes.ts';
import { isFinal, type RunState } from '../../protocol/run-state.ts';
import { summariseLog } from '../run/log-summary.ts';
import { readRun } from '../run/read-run.ts';
import type { RunSummary } from '../run/run-summary.ts';
import { summaryOf } from '../run/summary-of.ts';
import { countLines, eventsIn } from '../store-files/follow.ts';
import { type FollowEnd, followRun } from './follow-run.ts';

/** A sign of life of a run; what the tool did not tell is undefined. */
export interface LifeSign {
  pct: number | undefined;
  msg: string | undefined;
}

const MARKS = [Buffer.from('"progress"'), Buffer.from('"heartbeat"')];

/** Follows a run from a `seq` on until it ends, waits for an answer, or `signal` says that it is enough. */
export async function watchRun(
  app: AcorApp,
  runId: string,
  options: { since: number; signal: AbortSignal; onLifeSign?: ((sign: LifeSign) => void) | undefined },
): Promise<{ end: FollowEnd; since: number }> {
  const { store } = await app.project();
  const { onLifeSign, ...follow } = options;
  let { since } = options;
  const end = await followRun(
    store,
    runId,
    { ...follow, atQuestions: true, recovers: true },
    async (lines) => {
      since += countLines(lines);
      if (onLifeSign !== undefined) for (const sign of lifeSignsIn(lines)) onLifeSign(sign);
      return 'written';
    },
  );
  return { end, since };
}

/** Where a run stands, as a surface tells of it. */
export interface RunStatus {
  run: string;
  tool: string;
  state: RunState;
  createdAt: string;
  /** When it last said anything. */
  updatedAt: string;
  progress: LifeSign | undefined;
  /** How it ended; null while it goes on. */
  summary: RunSummary | null;
  /** The row of the table for the code with which it ended. */
  codeInfo: ErrorInfo | undefined;
}

/** Reads where a run stands. Throws E_RUN_NOT_FOUND. */
export async function statusOf(app: AcorApp, runId: string): Promise<RunStatus> {
  const { store, registry } = await app.project();
  const record = await readRun(store, runId);
  const { tool, state, created_at: createdAt, code } = record;
  const { lastEvent, progress } = await summariseLog(store, runId);
  return {
    run: runId,
    tool,
    state,
    createdAt,
    updatedAt: typeof lastEvent?.ts === 'string' ? lastEvent.ts : createdAt,
    progress: progress && lifeSign(progress),
    summary: isFinal(state) ? await summaryOf(store, runId, record) : null,
    codeInfo: code === null ? undefined : errorInfo(code, await registry.errorCodes()),
  };
}

function lifeSignsIn(lines: Uint8Array): LifeSign[] {
  const bytes = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  // Most batches of a busy tool hold nothing of the kind, and need not be parsed.
  if (!MARKS.some((mark) => bytes.includes(mark))) return [];
  return eventsIn(lines)
    .filter(({ type }) => type === 'progress' || type === 'heartbeat')
    .map(lifeSign);
}

function lifeSign({ pct, msg, step }: Readonly<Record<string, unknown>>): LifeSign {
  return {
    pct: typeof pct === 'number' ? pct : undefined,
    msg: typeof msg === 'string' ? msg : typeof step === 'string' ? step : undefined,
  };
}
