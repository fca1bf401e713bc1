type Env = Readonly<Record<string, string | undefined>>;

/** Which agent's environment this is, for the record of a run; undefined when none shows itself. */
export function callerOf(env: Env): string | undefined {
  if (env.AI_AGENT) return env.AI_AGENT;
  if (env.CLAUDECODE || env.CLAUDE_CODE_SESSION_ID) return 'claude-code';
  if (env.CODEX_THREAD_ID || env.CODEX_CI || env.CODEX_SANDBOX) return 'codex';
  if (env.GEMINI_CLI) return 'gemini';
  if (env.CURSOR_AGENT) return 'cursor';
  if (env.OPENCODE) return 'opencode';
  return env.AGENT || undefined;
}
