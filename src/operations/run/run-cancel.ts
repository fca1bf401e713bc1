import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { readRun } from '../../core/run/read-run.ts';
import { recoverRun } from '../../core/run/recover-lost-run.ts';
import { isFinal, isOrchestration } from '../../protocol/run.ts';
import { acorOperation } from '../define.ts';
import { runId } from '../shapes.ts';

export const runCancel = acorOperation({
  name: 'run.cancel',
  summary: 'Cancel a run, and wait until it and everything it started has ended.',
  effect: 'writes',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    run: runId,
    reason: z
      .string()
      .default('cancelled by acor cancel')
      .describe('Why; the tool can read it, and the run records it.'),
    dry_run: z.boolean().default(false).describe('Only report whether there is anything to cancel.'),
  }),
  output: z.object({ run_id: z.string(), state: z.string(), was_running: z.boolean() }),
  positionals: ['run'],
  example: 'acor cancel r-0123456789abcdef --reason "wrong input"',
  async run(input, ctx) {
    const project = await ctx.app.project();
    if (input.dry_run) {
      const { state } = await readRun(project.store, input.run);
      return { kind: 'data', data: { run_id: input.run, state, was_running: !isFinal(state) } };
    }
    const record = await recoverRun(project, input.run);
    const wasRunning = !isFinal(record.state);
    if (wasRunning) {
      const { cancelRun } = await import('../../core/run/cancel-run.ts');
      const graceS = project.config.config.environment.cancel_grace_s;
      const by = ctx.app.principal.name;
      await cancelRun(project, record, { reason: input.reason, by, graceS, signal: ctx.signal });
    }
    if (isOrchestration(record.kind)) {
      // After the supervisor of a workflow was killed, its children still run; no other process ends them.
      const { endChildren } = await import('../../core/run/end-children.ts');
      await endChildren(project, input.run, input.reason, ctx.signal);
    }
    const after = await recoverRun(project, input.run);
    if (ctx.signal.aborted)
      throw new AppError(
        'E_ACTION_TIMEOUT',
        `run ${input.run} had not ended yet when the wait was interrupted`,
        { exit: 1 },
      );
    return { kind: 'data', data: { run_id: input.run, state: after.state, was_running: wasRunning } };
  },
});
