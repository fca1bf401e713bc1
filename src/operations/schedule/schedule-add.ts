import * as z from 'zod';
import { usageError } from '../../compose/app-error.ts';
import { declares, type ForwardedCommand } from '../../compose/forwarded-command.ts';
import { takeKnownFlags } from '../../compose/known-flags.ts';
import type { OperationContext, OperationDescription, OperationResult } from '../../compose/operation.ts';
import { asksForStdin } from '../../core/registry/parse-arguments.ts';
import { CronTimes, localTimezone } from '../../core/schedule/cron-times.ts';
import { MISSED, type Schedule } from '../../core/schedule/schedule.ts';
import { ScheduleFiles } from '../../core/schedule/schedule-files.ts';
import { checkPatterns, watchedState } from '../../core/schedule/watched-state.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { SERVE } from '../../protocol/next-steps.ts';
import { shellCommand } from '../../util/shell-words.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { lineOf, scheduleLine, scheduleName } from './shapes.ts';

/** The two commands that add a schedule, each with a name for one. */
const BY_TIME = { command: 'acor schedule add', name: 'my-schedule' } as const;
const BY_CHANGE = { command: 'acor watch', name: 'my-watch' } as const;

const common = {
  tool: z.string().describe('The tool to run; with --workflow, the workflow.'),
  args: z
    .array(z.string())
    .default([])
    .describe(
      'Its arguments. They may include flags of ACOR that it does not declare itself; after -- every word is for the tool.',
    ),
  name: scheduleName.optional().describe('The name; by default that of the tool or workflow.'),
  workflow: z.boolean().default(false).describe('Run a workflow, not a tool.'),
  dry_run: z.boolean().default(false).describe('Check everything, and store nothing.'),
};

const output = scheduleLine.extend({
  served: z.boolean().describe('Whether a server runs the schedules now; without one, no run is started.'),
  dry_run: z.boolean(),
});

type Added = OperationResult<z.output<typeof output>>;
type Given = z.output<z.ZodObject<typeof common>>;

const added = {
  name: 'schedule.add',
  summary: 'Run a tool or a workflow at the times of a cron expression, while `acor serve` runs.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    ...common,
    cron: z
      .string()
      .optional()
      .describe('Minute, hour, day of the month, month, day of the week; a sixth field in front is seconds.'),
    timezone: z.string().optional().describe('An IANA time zone; by default that of this machine.'),
    jitter: z
      .number()
      .min(0)
      .meta({ unit: 's' })
      .default(0)
      .describe(
        'Delay each time by up to this, in seconds, or 5m, 1h. The delay of a time is always the same.',
      ),
    missed: z
      .enum(MISSED)
      .default('once')
      .describe('What to do about times at which no server ran: run the latest, all of them, or none.'),
  }),
  output,
  positionals: ['tool'],
  passthrough: 'args',
  example: "acor schedule add backup --cron '30 3 * * *' --timezone Europe/Berlin",
  moreExamples: ["acor schedule add report --workflow --cron '0 8 * * mon-fri' --jitter 10m --date today"],
} satisfies OperationDescription;

export const scheduleAdd = acorOperation({
  ...added,
  callee,
  async run(given, ctx): Promise<Added> {
    const options = await withFlags(added, given, ctx);
    const { cron, timezone = localTimezone(), jitter: jitter_s, missed } = options;
    if (cron === undefined) throw needed('cron', BY_TIME, added.example);
    const trigger = { kind: 'cron', cron, timezone, jitter_s, missed } as const;
    if (new CronTimes(trigger).after(Date.now()) === undefined)
      throw new AcorError(
        'E_USAGE',
        `the cron expression ${JSON.stringify(cron)} names no time that will come`,
        {
          hint: 'Check the day and the month: there is no 30 February.',
        },
      );
    return add(options, ctx, BY_TIME, ['--cron', cron], (_root, createdAt) => ({
      trigger,
      settled: createdAt,
    }));
  },
});

const watched = {
  name: 'schedule.watch',
  summary: 'Run a tool or a workflow after each change of the files of a pattern, while `acor serve` runs.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    ...common,
    on: z
      .array(z.string())
      .default([])
      .describe(
        "A pattern of files, relative to the project's folder: 'src/**/*.ts'. May be given several times.",
      ),
  }),
  output,
  positionals: ['tool'],
  passthrough: 'args',
  example: "acor watch line_count --on 'docs/**/*.md' -- README.md",
} satisfies OperationDescription;

export const scheduleWatch = acorOperation({
  ...watched,
  callee,
  async run(given, ctx): Promise<Added> {
    const options = await withFlags(watched, given, ctx);
    const { on } = options;
    if (on.length === 0) throw needed('on', BY_CHANGE, watched.example);
    checkPatterns(on);
    return add(
      options,
      ctx,
      BY_CHANGE,
      on.flatMap((each) => ['--on', each]),
      async (root) => ({
        trigger: { kind: 'watch', on },
        settled: (await watchedState(root, on)).digest,
      }),
    );
  },
});

/** Flags of `acor run` that fit a single call. */
const OF_ONE_CALL = ['--idempotency-key', '--plan'];

/** Takes ACOR's own flags out of the arguments, except those that the tool declares itself. */
async function withFlags<I extends z.ZodObject>(
  operation: OperationDescription<I>,
  given: z.output<I> & Given,
  ctx: OperationContext<AcorApp>,
): Promise<z.output<I> & Given> {
  const end = given.args.indexOf('--');
  const [mine, theirs] = end === -1 ? [given.args, []] : [given.args.slice(0, end), given.args.slice(end)];
  const program = await callee(given.tool, ctx.app, given.workflow || mine.includes('--workflow'));
  const { values, rest } = takeKnownFlags(operation, mine, (flag) => declares(program, flag));
  const own = rest.find((each) =>
    OF_ONE_CALL.some((flag) => each.split('=')[0] === flag && !declares(program, flag.slice(2))),
  );
  if (own !== undefined)
    throw new AcorError('E_USAGE', `${own} belongs to one call, and a schedule makes many`, {
      hint: `Leave ${own} out.`,
    });
  return { ...given, ...values, args: [...rest, ...theirs] };
}

async function callee(name: string, app: AcorApp, isFlow?: boolean): Promise<ForwardedCommand> {
  if (isFlow ?? (await isOnlyWorkflow(name, app)))
    return (await import('../workflow/callee-of-workflow.ts')).calleeOfWorkflow(name, app);
  return (await import('../run/callee-of-tool.ts')).calleeOfTool(name, app);
}

/** Whether a name is that of a workflow and not of a tool. */
async function isOnlyWorkflow(name: string, app: AcorApp): Promise<boolean> {
  const { isWorkflow } = await import('../workflow/is-workflow.ts');
  return (await isWorkflow(app, name)) && (await app.tool(name).catch(() => undefined)) === undefined;
}

async function add(
  { tool, args, name = tool, workflow, dry_run }: Given,
  ctx: OperationContext<AcorApp>,
  kind: typeof BY_TIME | typeof BY_CHANGE,
  when: readonly string[],
  rule: (
    root: string,
    createdAt: string,
  ) => Pick<Schedule, 'trigger' | 'settled'> | Promise<Pick<Schedule, 'trigger' | 'settled'>>,
): Promise<Added> {
  const isNamed = scheduleName.safeParse(name).success;
  if (!isNamed) {
    const flags = [...(workflow ? ['--workflow'] : []), '--name', kind.name, ...when, ...args];
    throw needed('name', kind, `${kind.command} ${shellCommand([tool, ...flags])}`);
  }
  if (asksForStdin(args))
    throw new AcorError('E_USAGE', 'a schedule has no standard input', {
      hint: 'Give the arguments as flags, or as JSON behind --input-json.',
    });
  const { config } = await ctx.app.tools();
  const files = new ScheduleFiles(config.root, ctx.env);
  files.refuseTaken(name);
  const masked = await maskedArguments({ tool, args, workflow }, ctx);
  const { principal } = ctx.app;
  const createdAt = new Date().toISOString();
  const schedule: Schedule = {
    version: 1,
    root: config.root,
    name,
    operation: workflow ? 'workflow.run' : 'run.start',
    target: tool,
    args,
    ...(masked !== undefined && { masked_args: masked }),
    cwd: ctx.cwd,
    ...(await rule(config.root, createdAt)),
    by: { kind: principal.kind, name: principal.name },
    created_at: createdAt,
    paused: null,
    pending: null,
    count: 0,
    self_triggered: 0,
    history: [],
  };
  if (!dry_run) await files.add(schedule);
  const served = files.isServed();
  return {
    kind: 'data',
    data: { ...lineOf(schedule), served, dry_run },
    next: served || dry_run ? [] : [SERVE],
  };
}

/**
 * The arguments as they are shown, when one of them is a secret. Throws what would keep its runs from starting now: an unknown tool, wrong
 * arguments, a policy, a missing approval.
 */
async function maskedArguments(
  { tool, args, workflow }: Pick<Given, 'tool' | 'args' | 'workflow'>,
  ctx: OperationContext<AcorApp>,
): Promise<string[] | undefined> {
  const { runStart } = await import('../run/run-start.ts');
  const { workflowRun } = await import('../workflow/workflow-run.ts');
  const result = workflow
    ? await workflowRun.run(workflowRun.input.parse({ workflow: tool, args, dry_run: true }), ctx)
    : await runStart.run(runStart.input.parse({ tool, args, dry_run: true }), ctx);
  if (result.kind === 'failure') throw result.error;
  const plan = result.kind === 'data' ? result.data : undefined;
  return plan !== undefined && 'argv' in plan && plan.given_args === null ? plan.args : undefined;
}

function needed(
  flag: 'cron' | 'on' | 'name',
  { command }: typeof BY_TIME | typeof BY_CHANGE,
  example: string,
) {
  return usageError([{ parameter: `--${flag}`, message: `--${flag} is required` }], command, example);
}
