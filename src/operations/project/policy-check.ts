import * as z from 'zod';
import { approve } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';
import { policyStatusOf, policyStatusShape } from '../tool/policy-status.ts';

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
    return {
      kind: 'data',
      data: { tool: tool.name, level: tool.manifest.permissions.level, ...status },
      exit: status.allowed && isApproved ? 0 : 2,
      ...(status.allowed && !isApproved && { next: [approve(tool.name)] }),
    };
  },
});
