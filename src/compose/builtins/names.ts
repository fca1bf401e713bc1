/** The commands that the kit adds to every program; hidden ones are not among them. */
export const BUILTIN_COMMANDS = [
  'tools',
  'health',
  'config show',
  'errors',
  'explain',
  'complete',
  'man',
  'mcp',
] as const;
