import type { Blocked } from './marker-events.ts';

/** How an attempt ends whose program was blocked and has gone: it could not wait for an answer. */
export function blockedError(
  { reason, actionId }: Blocked,
  next: string,
): Record<string, unknown> & { type: string } {
  return {
    type: 'error',
    code: 'E_ACTION_REQUIRED',
    msg: `it is blocked: ${reason}`,
    hint: `Give it what it asks for, and start it again${next}.`,
    retryable: false,
    action_id: actionId,
  };
}
