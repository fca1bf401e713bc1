import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { removeRun, selectRemovable } from '../../core/store-files/retention.ts';
import { acorOperation } from '../define.ts';

const DAY_MS = 86_400_000;

export const runClean = acorOperation({
  name: 'run.clean',
  summary: 'Remove old runs; a run that is going on is never touched.',
  effect: 'destroys',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    keep: z.int().min(0).optional().describe('Keep this many of the newest runs.'),
    older_than: z
      .number()
      .min(0)
      .optional()
      .describe('Remove only runs that ended more than this many days ago.'),
    dry_run: z.boolean().default(false).describe('Say what would be removed, and remove nothing.'),
  }),
  output: z.object({ removed: z.array(z.string()), dry_run: z.boolean(), kept: z.int() }),
  list: 'removed',
  example: 'acor clean --keep 20 --dry-run',
  moreExamples: ['acor clean --older-than 30'],
  async run(input, ctx) {
    if (input.keep === undefined && input.older_than === undefined) {
      throw new AppError('E_USAGE', 'clean needs to be told what may go', {
        hint: 'Give --keep N, --older-than DAYS, or both. --dry-run shows what would go.',
        next: ['acor clean --keep 20 --dry-run'],
      });
    }
    const { store } = await ctx.app.project();
    const removable = await selectRemovable(store, {
      ...(input.keep !== undefined && { keep: input.keep }),
      ...(input.older_than !== undefined && { olderThanMs: input.older_than * DAY_MS }),
    });
    const kept = (await store.list()).length - removable.length;
    if (!input.dry_run) for (const runId of removable) await removeRun(store, runId);
    return { kind: 'data', data: { removed: removable, dry_run: input.dry_run, kept } };
  },
});
