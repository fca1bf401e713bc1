import * as z from 'zod';

/** The input of a hook: the keys that ACOR reads, which have the same names in Claude Code, Codex and Gemini CLI. */
export const hookInput = z.looseObject({
  hook_event_name: z.string(),
  cwd: z.string().optional(),
  tool_input: z.looseObject({ command: z.union([z.string(), z.array(z.string())]).optional() }).optional(),
  mcp_server_name: z.string().optional(),
  message: z.string().optional(),
  requested_schema: z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() }).optional(),
});

export type HookInput = z.output<typeof hookInput>;

/** The answer to the agent; undefined means no opinion. */
export type HookAnswer = Readonly<Record<string, unknown>> | undefined;
