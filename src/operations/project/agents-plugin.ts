import { resolve } from 'node:path';
import * as z from 'zod';
import { acorOperation } from '../define.ts';
import { plannedFile, shownFile } from './shapes.ts';

export const agentsPlugin = acorOperation({
  name: 'agents.plugin',
  summary: 'Write ACOR as a plugin for agents: one folder for Agent Plugins 1.0.0 and for Claude Code.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    output: z.string().describe('The folder of the plugin; it must be empty, or contain this plugin.'),
    dry_run: z.boolean().default(false).describe('List what would be written, and write nothing.'),
  }),
  output: z.object({ folder: z.string(), dry_run: z.boolean(), files: z.array(plannedFile) }),
  list: 'files',
  example: 'acor agents plugin --output acor-plugin',
  async run({ output, dry_run }, ctx) {
    const [{ planPlugin }, { agentTexts }, { writeFiles }] = await Promise.all([
      import('../../core/authoring/agents/plugin-files.ts'),
      import('./agents/agent-texts.ts'),
      import('../../core/authoring/scaffold/write-files.ts'),
    ]);
    const folder = resolve(ctx.cwd, output);
    const files = planPlugin(folder, await agentTexts(ctx.app.routes));
    if (!dry_run) writeFiles(files, folder);
    return {
      kind: 'data',
      data: { folder, dry_run, files: files.map((file) => shownFile(file, folder, ctx.app.commandOf)) },
    };
  },
});
