import type { ServerContext } from '@modelcontextprotocol/server';
import { LogRelay, type LogThreshold } from './log-messages.ts';
import { lifeSignsIn, ProgressTeller } from './progress.ts';

/** What a client gets during a call. */
export interface CallNotifications {
  /** Undefined for a client that wants none. */
  onEvents: ((lines: Uint8Array) => void) | undefined;
  /** Resolves when all of it is sent: nothing may follow the answer to the call. */
  sent(): Promise<unknown>;
}

/** Reports the progress of a call to a client that requested it, and log messages from the level that it wants. */
export function callNotifications(
  { mcpReq }: ServerContext,
  { tool, logThreshold }: { tool: string; logThreshold: LogThreshold },
): CallNotifications {
  let last: Promise<unknown> = Promise.resolve();
  const send = (method: 'notifications/progress' | 'notifications/message', params: object) => {
    const notified = mcpReq.notify({ method, params: params as never }).catch(() => {});
    last = Promise.all([last, notified]);
  };
  const { progressToken } = mcpReq._meta ?? {};
  const teller =
    progressToken === undefined
      ? undefined
      : new ProgressTeller((progress) => send('notifications/progress', { progressToken, ...progress }));
  const logs =
    logThreshold === undefined
      ? undefined
      : new LogRelay({ tool, threshold: logThreshold }, (message) => send('notifications/message', message));
  if (teller === undefined && logs === undefined) return { onEvents: undefined, sent: async () => {} };
  return {
    onEvents: (lines) => {
      if (teller !== undefined) for (const sign of lifeSignsIn(lines)) teller.emit(sign);
      logs?.emit(lines);
    },
    sent: () => {
      logs?.end();
      return last;
    },
  };
}
