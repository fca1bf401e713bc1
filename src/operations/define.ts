import type * as z from 'zod';
import { AppError } from '../compose/app-error.ts';
import type { NextStep } from '../compose/next-step.ts';
import {
  type Answer,
  defineOperation,
  type Operation,
  type OperationContext,
  type OperationDescription,
  type OperationResult,
} from '../compose/operation.ts';
import type { PlainCommand, PlainForm } from '../compose/plain-command.ts';
import { AcorError } from '../protocol/acor-error.ts';
import type { AcorApp } from './acor-app.ts';
import { calledWith } from './acor-app.ts';
import { PLAIN_FORMS } from './plain-forms.ts';

/**
 * Defines an operation of ACOR. It checks that the caller is authorized before it runs, converts each AcorError to the kit's AppError, reads
 * the project's own error codes after a failure, and offers no next step that the policy refuses to the caller.
 */
export function acorOperation<I extends z.ZodObject, O extends z.ZodType>(
  operation: Operation<AcorApp, I, O>,
): Operation<AcorApp, I, O> {
  return defineOperation({
    ...operation,
    run: (input, ctx) => performed(operation, input, ctx, (meant) => operation.run(meant, ctx)),
  });
}

/** The same for the command lines that need no schema. `run` is that of the operation. */
export function plainCommand<I>(
  name: keyof typeof PLAIN_FORMS,
  run: (input: I, ctx: OperationContext<AcorApp>) => Promise<OperationResult<unknown>>,
): PlainCommand<AcorApp> {
  const form: PlainForm = PLAIN_FORMS[name];
  // The table has what the schema of the input has, which a test compares.
  return { ...form, run: (input, ctx) => performed(form, input, ctx, (meant) => run(meant as I, ctx)) };
}

type Facts = Pick<OperationDescription, 'name' | 'effect' | 'readsWithout'>;

async function performed<I extends Record<string, unknown>, T>(
  operation: Facts,
  input: I,
  ctx: OperationContext<AcorApp>,
  run: (input: I) => Promise<OperationResult<T>>,
): Promise<OperationResult<T>> {
  try {
    await ctx.app.refuseGone();
    const meant = input['run'] === 'last' ? { ...input, run: await newestRun(ctx.app) } : input;
    await ctx.app.authorize(calledWith(operation, meant), meant);
    await refuseFiles(operation, meant, ctx.app);
    const result = await runIn(operation, meant, ctx, () => run(meant));
    if (result.kind === 'failure') await ctx.app.readErrorCodes();
    return await resultFor(ctx.app, result);
  } catch (error) {
    await ctx.app.readErrorCodes();
    const known = error instanceof AppError || error instanceof AcorError ? error : await described(error);
    const thrown = known instanceof AcorError ? asAppError(known) : known;
    throw thrown instanceof AppError ? await errorFor(ctx.app, thrown) : thrown;
  }
}

/** With --ci, the job shows the end of the run. The findings of `validate` are another report. */
async function runIn<T>(
  { name }: Facts,
  input: Readonly<Record<string, unknown>>,
  ctx: OperationContext<AcorApp>,
  run: () => Promise<OperationResult<T>>,
): Promise<OperationResult<T>> {
  if (input['ci'] !== true || name === 'project.validate') return run();
  const { reportInJob } = await import('./run/job-report.ts');
  return reportInJob(ctx, run);
}

async function described(error: unknown): Promise<unknown> {
  const { describeClosed } = await import('./closed-place.ts');
  return describeClosed(error);
}

/** A client of a server may name no file outside of the project. */
async function refuseFiles(
  operation: { name: string },
  input: Readonly<Record<string, unknown>>,
  app: AcorApp,
): Promise<void> {
  if (app.surface !== 'mcp' && app.surface !== 'http') return;
  const { refuseClientFiles } = await import('./client-files.ts');
  await refuseClientFiles(operation.name, input, app);
}

async function resultFor<T>(app: AcorApp, result: OperationResult<T>): Promise<OperationResult<T>> {
  switch (result.kind) {
    case 'bytes':
      return result;
    case 'events':
      return {
        ...result,
        async ended() {
          const { answer, ...end } = await result.ended();
          return { ...(await factsFor(app, end)), answer: await answerFor(app, answer) };
        },
      };
    case 'document':
      return factsFor(app, result);
    default:
      return answerFor(app, result);
  }
}

async function answerFor<T>(app: AcorApp, answer: Answer<T>): Promise<Answer<T>> {
  if (answer.kind === 'failure') return { ...answer, error: await errorFor(app, answer.error) };
  return factsFor(app, answer);
}

async function factsFor<F extends { next?: readonly NextStep[] }>(app: AcorApp, facts: F): Promise<F> {
  const { next, others } = await stepsFor(app, facts.next);
  return others.length === 0 || next === undefined ? facts : { ...facts, next };
}

/** The error with the steps that its caller may take. The hint has the others, which another caller must take. */
async function errorFor(app: AcorApp, error: AppError): Promise<AppError> {
  const info = app.errorInfo(error.code);
  const { next, others } = await stepsFor(app, error.next ?? info?.next);
  if (others.length === 0) return error;
  const { code, message, exit, retryable, details, cause } = error;
  const left = `The policy leaves it to others. At a terminal: ${others.join('; ')}`;
  const hint = [error.hint ?? info?.hint ?? '', left].join(' ').trim();
  return new AppError(code, message, { hint, exit, retryable, details, next, cause });
}

/** The steps that the policy lets the caller take, and the commands of the others. */
async function stepsFor(
  app: AcorApp,
  steps: readonly NextStep[] | undefined,
): Promise<{ next: readonly NextStep[] | undefined; others: readonly string[] }> {
  if (steps === undefined || steps.length === 0 || !(await app.hasPolicy()))
    return { next: steps, others: [] };
  const { acceptedSteps } = await import('./accepted-steps.ts');
  const { accepted, refused } = await acceptedSteps(app, steps);
  return { next: accepted, others: refused.map(app.commandOf) };
}

async function newestRun(app: AcorApp): Promise<string> {
  const { lastRun } = await import('./run/last-run.ts');
  return lastRun(await app.project());
}

/** Converts an error of ACOR to the error class of the kit. */
export function asAppError({ code, message, hint, details, next, cause }: AcorError): AppError {
  return new AppError(code, message, { hint, details, next, cause });
}
