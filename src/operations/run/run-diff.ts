import * as z from 'zod';
import { executedLater, WAYS_TO_EXECUTE, type WayToExecute } from '../../core/review/executed-later.ts';
import { KeptRun } from '../../core/review/kept-run.ts';
import { patchOf } from '../../core/review/patch.ts';
import type { PlacedChange } from '../../core/review/placed-change.ts';
import { keptSteps } from '../../core/review/undecided.ts';
import { undecidedChanges } from '../../core/review/undecided-changes.ts';
import type { TreeEntry } from '../../util/tree-listing.ts';
import { acorOperation } from '../define.ts';
import { runId } from '../shapes.ts';
import { endedRun, executionWarnings, keptBelow } from './kept-changes.ts';

/** Of the texts of all changes: more would fill the context of an agent. */
const MAX_PATCH_CHARS = 30_000;

const entry = z.object({
  kind: z.enum(['file', 'folder', 'link', 'special']),
  mode: z.string(),
  size: z.int().optional(),
  sha256: z.string().optional(),
  leads_to: z.string().optional(),
});

export const runDiff = acorOperation({
  name: 'run.diff',
  summary: 'Show what a run changed in its layers and in the folders with a snapshot.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    run: runId.default('last'),
    stat: z.boolean().default(false).describe('List the changes without their texts.'),
  }),
  output: z.object({
    run_id: z.string(),
    places: z.array(
      z.object({
        path: z.string(),
        mode: z.enum(['review', 'snapshot']),
        state: z.enum(['open', 'pending', 'too_large', 'unchanged', 'applied', 'discarded', 'undone']),
      }),
    ),
    changes: z.array(
      z.object({
        path: z.string(),
        change: z.enum(['added', 'modified', 'deleted', 'mode']),
        in_place: z.boolean().describe('False for a change that is only in a layer.'),
        before: entry.nullable(),
        after: entry.nullable(),
        refused: z
          .enum(['special', 'leads_out'])
          .optional()
          .describe('Why it is never put in place: a pipe, device or socket, or a link that leads out.'),
        executed: z
          .enum(WAYS_TO_EXECUTE)
          .optional()
          .describe('How other programs may execute the changed entry later.'),
        patch: z.string().optional().describe('The change of a text file as a unified diff.'),
      }),
    ),
    effects: z
      .array(
        z.object({
          ts: z.string(),
          effect: z.enum(['applied', 'discarded', 'undone']),
          by: z.string(),
          count: z.int(),
          paths: z.array(z.string()),
        }),
      )
      .describe('What was done with the changes so far.'),
  }),
  positionals: ['run'],
  list: 'changes',
  example: 'acor diff r-0123456789abcdef',
  moreExamples: ['acor diff last --stat'],
  async run({ run, stat }, ctx) {
    const { dir, check } = await endedRun(run, ctx, { writes: false });
    const kept = KeptRun.read(dir);
    const isWanted = ({ state }: { state: string }) => state !== 'too_large';
    const found = await undecidedChanges(kept, check, isWanted);
    let chars = 0;
    const changes = found.map((change) => {
      const patch = stat || chars > MAX_PATCH_CHARS ? undefined : patchOf(kept, change);
      chars += patch?.length ?? 0;
      const executed = executedLater(kept, change);
      return shown(change, { executed, patch: chars > MAX_PATCH_CHARS ? undefined : patch });
    });
    const executed = changes.flatMap(({ path, executed: way }) => (way === undefined ? [] : [{ path, way }]));
    const { effects } = kept;
    const places = kept.places.map(({ path, mode, state }) => ({ path, mode, state }));
    const below = await keptBelow(run, ctx);
    const own = keptSteps(run, dir).filter((step) => !('operation' in step && step.operation === 'run.diff'));
    return {
      kind: 'data',
      data: { run_id: run, places, changes, effects },
      next: [...own, ...below.next],
      warnings: [
        ...(below.words === undefined ? [] : [below.words]),
        ...executionWarnings(executed),
        ...(chars > MAX_PATCH_CHARS
          ? ['the texts of some changes were left out, because they are long']
          : []),
      ],
    };
  },
});

function shown(
  { path, kind, place, before, after, unfit }: PlacedChange,
  { executed, patch }: { executed: WayToExecute | undefined; patch: string | undefined },
) {
  return {
    path,
    change: kind,
    in_place: place.mode === 'snapshot',
    before: shownEntry(before),
    after: shownEntry(after),
    ...(unfit !== undefined && place.mode === 'review' && { refused: unfit }),
    ...(executed !== undefined && { executed }),
    ...(patch !== undefined && patch !== '' && { patch }),
  };
}

function shownEntry(of: TreeEntry | undefined): z.output<typeof entry> | null {
  if (of === undefined) return null;
  const { kind, mode, size, sha256, link } = of;
  return {
    kind,
    mode: mode.toString(8).padStart(4, '0'),
    ...(size !== undefined && { size }),
    ...(sha256 !== undefined && { sha256 }),
    ...(link !== undefined && { leads_to: Buffer.from(link, 'latin1').toString('utf8') }),
  };
}
