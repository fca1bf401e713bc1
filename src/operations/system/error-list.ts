import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { errorRow } from '../../compose/error-row.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { ERROR_CODES, type ErrorInfo } from '../../protocol/error-codes.ts';
import { LIST_ERROR_CODES, VALIDATE } from '../../protocol/next-steps.ts';
import type { AcorApp } from '../acor-app.ts';
import { fixText } from '../command-forms.ts';
import { acorOperation } from '../define.ts';

const codeRow = errorRow.extend({ source: z.enum(['built-in', 'project']) });

export const errorList = acorOperation({
  name: 'system.errors',
  summary: 'List the error codes: class, whether to retry, what to do.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({ code: z.string().optional().describe('Only this code.') }),
  output: z.object({ codes: z.array(codeRow) }),
  positionals: ['code'],
  list: 'codes',
  example: 'acor errors E_HEARTBEAT_MISSED',
  async run(input, ctx) {
    const { own, problem } = await ownCodes(ctx.app);
    const all: Record<string, ErrorInfo> = { ...ERROR_CODES, ...own };
    const codes = Object.keys(all)
      .sort()
      .filter((code) => input.code === undefined || code === input.code)
      .map((code) => ({
        code,
        ...withFixText(all[code]!, ctx.app),
        source: Object.hasOwn(own, code) ? ('project' as const) : ('built-in' as const),
      }));
    if (codes.length === 0) {
      throw new AppError('E_USAGE', `there is no error code ${input.code}`, {
        hint:
          problem === undefined
            ? 'List all error codes.'
            : `The codes of the project cannot be read: ${problem}`,
        next: [problem === undefined ? LIST_ERROR_CODES : VALIDATE],
      });
    }
    if (problem === undefined) return { kind: 'data', data: { codes } };
    const warning = `the codes of the project cannot be read: ${problem}`;
    return { kind: 'data', data: { codes }, warnings: [warning], next: [VALIDATE] };
  },
});

/** Appends the commands of the next steps to the hint. */
function withFixText({ next, hint, ...row }: ErrorInfo, { commandOf }: AcorApp) {
  return { ...row, hint: fixText({ fix: hint, ...(next && { next }) }, commandOf) };
}

/** The project's own codes, or why they cannot be read: the built-in codes must stay readable then. */
async function ownCodes(app: AcorApp): Promise<{ own: Record<string, ErrorInfo>; problem?: string }> {
  try {
    return { own: await (await app.project()).registry.errorCodes() };
  } catch (error) {
    if (error instanceof AcorError) return { own: {}, problem: error.message };
    throw error;
  }
}
