import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { approve } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';
import { type PolicyStatus, policyStatusOf, policyStatusShape } from '../tool/policy-status.ts';

const output = policyStatusShape.extend({
  tool: z.string(),
  level: z.enum(['minimal', 'standard', 'privileged']),
});

export const policyCheck = acorOperation({
  name: 'policy.check',
  summary:
    'Check a tool, or a call of it, against the policy: every violation, and every policy file that applied.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    tool: z.string().describe('The name of the tool.'),
    args: z
      .array(z.string())
      .default([])
      .describe('Arguments of the tool, to check this call of it: they may grant paths.'),
  }),
  output,
  positionals: ['tool'],
  passthrough: 'args',
  list: 'violations',
  example: 'acor policy check data_migrator',
  moreExamples: ['acor policy check data_migrator --source in.json --target out.json'],
  callee: async (name, app) =>
    (await import('../run/callee-of-tool.ts')).calleeOfTool(name, app, 'policy check'),
  async run(input, ctx) {
    const project = await ctx.app.project();
    const tool = await project.registry.find(input.tool);
    const status = await policyStatusOf(project, tool, {
      cwd: ctx.cwd,
      env: ctx.env,
      caller: ctx.app.caller,
      ...(input.args.length > 0 && { args: input.args }),
    });
    const isApproved = status.approval.state === 'not_needed' || status.approval.state === 'valid';
    const data = { tool: tool.name, level: tool.manifest.permissions.level, ...status };
    if (!status.allowed) return { kind: 'failure', error: rejected(tool.name, status), data };
    if (!isApproved) return { kind: 'failure', error: notApproved(tool.name), data };
    return { kind: 'data', data };
  },
});

function rejected(tool: string, { violations: [first, ...others] }: PolicyStatus): AppError {
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return new AppError('E_POLICY_DENIED', `the policy rejects '${tool}': ${first?.rule}${more}`, {
    hint: first?.fix,
  });
}

function notApproved(tool: string): AppError {
  return new AppError(
    'E_APPROVAL_REQUIRED',
    `no person has approved these versions of the files of '${tool}'`,
    {
      next: [approve(tool)],
    },
  );
}
