import { parseLines, type Running } from '../support/project.ts';
import { shownButNotKept } from './invariants.ts';

/** A command whose stream is held against the log when it has ended; `since` is null for one that begins with a start of the run. */
export interface Stream {
  name: string;
  since: number | null;
  running: Running;
}

/** A stream shows what the log has; one that was not killed and does not wait for an answer shows the end of the run, too. */
export async function streamProblems({ name, since, running }: Stream, log: string): Promise<string[]> {
  const { code, signal, stdout, stderr } = await running.finished;
  if (stdout.startsWith('{"ok":true')) return [];
  if (stdout.startsWith('{"ok":false')) return isFair(stdout) ? [] : [`${name} was refused: ${stdout}`];
  const shown = parseLines(stdout.slice(0, stdout.lastIndexOf('\n') + 1));
  const [first] = shown;
  const problems = shownButNotKept(stdout, log, since ?? (first?.seq ?? 1) - 1);
  if (since === null && first !== undefined && first.type !== 'runner_start' && first.to !== 'queued')
    problems.push(`it begins with ${JSON.stringify(first)}`);
  // Where nothing came of the start, the last thing that the follower knew of was the end.
  const last = shown.at(-1) ?? parseLines(log)[(since ?? 0) - 1];
  if (signal === null && code !== 2 && last?.type !== 'runner_end')
    problems.push(`it shows no end (exit code ${code}), but ${JSON.stringify(last)} ${stderr}`);
  return problems.map((problem) => `${name}: ${problem}`);
}

/** A caller whose supervisor died before it had said a word is told so; a run that had ended when its supervisor died is complete. */
function isFair(refusal: string): boolean {
  return (
    refusal.includes('it ended without a word') || refusal.includes('is completed; there is nothing left')
  );
}
