import type { ServerContext } from '@modelcontextprotocol/server';
import type { Client } from './client-of.ts';

/** Most clients give up after 60 s. */
const DEFAULT_S = 50;
/** Clients that take progress reset their timeout with it, or wait for minutes. */
const WITH_PROGRESS_S = 300;

/**
 * How long a call may wait for its run: as declared, else what this client is known to wait. Codex asks for progress, but
 * its timeout of 60 s ignores it, and its cancellation does not say that it timed out.
 */
export function callLimitMs({
  callLimitS,
  client,
  ctx,
}: {
  callLimitS: number | undefined;
  client: Client;
  ctx: ServerContext;
}): number {
  const takesProgress = ctx.mcpReq._meta?.progressToken !== undefined && !/codex/i.test(client.name ?? '');
  return (callLimitS ?? (takesProgress ? WITH_PROGRESS_S : DEFAULT_S)) * 1000;
}

/** Whether the reason of a cancellation is the client's own timeout, as Claude Code, Gemini CLI and the SDKs spell it. */
export function saysTimeout(reason: string): boolean {
  return /\btimed?[ -]?out\b|\bdeadline exceeded\b/i.test(reason);
}
