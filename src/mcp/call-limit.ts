import type { Client } from './client-of.ts';

/** Most clients give up after 60 s, also those that ask for progress: few let it extend their timeout. */
const DEFAULT_S = 50;
/** These wait for minutes by themselves. */
const PATIENT = /^(?:claude|gemini)/i;
const PATIENT_S = 300;

/** How long a call may wait for its run: as declared, else what this client is known to wait. */
export function callLimitMs({
  callLimitS,
  client,
}: {
  callLimitS: number | undefined;
  client: Pick<Client, 'name'>;
}): number {
  return (callLimitS ?? (PATIENT.test(client.name ?? '') ? PATIENT_S : DEFAULT_S)) * 1000;
}

/** Whether the reason of a cancellation is the client's own timeout, as Claude Code, Gemini CLI and the SDKs spell it. */
export function saysTimeout(reason: string): boolean {
  return /\btimed?[ -]?out\b|\bdeadline exceeded\b/i.test(reason);
}
