import type { Agent } from './rig.ts';
import type { RunSlot } from './scripted-model.ts';

/** How an agent's model calls the tools that ACOR offers by MCP, and the shell. */
export interface Ways {
  tool(name: string): string;
  shell(command: string): RunSlot;
  /** Some agents show the tools of a server only to a model that has looked for them. */
  lookFor?: (names: readonly string[]) => RunSlot;
}

export const WAYS: Readonly<Record<Agent, Ways>> = {
  claude: {
    tool: (name) => `mcp__acor__${name}`,
    shell: (command) => ({ call: 'Bash', args: { command, description: 'a test' } }),
    lookFor: (names) => ({ call: 'ToolSearch', args: { query: `select:${names.join(',')}` } }),
  },
  codex: {
    tool: (name) => `mcp__acor/${name}`,
    shell: (cmd) => ({ call: 'exec_command', args: { cmd } }),
    lookFor: () => ({ call: 'tool_search', args: { query: 'acor asks_and_writes answer wait artifact' } }),
  },
  gemini: {
    tool: (name) => `mcp_acor_${name}`,
    shell: (command) => ({ call: 'run_shell_command', args: { command, description: 'a test' } }),
  },
};
