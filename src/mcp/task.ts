import type { CallToolResult, InputRequests } from '@modelcontextprotocol/server';
import { type RunStatus, runQuestions, runStatus } from '../operations/run/run-status.ts';
import { boundedText } from './bounded-text.ts';
import { requestFor } from './client-answers.ts';
import type { Client } from './client-of.ts';
import type { OpenQuestion } from './elicitation.ts';
import type { Host, OpenHost } from './host.ts';
import { lifeSign } from './progress.ts';
import { runResult } from './run-result.ts';

const POLL_MS = 1000;
const MAX_STATUS_CHARS = 300;

/** A run as a task of the extension: its id is the run's. */
interface TaskFields {
  taskId: string;
  createdAt: string;
  lastUpdatedAt: string;
  /** Runs are kept until they are cleaned up. */
  ttlMs: null;
  pollIntervalMs: number;
  statusMessage?: string;
}

/** The answer to a call that became a task. */
export interface CreatedTask extends TaskFields {
  resultType: 'task';
  status: 'working' | 'input_required';
  [key: string]: unknown;
}

/** The answer to `tasks/get`. */
export type DetailedTask = TaskFields &
  (
    | { status: 'working' | 'cancelled' }
    | { status: 'input_required'; inputRequests: InputRequests }
    | { status: 'completed'; result: CallToolResult }
  ) & { [key: string]: unknown };

/** A run as a new task. It is already on disk. */
export async function createdTask(open: OpenHost, runId: string): Promise<CreatedTask> {
  const stand = await runStatus(open.app, runId);
  return {
    resultType: 'task',
    status: stand.state === 'waiting_ai' ? 'input_required' : 'working',
    ...fieldsOf(stand),
  };
}

/**
 * A run as a task. A question that the client cannot answer, or that the user declined (`declined`), ends the task with the
 * question as its result, as it would end a call. The run keeps waiting for acor_answer.
 */
export async function taskOf(
  host: Host,
  open: OpenHost,
  runId: string,
  options: { client: Client; declined: ReadonlySet<string> },
): Promise<DetailedTask> {
  const stand = await runStatus(open.app, runId);
  const fields = fieldsOf(stand);
  if (stand.state === 'cancelled') return { status: 'cancelled', ...fields };
  if (stand.summary !== null)
    return { status: 'completed', ...fields, result: await runResult(host, open, runId) };
  if (stand.state !== 'waiting_ai') return { status: 'working', ...fields };
  const questions = await blockingQuestions(open, runId);
  const requests = questions.flatMap((question) => {
    const request = requestFor(question, options.client);
    return request === undefined || options.declined.has(question.action_id)
      ? []
      : [[question.action_id, request]];
  });
  if (requests.length === 0)
    return { status: 'completed', ...fields, result: await runResult(host, open, runId) };
  return { status: 'input_required', ...fields, inputRequests: Object.fromEntries(requests) };
}

/** The questions that a run waits for. */
export async function blockingQuestions(open: OpenHost, runId: string): Promise<OpenQuestion[]> {
  const { tool, questions } = await runQuestions(open.app, runId);
  return questions.filter(({ blocking }) => blocking).map((question) => ({ ...question, tool }));
}

function fieldsOf({ run, createdAt, updatedAt, progress }: RunStatus): TaskFields {
  const { pct, msg } = progress === undefined ? { pct: undefined, msg: undefined } : lifeSign(progress);
  const parts = [pct === undefined ? undefined : `${pct}%`, msg];
  const statusMessage = boundedText(parts.filter((each) => each !== undefined).join(' '), MAX_STATUS_CHARS);
  return {
    taskId: run,
    createdAt,
    lastUpdatedAt: updatedAt,
    ttlMs: null,
    pollIntervalMs: POLL_MS,
    ...(statusMessage !== '' && { statusMessage }),
  };
}
