import { relative } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { planChange } from '../../core/insights/apply-change.ts';
import { toolFigures } from '../../core/insights/figures.ts';
import { idOf, proposalsOf } from '../../core/insights/insights.ts';
import { readPast } from '../../core/insights/past.ts';
import { PROPOSAL_KINDS, type Proposal } from '../../core/insights/proposal.ts';
import { workflowFiles, workflowFolders, workflowNameOf } from '../../core/workflow/file/find-workflow.ts';
import { type NextStep, TRUST, validateTool } from '../../protocol/next-steps.ts';
import { acorOperation } from '../define.ts';
import { warningsOf } from './missing-words.ts';

const DAY_MS = 86_400_000;

const figures = z.object({
  tool: z.string(),
  runs: z.int(),
  failed: z.int(),
  retried: z.int().describe('Attempts after the first.'),
  median_s: z.number().nullable(),
  p95_s: z.number().nullable(),
  total_s: z.number(),
  cost_usd: z.number().nullable().describe('Null when no run reported a cost.'),
  codes: z.array(z.object({ code: z.string(), runs: z.int() })).describe('The most frequent first.'),
});

const proposal = z.object({
  n: z.int().describe('Its number in this answer, for --apply.'),
  id: z.string().describe('Its name, for --apply: it stays when the numbers change.'),
  kind: z.enum(PROPOSAL_KINDS),
  what: z.string(),
  why: z.string(),
  runs: z.int().describe('How many runs say so.'),
  of: z.int().describe('Of how many that could.'),
  examples: z.array(z.string()).describe('The newest of these runs.'),
  applies: z.boolean().describe('Whether --apply can make the change; otherwise a person decides how.'),
});

export const runInsights = acorOperation({
  name: 'run.insights',
  summary: 'Show what the recorded runs suggest to change, and make one of these changes when asked.',
  effect: 'writes',
  readsWithout: ['apply'],
  idempotent: false,
  rateLimit: null,
  input: z.object({
    tool: z.string().optional().describe('Only runs of this tool.'),
    newer_than: z
      .number()
      .positive()
      .meta({ unit: 'd' })
      .optional()
      .describe('Only runs created in the last so many days, or 12h, 7d.'),
    runs: z.int().min(1).max(10_000).default(1000).describe('Read at most so many of the newest runs.'),
    apply: z.string().optional().describe('Make the change of this proposal: its number or its id.'),
    dry_run: z.boolean().default(false).describe('With --apply: show the change, and make none.'),
  }),
  output: z.object({
    runs_read: z.int(),
    since: z.string().nullable().describe('When the oldest of these runs was created.'),
    tools: z.array(figures).describe('By tool, those that took the most time first.'),
    proposals: z.array(proposal),
    applied: z
      .object({
        id: z.string(),
        file: z.string(),
        diff: z.string().describe('Unified.'),
        dry_run: z.boolean(),
      })
      .nullable(),
  }),
  list: 'proposals',
  example: 'acor insights',
  moreExamples: ['acor insights --newer-than 7d', 'acor insights --apply 1 --dry-run'],
  async run(input, ctx) {
    const { store, registry, config, index: openIndex, workspaces } = await ctx.app.project();
    const index = await openIndex();
    const sinceMs = input.newer_than && Date.now() - input.newer_than * DAY_MS;
    const past = await readPast(
      {
        store,
        index,
        tools: await registry.list(),
        answerRules: config.config.answers,
        workflows: workflowFiles(config).map(workflowNameOf),
        maxCostUsd: config.config.budget.max_cost_usd,
      },
      { limit: input.runs, sinceMs, tool: input.tool },
    );
    await ctx.app.readErrorCodes();
    const found = await proposalsOf(past, {
      isRetryable: (code) => ctx.app.errorInfo(code)?.retryable === true,
      folderOf: (runId) => workspaces.of(runId).dir,
    });
    const wanted = input.apply === undefined ? undefined : pick(found, input.apply);
    const applied = wanted && (await apply(wanted));
    return {
      kind: 'data',
      data: {
        runs_read: past.runs.length,
        since: past.runs[0]?.created_at ?? null,
        tools: toolFigures(past.runs),
        proposals: found.map((each, at) => shown(each, at + 1)),
        applied: applied ?? null,
      },
      warnings: await warningsOf(index, store),
      next:
        wanted !== undefined ? stepsAfter(wanted, input.dry_run) : ((found[0] && stepsFor(found[0])) ?? []),
    };

    async function apply({ change, what, next }: Proposal & { id: string }) {
      if (change === null) {
        throw new AppError('E_USAGE', `a person has to decide how: ${what}`, {
          hint: 'Look at the runs that it names.',
          next,
        });
      }
      if (change.kind === 'adopt') return { id: wanted!.id, ...(await adopt(change.program)) };
      const [workflowFolder] = workflowFolders(config);
      const planned = await planChange(change, {
        config,
        tools: past.tools,
        env: ctx.env,
        workflowFolder: workflowFolder!,
      });
      if (!input.dry_run) planned.write();
      return { id: wanted!.id, file: planned.file, diff: planned.diff, dry_run: input.dry_run };
    }
    /** The manifest from the help of the program, as `acor adopt` writes it. */
    async function adopt(program: string) {
      const { toolAdopt } = await import('../tool/tool-adopt.ts');
      const asked = { program, subcommand: [], recursive: false, depth: 1, dry_run: true };
      const draft = await toolAdopt.run(asked, ctx);
      if (draft.kind !== 'data') throw new Error('Internal: adopt answers with data');
      const [first] = draft.data.drafts;
      if (!input.dry_run) await toolAdopt.run({ ...asked, dry_run: false }, ctx);
      const file = relative(config.root, first!.file);
      const { unifiedDiff } = await import('../../util/unified-diff.ts');
      return {
        file: first!.file,
        diff: unifiedDiff(file, '', first!.manifest ?? ''),
        dry_run: input.dry_run,
      };
    }
  },
});

function shown(each: Proposal, n: number): z.output<typeof proposal> {
  const { kind, what, why, runs, of, examples, change } = each;
  return { n, id: idOf(each), kind, what, why, runs, of, examples, applies: change !== null };
}

/** The proposal that a number or an id names. Throws E_USAGE. */
function pick(found: readonly Proposal[], given: string): Proposal & { id: string } {
  const meant = /^\d+$/.test(given) ? found[Number(given) - 1] : found.find((each) => idOf(each) === given);
  if (meant !== undefined) return { ...meant, id: idOf(meant) };
  throw new AppError('E_USAGE', `there is no proposal '${given}'`, {
    hint: found.length === 0 ? 'These runs suggest nothing.' : `Name one of: ${found.map(idOf).join(', ')}`,
  });
}

/** What leads on from the first proposal. */
function stepsFor(proposal: Proposal): NextStep[] {
  if (proposal.change === null) return proposal.next;
  const input = { apply: idOf(proposal), dry_run: true };
  return [{ operation: 'run.insights', input, why: 'See what would change.' }];
}

/** What leads on from a change that was made, or shown. */
function stepsAfter({ change, id }: Proposal & { id: string }, dryRun: boolean): NextStep[] {
  if (dryRun) return [{ operation: 'run.insights', input: { apply: id }, why: 'Make this change.' }];
  switch (change?.kind) {
    case 'manifest':
      return [validateTool(change.tool)];
    case 'workflow': {
      const input = { workflows: [change.name] };
      return [{ operation: 'workflow.validate', input, why: 'Check the workflow.' }];
    }
    case 'answer':
      return [TRUST];
    default:
      return [];
  }
}
