import * as z from 'zod';
import { AppError } from '../compose/app-error.ts';
import { takeKnownFlags } from '../compose/known-flags.ts';
import type { OperationContext, OperationDescription, OperationResult } from '../compose/operation.ts';
import type { RunPlan } from '../core/runner/plan.ts';
import type { Run, RunSummary } from '../core/runner/run.ts';
import type { RunnerServices, RunRequest } from '../core/runner/services.ts';
import { writeAsync } from '../util/write-async.ts';
import type { AcorApp } from './acor-app.ts';
import { callerOf } from './caller.ts';
import { acorOperation } from './define.ts';
import { runSummary } from './shapes.ts';

const input = z.object({
  tool: z.string().describe('The tool to run.'),
  args: z
    .array(z.string())
    .default([])
    .describe(
      "The tool's arguments. ACOR's own flags may stand among them where the tool declares none of that name.",
    ),
  timeout: z.number().positive().optional().describe('Seconds until the deadline of the whole run.'),
  retries: z.int().min(0).optional().describe('How many more times a retryable failure is tried.'),
  stream: z
    .boolean()
    .default(true)
    .describe('Write events as they come; --no-stream writes one envelope at the end.'),
  dry_run: z.boolean().default(false).describe('Show what would run, and start nothing.'),
  exit_code: z
    .enum(['acor', 'tool'])
    .default('acor')
    .describe("Which exit code to end with: ACOR's, or the tool's own (124 deadline, 130 cancelled)."),
});

type Input = z.output<typeof input>;

const dryRun = z.object({
  tool: z.string(),
  version: z.string(),
  argv: z.array(z.string()),
  cwd: z.string(),
  env: z.array(z.string()),
  grants: z.array(z.object({ path: z.string(), access: z.enum(['read', 'write']), input: z.string() })),
  staged: z.array(z.object({ input: z.string(), target: z.string() })),
  limits: z.record(z.string(), z.unknown()),
  retry: z.record(z.string(), z.unknown()),
  isolation: z.record(z.string(), z.unknown()),
});

const output = z.union([runSummary, dryRun]);

const description = {
  name: 'run.start',
  summary: 'Run a tool under supervision and stream its events.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input,
  output,
  positionals: ['tool'],
  passthrough: 'args',
  example: 'acor run example_processor --input orders.json --output report.json',
  moreExamples: [
    'acor run --timeout 60 --no-stream line_count README.md',
    'acor run data_migrator --source in --target out --dry-run',
  ],
  streams: 'Protocol events, one JSON object a line; the last line is runner_end.',
} satisfies OperationDescription;

export const runStart = acorOperation({
  ...description,
  async run(given, ctx) {
    const services = await ctx.app.services();
    const { options, args } = await settleFlags(given, services);
    const request = await requestOf(options, args, ctx);
    if (options.dry_run) return { kind: 'data', data: await showPlan(services, request) };
    const { startRun } = await import('../core/runner/run.ts');
    const run = await startRun(services, request);
    const stopListening = ctx.app.interrupts.listen((signal, count) =>
      run.cancel(`interrupted by ${signal}`, { now: count > 1 }),
    );
    try {
      const shown = show(run, options, ctx);
      const summary = await run.ended;
      await shown;
      return resultOf(summary, options, ctx);
    } finally {
      stopListening();
    }
  },
});

/**
 * Takes ACOR's own flags out of the tool's arguments, up to the first `--`, except those that the tool declares itself. For a
 * tool that declares no inputs the `--` is taken out too: it only stood for ACOR.
 */
async function settleFlags(
  given: Input,
  services: RunnerServices,
): Promise<{ options: Input; args: string[] }> {
  const { manifest } = await services.registry.find(given.tool);
  const declared = manifest.inputs ?? propertiesOf(manifest.input_schema);
  const end = given.args.indexOf('--');
  const mine = end === -1 ? given.args : given.args.slice(0, end);
  const theirs = end === -1 ? [] : given.args.slice(declared === undefined ? end + 1 : end);
  const { values, rest } = takeKnownFlags(description, mine, (flag) => isDeclared(flag, declared ?? []));
  return { options: { ...given, ...values }, args: [...rest, ...theirs] };
}

function isDeclared(flag: string, inputs: readonly { name: string; flag?: string | undefined }[]): boolean {
  return inputs.some(
    ({ name, flag: own }) => name.replaceAll('_', '-') === flag || own?.replace(/^-+/, '') === flag,
  );
}

function propertiesOf(
  schema: Record<string, unknown> | undefined,
): { name: string; flag?: string }[] | undefined {
  if (typeof schema?.properties !== 'object' || schema.properties === null) return undefined;
  return Object.keys(schema.properties).map((name) => ({ name }));
}

async function requestOf(
  options: Input,
  args: string[],
  ctx: OperationContext<AcorApp>,
): Promise<RunRequest> {
  const asksForStdin = args.some(
    (arg, index) => arg === '--input-json=-' || (arg === '--input-json' && args[index + 1] === '-'),
  );
  const stdin = asksForStdin ? await ctx.readStdin() : undefined;
  const caller = callerOf(ctx.env);
  return {
    tool: options.tool,
    args,
    cwd: ctx.cwd,
    env: ctx.env,
    ...(options.timeout !== undefined && { timeoutS: options.timeout }),
    ...(options.retries !== undefined && { retries: options.retries }),
    ...(stdin !== undefined && { readStdin: () => stdin }),
    ...(caller !== undefined && { caller }),
  };
}

async function showPlan(services: RunnerServices, request: RunRequest): Promise<z.output<typeof dryRun>> {
  const { planRun } = await import('../core/runner/plan.ts');
  const { environmentOf } = await import('../core/runner/environment.ts');
  const plan: RunPlan = await planRun(services, request);
  const layout = services.store.layout(plan.runId);
  const hideRunId = (text: string) => text.replaceAll(plan.runId, '<run>');
  const env = environmentOf(plan, layout, { number: 1, deadline: new Date() });
  const { limits, retry } = plan;
  const programWords = plan.sandboxed.argv.slice(0, plan.sandboxed.argv.length - plan.args.length);
  return {
    tool: plan.tool.name,
    version: plan.tool.manifest.version,
    argv: [...programWords, ...plan.shownArgs].map(hideRunId),
    cwd: hideRunId(layout.work),
    env: Object.keys(env).sort(),
    grants: plan.grants,
    staged: plan.staged.map(({ input: name, target }) => ({ input: name, target })),
    limits: {
      timeout_s: limits.timeoutS,
      heartbeat_grace_s: limits.heartbeatGraceS,
      stall_s: limits.stallS,
      max_output_size: limits.maxOutputBytes,
      cancel_grace_s: limits.cancelGraceS,
      resources: plan.tool.manifest.resources,
    },
    retry: {
      max_attempts: retry.maxAttempts,
      backoff_s: retry.backoffS,
      max_backoff_s: retry.maxBackoffS,
    },
    isolation: { ...plan.sandboxed.isolation },
  };
}

/** Shows the run while it goes: events for an agent, a live view for a person, nothing for one who wants an envelope. */
async function show(run: Run, options: Input, ctx: OperationContext<AcorApp>): Promise<void> {
  if (ctx.screen !== null) {
    const { watchRun } = await import('./run-view.ts');
    return watchRun(run.follow(), ctx);
  }
  if (!options.stream) return;
  for await (const lines of run.follow()) {
    if ((await writeAsync(ctx.stdoutFd, lines)) === 'written') continue;
    ctx.note(
      `acor: nobody reads stdout any more; run ${run.runId} goes on. Follow it with: acor logs ${run.runId} --follow`,
    );
    return;
  }
}

function resultOf(
  summary: RunSummary,
  options: Input,
  ctx: OperationContext<AcorApp>,
): OperationResult<z.output<typeof output>> {
  const exit = exitOf(summary, options, ctx.app);
  if (ctx.screen !== null || options.stream) return { kind: 'streamed', exit };
  if (summary.state !== 'failed')
    return { kind: 'data', data: summary, exit: exit === 0 ? 0 : 1, next: summary.next };
  const error = new AppError(summary.code ?? 'E_UNKNOWN', summary.message ?? 'the run failed', {
    hint: summary.hint ?? undefined,
    next: summary.next,
  });
  return { kind: 'failure', error, data: summary };
}

function exitOf({ state, code, rc }: RunSummary, { exit_code }: Input, app: AcorApp): number {
  if (exit_code === 'tool') {
    if (state === 'cancelled') return 130;
    if (code === 'E_DEADLINE' || code === 'E_TIMEOUT') return 124;
    return state === 'completed' ? (rc ?? 0) : rc || 1;
  }
  if (state === 'completed') return 0;
  return code === null ? 1 : (app.errorInfo(code)?.exit ?? 1);
}
