import { type DeliveredAnswer, parseAnswer } from './answer-file.ts';

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
