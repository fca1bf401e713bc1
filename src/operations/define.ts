import type * as z from 'zod';
import { AppError } from '../compose/app-error.ts';
import { defineOperation, type Operation } from '../compose/operation.ts';
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
        await ctx.app.authorize(operation, input);
        const result = await operation.run(input, ctx);
        if (result.kind === 'failure') await ctx.app.readErrorCodes();
        return result;
      } catch (error) {
        await ctx.app.readErrorCodes();
        throw error instanceof AcorError ? asAppError(error) : error;
      }
    },
  });
}

/** Converts an error of ACOR to the error class of the kit. */
export function asAppError({ code, message, hint, details, next, cause }: AcorError): AppError {
  return new AppError(code, message, { hint, details, next, cause });
}
