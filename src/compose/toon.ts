import { safeData } from './terminal-text.ts';

/** Encodes an envelope as TOON. TOON does not escape C1 controls, so for a terminal the strings are made safe first. */
export async function encodeToon(envelope: unknown, forTerminal: boolean): Promise<string> {
  const { encode } = await import('@toon-format/toon');
  return `${encode(forTerminal ? safeData(envelope) : envelope)}\n`;
}
