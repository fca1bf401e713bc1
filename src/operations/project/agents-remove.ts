import * as z from 'zod';
import { findProject } from '../../core/config/find.ts';
import { acorOperation } from '../define.ts';
import { plannedFile, shownFile } from './shapes.ts';

export const agentsRemove = acorOperation({
  name: 'agents.remove',
  summary: 'Take out what ACOR wrote for agents, and nothing else: its files, blocks, server and hooks.',
  effect: 'destroys',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    dry_run: z.boolean().default(false).describe('Show what would happen to each file, and write nothing.'),
  }),
  output: z.object({ root: z.string(), dry_run: z.boolean(), files: z.array(plannedFile) }),
  list: 'files',
  example: 'acor agents remove --dry-run',
  async run({ dry_run }, ctx) {
    const [{ planRemoval }, { agentTexts }, { writeFiles }] = await Promise.all([
      import('../../core/authoring/agents/plan-removal.ts'),
      import('./agents/agent-texts.ts'),
      import('../../core/authoring/scaffold/write-files.ts'),
    ]);
    const { root } = findProject(ctx.cwd);
    const files = planRemoval(root, await agentTexts(ctx.app.routes));
    if (!dry_run) writeFiles(files, root);
    return {
      kind: 'data',
      data: { root, dry_run, files: files.map((file) => shownFile(file, root, ctx.app.commandOf)) },
    };
  },
});
