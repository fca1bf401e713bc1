import { wordsAgain } from '../../core/registry/tool-schema.ts';
import type { RunSummary } from '../../core/run/run-summary.ts';
import type { OpenQuestion } from '../../core/supervision/run-status.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import type { AcorApp } from '../acor-app.ts';

/** At most so many answers are offered as commands. */
const SHOWN_CHOICES = 3;

/**
 * The steps that start a program again with the answers to what it asked: one that writes markers asks and goes on, and reads no answer
 * (seed 003). After several questions the one step has the first option of each, for the caller to change.
 */
export async function restartsWithAnswers(
  { run_id, tool }: Pick<RunSummary, 'run_id' | 'tool'>,
  questions: readonly OpenQuestion[],
  app: AcorApp,
): Promise<NextStep[]> {
  if (questions.length === 0) return [];
  const { store, registry } = await app.project();
  const { given_args, kind } = await store.read(run_id);
  const entry = kind === 'tool' ? await registry.find(tool).catch(() => undefined) : undefined;
  if (entry?.adapter !== 'markers' || given_args === null) return [];
  const args = wordsAgain(entry, given_args);
  return answersTo(questions).map(({ answer, why }) => ({
    operation: 'run.start',
    input: { tool, args, answer },
    why,
  }));
}

function answersTo(questions: readonly OpenQuestion[]): { answer: string[]; why: string }[] {
  const choices = questions.map(({ action_id, options }) =>
    (options ?? []).map(({ id, label }) => ({
      answer: `${action_id}=${String(id)}`,
      words: String(label ?? id),
    })),
  );
  const [only = [], ...others] = choices;
  if (others.length === 0)
    return only.slice(0, SHOWN_CHOICES).map(({ answer, words }) => ({
      answer: [answer],
      why: `Start it again with the answer ${words}.`,
    }));
  const first = choices.flatMap(([option]) => option ?? []);
  if (first.length < choices.length) return [];
  return [
    {
      answer: first.map(({ answer }) => answer),
      why: `Start it again with an answer to each question, such as ${first.map(({ words }) => words).join(', ')}.`,
    },
  ];
}
