import { resolve } from 'node:path';
import * as z from 'zod';
import { workflowFiles, workflowFolders, workflowNameOf } from '../../core/workflow/file/find-workflow.ts';
import { acorOperation } from '../define.ts';
import { plannedFile, shownFile } from '../project/shapes.ts';

export const workflowTemplate = acorOperation({
  name: 'workflow.template',
  summary: 'Write a workflow to begin with: a valid file whose comments explain it.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    name: z.string().default('my_workflow').describe('The name of the workflow.'),
    output: z.string().optional().describe('The folder for the file; by default workflows/ of the project.'),
    dry_run: z.boolean().default(false).describe('Show what would be written, and write nothing.'),
  }),
  output: z.object({ name: z.string(), dry_run: z.boolean(), files: z.array(plannedFile) }),
  list: 'files',
  example: 'acor workflow template --name nightly',
  moreExamples: ['acor workflow template --name nightly --dry-run'],
  async run({ name, output, dry_run }, ctx) {
    const { config } = await ctx.app.tools();
    const { newWorkflow } = await import('../../core/authoring/scaffold/new-workflow.ts');
    const folders = workflowFolders(config);
    const folder = output === undefined ? folders.at(-1)! : resolve(ctx.cwd, output);
    const rival = workflowFiles(config).find((file) => workflowNameOf(file) === name);
    const file = newWorkflow({ config, name, folder, rival, dryRun: dry_run });
    // Outside of the project's folders, a workflow is named by its path.
    const workflow = folders.includes(folder) ? name : file.path;
    return {
      kind: 'data',
      data: { name, dry_run, files: [shownFile(file, config.root, ctx.app.commandOf)] },
      next: dry_run
        ? []
        : [
            { operation: 'workflow.validate', input: { workflows: [workflow] }, why: 'Check the workflow.' },
            { operation: 'workflow.run', input: { workflow, dry_run: true }, why: 'See what it would run.' },
          ],
    };
  },
});
