import * as z from 'zod';

/** What an agent tells a hook: the keys that ACOR reads, by the names that Claude Code, Codex and Gemini CLI have in common. */
export const hookInput = z.looseObject({
  hook_event_name: z.string(),
  cwd: z.string().optional(),
  tool_input: z.looseObject({ command: z.union([z.string(), z.array(z.string())]).optional() }).optional(),
  mcp_server_name: z.string().optional(),
  message: z.string().optional(),
  requested_schema: z.looseObject({ properties: z.record(z.string(), z.unknown()).optional() }).optional(),
});

export type HookInput = z.output<typeof hookInput>;

/** What an agent is answered; undefined is no opinion. */
export type HookAnswer = Readonly<Record<string, unknown>> | undefined;
