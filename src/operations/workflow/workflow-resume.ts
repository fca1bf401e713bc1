import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { resumeRun } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';
import { againInput, againOutput, continueRun } from '../run/run-again.ts';

export const workflowResume = acorOperation({
  name: 'workflow.resume',
  summary: 'Go on with a workflow that has ended too early, or run a step and all that needs it again.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: againInput.extend({
    from: z
      .string()
      .optional()
      .describe(
        'This step and all that depend on it are run again, even if they are done; the others are not.',
      ),
    force: z
      .boolean()
      .default(false)
      .describe(
        'Also with a file that was changed, and steps that were stopped mid-way and may be done twice.',
      ),
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
    throw new AppError('E_USAGE', `run ${given.run} is no workflow, but a run of the tool '${tool}'`, {
      hint: `Go on with it: acor resume ${given.run}`,
      next: [resumeRun(given.run)],
    });
  },
});
