import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { shortenLedger } from '../../core/audit/shorten-ledger.ts';
import type { RunIndex, RunQuery } from '../../core/ports/run-index.ts';
import { whyKept } from '../../core/review/undecided.ts';
import type { FileRunStore } from '../../core/store-files/file-run-store.ts';
import { forgetMissingRuns, missingRuns } from '../../core/store-files/missing-runs.ts';
import { packRuns, selectPackable, whyNotPacked } from '../../core/store-files/pack-runs.ts';
import {
  type NoRoom,
  type RetentionRule,
  removeRuns,
  selectRemovable,
} from '../../core/store-files/retention.ts';
import { diffRun, discardRun, PREVIEW_CLEAN, PREVIEW_PACK } from '../../protocol/next-steps.ts';
import { countOf } from '../../util/count-of.ts';
import { acorOperation } from '../define.ts';

const DAY_MS = 86_400_000;
/** The rules that are offered where the caller gives none. */
const USUAL_KEEP = 20;
const USUAL_DAYS = 30;

export const runClean = acorOperation({
  name: 'run.clean',
  summary: 'Remove or pack old runs; live runs are never touched.',
  effect: 'destroys',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    keep: z
      .int()
      .min(0)
      .optional()
      .describe(
        'Keep this many of the newest runs; without any rule, storage.keep of the configuration applies.',
      ),
    older_than: z
      .number()
      .min(0)
      .meta({ unit: 'd' })
      .optional()
      .describe('Take only runs that ended more than this many days ago, or 12h, 7d.'),
    pack: z
      .boolean()
      .default(false)
      .describe('Pack the runs into few files instead of removing them; every command still reads them.'),
    missing: z
      .boolean()
      .default(false)
      .describe('Take the runs whose files another program removed, and enter them as removed.'),
    dry_run: z.boolean().default(false).describe('Show what would be removed or packed, and change nothing.'),
  }),
  output: z.object({
    removed: z.array(z.string()),
    packed: z.array(z.string()).describe('The runs that were moved from their folders into packs.'),
    skipped: z
      .array(z.object({ run_id: z.string(), reason: z.string() }))
      .describe('The runs that were left as they are, and why.'),
    counts: z
      .object({ removed: z.int(), packed: z.int(), skipped: z.int() })
      .describe('Of all of them: a list may have only a page.'),
    dry_run: z.boolean(),
    kept: z.int().describe('How many runs are still in the store, packed or not.'),
  }),
  list: 'removed',
  pageSize: 100,
  example: 'acor clean --keep 20 --dry-run',
  moreExamples: ['acor clean --older-than 30d', 'acor clean --pack --older-than 7'],
  async run(input, ctx) {
    const { store, config, index } = await ctx.app.project();
    if (input.missing) return forgetMissing(store, input);
    // The rule of the project applies where the caller gives none.
    const keep = input.keep ?? (input.older_than === undefined ? config.config.storage.keep : undefined);
    if (keep === undefined && input.older_than === undefined)
      throw await needsRule(await index(), input.pack);
    const rule: RetentionRule = {
      ...(keep !== undefined && { keep }),
      ...(input.older_than !== undefined && { olderThanMs: input.older_than * DAY_MS }),
    };
    const total = store.listNow().filter((runId) => store.files.has(runId)).length;
    const { noRoom, ...changed } = input.pack
      ? { removed: [], ...(await pack(store, rule, input.dry_run)) }
      : { packed: [], ...(await remove(store, rule, input.dry_run)) };
    const warnings = Array.from(store.files.packed.tables()).flatMap(({ path, damage }) =>
      damage === undefined
        ? []
        : [`the runs in ${path} were left as they are: ${damage.message}. ${damage.hint ?? ''}`],
    );
    const kept = total - changed.removed.length;
    const undecided = changed.skipped.find(
      ({ run_id, reason }) => whyKept(store.layout(run_id).dir) === reason,
    );
    const next = [
      ...(undecided === undefined ? [] : [diffRun(undecided.run_id), discardRun(undecided.run_id)]),
      ...noRoom.flatMap(({ error }) => error.next ?? []).slice(0, 1),
    ];
    return {
      kind: 'data',
      data: { ...changed, counts: countsOf(changed), dry_run: input.dry_run, kept },
      ...(input.pack && { list: 'packed' }),
      warnings,
      next,
    };
  },
});

type RuleInput = { keep?: number | undefined; older_than?: number | undefined };

/** They count as removed from then on, so that no command reports them again. */
async function forgetMissing(
  store: FileRunStore,
  { keep, older_than, pack, dry_run }: RuleInput & { pack: boolean; dry_run: boolean },
) {
  if (keep !== undefined || older_than !== undefined || pack)
    throw new AppError('E_USAGE', '--missing takes no other rule', {
      hint: 'Run clean --missing by itself, and clean with the other rule after it.',
    });
  const removed = dry_run ? missingRuns(store) : await forgetMissingRuns(store);
  if (removed.length > 0 && !dry_run) await shortenLedger(store);
  const changed = { removed, packed: [], skipped: [] };
  const data = { ...changed, counts: countsOf(changed), dry_run, kept: store.listNow().length };
  return { kind: 'data' as const, data };
}

function countsOf(lists: Readonly<Record<'removed' | 'packed' | 'skipped', readonly unknown[]>>) {
  const { removed, packed, skipped } = lists;
  return { removed: removed.length, packed: packed.length, skipped: skipped.length };
}

/** Says with numbers what the usual rules would remove: those of the index, because a look at each run of a large store takes long. */
async function needsRule(index: RunIndex, packs: boolean): Promise<AppError> {
  const count = async (query: RunQuery = {}) => (await index.query({ ...query, limit: 0 })).total;
  const [all, old] = [await count(), await count({ untilMs: Date.now() - USUAL_DAYS * DAY_MS })];
  const numbers = `--keep ${USUAL_KEEP} would remove about ${Math.max(0, all - USUAL_KEEP)}, --older-than ${USUAL_DAYS}d about ${old}. `;
  return new AppError(
    'E_USAGE',
    `clean needs a rule for which of the ${countOf(all, 'run')} to ${packs ? 'pack' : 'remove'}`,
    {
      hint: `Add --keep N, --older-than ${USUAL_DAYS}d, or both. ${packs ? '' : numbers}Preview with --dry-run.`,
      next: [packs ? PREVIEW_PACK : PREVIEW_CLEAN],
    },
  );
}

async function pack(store: FileRunStore, rule: RetentionRule, dryRun: boolean) {
  const selected = selectPackable(store, rule);
  const kept = new Map(selected.map((runId) => [runId, whyKept(store.layout(runId).dir)]));
  const packable = selected.filter((runId) => kept.get(runId) === undefined);
  const { packed: ids, noRoom } = dryRun ? { packed: [], noRoom: [] } : await packRuns(store, packable);
  const packed = new Set(ids);
  const reasons = new Map([...kept, ...reasonsOf(noRoom)]);
  const skipped: { run_id: string; reason: string }[] = [];
  for (const runId of selected) {
    if (packed.has(runId)) continue;
    const problem = reasons.get(runId) ?? whyNotPacked(store, runId);
    if (dryRun && problem === undefined) packed.add(runId);
    else skipped.push({ run_id: runId, reason: problem ?? 'another process uses it' });
  }
  return { packed: [...packed], skipped, noRoom };
}

async function remove(store: FileRunStore, rule: RetentionRule, dryRun: boolean) {
  const skipped: { run_id: string; reason: string }[] = [];
  const removable = selectRemovable(store, rule).filter((runId) => {
    const reason = whyKept(store.layout(runId).dir);
    if (reason !== undefined) skipped.push({ run_id: runId, reason });
    return reason === undefined;
  });
  if (dryRun) return { removed: removable, skipped, noRoom: [] };
  const { removed, noRoom } = await removeRuns(store, removable);
  for (const [run_id, reason] of reasonsOf(noRoom)) skipped.push({ run_id, reason });
  if (removed.length > 0) await shortenLedger(store);
  return { removed, skipped, noRoom };
}

function reasonsOf(noRoom: readonly NoRoom[]): [runId: string, reason: string][] {
  return noRoom.flatMap(({ runIds, error }) =>
    runIds.map((runId): [string, string] => [runId, error.message]),
  );
}
