import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { shortenLedger } from '../../core/audit/shorten-ledger.ts';
import { whyKept } from '../../core/review/undecided.ts';
import { removeRuns, selectRemovable } from '../../core/store-files/retention.ts';
import { attachTo, diffRun, discardRun } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';
import { runId } from '../shapes.ts';

export const runRemove = acorOperation({
  name: 'run.remove',
  summary: 'Remove one run that has ended; `clean` removes many by a rule.',
  effect: 'destroys',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    run: runId,
    dry_run: z.boolean().default(false).describe('Show what would be removed, and change nothing.'),
  }),
  output: z.object({ removed: z.array(z.string()), dry_run: z.boolean() }),
  positionals: ['run'],
  list: 'removed',
  example: 'acor runs rm r-0123456789abcdef --dry-run',
  async run({ run, dry_run }, ctx) {
    const { store } = await ctx.app.project();
    await store.read(run);
    const undecided = whyKept(store.layout(run).dir);
    if (undecided !== undefined)
      throw new AppError('E_USAGE', `run ${run} cannot be removed: ${undecided}`, {
        hint: 'Apply, undo or discard them first.',
        next: [diffRun(run), discardRun(run)],
      });
    const removable = selectRemovable(store, {}, { mayTake: (id) => id === run });
    const { removed } = dry_run ? { removed: removable } : await removeRuns(store, removable);
    if (removed.length === 0)
      throw new AppError('E_USAGE', `run ${run} has not ended, or is part of one that has not`, {
        hint: 'Wait until it ends, or cancel it first.',
        next: [attachTo(run)],
      });
    if (!dry_run) await shortenLedger(store);
    return { kind: 'data', data: { removed, dry_run } };
  },
});
