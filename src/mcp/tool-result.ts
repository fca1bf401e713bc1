import type { CallToolResult } from '@modelcontextprotocol/server';
import type { Envelope, EnvelopeError } from '../compose/envelope.ts';
import { toFailure } from '../compose/failure.ts';
import type { Host } from './host.ts';
import { type NextCall, nextCalls } from './next-calls.ts';

/** The answer of an operation as the result of a tool. */
export async function envelopeResult(host: Host, envelope: Envelope): Promise<CallToolResult> {
  const next = await nextCalls(host, envelope.meta.next ?? []);
  if (!envelope.ok) return errorResult(envelope.error, next);
  const { total, hasMore } = envelope.meta;
  const answer = {
    data: envelope.data,
    ...(total !== undefined && { total }),
    ...(hasMore !== undefined && { hasMore }),
    ...(next.length > 0 && { next }),
  };
  return { content: [{ type: 'text', text: JSON.stringify(answer) }], structuredContent: answer };
}

/** A failure of a tool: what happened, whether to try again and what to do, in words and as data. */
export function errorResult(
  error: EnvelopeError,
  next: readonly NextCall[],
  about: Readonly<Record<string, unknown>> = {},
): CallToolResult {
  const { code, message, hint, retryable, action } = error;
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

/** The same for what was thrown. */
export async function thrownResult(host: Host, thrown: unknown): Promise<CallToolResult> {
  const told = toFailure(thrown, host.cli, { signal: new AbortController().signal, showsStack: false });
  return errorResult(told.error, await nextCalls(host, told.next ?? []));
}
