import { chmodSync, existsSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { isAlive, readProcess } from '../../../util/process-table.ts';
import { Fifo } from '../../process/fifo.ts';
import { InputPipe } from '../../process/input-pipe.ts';
import { forgetCompanion, ProcessTree, registerCompanion, send } from '../../process/kill-tree.ts';
import type { OutputFifos } from '../../process/output-pump.ts';
import type { Runtime, SpawnedProcess, SpawnRequest } from '../../process/runtime.ts';
import { claimRunUser } from '../../sandbox/identity/run-users.ts';
import type { ToolStart } from '../../sandbox/launcher/launch-steps.ts';
import type {
  AheadSource,
  ForkServerParts,
  LaunchOptions,
  SandboxLaunch,
  StandbyPlace,
  StandbySandbox,
  StandbySource,
  WarmStart,
} from '../../sandbox/sandbox.ts';
import { fixedEnvironmentOf } from '../plan/environment.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { AttemptOptions } from '../run-executor.ts';
import { mayCallTools, type RunWorkspace, type Workspaces } from '../workspace.ts';
import type { AdapterKind } from './adapter.ts';
import type { ClaimedUser } from './run-user-ownership.ts';

/** Starts launchers as forks of one that stays. */
export interface Forks {
  fork(
    runtime: Runtime,
    parts: ForkServerParts,
    folder: string,
    request: SpawnRequest,
  ): Promise<SpawnedProcess>;
}

/** The part of an attempt that decides on a sandbox that waits. */
export interface StandbyWish {
  services: { runtime: Runtime; workspaces: Workspaces };
  plan: ToolPlan;
  options: Pick<AttemptOptions, 'number' | 'isResumed' | 'turn'>;
  adapter: Pick<AdapterKind, 'readsNoAnswers'>;
  permissionQuestions: object | undefined;
}

/** The sandbox has ended before the tool started in it: the run can start another one. */
export class SandboxKilled extends AcorError {
  constructor() {
    super('E_SPAWN_FAILED', 'the sandbox was killed before the tool started in it');
  }
}

/**
 * A sandbox that was started before its run, with the folders and streams that the run will have. It waits until a run takes it or it
 * is closed. Or one that a run has started ahead, in its own folders.
 */
export class StandbyRun {
  readonly streams: OutputFifos;
  /** The standard input of a tool that reads answers there. */
  readonly input: InputPipe | undefined;
  /** Undefined for the run's own. */
  readonly #folder: string | undefined;
  readonly #sandbox: StandbySandbox;
  readonly #orders: InputPipe;
  readonly #claim: ClaimedUser | undefined;
  readonly #child: SpawnedProcess;
  /** Ends the processes of one that was started ahead, and waits until they are gone. */
  #kill: (() => Promise<void>) | undefined;
  /** Of the run, once one has taken it. */
  #start: ((options: LaunchOptions) => ToolStart) | undefined;
  #isEntered = false;

  /** Starts a sandbox for the next run with the sandbox of this plan. */
  static async start(
    runtime: Runtime,
    plan: ToolPlan,
    source: StandbySource,
    { folder, hasInput }: { folder: string; hasInput: boolean },
  ): Promise<StandbyRun> {
    makeFolders(plan.workspace, (within) => source.placeIn(folder, within), folder);
    const undo = [() => rmSync(folder, { recursive: true, force: true })];
    const input = hasInput ? folderAt(join(folder, 'input')) : undefined;
    const prepare = (place: Omit<StandbyPlace, 'warm'>) =>
      source.prepare({ ...place, warm: warmStartOf(plan) });
    const parts = await startParts(runtime, plan, { folder, streams: folder, input, prepare }, undo);
    return new StandbyRun({ ...parts, folder });
  }

  /** Starts the sandbox of the run itself, whose folders are there. It comes up while the run claims and opens the rest. */
  static async ahead(
    {
      runtime,
      adoptsOrphans,
      standbys: forks,
    }: { runtime: Runtime; adoptsOrphans: boolean; standbys?: Forks | undefined },
    plan: ToolPlan,
    source: AheadSource,
    { hasInput }: { hasInput: boolean },
  ): Promise<StandbyRun> {
    const { dir, streams } = plan.workspace;
    const place = { folder: dir, streams, input: hasInput ? streams : undefined, prepare: source.prepare };
    const parts = await startParts(runtime, plan, { ...place, forks }, []);
    const run = new StandbyRun({ ...parts, folder: undefined });
    run.#start = source.start;
    run.#child.holdsProcess(true);
    run.#kill = async () => {
      const tree = new ProcessTree(runtime, {
        rootPid: run.#child.pid,
        run: { runId: plan.runId, folder: dir },
        adopts: adoptsOrphans,
        sandboxProcessDepth: run.#sandbox.launch.sandboxProcessDepth,
      });
      await tree.kill();
      tree.release();
    };
    return run;
  }

  private constructor(parts: {
    folder: string | undefined;
    sandbox: StandbySandbox;
    orders: InputPipe;
    claim: ClaimedUser | undefined;
    child: SpawnedProcess;
    streams: OutputFifos;
    input: InputPipe | undefined;
  }) {
    this.#folder = parts.folder;
    this.#sandbox = parts.sandbox;
    this.#orders = parts.orders;
    this.#claim = parts.claim;
    this.#child = parts.child;
    this.streams = parts.streams;
    this.input = parts.input;
    this.#sandbox.release();
    for (const fifo of Object.values(this.streams)) fifo.releaseWriteEnd();
    this.#orders.releaseReadEnd();
    this.input?.releaseReadEnd();
    registerCompanion(this.#child.pid);
    this.#child.holdsProcess(false);
  }

  /** Whether something has killed it. Its exit is reported later. */
  get hasEnded(): boolean {
    const now = readProcess(this.#child.pid);
    return now === undefined || !isAlive(now);
  }

  get isReady(): boolean {
    return this.#sandbox.isReady();
  }

  get claim(): ClaimedUser | undefined {
    return this.#claim;
  }

  /** Makes the folders and streams those of a run, which has prepared its workspace and written nothing there. */
  adopt(workspace: RunWorkspace, source: StandbySource): void {
    this.#start = source.start;
    this.#child.holdsProcess(true);
    for (const path of [workspace.logs, workspace.control]) mkdirSync(path, { recursive: true });
    for (const path of mountedFolders(workspace))
      renameSync(source.placeIn(this.#folder!, relative(workspace.dir, path)), path);
    this.streams.stdout.moveTo(join(workspace.streams, 'stdout'));
    this.streams.stderr.moveTo(join(workspace.streams, 'stderr'));
    this.input?.moveTo(workspace.streams);
  }

  /** Starts the tool of the run. Undefined when its orders are too long for the pipe: the run starts its own sandbox. */
  enter(options: LaunchOptions, run: string): { launch: SandboxLaunch; child: SpawnedProcess } | undefined {
    const bytes = this.#sandbox.enter(this.#start!(options), run);
    if (this.#orders.offer(bytes, 0) < bytes.length) {
      for (const fifo of Object.values(this.streams)) fifo.openWriteEnd();
      this.input?.openReadEnd();
      return undefined;
    }
    this.#isEntered = true;
    forgetCompanion(this.#child.pid);
    return { launch: this.#launch(), child: this.#child };
  }

  #launch(): SandboxLaunch {
    const { launch } = this.#sandbox;
    return {
      ...launch,
      settle: (exit) => {
        if (!this.#sandbox.isTaken()) throw new SandboxKilled();
        return launch.settle(exit);
      },
    };
  }

  /** Ends the sandbox unless a run has entered it, and removes what is left. The run has closed what it has taken. */
  [Symbol.dispose](): void {
    if (!this.#isEntered) {
      send(this.#child.pid, 'SIGKILL');
      forgetCompanion(this.#child.pid);
      this.#sandbox.launch.close();
    }
    this.#orders[Symbol.dispose]();
    if (this.#folder !== undefined) removeFolder(this.#folder);
    this.streams.stdout.close();
    this.streams.stderr.close();
    this.input?.[Symbol.dispose]();
    this.#claim?.release();
  }

  /** The same, and waits until the processes of a sandbox that no tool has entered are gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isEntered) await this.#kill?.();
    this[Symbol.dispose]();
  }
}

/** Whether no attempt before can have left anything. */
export function isFirstAttempt({ number, isResumed, turn }: StandbyWish['options']): boolean {
  return number === 1 && !isResumed && turn === undefined;
}

/**
 * False for a run that needs more than a sandbox can get after its start: secrets, an input, staged outputs, its own
 * program for other tools, and in most sandboxes control groups; and for one whose files must be given to another user.
 */
export function canEnterLater({ plan, options, permissionQuestions }: StandbyWish): boolean {
  const { sandboxed, secrets, staged, grants, tool, input, isRead, kind } = plan;
  const { manifest } = tool;
  const isFirst = isFirstAttempt(options) && kind === 'tool';
  const hasInput = input !== undefined || tool.readsStdin || manifest.stdin !== undefined;
  const isPlain =
    secrets === null && staged.length === 0 && !isRead && !hasInput && permissionQuestions === undefined;
  const isOwn = !sandboxed.changesUser || grants.length === 0;
  // Of version 2, a group with processes of its own cannot have groups below it, and the launcher would be in the supervisor's.
  const joins = sandboxed.groups.every(({ version }) => version === 1 && sandboxed.ahead?.joinsGroups);
  return isFirst && isPlain && isOwn && joins && !mayCallTools(manifest);
}

/**
 * How the interpreter of a tool starts before its run, when its manifest wants that. Its modules must not write where a run may: no run would
 * be recorded for it.
 */
export function warmStartOf(plan: ToolPlan): WarmStart | undefined {
  const { tool, command, digest, grants } = plan;
  if (!tool.manifest.warm || command.warm === undefined || digest === null) return undefined;
  if (grants.some(({ access }) => access === 'write')) return undefined;
  return { argv: command.warm, env: fixedEnvironmentOf(plan) };
}

/** What a sandbox that waits is made of. */
async function startParts(
  runtime: Runtime,
  plan: ToolPlan,
  place: {
    folder: string;
    streams: string;
    input: string | undefined;
    prepare: (place: Omit<StandbyPlace, 'warm'>) => StandbySandbox;
    forks?: Forks | undefined;
  },
  undo: (() => void)[],
) {
  try {
    const claim = plan.sandboxed.changesUser ? claimUser() : undefined;
    if (claim !== undefined) undo.push(claim.release);
    const orders = new InputPipe(runtime, place.folder);
    undo.push(() => orders[Symbol.dispose]());
    orders.unlink();
    const input = place.input === undefined ? undefined : new InputPipe(runtime, place.input);
    undo.push(() => input?.[Symbol.dispose]());
    const stdout = new Fifo(runtime, join(place.streams, 'stdout'));
    undo.push(() => stdout.close());
    const stderr = new Fifo(runtime, join(place.streams, 'stderr'));
    undo.push(() => stderr.close());
    const sandbox = place.prepare({
      ...{ folder: place.folder, user: claim?.user ?? null, orders: orders.target, stdin: input?.target },
      ...{ stdout: stdout.writeFd, stderr: stderr.writeFd },
    });
    undo.push(() => sandbox.launch.close());
    const { forkServer, spawn } = sandbox;
    const child =
      forkServer === undefined || place.forks === undefined
        ? await runtime.spawn(spawn)
        : await place.forks.fork(runtime, forkServer, place.folder, spawn);
    return { sandbox, orders, claim, child, streams: { stdout, stderr }, input };
  } catch (error) {
    for (const step of undo.reverse()) step();
    throw error;
  }
}

function claimUser(): ClaimedUser {
  const { uid, release } = claimRunUser();
  let isClaimed = true;
  return {
    user: { uid, gid: uid },
    release() {
      // A second time it would be another run's.
      if (isClaimed) release();
      isClaimed = false;
    },
  };
}

function folderAt(path: string): string {
  mkdirSync(path);
  return path;
}

/** A run that has taken the folders leaves nothing in it. */
function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    rmSync(folder, { recursive: true, force: true });
  }
}

function mountedFolders({ work, artifacts, toolLogs, toolControl, secrets }: RunWorkspace): string[] {
  return [work, artifacts, toolLogs, toolControl, secrets];
}

/** The folders of a run in another place, as `prepareWorkspace` makes them. */
function makeFolders(workspace: RunWorkspace, placeOf: (within: string) => string, folder: string): void {
  const { checkpoints, toolLogs, artifacts, answers, secrets, toolControl, dir } = workspace;
  const place = (path: string) => placeOf(relative(dir, path));
  // Of a project that has been removed, no folder is made.
  if (existsSync(dirname(dir))) mkdirSync(dirname(folder), { recursive: true });
  mkdirSync(folder, { mode: 0o700 });
  for (const path of [checkpoints, toolLogs, artifacts, answers]) mkdirSync(place(path), { recursive: true });
  mkdirSync(place(secrets), { mode: 0o700 });
  for (const path of [toolControl, answers]) chmodSync(place(path), 0o755);
}
