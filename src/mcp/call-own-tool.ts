import type { CallToolResult } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { usageError } from '../compose/app-error.ts';
import type { Host, OpenHost } from './host.ts';
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
  return envelopeResult(await open.call(own.operation, asked, { signal, selection }));
}
