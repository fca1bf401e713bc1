import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { checkWorkflows } from '../../core/authoring/validation/checkers/workflows.ts';
import { type Finding, inOrder } from '../../core/authoring/validation/finding.ts';
import { grantRoots } from '../../core/registry/path-grants.ts';
import { findWorkflow, workflowFiles } from '../../core/workflow/file/find-workflow.ts';
import { acorOperation } from '../define.ts';
import { findingShape, placed, shownFinding } from '../project/shapes.ts';

const output = z.object({
  findings: z.array(findingShape),
  errors: z.int(),
  warnings: z.int(),
  workflows: z.int().describe('How many workflows were checked, not counting nested ones.'),
});

export const workflowValidate = acorOperation({
  name: 'workflow.validate',
  summary: 'Check workflows before running them; every finding has its place and its fix.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    workflows: z
      .array(z.string())
      .default([])
      .describe('Workflows by name or path; by default all workflows of the project.'),
    strict: z.boolean().default(false).describe('Treat warnings as errors.'),
  }),
  output,
  positionals: ['workflows'],
  list: 'findings',
  example: 'acor workflow validate nightly',
  moreExamples: ['acor workflow validate workflows/nightly.yaml --strict'],
  async run(input, ctx) {
    const { config } = await ctx.app.tools();
    const { cwd } = ctx;
    const places = { config, cwd, roots: grantRoots(config, cwd) };
    const files =
      input.workflows.length === 0
        ? workflowFiles(config)
        : [...new Set(input.workflows.map((wanted) => findWorkflow(wanted, places)))];
    const found = inOrder(await checkWorkflows(files, { config, cwd })).map((finding) =>
      shownFinding(finding, ctx.app.commandOf),
    );
    const findings = input.strict ? found.map((each): Finding => ({ ...each, severity: 'error' })) : found;
    const errors = findings.filter(({ severity }) => severity === 'error');
    const warnings = findings.length - errors.length;
    const data = { findings, errors: errors.length, warnings, workflows: files.length };
    const [first] = errors;
    if (first === undefined) return { kind: 'data', data };
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
    const message = `${placed(first)}: ${first.message}${more}`;
    const again = { workflows: input.workflows, ...(input.strict && { strict: true }) };
    const error = new AppError('E_WORKFLOW_INVALID', message, {
      hint: first.fix,
      next: [{ operation: 'workflow.validate', input: again, why: 'Check again what was fixed.' }],
    });
    return { kind: 'failure', error, data };
  },
});
