import { questionsOf } from '../../core/run/answers/open-questions.ts';
import { readQuestion } from '../../core/run/answers/question.ts';
import { stderrTail } from '../../core/run/read-log.ts';
import type { RunSummary } from '../../core/run/run-summary.ts';
import { failedChildOf } from '../../core/run/steps-after.ts';
import { stepsForOpenQuestions } from '../../core/supervision/follow-run.ts';
import {
  type OpenQuestion,
  openQuestionsOf,
  type RunStatus,
  statusOf,
  unansweredQuestionsOf,
} from '../../core/supervision/run-status.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import type { AcorApp } from '../acor-app.ts';
import { mayAnswer } from '../needs-person.ts';

export { namedRun } from './last-run.ts';
export { restartsWithAnswers } from './restarts.ts';
export { endArtifacts } from './run-result.ts';
export type { OpenQuestion, RunStatus };

/** The status of a run, for a surface that translates it for its clients. Needs the right to `run.show`. Throws E_RUN_NOT_FOUND and E_PERMISSION. */
export async function runStatus(app: AcorApp, run: string): Promise<RunStatus> {
  await app.authorize({ name: 'run.show', effect: 'reads' }, { run });
  const project = await app.project();
  return statusOf(project, run, () => project.registry.errorCodes());
}

/** The last lines of stderr of a failed run, or of the step that failed it. */
export async function lastStderr(app: AcorApp, summary: RunSummary): Promise<string[]> {
  const { run_id } = summary;
  await app.authorize({ name: 'run.show', effect: 'reads' }, { run: run_id });
  return stderrTail((await app.project()).store, failedChildOf(summary) ?? run_id);
}

/** The open questions of a run, for a caller without a person. */
export interface RunQuestions {
  tool: string;
  questions: OpenQuestion[];
  /** The ids of those that this caller may answer. */
  answerable: ReadonlySet<string>;
  /** The steps that answer those for which the run waits. */
  answers: NextStep[];
}

export async function runQuestions(app: AcorApp, run: string): Promise<RunQuestions> {
  await app.authorize({ name: 'run.show', effect: 'reads' }, { run });
  const { store, config } = await app.project();
  const { tool } = await store.read(run);
  const questions = await openQuestionsOf(store, run);
  if (questions.length === 0) return { tool, questions, answerable: new Set(), answers: [] };
  const isAllowed = await app.policyAllows({ name: 'run.answer', effect: 'writes' }, { run });
  const answerable = new Set<string>();
  for (const { asked } of isAllowed ? await questionsOf(store, run) : []) {
    const question = readQuestion(asked);
    const { principal, env } = app;
    if (await mayAnswer(question, { principal, root: config.root, env })) answerable.add(question.actionId);
  }
  const answers = (await stepsForOpenQuestions(store, run)).filter(
    (step) => 'input' in step && answerable.has(String(step.input['action_id'])),
  );
  return { tool, questions, answerable, answers };
}

/** The questions of an ended run that have no answer. */
export async function unansweredQuestions(app: AcorApp, summary: RunSummary): Promise<OpenQuestion[]> {
  await app.authorize({ name: 'run.show', effect: 'reads' }, { run: summary.run_id });
  return unansweredQuestionsOf((await app.project()).store, summary);
}
