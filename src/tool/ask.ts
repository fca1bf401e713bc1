import {
  answerArrived,
  answerFromStdin,
  closeAnswerLines,
  nextActionId,
  openAnswerLines,
  readAnswerFile,
  stdinEnded,
} from './answers.ts';
import { checkCancel } from './cancel.ts';
import { emitter } from './emit.ts';
import type { Fields } from './protocol-emitter.ts';
import { deadlineLeftS, putOffDeadline, waitingStopsDeadline } from './run-context.ts';
import { assertFileName, ToolError } from './tool-error.ts';

/** A question's details (contract §4). */
export interface Question {
  context?: Fields;
  msg?: string;
  /** Ids, or ids with a label and a description. */
  options?: readonly (string | { id: string; label?: string; description?: string })[];
  /** JSON Schema of the answer. */
  schema?: Fields;
  /** The answer that applies when none arrives in time. */
  default?: unknown;
  timeoutS?: number;
  audience?: 'ai' | 'user' | 'model' | 'client';
  /** Set it when a resumed attempt may ask in a different order. */
  actionId?: string;
}

const POLL_MS = 100;
/** The runner has the same deadline and time limit, and its decision counts, so wait a little longer than it does. */
const RUNNER_GRACE_MS = 1000;

/** Asks a question and waits for its answer. An answer that an earlier attempt got is returned without asking again. */
export async function ask<T = unknown>(action: string, question: Question = {}): Promise<T> {
  const actionId = question.actionId ?? nextActionId(action);
  assertFileName('action_id', actionId);
  const earlier = readAnswerFile(actionId);
  if (earlier) return earlier.answer as T;

  openAnswerLines();
  try {
    emitQuestion(action, actionId, question);
    return (await waitForAnswer(action, actionId, question)) as T;
  } finally {
    closeAnswerLines();
  }
}

/** The answer to a question asked with `emitAction`; `undefined` until it arrives. */
export function answerTo(actionId: string): unknown {
  assertFileName('action_id', actionId);
  const delivered = readAnswerFile(actionId);
  if (delivered) putOffDeadline(delivered);
  return delivered?.answer;
}

function emitQuestion(action: string, actionId: string, question: Question): void {
  const { context = {}, timeoutS, actionId: _given, options, ...rest } = question;
  const timeout = timeoutS === undefined ? {} : { timeout_s: timeoutS };
  emitter.emit('action_required', {
    action,
    action_id: actionId,
    // Before what may be long: of a message above the limit, the runner sees the beginning.
    blocking: true,
    context,
    ...(options !== undefined && { options: optionsOf(options) }),
    ...rest,
    ...timeout,
  });
}

function optionsOf(options: unknown): object[] {
  if (Array.isArray(options)) return options.map(optionOf);
  throw new ToolError(
    'E_USAGE',
    `not a list of options: ${JSON.stringify(options)}`,
    "Give a list, such as ['yes', 'no'].",
  );
}

function optionOf(option: unknown): object {
  if (typeof option === 'string') return { id: option };
  if (typeof option === 'object' && option !== null && 'id' in option && typeof option.id === 'string')
    return option;
  throw new ToolError(
    'E_USAGE',
    `not an option: ${JSON.stringify(option)}`,
    'Give each option as a text, or as an object with an id, a label and a description.',
  );
}

async function waitForAnswer(action: string, actionId: string, question: Question): Promise<unknown> {
  const graceMs = process.env['ANSWERS_DIR'] ? RUNNER_GRACE_MS : 0;
  const timeoutMs =
    question.timeoutS === undefined ? Number.POSITIVE_INFINITY : question.timeoutS * 1000 + graceMs;
  const askedMs = performance.now();
  for (;;) {
    const delivered = answerFromStdin(actionId) ?? readAnswerFile(actionId);
    if (delivered) {
      putOffDeadline(delivered);
      return delivered.answer;
    }
    checkCancel();
    if (!waitingStopsDeadline() && (deadlineLeftS() ?? 1) * 1000 <= -graceMs) {
      throw new ToolError('E_DEADLINE', `the deadline passed while '${action}' waited for an answer`);
    }
    const leftMs = askedMs + timeoutMs - performance.now();
    if (leftMs <= 0) {
      return defaultOrThrow(
        question,
        'E_ACTION_TIMEOUT',
        `'${action}' got no answer within ${question.timeoutS} s`,
      );
    }
    if (stdinEnded && !process.env['ANSWERS_DIR']) {
      return defaultOrThrow(question, 'E_ACTION_REQUIRED', `no one can answer '${action}' here`);
    }
    await answerArrived(Math.min(POLL_MS, leftMs));
  }
}

function defaultOrThrow(question: Question, code: string, message: string): unknown {
  if ('default' in question) return question.default;
  throw new ToolError(code, message, 'Answer it beforehand with --answer, or give the question a default.');
}
