import { stderrTail } from '../../core/run/read-log.ts';
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
import { lastRun } from './last-run.ts';

export type { OpenQuestion, RunStatus };

/** The status of a run, for a surface that translates it for its clients. Needs the right to `run.show`. Throws E_RUN_NOT_FOUND and E_PERMISSION. */
export async function runStatus(app: AcorApp, run: string): Promise<RunStatus> {
  await app.authorize({ name: 'run.show', effect: 'reads' }, { run });
  const project = await app.project();
  return statusOf(project, run, () => project.registry.errorCodes());
}

/** The last lines of stderr of a run. */
export async function lastStderr(app: AcorApp, run: string): Promise<string[]> {
  await app.authorize({ name: 'run.show', effect: 'reads' }, { run });
  return stderrTail((await app.project()).store, run);
}

/** The id of a run by what a caller names it: `last` is the newest one. */
export async function namedRun(app: AcorApp, name: string): Promise<string> {
  return name === 'last' ? lastRun((await app.project()).store) : name;
}

/** The open questions of a run, which tool it runs, and the steps that answer those for which it waits. */
export async function runQuestions(
  app: AcorApp,
  run: string,
): Promise<{ tool: string; questions: OpenQuestion[]; answers: NextStep[] }> {
  await app.authorize({ name: 'run.show', effect: 'reads' }, { run });
  const { store } = await app.project();
  const { tool } = await store.read(run);
  const questions = await openQuestionsOf(store, run);
  return { tool, questions, answers: await stepsForOpenQuestions(store, run) };
}

/** The questions of an ended run that have no answer. */
export async function unansweredQuestions(app: AcorApp, run: string): Promise<OpenQuestion[]> {
  await app.authorize({ name: 'run.show', effect: 'reads' }, { run });
  return unansweredQuestionsOf((await app.project()).store, run);
}
