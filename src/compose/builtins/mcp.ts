import * as z from 'zod';
import type { CliApp } from '../cli-app.ts';
import { defineOperation } from '../operation.ts';
import { calledAs } from '../write-command.ts';
import { READS } from './reads.ts';

export function mcpCommand<C>(app: CliApp<C>) {
  return defineOperation({
    ...READS,
    name: 'system.mcp',
    summary: 'Serve the commands as tools of MCP, on standard input and output.',
    input: z.object({
      allow: z
        .enum(['reads', 'writes', 'destroys'])
        .default('destroys')
        .describe('What its tools may do at most.'),
    }),
    output: z.object({ served: z.literal(true) }),
    example: `${calledAs(app)} mcp`,
    moreExamples: [`claude mcp add ${app.name} -- ${calledAs(app)} mcp`],
    streams: 'JSON-RPC messages of MCP.',
    run: async ({ allow }) => {
      const { serveMcp } = await import('../serve-mcp.ts');
      await serveMcp(app, { allow });
      return { kind: 'document', data: { served: true as const }, document: '' };
    },
  });
}
