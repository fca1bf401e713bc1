import type * as z from 'zod';
import { AppError } from '../compose/app-error.ts';
import { defineOperation, type Operation, type OperationDescription } from '../compose/operation.ts';
import type { CalledOperation } from '../core/ports/principal.ts';
import { AcorError } from '../protocol/acor-error.ts';
import type { AcorApp } from './acor-app.ts';

/**
 * Defines an operation of ACOR. It checks that the caller is authorized before it runs, converts each AcorError to the kit's AppError, and
 * reads the project's own error codes after a failure.
 */
export function acorOperation<I extends z.ZodObject, O extends z.ZodType>(
  operation: Operation<AcorApp, I, O>,
): Operation<AcorApp, I, O> {
  return defineOperation({
    ...operation,
    async run(input, ctx) {
      try {
        const meant = input['run'] === 'last' ? { ...input, run: await newestRun(ctx.app) } : input;
        await ctx.app.authorize(calledWith(operation, meant), meant);
        const result = await operation.run(meant, ctx);
        if (result.kind === 'failure') await ctx.app.readErrorCodes();
        return result;
      } catch (error) {
        await ctx.app.readErrorCodes();
        throw error instanceof AcorError ? asAppError(error) : error;
      }
    },
  });
}

/** The operation as a policy sees it when it is called with this input. */
export function calledWith(
  { name, effect, readsWithout }: OperationDescription,
  input: Readonly<Record<string, unknown>>,
): CalledOperation {
  const onlyReads = readsWithout !== undefined && !readsWithout.some((key) => input[key]);
  return { name, effect: onlyReads ? 'reads' : effect };
}

async function newestRun(app: AcorApp): Promise<string> {
  const { lastRun } = await import('./run/last-run.ts');
  return lastRun((await app.project()).store);
}

/** Converts an error of ACOR to the error class of the kit. */
export function asAppError({ code, message, hint, details, next, cause }: AcorError): AppError {
  return new AppError(code, message, { hint, details, next, cause });
}
