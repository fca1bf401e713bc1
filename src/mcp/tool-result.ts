import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Envelope, EnvelopeError } from '../compose/envelope.ts';
import { toFailure } from '../compose/failure.ts';
import type { NextStep } from '../compose/next-step.ts';
import { commandOf } from '../operations/command-forms.ts';
import type { Host } from './host.ts';
import { withoutFlags } from './input-problems.ts';
import { nextCall, nextCalls } from './next-calls.ts';

/** The envelope of an operation as the result of a tool. */
export function envelopeResult(envelope: Envelope<NextStep>): CallToolResult {
  const steps = envelope.meta.next ?? [];
  if (!envelope.ok) return errorResult(envelope.error, steps);
  const next = nextCalls(steps);
  const { total, hasMore, warnings } = envelope.meta;
  const answer = {
    data: envelope.data,
    ...(total !== undefined && { total }),
    ...(hasMore !== undefined && { hasMore }),
    ...(warnings !== undefined && warnings.length > 0 && { warnings }),
    ...(next.length > 0 && { next }),
  };
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
}

/** The failure of a tool, as text and as data: what happened, whether to retry, and what to do. */
export function errorResult(
  failure: EnvelopeError,
  steps: readonly NextStep[],
  about: Readonly<Record<string, unknown>> = {},
): CallToolResult {
  const plain = withoutFlags(failure);
  const error = { ...plain, hint: hintOf(plain.hint, steps) };
  const { code, message, hint, retryable, action } = error;
  const next = nextCalls(steps);
  const text = [
    `${code}: ${message}`,
    ...(hint === '' ? [] : [`Hint: ${hint}`]),
    `Retryable: ${retryable ? 'yes' : 'no'}. ${action}`,
    ...next.map((call) => `Next: ${JSON.stringify(call)}`),
  ].join('\n');
  return {
    content: [{ type: 'text', text }],
    structuredContent: { ...about, error, ...(next.length > 0 && { next }) },
    isError: true,
  };
}

/** The same for a thrown value. */
export function thrownResult(host: Host, thrown: unknown): CallToolResult {
  const problem = toFailure(thrown, host.cli, { signal: new AbortController().signal, showsStack: false });
  return errorResult(problem.error, problem.next ?? []);
}

/** Steps without a tool on this server, such as an approval, are for the person who reads the hint. */
function hintOf(hint: string, steps: readonly NextStep[]): string {
  const elsewhere = steps.filter((step) => nextCall(step) === undefined).map(commandOf);
  return elsewhere.length === 0 ? hint : `${hint} At a terminal: ${elsewhere.join('; ')}`.trim();
}
