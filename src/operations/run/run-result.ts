import { AppError } from '../../compose/app-error.ts';
import type { Answer, FailureResult } from '../../compose/operation.ts';
import type { RunSummary } from '../../core/run/run-summary.ts';
import { failedChildOf } from '../../core/run/steps-after.ts';
import type { OpenQuestion } from '../../core/supervision/run-status.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import { isOrchestration, kindOfName } from '../../protocol/run.ts';
import type { AcorApp } from '../acor-app.ts';
import type { ListedArtifact } from './artifacts-of.ts';

/** The exit code that a shell expects of a program that Ctrl-C ended. */
const EXIT_INTERRUPTED = 130;

/** The answer of a command that only followed a run, and that Ctrl-C ended. */
export function interrupted(next?: readonly NextStep[]): FailureResult<never> {
  const error = new AppError('E_CANCELLED', 'interrupted; nothing was done to the run', { next });
  return { kind: 'failure', error, exit: EXIT_INTERRUPTED };
}

/** How a run ended, as data shows it. */
export type ShownSummary = Omit<RunSummary, 'next' | 'warnings' | 'artifacts'> & {
  artifacts: ListedArtifact[];
  next: string[];
  questions?: OpenQuestion[];
};

/** How to show a run, and which exit code the command ends with. */
export interface ShownAs {
  /** Undefined: as `streams` decides. */
  stream?: boolean | undefined;
  detach: boolean;
  exit_code: 'acor' | 'tool';
}

/** The answer of `acor run` after the end of the run. Without `hasAsked` its record says whether it has asked anything. */
export async function answerOf(
  summary: RunSummary,
  { exit_code, hasAsked }: Pick<ShownAs, 'exit_code'> & { hasAsked?: boolean },
  app: AcorApp,
): Promise<Answer<ShownSummary>> {
  if (summary.code !== null) await app.readErrorCodes();
  const exit = exitOf(summary, exit_code, app);
  const questions = hasAsked === false ? [] : await unansweredOf(summary, app);
  const { warnings, ...shown } = {
    ...summary,
    artifacts: await endArtifacts(summary, app),
    ...(questions.length > 0 && { questions }),
    next: summary.next.map((step) => app.commandOf(step)),
  };
  if (summary.state === 'completed') {
    const asked = exit_code === 'tool' ? { programExit: exit } : {};
    const next = [...summary.next, ...(await restarts(summary, questions, app))];
    return {
      kind: 'data',
      data: { ...shown, next: next.map((step) => app.commandOf(step)) },
      ...asked,
      next,
      warnings,
    };
  }
  if (summary.state === 'cancelled') {
    const error = new AppError('E_CANCELLED', 'the run was cancelled', { next: summary.next });
    return { kind: 'failure', error, data: shown, exit, warnings };
  }
  const { code, message, hint, retryable } = summary;
  const { store } = await app.project();
  const { stderrTail, summariseLog } = await import('../../core/run/read-log.ts');
  // A tool may have removed its own log.
  const failedRun = failedChildOf(summary);
  const stderr = await stderrTail(store, failedRun ?? summary.run_id).catch(() => []);
  const ending = await summariseLog(store, summary.run_id).then(
    (log) => log.ending,
    () => undefined,
  );
  const data = ending?.type === 'error' ? ending.data : undefined;
  const error = new AppError(code ?? 'E_UNKNOWN', message ?? 'the run failed', {
    hint: hint ?? undefined,
    next: summary.next,
    retryable,
    details: {
      ...(failedRun !== undefined && { failed_run: failedRun }),
      ...(stderr.length > 0 && { stderr }),
      ...(data !== undefined && { data }),
    },
  });
  return { kind: 'failure', error, data: shown, exit, warnings };
}

/** The artifacts of an ended run, with those of its steps. */
export async function endArtifacts(
  { run_id, tool, artifacts }: RunSummary,
  app: AcorApp,
): Promise<ListedArtifact[]> {
  if (!isOrchestration(kindOfName(tool))) return artifacts;
  return (await import('./artifacts-of.ts')).listedArtifacts(app, run_id);
}

/** What the tool asked and has no answer. */
async function unansweredOf(summary: RunSummary, app: AcorApp): Promise<OpenQuestion[]> {
  const { store } = await app.project();
  // A tool may have removed its own record.
  const record = await store.read(summary.run_id).catch(() => undefined);
  if (record === undefined || record.has_questions === false) return [];
  const { unansweredQuestionsOf } = await import('../../core/supervision/run-status.ts');
  return unansweredQuestionsOf(store, summary);
}

/** Loaded late: most runs ask nothing. */
async function restarts(
  summary: RunSummary,
  questions: readonly OpenQuestion[],
  app: AcorApp,
): Promise<NextStep[]> {
  if (questions.length === 0) return [];
  return (await import('./restarts.ts')).restartsWithAnswers(summary, questions, app);
}

function exitOf({ state, code, rc }: RunSummary, exitCode: ShownAs['exit_code'], app: AcorApp): number {
  if (exitCode === 'tool') {
    if (state === 'cancelled') return EXIT_INTERRUPTED;
    if (code === 'E_DEADLINE' || code === 'E_TIMEOUT') return 124;
    return state === 'completed' ? (rc ?? 0) : rc || 1;
  }
  if (state === 'completed') return 0;
  return code === null ? 1 : (app.errorInfo(code)?.exit ?? 1);
}
