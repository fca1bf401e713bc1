import * as z from 'zod';
import { discardKept } from '../../core/review/settle.ts';
import { acorOperation } from '../define.ts';
import { runId } from '../shapes.ts';
import { endedRun, keptBelow, refuseParent } from './kept-changes.ts';

export const runDiscard = acorOperation({
  name: 'run.discard',
  summary: 'Drop the changes in the layers of a run, and its snapshots.',
  effect: 'destroys',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    run: runId,
    dry_run: z.boolean().default(false).describe('Show what would be dropped, and change nothing.'),
  }),
  output: z.object({
    run_id: z.string(),
    places: z.array(z.string()).describe('The files and folders whose layer or snapshot is dropped.'),
    dry_run: z.boolean(),
  }),
  positionals: ['run'],
  list: 'places',
  example: 'acor discard r-0123456789abcdef',
  async run({ run, dry_run }, ctx) {
    const ended = await endedRun(run, ctx, { writes: !dry_run });
    await refuseParent(run, ctx);
    const { places } = await discardKept(ended, dry_run);
    const { next } = await keptBelow(run, ctx);
    return { kind: 'data', data: { run_id: run, places, dry_run }, next };
  },
});
