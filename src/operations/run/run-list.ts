import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import type { Page } from '../../compose/operation.ts';
import { readRun } from '../../core/run/read-run.ts';
import { attachTo, showRun } from '../../protocol/next-steps.ts';
import { isFinal, RUN_ID_PATTERN, RUN_KINDS } from '../../protocol/run.ts';
import { acorOperation } from '../define.ts';
import { runLine } from '../shapes.ts';
import { missingWords } from './missing-words.ts';
import { runLineOf } from './run-line.ts';
import { namedRun } from './run-status.ts';
import { unverifiedAmong, unverifiedOf } from './run-unverified.ts';

/** The next steps name at most this many of the runs that wait for an answer. */
const MAX_NEXT = 3;
/** A list may have many runs. `show` reads more. */
const MAX_LOG_BYTES = 64_000;
/** So many of the listed runs are compared with their seals, the first ones. */
const MOST_COMPARED = 100;

const ONLY_FIRST_COMPARED = `only the first ${MOST_COMPARED} ended runs of this list were compared with their seals; verify compares all`;

const time = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)), 'must be a date or a time, such as 2026-01-31T12:00Z');

export const runList = acorOperation({
  name: 'run.list',
  summary: 'List the runs of this project, the newest first.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    tool: z.string().optional().describe('Only runs of this tool.'),
    state: z
      .enum(['queued', 'running', 'waiting_ai', 'completed', 'failed', 'cancelled'])
      .optional()
      .describe('Only runs in this state.'),
    kind: z.enum(RUN_KINDS).optional().describe('Only tools, workflows, pipes or tasks.'),
    caller: z.string().optional().describe('Only runs that this agent started.'),
    parent: z.string().optional().describe('Only the steps of this run.'),
    top_level: z.boolean().default(false).describe('Only runs that are no step of another run.'),
    before: z
      .string()
      .refine((id) => id === 'last' || RUN_ID_PATTERN.test(id), 'must be the id of a run, or last')
      .optional()
      .describe('Only runs older than this one: the last id of a page, to read on.'),
    created_after: time
      .optional()
      .describe('Only runs created at this time or later: 2026-01-31, 2026-01-31T12:00Z.'),
    created_before: time.optional().describe('Only runs created before this time.'),
    text: z
      .string()
      .min(1)
      .optional()
      .describe('Only runs with this text in their id, tool, arguments, error code or message.'),
  }),
  output: z.object({ runs: z.array(runLine) }),
  list: 'runs',
  pageSize: 100,
  example: 'acor runs --limit 10',
  moreExamples: [
    'acor runs --tool data_migrator --state failed',
    'acor runs --text E_TIMEOUT --created-after 2026-01-31',
  ],
  async run({ created_after: after, created_before: before, top_level: isTop, ...filters }, ctx) {
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
    const found = await index.query({ ...query, ...ctx.page });
    const leased = new Set((await store.leases.list()).map(({ runId }) => runId));
    const runs: z.output<typeof runLine>[] = [];
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
    const missing = missingWords(store, await index.missing());
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
      next: [
        ...waiting.map(({ run_id }) => stepFor(run_id)),
        ...(missing === undefined ? [] : [missing.next]),
      ],
    };
  },
});

function msOf(given: string | undefined): number | undefined {
  return given === undefined ? undefined : Date.parse(given);
}

function isCut({ limit, offset }: Page): boolean {
  return limit !== undefined || offset !== undefined;
}
