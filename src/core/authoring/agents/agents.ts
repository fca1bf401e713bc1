import { AcorError } from '../../../protocol/acor-error.ts';
import { initAgents } from '../../../protocol/next-steps.ts';

/** The agents that ACOR writes files for. */
export const AGENTS = ['claude', 'codex', 'gemini', 'cursor', 'vscode', 'opencode'] as const;

export type AgentName = (typeof AGENTS)[number];

/** Parses the value of `--agents`: names separated by commas. Throws E_USAGE. */
export function readAgents(text: string): AgentName[] {
  const names = text.split(',').map((name) => name.trim());
  const strange = names.filter((name) => !AGENTS.some((agent) => agent === name));
  if (strange.length > 0) {
    throw new AcorError(
      'E_USAGE',
      `--agents does not accept ${strange.map((each) => `'${each}'`).join(', ')}`,
      {
        hint: `It takes ${AGENTS.join(', ')}, separated by commas.`,
        next: [initAgents(AGENTS)],
      },
    );
  }
  return AGENTS.filter((agent) => names.includes(agent));
}

const CLIENT_LIMIT_S = 600;

/** Below the timeout of the client: a call answers that its run continues before the client gives up. */
const ARGS = ['mcp', '--call-limit', '570'];

/** The MCP server for `.mcp.json`. Claude Code ends a call after `timeout`, even one that reports progress. */
export const MCP_SERVER = { type: 'stdio', command: 'acor', args: ARGS, timeout: CLIENT_LIMIT_S * 1000 };

/** The server for Gemini CLI. */
export const GEMINI_SERVER = { command: 'acor', args: ARGS, timeout: CLIENT_LIMIT_S * 1000 };

/** The server for Cursor, which has no key for a timeout: ACOR keeps to the usual limits of clients. */
export const CURSOR_SERVER = { command: 'acor', args: ['mcp'] };

/** The server for VS Code, without a timeout as well. */
export const VSCODE_SERVER = { type: 'stdio', command: 'acor', args: ['mcp'] };

/** The server for OpenCode 1, whose default timeout is a few seconds. */
export const OPENCODE_SERVER = {
  type: 'local',
  command: ['acor', ...ARGS],
  enabled: true,
  timeout: CLIENT_LIMIT_S * 1000,
};

/** The server without `timeout`, because the plugin specification has no such key: ACOR keeps to the usual limits of clients. */
export const PLAIN_SERVER = { command: 'acor', args: ['mcp'] };

/** The server for Codex, whose default timeout is 60 s. */
export const CODEX_SERVER = `[mcp_servers.acor]
command = "acor"
args = ${JSON.stringify(ARGS).replaceAll(',', ', ')}
startup_timeout_sec = 20
tool_timeout_sec = ${CLIENT_LIMIT_S}
`;

/** A hook of an agent: the agent's name of the event, the command, and the group in its settings. */
interface AgentHook {
  event: string;
  command: string;
  group: object;
}

/** The agents whose hooks ACOR writes. */
export type HookedAgent = Extract<AgentName, 'claude' | 'codex' | 'gemini'>;

/** The names of the events and of the shell tool in each agent. `acor hook` accepts all of them. */
const EVENTS: Readonly<Record<HookedAgent, readonly [event: string, hook: string, matcher?: string][]>> = {
  claude: [
    ['SessionStart', 'session-start'],
    ['PreToolUse', 'pre-tool', 'Bash'],
    ['Elicitation', 'elicit'],
  ],
  codex: [
    ['SessionStart', 'session-start'],
    ['PreToolUse', 'pre-tool', 'Bash'],
  ],
  gemini: [
    ['SessionStart', 'session-start'],
    ['BeforeTool', 'pre-tool', 'run_shell_command'],
  ],
};

const TIMEOUT_S = 30;

/** ACOR's hooks in an agent's settings. */
export function hooksOf(agent: HookedAgent): AgentHook[] {
  // Gemini CLI counts in milliseconds.
  const timeout = agent === 'gemini' ? TIMEOUT_S * 1000 : TIMEOUT_S;
  return EVENTS[agent].map(([event, hook, matcher]) => {
    const command = `acor hook ${hook}`;
    const hooks = [{ type: 'command', command, timeout }];
    return { event, command, group: { ...(matcher !== undefined && { matcher }), hooks } };
  });
}
