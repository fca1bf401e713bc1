import { AppError } from '../../compose/app-error.ts';
import type { OperationContext, OperationResult, Page } from '../../compose/operation.ts';
import { readRun } from '../../core/run/read-run.ts';
import { attachTo, showRun } from '../../protocol/next-steps.ts';
import { isFinal, type RunKind, type RunState } from '../../protocol/run.ts';
import type { AcorApp } from '../acor-app.ts';
import { plainCommand } from '../define.ts';
import type { RunLine } from '../shapes.ts';
import { namedRun } from './last-run.ts';
import { missingWords } from './missing-words.ts';
import { runLineOf } from './run-line.ts';
import { unverifiedAmong, unverifiedOf } from './run-unverified.ts';

/** The next steps name at most this many of the runs that wait for an answer. */
const MAX_NEXT = 3;
/** A list may have many runs. `show` reads more. */
const MAX_LOG_BYTES = 64_000;
/** So many of the listed runs are compared with their seals, the first ones. */
const MOST_COMPARED = 100;

const ONLY_FIRST_COMPARED = `only the first ${MOST_COMPARED} ended runs of this list were compared with their seals; verify compares all`;

/** Which runs are listed: as the input of `run.list`. */
export interface RunFilter {
  tool?: string | undefined;
  state?: RunState | undefined;
  kind?: RunKind | undefined;
  caller?: string | undefined;
  parent?: string | undefined;
  top_level: boolean;
  before?: string | undefined;
  created_after?: string | undefined;
  created_before?: string | undefined;
  text?: string | undefined;
}

export async function listRuns(
  { created_after: after, created_before: before, top_level: isTop, ...filters }: RunFilter,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<{ runs: RunLine[] }>> {
  if (isTop && filters.parent !== undefined)
    throw new AppError('E_USAGE', '--top-level and --parent exclude each other', {
      hint: 'Leave one of them out.',
    });
  const { store, index: openIndex } = await ctx.app.project();
  const index = await openIndex();
  // A page is continued also where its last run was removed meanwhile.
  const older = filters.before && { before: await namedRun(ctx.app, filters.before) };
  const query = {
    ...filters,
    ...(isTop && { parent: null }),
    ...older,
    sinceMs: msOf(after),
    untilMs: msOf(before),
  };
  const [found, missingIds] = await Promise.all([index.query({ ...query, ...ctx.page }), index.missing()]);
  const leased = new Set((await store.leases.list()).map(({ runId }) => runId));
  const runs: RunLine[] = [];
  const whyUnverified = unverifiedAmong(store, MAX_LOG_BYTES);
  let compared = 0;
  for (const indexed of found.runs) {
    const isOver = isFinal(indexed.state) && !leased.has(indexed.run_id);
    // Also undefined when another process removed the run meanwhile.
    const record = isOver ? undefined : await readRun(store, indexed.run_id).catch(() => undefined);
    const isCompared = isOver && compared++ < MOST_COMPARED;
    const why = isCompared ? whyUnverified(indexed.run_id) : undefined;
    runs.push({ ...(await runLineOf(store, record ?? indexed)), ...(why && { unverified: why }) });
  }
  const missing = missingWords(store, missingIds);
  // At a terminal `attach` asks the question in a dialog; `show` lists the commands that answer it.
  const stepFor = ctx.person !== null ? attachTo : showRun;
  const waiting = runs.filter(({ question }) => question !== null).slice(0, MAX_NEXT);
  return {
    kind: 'data',
    data: { runs },
    ...(isCut(ctx.page) && { total: found.total }),
    warnings: [
      ...(index.warning === undefined ? [] : [index.warning]),
      ...(missing === undefined ? [] : [missing.words]),
      ...(compared > MOST_COMPARED ? [ONLY_FIRST_COMPARED] : []),
      ...unverifiedOf(runs),
    ],
    next: [...waiting.map(({ run_id }) => stepFor(run_id)), ...(missing?.next ?? [])],
  };
}

export const plainRunList = plainCommand('run.list', listRuns);

function msOf(given: string | undefined): number | undefined {
  return given === undefined ? undefined : Date.parse(given);
}

function isCut({ limit, offset }: Page): boolean {
  return limit !== undefined || offset !== undefined;
}
