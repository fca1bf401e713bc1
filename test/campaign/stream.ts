import { parseLines, type Running } from '../support/project.ts';
import { shownButNotKept } from './invariants.ts';

/** A command whose stream is compared with the log after its end; `since` is null for one that starts with the start of the run. */
export interface Stream {
  name: string;
  since: number | null;
  running: Running;
}

/** A stream shows what the log has. If it was not killed and does not wait for an answer, it also shows the end of the run. */
export async function streamProblems({ name, since, running }: Stream, log: string): Promise<string[]> {
  const { code, signal, stdout, stderr } = await running.finished;
  if (stdout.startsWith('{"ok":true')) return [];
  if (stdout.startsWith('{"ok":false')) return isFair(stdout) ? [] : [`${name} was refused: ${stdout}`];
  const shown = parseLines(stdout.slice(0, stdout.lastIndexOf('\n') + 1));
  const [first] = shown;
  const problems = shownButNotKept(stdout, log, since ?? (first?.seq ?? 1) - 1);
  if (since === null && first !== undefined && first.type !== 'runner_start' && first.to !== 'queued')
    problems.push(`it begins with ${JSON.stringify(first)}`);
  // When the start failed, the last event that the follower received is the end.
  const last = shown.at(-1) ?? parseLines(log)[(since ?? 0) - 1];
  if (signal === null && code !== 2 && last?.type !== 'runner_end')
    problems.push(`it shows no end (exit code ${code}), but ${JSON.stringify(last)} ${stderr}`);
  return problems.map((problem) => `${name}: ${problem}`);
}

/** A caller whose supervisor died before its first event gets an error; a run that ended before its supervisor died is complete. */
function isFair(refusal: string): boolean {
  return refusal.includes('it ended without a word') || refusal.includes('has completed; there is nothing');
}
