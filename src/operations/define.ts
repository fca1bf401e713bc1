import type * as z from 'zod';
import { AppError } from '../compose/app-error.ts';
import { defineOperation, type Operation } from '../compose/operation.ts';
import { AcorError } from '../protocol/acor-error.ts';
import type { AcorApp } from './acor-app.ts';

/**
 * An operation of ACOR: it begins only when its caller is authorized, and what it throws becomes an error of the kit. When it fails, the
 * project's own error codes are read.
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

/** The same error in the kit's own class. */
export function asAppError({ code, message, hint, details, next, cause }: AcorError): AppError {
  return new AppError(code, message, { hint, details, next, cause });
}
