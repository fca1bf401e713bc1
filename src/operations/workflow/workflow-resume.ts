import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { resumeRun } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';
import { againInput, againOutput, continueRun } from '../run/run-again.ts';

export const workflowResume = acorOperation({
  name: 'workflow.resume',
  summary: 'Continue a workflow that ended early, or run a step and all that depend on it again.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: againInput.extend({
    from: z
      .string()
      .optional()
      .describe('Run this step and all that depend on it again, even if they are done.'),
    force: z
      .boolean()
      .default(false)
      .describe('Also when the file has changed, or a step that was stopped midway may repeat its effects.'),
  }),
  output: againOutput,
  positionals: ['run'],
  list: 'artifacts',
  example: 'acor workflow resume r-0123456789abcdef',
  moreExamples: ['acor workflow resume r-0123456789abcdef --from load'],
  streams: 'The protocol events of the new attempt, one JSON object a line; the last line is runner_end.',
  async run(given, ctx) {
    const { store } = await ctx.app.project();
    const { kind, tool } = await store.read(given.run);
    if (kind === 'workflow') return continueRun('resume', given, ctx);
    throw new AppError('E_USAGE', `run ${given.run} is not a workflow but a run of '${tool}'`, {
      hint: 'Resume it as a run.',
      next: [resumeRun(given.run)],
    });
  },
});
