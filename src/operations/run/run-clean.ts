import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { shortenLedger } from '../../core/audit/shorten-ledger.ts';
import { removeRuns, selectRemovable } from '../../core/store-files/retention.ts';
import { PREVIEW_CLEAN } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';

const DAY_MS = 86_400_000;

export const runClean = acorOperation({
  name: 'run.clean',
  summary: 'Remove old runs; live runs are never removed.',
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
    dry_run: z.boolean().default(false).describe('Show what would be removed, and remove nothing.'),
  }),
  output: z.object({ removed: z.array(z.string()), dry_run: z.boolean(), kept: z.int() }),
  list: 'removed',
  example: 'acor clean --keep 20 --dry-run',
  moreExamples: ['acor clean --older-than 30'],
  async run(input, ctx) {
    if (input.keep === undefined && input.older_than === undefined) {
      throw new AppError('E_USAGE', 'clean needs a rule for which runs to remove', {
        hint: 'Add --keep N, --older-than DAYS, or both. Preview with --dry-run.',
        next: [PREVIEW_CLEAN],
      });
    }
    const { store } = await ctx.app.project();
    const removable = selectRemovable(store, {
      ...(input.keep !== undefined && { keep: input.keep }),
      ...(input.older_than !== undefined && { olderThanMs: input.older_than * DAY_MS }),
    });
    const total = store.listNow().length;
    if (input.dry_run) return answer(removable);
    const removed = await removeRuns(store, removable);
    if (removed.length > 0) await shortenLedger(store);
    return answer(removed);

    function answer(runIds: string[]) {
      return {
        kind: 'data' as const,
        data: { removed: runIds, dry_run: input.dry_run, kept: total - runIds.length },
      };
    }
  },
});
