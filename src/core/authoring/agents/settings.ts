import type { AgentName } from './agents.ts';

/** The MCP server as `.mcp.json` names it. Claude Code cuts a call off after `timeout`, whatever progress there is. */
export const MCP_SERVER = { type: 'stdio', command: 'acor', args: ['mcp'], timeout: 600_000 };

/** The same without a limit: Gemini CLI's own is as long, and the specification of plugins knows none. */
export const PLAIN_SERVER = { command: 'acor', args: ['mcp'] };

/** The same for Codex, which gives up after 60 s unless it is told otherwise. */
export const CODEX_SERVER = `[mcp_servers.acor]
command = "acor"
args = ["mcp"]
startup_timeout_sec = 20
tool_timeout_sec = 600
`;

/** A hook of an agent: the event by the agent's own name, the command, and the group that goes into its settings. */
export interface AgentHook {
  event: string;
  command: string;
  group: object;
}

/** What each agent calls the events, and its shell: `acor hook` takes all of these spellings. */
const EVENTS: Readonly<Record<AgentName, readonly [event: string, hook: string, matcher?: string][]>> = {
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

/** The hooks that ACOR has in an agent's settings. */
export function hooksOf(agent: AgentName): AgentHook[] {
  // Gemini CLI counts in milliseconds.
  const timeout = agent === 'gemini' ? TIMEOUT_S * 1000 : TIMEOUT_S;
  return EVENTS[agent].map(([event, hook, matcher]) => {
    const command = `acor hook ${hook}`;
    const hooks = [{ type: 'command', command, timeout }];
    return { event, command, group: { ...(matcher !== undefined && { matcher }), hooks } };
  });
}
