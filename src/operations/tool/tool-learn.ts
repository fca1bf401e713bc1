import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import * as z from 'zod';
import { declares, type ForwardedCommand } from '../../compose/forwarded-command.ts';
import { takeKnownFlags } from '../../compose/known-flags.ts';
import type { OperationContext } from '../../compose/operation.ts';
import { userFolders } from '../../core/config/find.ts';
import { refuseWritingOut } from '../../core/config/stay-inside.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import type { ObservedTool } from '../../core/run/run-request.ts';
import { startRun } from '../../core/run/start-run.ts';
import { stepsForKept } from '../../core/run/summarise-run.ts';
import { observerProblem } from '../../core/sandbox/observer.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { learnTool, SEE_HEALTH } from '../../protocol/next-steps.ts';
import { kindOfName } from '../../protocol/run.ts';
import { errorMessage } from '../../util/error-code.ts';
import { shellCommand } from '../../util/shell-words.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { timeoutOf } from '../shapes.ts';
import { readObservation } from './observed-run.ts';
import { widenTool } from './widen-tool.ts';

const PERMISSIONS = ['filesystem.read', 'filesystem.write', 'network.egress_allow', 'commands'] as const;
const EXAMPLE = 'acor learn line_count README.md';
const list = z.array(z.string()).default([]);

const input = z.object({
  tool: z.string().describe('The tool to run.'),
  args: list.describe("The tool's arguments: everything behind its name."),
  read: list.describe('A further file or folder that it may read.'),
  write: list.describe('A further file or folder that it may change, in a layer.'),
  net: list.describe('A host that it may access, as host:port.'),
  output: z.string().optional().describe('Write the draft to this file, which must not exist.'),
  timeout: timeoutOf('the run'),
  dry_run: z
    .boolean()
    .default(false)
    .describe('Show what it could do while it is observed, and run nothing.'),
});
type Given = z.output<typeof input>;

export const toolLearn = acorOperation({
  name: 'tool.learn',
  summary: 'Run a tool once, observed in a wider sandbox, and draft the least permissions that it needed.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input,
  output: z.object({
    run_id: z.string().nullable(),
    state: z.enum(['completed', 'failed', 'cancelled']).nullable(),
    tool: z.string(),
    opened: z
      .object({ read: z.array(z.string()), write: z.array(z.string()), hosts: z.array(z.string()) })
      .describe('What it may read, change in a layer, and connect to while it is observed.'),
    manifest: z
      .string()
      .nullable()
      .describe('The manifest with the drafted permissions, each line with its evidence, as YAML.'),
    learned: z
      .array(z.object({ permission: z.enum(PERMISSIONS), value: z.string(), evidence: z.string() }))
      .describe('What the run used beyond its workspace, its arguments and the base system.'),
    refused: z
      .array(z.object({ what: z.string(), why: z.string() }))
      .describe('What the tool tried and was refused, or what a manifest cannot express.'),
  }),
  positionals: ['tool'],
  passthrough: 'args',
  list: 'learned',
  example: EXAMPLE,
  moreExamples: ['acor learn --net api.example.com:443 fetch_report --day today'],
  callee,
  async run(called, ctx) {
    const given = await withFlags(called, ctx);
    const services = await ctx.app.services();
    const tool = await services.registry.find(given.tool);
    refusePrivileged(tool, given.tool);
    if (given.output !== undefined) refuseUnusablePlace(resolve(ctx.cwd, given.output));
    const { root } = services.config;
    if (given.output !== undefined) refuseWritingOut(resolve(ctx.cwd, given.output), services.config);
    const hidden = [services.workspaces.root, join(root, '.acor'), ...userFolders(ctx.env)];
    const named = {
      ...given,
      read: given.read.map((path) => resolve(ctx.cwd, path)),
      write: given.write.map((path) => resolve(ctx.cwd, path)),
    };
    const widened = await widenTool(tool, named, { root, hidden });
    const opened = openedBy(widened);
    if (given.dry_run) {
      const nothing = { run_id: null, state: null, manifest: null, learned: [], refused: [] };
      return { kind: 'data', data: { ...nothing, tool: given.tool, opened }, next: [learnTool(given.tool)] };
    }
    refuseWithoutStrace();
    await askPerson(given.tool, opened, ctx);
    let observed: ObservedTool | undefined;
    const run = await startRun(services, {
      kind: kindOfName(given.tool),
      tool: given.tool,
      args: given.args,
      cwd: ctx.cwd,
      env: ctx.env,
      found: widened,
      // What it writes is not in place before the user has looked at it.
      writes: 'review',
      observe: (of) => {
        observed = of;
      },
      retries: 0,
      ...(given.timeout !== undefined && { timeoutS: given.timeout }),
    });
    if (run.isKnown || observed === undefined) throw new Error('Internal: a run without a key was known');
    const stopListening = ctx.interrupts.listen((signal, count) =>
      run.cancel(`interrupted by ${signal}`, { force: count > 1, by: ctx.app.principal.name }),
    );
    const { trace } = services.workspaces.of(run.runId);
    try {
      const { state } = await run.ended.finally(stopListening);
      if (!existsSync(trace)) throw notStarted(run.runId, given.tool);
      const found = await readObservation(services.store, run.runId, trace, observed, { project: root });
      const { draftManifest } = await import('../../core/authoring/learn/draft-manifest.ts');
      const { learned, refused, isCut } = found;
      const drafted = {
        name: tool.name,
        manifest: textOf(tool),
        permissions: tool.manifest.permissions,
      };
      const manifest = draftManifest(drafted, learned, refused);
      const unwritten =
        given.output === undefined ? undefined : whyUnwritten(resolve(ctx.cwd, given.output), manifest);
      const warnings = [
        ...(unwritten === undefined ? [] : [unwritten]),
        ...(state === 'completed'
          ? []
          : [`the run ended as ${state}, so it may need more than the draft has`]),
        ...(isCut ? ['the tool did more than ACOR reads, so that the draft may lack permissions'] : []),
      ];
      return {
        kind: 'data',
        data: { run_id: run.runId, state, tool: given.tool, opened, manifest, learned, refused },
        next: await stepsForKept(services, { run_id: run.runId, kind: 'tool' }),
        ...(warnings.length > 0 && { warnings }),
      };
    } finally {
      rmSync(dirname(trace), { recursive: true, force: true });
    }
  },
});

async function callee(name: string, app: AcorApp): Promise<ForwardedCommand> {
  return (await import('../run/callee-of-tool.ts')).calleeOfTool(name, app, 'learn');
}

/** Takes the flags of `acor learn` out of the arguments, except those that the tool declares itself. */
async function withFlags(given: Given, ctx: OperationContext<AcorApp>): Promise<Given> {
  const program = await callee(given.tool, ctx.app);
  // Where a tool declares its inputs, the words behind `--` are not flags of it either.
  const end = program.inputs === null ? -1 : given.args.indexOf('--');
  const mine = end === -1 ? given.args : given.args.slice(0, end);
  const { values, rest } = takeKnownFlags({ input, example: EXAMPLE }, mine, (flag) =>
    declares(program, flag),
  );
  const both = (key: 'read' | 'write' | 'net') => [...given[key], ...(values[key] ?? [])];
  const args = [...rest, ...given.args.slice(mine.length)];
  return { ...given, ...values, args, read: both('read'), write: both('write'), net: both('net') };
}

interface Opened {
  read: string[];
  write: string[];
  hosts: string[];
}

function openedBy({ manifest: { permissions } }: ToolEntry): Opened {
  const { filesystem, network } = permissions;
  return { read: filesystem.read, write: filesystem.write, hosts: network.egress_allow };
}

function textOf({ manifestPath, hasHeader }: ToolEntry): string | null {
  return manifestPath === null || hasHeader ? null : readFileSync(manifestPath, 'utf8');
}

function refusePrivileged({ manifest }: ToolEntry, name: string): void {
  if (manifest.permissions.level === 'privileged') {
    throw new AcorError(
      'E_USAGE',
      `'${name}' is privileged: it may do everything, so no run can show what it needs`,
      { hint: 'Remove level: privileged from its manifest first.' },
    );
  }
}

function refuseWithoutStrace(): void {
  const problem = observerProblem();
  if (problem === undefined) return;
  throw new AcorError('E_RUNTIME_MISSING', `a tool is observed with strace: ${problem.detail}`, {
    hint: problem.fix,
    next: [SEE_HEALTH],
  });
}

/** Before the run, which may take long. */
function refuseUnusablePlace(file: string): void {
  const folder = dirname(file);
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new AcorError('E_INPUT_NOT_FOUND', `--output: there is no folder ${folder}`, {
      hint: `Create it, or name a file in another folder: ${shellCommand(['mkdir', '-p', folder])}`,
    });
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new AcorError('E_PERMISSION', `--output: cannot write in ${folder}: ${errorMessage(error)}`, {
      hint: 'Name a file in a folder that you may write.',
      cause: error,
    });
  }
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return;
  throw new AcorError('E_USAGE', `${file} exists already`, {
    hint: 'Name another file, or remove this one.',
  });
}

/** Writes the draft. The answer has it, too, so that what changed at the place during the run loses nothing. */
function whyUnwritten(file: string, manifest: string): string | undefined {
  try {
    writeFileSync(file, manifest, { flag: 'wx' });
    return undefined;
  } catch (error) {
    return `the draft could not be written to ${file}, and is only in 'manifest' of this answer: ${errorMessage(error)}`;
  }
}

/** It runs code that the user may not have read, with more than its manifest asks for: only a person may decide on that. */
async function askPerson(name: string, opened: Opened, ctx: OperationContext<AcorApp>): Promise<void> {
  if (ctx.person === null) {
    throw new AcorError(
      'E_APPROVAL_REQUIRED',
      `no person has agreed to run '${name}' with more than its manifest asks for`,
      { hint: 'A person starts this at a terminal.', next: [learnTool(name)] },
    );
  }
  const typed = await ctx.person.askForText(
    [
      `Run '${name}' once, observed, with more than its manifest asks for?`,
      '',
      `It may read: ${[...opened.read, ...opened.write].join(', ') || 'nothing more'}`,
      `It may change, in a layer that you apply or discard afterwards: ${opened.write.join(', ') || 'nothing more'}`,
      `It may connect to: ${opened.hosts.join(', ') || 'no host'}`,
      'It may start every program of this machine, within the same sandbox.',
      'It gets neither ACOR’s own folders, nor your stored secrets beyond those of its manifest, nor entries of the project that begin with a dot.',
    ],
    `To run it, type its name (${name})`,
  );
  if (typed === name) return;
  throw new AcorError('E_APPROVAL_REQUIRED', `'${name}' was not run: its name was not typed`, {
    hint: `To run it, a person types ${name} at the prompt.`,
    next: [learnTool(name)],
  });
}

function notStarted(runId: string, name: string): AcorError {
  return new AcorError(
    'E_SPAWN_FAILED',
    `'${name}' did not start, so there is nothing to learn (run ${runId})`,
    {
      hint: 'Run it without learn, and see why.',
    },
  );
}
