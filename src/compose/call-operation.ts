import type { CliApp } from './app.ts';
import { AppError } from './app-error.ts';
import { describeIssue, PLAIN_WORDS } from './describe-issue.ts';
import { type Envelope, type EnvelopeMeta, failure, success } from './envelope.ts';
import { toFailure, withData } from './failure.ts';
import { NO_GLOBAL_FLAGS } from './globals.ts';
import type { NextStep } from './next-step.ts';
import type { Operation } from './operation.ts';
import { parametersOf } from './parameters.ts';
import { checkSelection, type Selection, select } from './select.ts';
import { usageError } from './usage-error.ts';

/** The circumstances of a call that comes from no command line. */
export interface Call<C> {
  context: C;
  cwd: string;
  env: Record<string, string | undefined>;
  signal: AbortSignal;
  selection?: Partial<Selection>;
}

/**
 * Calls an operation with an object, as a surface other than the command line does, and returns the envelope that the command
 * line would write, with its next steps as data. It never throws, writes nothing and reads no standard input.
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
  const failed = (thrown: unknown, data?: unknown) => {
    const told = withData(toFailure(thrown, app, { signal: call.signal, showsStack: false }), data);
    return failure(told.error, meta(told.next));
  };
  try {
    const selection = { ...NO_GLOBAL_FLAGS, ...call.selection };
    const input = await checked(op, given);
    checkSelection(op, selection);
    const result = await op.run(input, {
      app: call.context,
      signal: call.signal,
      audience: 'agent',
      screen: null,
      structured: true,
      interactive: false,
      cwd: call.cwd,
      env: call.env,
      stdoutFd: -1,
      readStdin: async () => '',
      note: () => {},
    });
    switch (result.kind) {
      case 'failure':
        return failed(result.error, result.data);
      case 'streamed':
        return failed(new AppError('E_USAGE', `${op.name} streams, and nobody reads a stream here`));
      case 'data': {
        const selected = select(op, result.data, selection);
        const { count, total, hasMore } = selected;
        return success(selected.data, {
          ...meta(result.next),
          count,
          total: result.total ?? total,
          hasMore: result.hasMore ?? hasMore,
          tokens: result.tokens,
        });
      }
    }
  } catch (thrown) {
    return failed(thrown);
  }
}

async function checked<C>(
  op: Operation<C>,
  given: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const parameters = parametersOf(op);
  const unknown = Object.keys(given).filter((key) => !parameters.some((each) => each.key === key));
  const result = await op.input.safeParseAsync(given, PLAIN_WORDS);
  const problems = [
    ...unknown.map((key) => ({ parameter: key, message: `there is no parameter ${JSON.stringify(key)}` })),
    ...(result.error?.issues ?? []).map((issue) => describeIssue(issue, parameters, given)),
  ];
  if (problems.length > 0 || !result.success) throw usageError(problems);
  return result.data;
}
