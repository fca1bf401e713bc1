type Env = Readonly<Record<string, string | undefined>>;

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

/** The agent whose environment this is; undefined when none is detected. */
export function agentOf(env: Env): string | undefined {
  const variable = Object.keys(AGENT_VARIABLES).find((name) => isSet(env[name]));
  return variable === undefined ? undefined : (AGENT_VARIABLES[variable] ?? env[variable]);
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== '0' && value !== 'false';
}
