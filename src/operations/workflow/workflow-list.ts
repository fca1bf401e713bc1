import * as z from 'zod';
import { grantRoots } from '../../core/registry/path-grants.ts';
import { workflowFiles, workflowFolders, workflowNameOf } from '../../core/workflow/file/find-workflow.ts';
import { CHECK_WORKFLOWS } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';

const line = z.object({
  name: z.string().describe('The name of the workflow: that of its file.'),
  file: z.string(),
  description: z.string(),
  steps: z.int(),
  inputs: z.array(z.string()).describe('Required ones first.'),
  problem: z.string().nullable().describe('Why the workflow cannot be read.'),
});

export const workflowList = acorOperation({
  name: 'workflow.list',
  summary: 'List the workflows of this project.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    filter: z.string().optional().describe('Only workflows whose name or description contains this text.'),
  }),
  output: z.object({ workflows: z.array(line) }),
  list: 'workflows',
  example: 'acor workflow list',
  async run({ filter }, ctx) {
    const { config } = await ctx.app.tools();
    const [{ readWorkflow }, { problemText }] = await Promise.all([
      import('../../core/workflow/file/read-workflow.ts'),
      import('../../core/config/problem.ts'),
    ]);
    const folders = workflowFolders(config);
    const roots = grantRoots(config, ctx.cwd);
    const workflows: z.output<typeof line>[] = [];
    for (const file of workflowFiles(config)) {
      const { workflow, problems } = await readWorkflow(file, { folders, roots });
      const inputs = workflow?.inputs ?? [];
      workflows.push({
        name: workflowNameOf(file),
        file,
        description: workflow?.description ?? '',
        steps: (workflow?.steps.length ?? 0) + (workflow?.finally.length ?? 0),
        inputs: [...inputs].sort((a, b) => Number(b.required) - Number(a.required)).map(({ name }) => name),
        problem: problems[0] === undefined ? null : problemText(problems[0]),
      });
    }
    const wanted = (filter ?? '').toLowerCase();
    const shown = workflows.filter(({ name, description }) =>
      `${name}\n${description}`.toLowerCase().includes(wanted),
    );
    const next = shown.some(({ problem }) => problem !== null) ? [CHECK_WORKFLOWS] : [];
    return { kind: 'data', data: { workflows: shown }, next };
  },
});
