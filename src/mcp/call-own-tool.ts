import type { CallToolResult, TextContent } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { usageError } from '../compose/app-error.ts';
import type { SuccessEnvelope } from '../compose/envelope.ts';
import type { NextStep } from '../compose/next-step.ts';
import type { Host, OpenHost } from './host.ts';
import { logLine } from './log-lines.ts';
import { type OwnTool, PAGE } from './own-tools.ts';
import { envelopeResult, thrownResult } from './tool-result.ts';

/** Calls an operation as an MCP tool. */
export async function callOwnTool(
  host: Host,
  open: OpenHost,
  own: OwnTool,
  given: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const hidden = own.without.filter((key) => key in given);
  if (hidden.length > 0) {
    const message = `${own.name} has no ${hidden.join(', ')}`;
    return thrownResult(host, usageError([{ parameter: hidden[0]!, message }]));
  }
  const { limit, offset, ...input } = given;
  const page = own.pages === undefined ? undefined : z.object(PAGE).safeParse({ limit, offset });
  if (page?.success === false) {
    const message = 'limit and offset must be whole numbers that are not negative';
    return thrownResult(host, usageError([{ parameter: 'limit', message }]));
  }
  const asked = page === undefined ? given : input;
  const selection = page?.data ?? {};
  const envelope = await open.call(own.operation, asked, { signal, selection });
  return own.operation === 'run.logs' && envelope.ok ? logsResult(envelope) : envelopeResult(envelope);
}

/** Events as lines of text: as JSON, each would cost a model about three times as much. */
function logsResult(envelope: SuccessEnvelope<unknown, NextStep>): CallToolResult {
  const { events, ...data } = envelope.data as { events: Record<string, unknown>[] };
  const about = envelopeResult({ ...envelope, data });
  const [{ text }] = about.content as [TextContent];
  return { ...about, content: [{ type: 'text', text: [...events.map(logLine), text].join('\n') }] };
}
