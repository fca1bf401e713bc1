import { createReadStream, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import type { OperationContext } from '../../compose/operation.ts';
import type { Learned, Refused } from '../../core/authoring/learn/least-permissions.ts';
import { userFolders } from '../../core/config/find.ts';
import { commandOf } from '../../core/registry/command.ts';
import { sdkPaths } from '../../core/registry/own-files.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import { readEvents } from '../../core/run/read-log.ts';
import { Run } from '../../core/run/run.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import { startRun } from '../../core/run/start-run.ts';
import { stepsForKept } from '../../core/run/summarise-run.ts';
import { executablePaths, runtimePaths } from '../../core/sandbox/profile/programs.ts';
import { installCommand, trustedProgram } from '../../core/sandbox/trusted-program.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { learnTool, SEE_HEALTH } from '../../protocol/next-steps.ts';
import { kindOfName } from '../../protocol/run.ts';
import { errorCode } from '../../util/error-code.ts';
import { OpenFolder } from '../../util/open-folder.ts';
import { isInside, realPathOf } from '../../util/real-path.ts';
import { inSlices, TreeCounter, TreeTooLarge, treeSteps } from '../../util/tree-listing.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { timeoutOf } from '../shapes.ts';

/** A folder of the project beyond this is opened for reading only, unless the caller names it. */
const LAYER_BOUND = { entries: 5000, bytes: 100_000_000 };
const MAX_TRACE_LINES = 2_000_000;
const PERMISSIONS = ['filesystem.read', 'filesystem.write', 'network.egress_allow', 'commands'] as const;
const list = z.array(z.string()).default([]);

export const toolLearn = acorOperation({
  name: 'tool.learn',
  summary: 'Run a tool once, observed in a wider sandbox, and draft the least permissions that it needed.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input: z.object({
    tool: z.string().describe('The tool to run.'),
    args: list.describe("The tool's arguments: everything behind its name."),
    read: list.describe('A further file or folder that it may read.'),
    write: list.describe('A further file or folder that it may change, in a layer.'),
    net: list.describe('A host that it may access, as host:port.'),
    output: z.string().optional().describe('Write the draft to this file, which must not exist.'),
    timeout: timeoutOf('the run'),
  }),
  output: z.object({
    run_id: z.string(),
    state: z.enum(['completed', 'failed', 'cancelled']),
    tool: z.string(),
    manifest: z.string().describe('The drafted permissions as YAML, each line with its evidence.'),
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
  example: 'acor learn line_count README.md',
  moreExamples: ['acor learn --net api.example.com:443 fetch_report --day today'],
  async run(given, ctx) {
    const services = await ctx.app.services();
    const tool = await services.registry.find(given.tool);
    refuseUnfit(tool, given.tool);
    refuseTaken(given.output, ctx.cwd);
    const { root } = services.config;
    const hidden = [services.workspaces.root, join(root, '.acor'), ...userFolders(ctx.env)];
    const widened = await widen(tool, given, { root, hidden });
    await askPerson(given.tool, widened, given, ctx);
    const request: RunRequest = {
      kind: kindOfName(given.tool),
      tool: given.tool,
      args: given.args,
      cwd: ctx.cwd,
      env: ctx.env,
      found: widened.tool,
      // Nothing that it writes is in place before somebody has looked at it.
      writes: 'review',
      observe: true,
      retries: 0,
      ...(given.timeout !== undefined && { timeoutS: given.timeout }),
    };
    const run = await startRun(services, request);
    if (!(run instanceof Run)) throw new Error('Internal: a run without a key was known');
    const stopListening = ctx.interrupts.listen((signal, count) =>
      run.cancel(`interrupted by ${signal}`, { force: count > 1 }),
    );
    const { state } = await run.ended.finally(stopListening);
    const { dir, trace } = services.workspaces.of(run.runId);
    const languages = await services.registry.languages();
    const command = await commandOf(tool, services.config, ctx.env, languages);
    const started = {
      runtime: command.runtime,
      language: tool.language,
      toolDir: tool.dir,
      path: ctx.env.PATH ?? '',
    };
    const { learned, refused, isCut } = await readUses(trace, command.argv[0]!, {
      project: root,
      granted: [root, ...widened.named],
      own: [dir, tool.dir, sdkPaths().root, ...runtimePaths(started)],
      argumentPaths: given.args.map((arg) => resolve(ctx.cwd, arg)),
      hidden,
      executable: {
        alone: executablePaths({ ...started, commands: [] }),
        withCommands: executablePaths({ ...started, commands: ['true'] }),
      },
    });
    rmSync(trace, { force: true });
    await addHosts(services.store, run.runId, learned, refused);
    const { draftPermissions } = await import('../../core/authoring/learn/draft-permissions.ts');
    const manifest = draftPermissions(given.tool, learned, refused);
    if (given.output !== undefined) writeFileSync(resolve(ctx.cwd, given.output), manifest, { flag: 'wx' });
    const warnings = [
      ...(state === 'completed' ? [] : [`the run ended as ${state}, so it may need more than the draft has`]),
      ...(isCut ? ['the tool did more than ACOR reads, so that the draft may lack permissions'] : []),
    ];
    return {
      kind: 'data',
      data: { run_id: run.runId, state, tool: given.tool, manifest, learned, refused },
      next: await stepsForKept(run.runId, dir),
      ...(warnings.length > 0 && { warnings }),
    };
  },
});

function refuseUnfit({ manifest }: ToolEntry, name: string): void {
  if (manifest.permissions.level === 'privileged') {
    throw new AcorError(
      'E_USAGE',
      `'${name}' is privileged: it may do everything, so no run can show what it needs`,
      {
        hint: 'Remove level: privileged from its manifest first.',
      },
    );
  }
  const strace = trustedProgram('strace');
  if (typeof strace === 'string') {
    throw new AcorError('E_RUNTIME_MISSING', `a tool is observed with strace, which is ${strace} here`, {
      hint: `Install it: ${installCommand('strace')}`,
      next: [SEE_HEALTH],
    });
  }
}

function refuseTaken(output: string | undefined, cwd: string): void {
  if (output === undefined || !existsSync(resolve(cwd, output))) return;
  throw new AcorError('E_USAGE', `${output} exists already`, {
    hint: 'Name another file, or remove this one.',
  });
}

interface Widened {
  tool: ToolEntry;
  /** The paths of the project that it may read and, in layers, change. */
  read: string[];
  write: string[];
  /** What the caller has named besides. */
  named: string[];
}

/** The tool with what it may do while it is observed. Entries of the project that begin with a dot stay closed: they have keys and settings. */
async function widen(
  tool: ToolEntry,
  { read, write, net }: { read: string[]; write: string[]; net: string[] },
  { root, hidden }: { root: string; hidden: readonly string[] },
): Promise<Widened> {
  const { permissions } = tool.manifest;
  const { filesystem, network } = permissions;
  const opened: Record<'read' | 'write', string[]> = { read: [], write: [] };
  using folder = OpenFolder.trusted(root);
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    const { name } = entry;
    if (name.startsWith('.') || /[*$~\p{Cc}]/u.test(name)) continue;
    const path = join(root, name);
    const isOwn = tool.dir === path || tool.dir.startsWith(`${path}/`);
    const isKept = isOwn || hidden.some((each) => isInside(each, path));
    const isSmall = entry.isDirectory() && !isKept && (await fits(folder, name));
    opened[isSmall ? 'write' : 'read'].push(path);
  }
  const named = { read: realPaths(read, root), write: realPaths(write, root) };
  const asked = {
    ...permissions,
    level: 'standard' as const,
    filesystem: {
      ...filesystem,
      read: [...filesystem.read, ...opened.read, ...named.read],
      write: [...filesystem.write, ...opened.write, ...named.write],
    },
    network: { egress_allow: [...network.egress_allow, ...net] },
  };
  const widened = { ...tool, manifest: { ...tool.manifest, permissions: asked } };
  return { tool: widened, ...opened, named: [...named.read, ...named.write] };
}

function realPaths(paths: readonly string[], root: string): string[] {
  return paths.map((path) => realPathOf(path, root).path);
}

async function fits(folder: OpenFolder, name: string): Promise<boolean> {
  const counter = new TreeCounter(LAYER_BOUND);
  try {
    await inSlices(
      (function* () {
        for (const { stats } of treeSteps({ folder, name })) {
          counter.add(stats);
          yield undefined;
        }
      })(),
    );
    return true;
  } catch (error) {
    if (error instanceof TreeTooLarge || errorCode(error) === 'EACCES') return false;
    throw error;
  }
}

/** It runs code that nobody may have read, with more than its manifest asks for: only a person may decide on that. */
async function askPerson(
  name: string,
  { tool, read, write }: Widened,
  { net }: { net: string[] },
  ctx: OperationContext<AcorApp>,
): Promise<void> {
  const { filesystem, network } = tool.manifest.permissions;
  if (ctx.person === null) {
    throw new AcorError(
      'E_APPROVAL_REQUIRED',
      `no person has agreed to run '${name}' with more than its manifest asks for`,
      {
        hint: 'A person starts this at a terminal.',
        next: [learnTool(name)],
      },
    );
  }
  const hosts = [...new Set([...network.egress_allow, ...net])];
  const others = filesystem.read.filter((path) => !read.includes(path));
  const changed = filesystem.write.filter((path) => !write.includes(path));
  const typed = await ctx.person.askForText(
    [
      `Run '${name}' once, observed, with more than its manifest asks for?`,
      '',
      `It may read: ${[...read, ...write, ...others].join(', ') || 'nothing more'}`,
      `It may change, in a layer that you apply or discard afterwards: ${[...write, ...changed].join(', ') || 'nothing more'}`,
      `It may connect to: ${hosts.join(', ') || 'no host'}`,
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

type Surroundings = Parameters<
  typeof import('../../core/authoring/learn/least-permissions.ts')['leastPermissions']
>[1];

async function readUses(
  trace: string,
  program: string,
  about: Surroundings,
): Promise<{ learned: Learned[]; refused: Refused[]; isCut: boolean }> {
  const [{ TraceReader }, { leastPermissions }] = await Promise.all([
    import('../../core/authoring/learn/read-trace.ts'),
    import('../../core/authoring/learn/least-permissions.ts'),
  ]);
  const reader = new TraceReader(program);
  let lines = 0;
  for await (const line of createInterface({
    input: createReadStream(trace),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    if (++lines > MAX_TRACE_LINES) break;
    reader.add(line);
  }
  const isCut = reader.isCut || lines > MAX_TRACE_LINES;
  return { ...leastPermissions(reader.uses.values(), about), isCut };
}

/** The hosts, as the gateway of the run has recorded them. */
async function addHosts(
  store: Parameters<typeof readEvents>[0],
  runId: string,
  learned: Learned[],
  refused: Refused[],
): Promise<void> {
  const hosts = new Set<string>();
  for await (const { type, host, port, code } of readEvents(store, runId, { wait: false })) {
    if (typeof host !== 'string') continue;
    const value = typeof port === 'number' ? `${host}:${port}` : host;
    if (hosts.has(value)) continue;
    hosts.add(value);
    if (type === 'runner_log')
      learned.push({ permission: 'network.egress_allow', value, evidence: `the tool connected to ${value}` });
    else refused.push({ what: `connect to ${value}`, why: String(code ?? 'failed') });
  }
}
