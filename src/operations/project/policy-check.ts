import * as z from 'zod';
import { approve } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';
import { standingOf, standingShape } from '../tool/policy-status.ts';

const output = standingShape.extend({
  tool: z.string(),
  level: z.enum(['minimal', 'standard', 'privileged']),
});

export const policyCheck = acorOperation({
  name: 'policy.check',
  summary:
    'Say what the policy thinks of a tool, or of a call of it: every violation, and every file that took part.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    tool: z.string().describe('The name of the tool.'),
    args: z
      .array(z.string())
      .default([])
      .describe("The tool's arguments, when a call of it is to be checked: they may grant paths."),
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
    const standing = await standingOf(project, tool, {
      cwd: ctx.cwd,
      env: ctx.env,
      caller: ctx.app.caller,
      ...(input.args.length > 0 && { args: input.args }),
    });
    const isApproved = standing.approval.state === 'not_needed' || standing.approval.state === 'valid';
    return {
      kind: 'data',
      data: { tool: tool.name, level: tool.manifest.permissions.level, ...standing },
      exit: standing.allowed && isApproved ? 0 : 2,
      ...(standing.allowed && !isApproved && { next: [approve(tool.name)] }),
    };
  },
});
