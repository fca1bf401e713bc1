import { type DeliveredAnswer, parseAnswer } from './answer-file.ts';

const answers = new Map<string, DeliveredAnswer>();
const wakers = new Set<() => void>();
let partialLine = '';
let listening = false;
let openQuestions = 0;

/** Whether the runner closed its end: no answer will come this way any more. */
export let stdinEnded = false;

/** Begins to read answers from stdin, for as long as a question is open. */
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

/** Lets the process end while its stdin is still open. */
export function closeAnswerLines(): void {
  if (carriesRecords()) return;
  openQuestions -= 1;
  if (openQuestions === 0) process.stdin.pause();
}

/** The answer that came in by stdin, if it did. */
export function answerFromStdin(actionId: string): DeliveredAnswer | undefined {
  return answers.get(actionId);
}

/** Resolves when something came in, at the latest after `ms`. */
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

/** In a pipe stdin belongs to the tool itself, and answers come as files alone. */
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
