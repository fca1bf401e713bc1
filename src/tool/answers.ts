import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const answers = new Map<string, DeliveredAnswer>();
const wakers = new Set<() => void>();
let partialLine = '';
let listening = false;
let openQuestions = 0;

/** Whether the runner closed its end, so that no answers will arrive on stdin any more. */
export let stdinEnded = false;

/** Starts to read answers from stdin while a question is open. */
export function openAnswerLines(): void {
  if (carriesRecords()) return;
  openQuestions += 1;
  if (!listening) {
    listening = true;
    process.stdin.setEncoding('utf8');
    process.stdin.on('data', (chunk: string) => take(chunk));
    process.stdin.on('end', markEnded);
    process.stdin.on('error', markEnded);
  }
  process.stdin.resume();
}

/** Lets the process exit while its stdin is still open. */
export function closeAnswerLines(): void {
  if (carriesRecords()) return;
  openQuestions -= 1;
  if (openQuestions === 0) process.stdin.pause();
}

/** The answer that arrived on stdin, if any. */
export function answerFromStdin(actionId: string): DeliveredAnswer | undefined {
  return answers.get(actionId);
}

/** Resolves when a line arrived, at the latest after `ms`. */
export function answerArrived(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      wakers.delete(wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    wakers.add(wake);
  });
}

/** In a pipe, stdin contains the records, and answers arrive only as files. */
function carriesRecords(): boolean {
  return process.env['ACOR_STDIN'] === 'records';
}

function take(chunk: string): void {
  const lines = (partialLine + chunk).split('\n');
  partialLine = lines.pop() ?? '';
  for (const line of lines) {
    const delivered = parseAnswer(line);
    if (delivered) answers.set(delivered.action_id, delivered);
  }
  wakeAll();
}

function markEnded(): void {
  stdinEnded = true;
  wakeAll();
}

function wakeAll(): void {
  for (const wake of [...wakers]) wake();
}

/** An answer that the tool gets: a line on stdin or a file in ANSWERS_DIR (contract §4). */
interface DeliveredAnswer {
  action_id: string;
  answer: unknown;
  /** The question's action, if the runner sends it. */
  action?: string;
  /** The run's deadline, if the wait has extended it, and the attempt that it applies to. */
  deadline_ts?: string;
  attempt?: number;
}

/** The answer in the answers folder, if it exists. */
export function readAnswerFile(actionId: string): DeliveredAnswer | undefined {
  const dir = process.env['ANSWERS_DIR'];
  if (!dir) return undefined;
  try {
    const delivered = parseAnswer(readFileSync(join(dir, `${actionId}.json`), 'utf8'));
    return delivered?.action_id === actionId ? delivered : undefined;
  } catch {
    return undefined;
  }
}

/** Parses one answer; undefined for anything else. */
function parseAnswer(text: string): DeliveredAnswer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const isAnswer =
      'type' in value &&
      value.type === 'action_answer' &&
      'action_id' in value &&
      typeof value.action_id === 'string' &&
      'answer' in value;
    return isAnswer ? (value as DeliveredAnswer) : undefined;
  } catch {
    return undefined;
  }
}

let asked = 0;

/**
 * `a-1`, `a-2` … in the order of asking, so that a restarted attempt finds its earlier answers. A number whose answer
 * belongs to a different action is skipped: a resumed attempt may not ask everything again.
 */
export function nextActionId(action: string): string {
  for (;;) {
    asked += 1;
    const actionId = `a-${asked}`;
    const earlier = readAnswerFile(actionId);
    if (earlier?.action === undefined || earlier.action === action) return actionId;
  }
}
