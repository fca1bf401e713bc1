import { type ErrorInfo, errorInfo } from '../../protocol/error-codes.ts';
import { isFinal, type RunState } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { Audience } from '../../protocol/v1/wire.ts';
import type { RunStore } from '../ports/run-store.ts';
import { type AskedQuestion, questionsOf } from '../run/answers/open-questions.ts';
import { readQuestion } from '../run/answers/question.ts';
import { lastEventOf, lastProgress } from '../run/read-log.ts';
import { readRun } from '../run/read-run.ts';
import type { RunSummary } from '../run/run-summary.ts';
import { summaryOf } from '../run/summarise-run.ts';
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
  const lastEvent = await lastEventOf(store, runId);
  const progress = await lastProgress(store, runId);
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

/** A question that is open for an answer, in wire format. */
export interface OpenQuestion {
  /** The run to answer, when that is a run that this one started. */
  run_id?: string;
  action_id: string;
  action: string;
  audience: Audience;
  /** Whether it blocks the run. */
  blocking: boolean;
  msg: string | null;
  context: Record<string, unknown>;
  options: Record<string, unknown>[] | null;
  /** JSON Schema of the answer. */
  schema: Record<string, unknown> | null;
  /** Seconds after which the run goes on without an answer. */
  timeout_s?: number;
  /** The answer that it then takes; without one it fails. */
  default?: unknown;
  /** The command that answers, where only the caller knows a valid answer. Operations add it. */
  answer_with?: string;
}

/** The open questions of a run. */
export async function openQuestionsOf(store: RunStore, runId: string): Promise<OpenQuestion[]> {
  return (await questionsOf(store, runId)).filter(({ isOpen }) => isOpen).map(asShown);
}

/** The questions without an answer that a run did not wait for, also of an ended run, and those for whose lack of an answer it failed. */
export async function unansweredQuestionsOf(
  store: RunStore,
  { run_id, code }: Pick<RunRecord, 'run_id' | 'code'>,
): Promise<OpenQuestion[]> {
  const questions = await questionsOf(store, run_id);
  return questions
    .filter(
      ({ answered, asked }) =>
        answered === undefined && (asked.blocking !== true || code === 'E_ACTION_REQUIRED'),
    )
    .map(asShown);
}

/** The open questions of a live run, and those of an ended run that have no answer. */
export async function shownQuestionsOf(
  store: RunStore,
  record: Pick<RunRecord, 'run_id' | 'state' | 'code'>,
): Promise<OpenQuestion[]> {
  return isFinal(record.state) ? unansweredQuestionsOf(store, record) : openQuestionsOf(store, record.run_id);
}

function asShown({ asked }: AskedQuestion): OpenQuestion {
  const question = readQuestion(asked);
  const { actionId, action, audience, blocking, msg, context, options, schema, timeoutS } = question;
  return {
    action_id: actionId,
    action,
    audience,
    blocking,
    msg: msg ?? null,
    context: { ...context },
    options: options?.map((option) => ({ ...option })) ?? null,
    schema: schema === undefined ? null : { ...schema },
    ...(timeoutS !== undefined && { timeout_s: timeoutS }),
    ...(question.default !== undefined && { default: question.default.value }),
  };
}
