import { agentOf } from '../util/agent-of.ts';

/** The reader of stdout: a program (which gets an envelope) or a person at a terminal (who gets a rendering). */
export type Audience = 'agent' | 'person';

/** Detects the audience from the terminal, the flags and the environment. */
export function detectAudience(facts: {
  stdoutIsTTY: boolean;
  asksForEnvelope: boolean;
  env: Readonly<Record<string, string | undefined>>;
}): Audience {
  if (!facts.stdoutIsTTY || facts.asksForEnvelope) return 'agent';
  return agentOf(facts.env) === undefined ? 'person' : 'agent';
}
