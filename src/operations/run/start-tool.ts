import { dirname, resolve } from 'node:path';
import { matchFlag } from '../../compose/match-flag.ts';
import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { toolsDirsOf } from '../../core/config/load.ts';
import { inputsOf, type UnlistedInput, unlistedInputOf } from '../../core/registry/input-schema.ts';
import { asksForStdin } from '../../core/registry/parse-arguments.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import { toolMayAsk } from '../../core/run/may-ask.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { execProgram, isAdHoc } from '../../protocol/names.ts';
import { graphOf, type NextStep, runProgram, runTool } from '../../protocol/next-steps.ts';
import { kindOfName, runName } from '../../protocol/run.ts';
import { errorMessage } from '../../util/error-code.ts';
import type { AcorApp } from '../acor-app.ts';
import { plainCommand } from '../define.ts';
import { PLAIN_FORMS } from '../plain-forms.ts';
import type { EndedRun, StartedRun } from '../shapes.ts';
import { callersInput, warnOfStdin } from './callers-stdin.ts';
import type { RunFlags } from './run-flags.ts';
import type { ShownPlan } from './show-plan.ts';

/** The input of `run.start`. */
export interface ToolCall extends RunFlags {
  tool: string;
  args: string[];
}

/** The data of its answer. */
export type StartedTool = EndedRun | ShownPlan | StartedRun;

const FLAGS = PLAIN_FORMS['run.start'].parameters.filter(({ isPositional }) => !isPositional);

/** Runs the tool of a name, or the file of a path. */
export async function runNamedTool(
  given: ToolCall,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<StartedTool>> {
  const { registry } = await ctx.app.tools();
  // The arguments of a repeated `acor exec` begin with its grants.
  if (execProgram(given.tool) !== undefined) {
    const call = { args: given.args, cwd: ctx.cwd, env: ctx.env };
    return startTool(given, await registry.find(given.tool, call), ctx);
  }
  const isTask = kindOfName(given.tool) === 'task';
  const found = await (isTask
    ? (await ctx.app.services()).registry.find(given.tool)
    : ctx.app.tool(given.tool)
  ).catch(async (error: unknown) => {
    throw await namingOther(error, given, ctx);
  });
  if (isAdHoc(found.name)) await warnOfOwnFolder(found, ctx);
  const { options, args } = await splitFlags(given, found);
  const tool = isAdHoc(found.name) ? found.name : given.tool;
  const start = () => startTool({ ...options, tool, args }, found, ctx);
  // The flag was among the arguments of the tool.
  if (!options.ci || given.ci) return start();
  const { reportInJob } = await import('./job-report.ts');
  return reportInJob(ctx, start);
}

export const plainRunStart = plainCommand('run.start', runNamedTool);

/** Run by its path, the entry of a tool has neither the manifest nor the other files of its folder. */
async function warnOfOwnFolder({ name }: ToolEntry, { app }: OperationContext<AcorApp>): Promise<void> {
  const { config, registry } = await app.project();
  if (!toolsDirsOf(config).some((folder) => name.startsWith(`${folder}/`))) return;
  const tool = (await registry.list()).find(({ entry, dir }) => entry === name && dir === dirname(name));
  if (tool === undefined || toolsDirsOf(config).includes(tool.dir)) return;
  app.warn(
    `${name} is the entry of the tool '${tool.name}', and runs here without its manifest and its folder. To run the tool: ${app.commandOf(runTool(tool.name))}`,
  );
}

/** An unknown tool may be the name of a workflow or of a program, which have commands of their own. */
async function namingOther(
  error: unknown,
  { tool: name, args }: Pick<ToolCall, 'tool' | 'args'>,
  ctx: OperationContext<AcorApp>,
): Promise<unknown> {
  if (!(error instanceof AcorError) || error.code !== 'E_TOOL_NOT_FOUND') return error;
  const { workflowFiles, workflowNameOf } = await import('../../core/workflow/file/find-workflow.ts');
  const { config } = await ctx.app.tools();
  if (workflowFiles(config).some((file) => workflowNameOf(file) === name)) {
    const refused = await refusalOfWorkflow(name, args, ctx);
    const fix = refused === undefined ? '' : ` ${refused}`;
    return new AcorError(error.code, error.message, {
      hint: `'${name}' is a workflow: run it as one, with \`workflow run\` in place of \`run\`.${fix}`,
      details: { ...error.details, workflow: name },
      next: [...(refused === undefined ? [runWorkflow(name, args)] : []), graphOf(name)],
    });
  }
  const { isFile } = await import('../../util/files.ts');
  if (isFile(resolve(ctx.cwd, name)))
    return new AcorError(error.code, error.message, {
      hint: 'There is a file of that name: run it by a path, with ./ in front.',
      details: { ...error.details },
      next: [runTool(`./${name}`, args), ...(error.next ?? [])],
    });
  const { findProgram } = await import('../../core/registry/find-program.ts');
  const program = findProgram(name, ctx.env);
  if (program === undefined || (error.details?.['nearest'] as string[] | undefined)?.length) return error;
  return new AcorError(error.code, error.message, {
    hint: `${program} is a program: run it with \`exec\` in place of \`run\`.`,
    details: { ...error.details, program },
    next: [runProgram(name, args), ...(error.next ?? [])],
  });
}

/** Why the workflow does not accept the arguments, and how it is called; undefined where it does. */
async function refusalOfWorkflow(
  workflow: string,
  args: string[],
  ctx: OperationContext<AcorApp>,
): Promise<string | undefined> {
  const { planWorkflow } = await import('../../core/workflow/engine/plan-workflow.ts');
  const { cwd, env } = ctx;
  try {
    const request: RunRequest = { kind: 'workflow', tool: runName('workflow', workflow), args, cwd, env };
    await planWorkflow(await ctx.app.services(), request);
    return undefined;
  } catch (error) {
    if (!(error instanceof AcorError)) return errorMessage(error);
    const { sentence } = await import('../../util/sentence.ts');
    return `${sentence(error.message)} ${error.hint}`;
  }
}

function runWorkflow(workflow: string, args: readonly string[]): NextStep {
  return { operation: 'workflow.run', input: { workflow, args }, why: 'Run the workflow.' };
}

/** Starts a tool, file or program with arguments that are all its own. */
export async function startTool(
  options: ToolCall,
  found: ToolEntry,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<StartedTool>> {
  const services = await ctx.app.services();
  const request = await requestOf(options, options.args, ctx);
  if (options.dry_run) {
    const { showPlan } = await import('./show-plan.ts');
    const planned = await showPlan(services, { ...request, found }, { ...options });
    if (services.plugins !== undefined) {
      const { reportPlugins } = await import('../project/report-plugins.ts');
      reportPlugins(await ctx.app.project(), ctx);
    }
    return planned;
  }
  const input = found.readsStdin ? await callersInput(ctx) : undefined;
  const look =
    input === undefined && request.readStdin === undefined ? await warnOfStdin(found, ctx) : async () => {};
  const started = await startRequest({ ...request, found, ...(input && { input }) }, options, ctx).catch(
    async (error: unknown) => {
      throw await withOptions(error, options);
    },
  );
  if (started.kind !== 'events') return started;
  return {
    ...started,
    async ended() {
      const end = await started.ended();
      await look();
      return end;
    },
  };
}

/** A refused run whose `next` shows its plan: the options of the call belong to it as well. */
async function withOptions(error: unknown, options: ToolCall): Promise<unknown> {
  if (!(error instanceof AcorError) || error.code !== 'E_POLICY_DENIED') return error;
  const { sameFlags } = await import('./same-flags.ts');
  const next = error.next?.map((step) =>
    'operation' in step && step.operation === 'run.start'
      ? { ...step, input: { ...sameFlags({ ...options }), ...step.input } }
      : step,
  );
  const { hint = '', details = {} } = error;
  return new AcorError(error.code, error.message, { hint, details, ...(next && { next }), cause: error });
}

async function startRequest(
  request: RunRequest & { found: ToolEntry },
  options: ToolCall,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<StartedTool>> {
  const services = await ctx.app.services();
  // A tool that may ask gets a supervisor process, so that the run continues when its caller exits to answer (contract §3).
  if (options.detach || toolMayAsk(request.found, services.config)) {
    const { runApart } = await import('./run-detached.ts');
    return runApart(request, options, ctx);
  }
  const { runHere } = await import('./run-inline.ts');
  return runHere(services, request, options, ctx);
}

/**
 * Takes ACOR's own flags out of the tool's arguments, up to the first `--`, except flags that the tool declares itself. It removes the `--` too where
 * it was only meant for ACOR: for a tool that declares no inputs, and before a flag of the tool where no other word of the tool stands in front of it.
 * A script that declares none gets every word behind it.
 */
async function splitFlags(
  given: ToolCall,
  { name, manifest }: ToolEntry,
): Promise<{ options: ToolCall; args: string[] }> {
  const declared = inputsOf(manifest);
  if (declared === undefined && isAdHoc(name))
    return { options: given, args: given.args[0] === '--' ? given.args.slice(1) : given.args };
  const end = given.args.indexOf('--');
  const [mine, behind] = end === -1 ? [given.args, []] : [given.args.slice(0, end), given.args.slice(end)];
  const isReserved = (flag: string) => isDeclared(flag, declared ?? []);
  const { values, rest } = await takeFlags(mine, isReserved);
  const isForAcor =
    declared === undefined ||
    (rest.length === 0 &&
      behind.some((word) => namesInput(word, declared) || namesUnlisted(word, unlistedInputOf(manifest))));
  return { options: { ...given, ...values }, args: [...rest, ...(isForAcor ? behind.slice(1) : behind)] };
}

/** The code that reads them is loaded for words that have one. */
async function takeFlags(
  words: string[],
  isReserved: (flag: string) => boolean,
): Promise<{ values: Partial<ToolCall>; rest: string[] }> {
  if (words.every((word) => matchFlag(FLAGS, word, isReserved) === undefined))
    return { values: {}, rest: words };
  return (await import('./run-flags.ts')).takeRunFlags(words, isReserved);
}

function isDeclared(flag: string, inputs: readonly { name: string; flag?: string | undefined }[]): boolean {
  return inputs.some(
    ({ name, flag: own }) => name.replaceAll('_', '-') === flag || own?.replace(/^-+/, '') === flag,
  );
}

function namesInput(
  word: string,
  inputs: readonly { name: string; flag?: string | undefined; short?: string | undefined }[],
): boolean {
  const [spelling] = word.split('=', 1);
  return inputs.some(({ name, flag, short }) => {
    const kebab = name.replaceAll('_', '-');
    return [`--${name}`, `--${kebab}`, `--no-${kebab}`, flag, short].includes(spelling);
  });
}

/** Whether a word is the flag of an input that the schema allows and does not list. */
function namesUnlisted(word: string, unlisted: UnlistedInput | undefined): boolean {
  const name = /^--([^=]+)/.exec(word)?.[1];
  return name !== undefined && unlisted !== undefined && [name, name.replaceAll('-', '_')].some(unlisted);
}

async function requestOf(
  options: ToolCall,
  args: string[],
  ctx: OperationContext<AcorApp>,
): Promise<RunRequest> {
  const stdin = asksForStdin(args) ? await ctx.readStdin() : undefined;
  const hasAnswers = options.answer.length > 0 || options.answers !== undefined;
  const answers = hasAnswers
    ? await (await import('./prepared-answers.ts')).preparedAnswers(options, ctx)
    : [];
  const { caller } = ctx.app;
  return {
    kind: kindOfName(options.tool),
    tool: options.tool,
    args,
    cwd: ctx.cwd,
    env: ctx.env,
    ...(options.timeout !== undefined && { timeoutS: options.timeout }),
    ...(options.retries !== undefined && { retries: options.retries }),
    ...(stdin !== undefined && { readStdin: () => stdin }),
    ...(options.snapshot && { writes: 'snapshot' as const }),
    ...(options.review && { writes: 'review' as const }),
    ...(options.idempotency_key !== undefined && { idempotencyKey: options.idempotency_key }),
    ...(options.plan !== undefined && { planToken: options.plan }),
    ...(caller !== undefined && { caller }),
    ...(answers.length > 0 && { answers }),
  };
}
