/** Who reads stdout: a program (an envelope) or a person at a terminal (a rendering). */
export type Audience = 'agent' | 'person';

/** Variables that agents set for the commands they start. `CI` alone is no agent. */
const AGENT_VARIABLES = [
  'AI_AGENT',
  'AGENT',
  'CLAUDECODE',
  'CLAUDE_CODE_SESSION_ID',
  'CODEX_THREAD_ID',
  'CODEX_CI',
  'CODEX_SANDBOX',
  'GEMINI_CLI',
  'CURSOR_AGENT',
  'OPENCODE',
] as const;

/** Tells the audience from the terminal, the flags and the environment. */
export function detectAudience(facts: {
  stdoutIsTTY: boolean;
  asksForEnvelope: boolean;
  env: Readonly<Record<string, string | undefined>>;
}): Audience {
  if (!facts.stdoutIsTTY || facts.asksForEnvelope) return 'agent';
  return AGENT_VARIABLES.some((name) => isSet(facts.env[name])) ? 'agent' : 'person';
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}
