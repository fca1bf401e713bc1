import { usageError } from './app-error.ts';
import { checkFields } from './check-fields.ts';
import type { CliApp } from './cli-app.ts';
import { PLAIN_WORDS } from './describe-issue.ts';
import { type Envelope, type EnvelopeMeta, failure, success } from './envelope.ts';
import { toFailure, withData } from './failure.ts';
import { asksForPart, NO_GLOBAL_FLAGS } from './globals.ts';
import { NO_INTERRUPTS } from './interrupts.ts';
import type { NextStep } from './next-step.ts';
import type { Answer, Operation, OperationContext, OperationResult } from './operation.ts';
import { checkSelection, type Selection, select } from './select.ts';

/** The options of a call that does not come from a command line. */
export interface Call<C> {
  context: C;
  cwd: string;
  env: Record<string, string | undefined>;
  signal: AbortSignal;
  selection?: Partial<Selection>;
  /** Receives the events of an operation, in chunks of whole JSON lines. `enough` stops the reading, not the work. */
  onEvents?: (lines: Uint8Array) => Promise<'more' | 'enough'> | 'more' | 'enough';
  /** Receives the text of an operation whose product is a text. */
  onDocument?: (text: string) => void;
}

/**
 * Calls an operation with an object, for surfaces other than the command line, and returns the envelope of the command
 * line, with its next steps as data. It never throws, writes nothing and reads no standard input.
 */
export async function callOperation<C>(
  app: CliApp<C>,
  op: Operation<C>,
  given: Readonly<Record<string, unknown>>,
  call: Call<C>,
): Promise<Envelope<NextStep>> {
  const startedAt = performance.now();
  const meta = (next?: readonly NextStep[]): EnvelopeMeta<NextStep> => ({
    tool: op.name,
    elapsed: Math.round((performance.now() - startedAt) * 10) / 10,
    next,
  });
  const allWarnings = (more: readonly string[] = []) => [...(app.warnings?.(call.context) ?? []), ...more];
  const failed = (thrown: unknown, data?: unknown, warnings?: readonly string[]) => {
    const problem = withData(toFailure(thrown, app, { signal: call.signal, showsStack: false }), data);
    return failure(problem.error, { ...meta(problem.next), warnings: allWarnings(warnings) });
  };
  try {
    const selection = { ...NO_GLOBAL_FLAGS, ...call.selection };
    const input = await checked(op, given);
    if (asksForPart(selection)) checkSelection(op, selection);
    const ctx: OperationContext<C> = {
      app: call.context,
      signal: call.signal,
      audience: 'agent',
      structured: true,
      person: null,
      interrupts: NO_INTERRUPTS,
      page: { limit: selection.limit, offset: selection.offset },
      cwd: call.cwd,
      env: call.env,
      readStdin: async () => '',
      note: () => {},
      given: new Set(Object.keys(given)),
    };
    const result = await (app.perform?.(op, input, ctx) ?? op.run(input, ctx));
    const answer = await answerOf(result, call);
    if (answer.kind === 'failure') return failed(answer.error, answer.data, answer.warnings);
    const selected = select(op, answer, selection);
    const { count, total, hasMore } = selected;
    return success(selected.data, {
      ...meta(selected.next ?? answer.next),
      count,
      total: answer.total ?? total,
      hasMore: answer.hasMore ?? hasMore,
      tokens: answer.tokens,
      plan: answer.plan,
      warnings: allWarnings(answer.warnings),
    });
  } catch (thrown) {
    return failed(thrown);
  }
}

async function answerOf(result: OperationResult<unknown>, call: Call<unknown>): Promise<Answer<unknown>> {
  switch (result.kind) {
    case 'data':
    case 'failure':
      return result;
    case 'document':
      call.onDocument?.(result.document);
      return { ...result, kind: 'data' };
    case 'bytes':
      throw new Error('Internal: bytes for a reader who takes an envelope');
    case 'events': {
      if (call.onEvents !== undefined)
        for await (const lines of result.events) if ((await call.onEvents(lines)) === 'enough') break;
      return (await result.ended()).answer;
    }
  }
}

async function checked<C>(
  op: Operation<C>,
  given: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const { problems, value } = checkFields(op, given, await op.input.safeParseAsync(given, PLAIN_WORDS));
  if (problems.length > 0) throw usageError(problems);
  return value;
}
