/** The reader of stdout: a program (which gets an envelope) or a person at a terminal (who gets a rendering). */
export type Audience = 'agent' | 'person';

/**
 * Variables that agents set for the commands they start, and the name of the agent; null means that the value is the
 * name. `CI` alone does not identify an agent.
 */
export const AGENT_VARIABLES: Readonly<Record<string, string | null>> = {
  AI_AGENT: null,
  CLAUDECODE: 'claude-code',
  CLAUDE_CODE_SESSION_ID: 'claude-code',
  CODEX_THREAD_ID: 'codex',
  CODEX_SESSION_ID: 'codex',
  CODEX_CI: 'codex',
  CODEX_SANDBOX: 'codex',
  GEMINI_CLI: 'gemini',
  CURSOR_AGENT: 'cursor',
  OPENCODE: 'opencode',
  AGENT: null,
};

type Env = Readonly<Record<string, string | undefined>>;

/** The agent whose environment this is; undefined when none is detected. */
export function agentOf(env: Env): string | undefined {
  const variable = Object.keys(AGENT_VARIABLES).find((name) => isSet(env[name]));
  return variable === undefined ? undefined : (AGENT_VARIABLES[variable] ?? env[variable]);
}

/** Detects the audience from the terminal, the flags and the environment. */
export function detectAudience(facts: {
  stdoutIsTTY: boolean;
  asksForEnvelope: boolean;
  env: Env;
}): Audience {
  if (!facts.stdoutIsTTY || facts.asksForEnvelope) return 'agent';
  return agentOf(facts.env) === undefined ? 'person' : 'agent';
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}
