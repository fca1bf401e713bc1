import type { Blocked } from './marker-events.ts';

/** The error of an attempt whose program exited while it was blocked: it could not wait for an answer. */
export function blockedError(
  { reason, actionId }: Blocked,
  next: string,
): Record<string, unknown> & { type: string } {
  return {
    type: 'error',
    code: 'E_ACTION_REQUIRED',
    msg: `it is blocked: ${reason}`,
    hint: `Provide what it asks for, and start it again${next}.`,
    retryable: false,
    action_id: actionId,
  };
}
