import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { ownFile } from '../registry/own-files.ts';
import type { GivenAnswer } from './turn-questions.ts';

/** A prompt is passed as one argument, and the kernel limits its length (128 KiB on Linux). */
const MAX_PROMPT_BYTES = 100_000;

/** The instructions that teach an executor to report (contract §8). */
export function instructionsFor(words: {
  taskId: string;
  project: string;
  writes: readonly string[];
  /** The folder for new files at the top of the project; null where only `writes` can be written. */
  newFiles: string | null;
}): string {
  const { taskId, project, writes, newFiles } = words;
  const text = readFileSync(ownFile('templates', 'task', 'instructions.md'), 'utf8');
  const filled: Readonly<Record<string, string>> = {
    TASK_ID: taskId,
    PROJECT: project,
    WRITES: writes.length === 0 ? 'nothing' : writes.join(', '),
    NEW_FILES:
      newFiles === null
        ? 'New files at its top cannot be made.'
        : `Make a new file or folder for its top in ${newFiles}: it is put in place when your turn ends.`,
  };
  return text.replaceAll(/\b(TASK_ID|PROJECT|WRITES|NEW_FILES)\b/g, (word) => filled[word]!).trim();
}

/** The first prompt of a run. Throws E_USAGE when it is too long for one argument. */
export function taskPrompt(taskId: string, description: string, plan: string | null): string {
  const planned =
    plan === null ? '' : `\n\nThe plan (${basename(plan)}):\n\n${readFileSync(plan, 'utf8').trim()}`;
  const prompt = `Task ${taskId}: ${description}${planned}`;
  const bytes = Buffer.byteLength(prompt);
  if (bytes <= MAX_PROMPT_BYTES) return prompt;
  throw new AcorError(
    'E_USAGE',
    `description and plan of task '${taskId}' have ${bytes} bytes; at most ${MAX_PROMPT_BYTES} fit into one argument`,
    {
      hint: 'Shorten them: move long text to a file in the project, and name the file in the description.',
    },
  );
}

/** The prompt of a turn that continues. */
export const CONTINUE = 'Continue the task.';

/** The prompt of a turn that continues with answers. */
export function answersPrompt(answers: readonly GivenAnswer[]): string {
  const texts = answers.map(({ question, answer }) => `${question}\nAnswer: ${answer}`);
  return `${texts.join('\n\n')}\n\n${CONTINUE}`;
}

/** The prompt of an attempt that resumes an interrupted one. */
export function resumePrompt(prompt: string, answers: readonly GivenAnswer[]): string {
  const given = answers.length === 0 ? '' : `\n\n${answersPrompt(answers)}`;
  return `You were interrupted. Look at the present state, and continue.\n\n${prompt}${given}`;
}
