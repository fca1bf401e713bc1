import { chmodSync, existsSync, mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isAlive, readProcess } from '../../../util/process-table.ts';
import { Fifo } from '../../process/fifo.ts';
import { InputPipe } from '../../process/input-pipe.ts';
import { forgetCompanion, registerCompanion, send } from '../../process/kill-tree.ts';
import type { OutputFifos } from '../../process/output-pump.ts';
import type { Runtime, SpawnedProcess } from '../../process/runtime.ts';
import { placeIn } from '../../sandbox/backends/standby-profile.ts';
import { claimRunUser } from '../../sandbox/identity/run-users.ts';
import type {
  LaunchOptions,
  SandboxLaunch,
  StandbySandbox,
  StandbySource,
  WarmStart,
} from '../../sandbox/sandbox.ts';
import { fixedEnvironmentOf } from '../plan/environment.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { RunWorkspace } from '../workspace.ts';
import type { ClaimedUser } from './run-user-ownership.ts';

/**
 * A sandbox that was started before its run, with the folders and streams that the run will have. It waits until a run takes it or it
 * is closed.
 */
export class StandbyRun {
  readonly streams: OutputFifos;
  /** The standard input of a tool that reads answers there. */
  readonly input: InputPipe | undefined;
  readonly #folder: string;
  readonly #sandbox: StandbySandbox;
  readonly #orders: InputPipe;
  readonly #claim: ClaimedUser | undefined;
  readonly #child: SpawnedProcess;
  /** The run's own, once one has taken it. */
  #source: StandbySource | undefined;
  #isEntered = false;

  /** Starts a sandbox for the next run with the sandbox of this plan. */
  static async start(
    runtime: Runtime,
    plan: ToolPlan,
    source: StandbySource,
    { folder, hasInput }: { folder: string; hasInput: boolean },
  ): Promise<StandbyRun> {
    makeFolders(plan.workspace, folder);
    const undo = [() => rmSync(folder, { recursive: true, force: true })];
    try {
      const claim = plan.sandboxed.changesUser ? claimUser() : undefined;
      if (claim !== undefined) undo.push(claim.release);
      const orders = new InputPipe(runtime, folder);
      undo.push(() => orders[Symbol.dispose]());
      const input = hasInput ? new InputPipe(runtime, folderAt(join(folder, 'input'))) : undefined;
      undo.push(() => input?.[Symbol.dispose]());
      const stdout = new Fifo(runtime, join(folder, 'stdout'));
      undo.push(() => stdout.close());
      const stderr = new Fifo(runtime, join(folder, 'stderr'));
      undo.push(() => stderr.close());
      const sandbox = source.prepare({
        ...{ folder, user: claim?.user ?? null, orders: orders.target, stdin: input?.target },
        ...{ stdout: stdout.writeFd, stderr: stderr.writeFd, warm: warmStartOf(plan) },
      });
      undo.push(() => sandbox.launch.close());
      const child = await runtime.spawn(sandbox.spawn);
      const streams = { stdout, stderr };
      return new StandbyRun({ folder, sandbox, orders, claim, child, streams, input });
    } catch (error) {
      for (const step of undo.reverse()) step();
      throw error;
    }
  }

  private constructor(parts: {
    folder: string;
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
    this.#source = source;
    this.#child.holdsProcess(true);
    mkdirSync(workspace.logs, { recursive: true });
    for (const path of mountedFolders(workspace))
      renameSync(placeIn(this.#folder, relative(workspace.dir, path)), path);
    this.streams.stdout.moveTo(join(workspace.streams, 'stdout'));
    this.streams.stderr.moveTo(join(workspace.streams, 'stderr'));
    this.input?.moveTo(workspace.streams);
  }

  /** Starts the tool of the run. Undefined when its orders are too long for the pipe: the run starts its own sandbox. */
  enter(options: LaunchOptions, run: string): { launch: SandboxLaunch; child: SpawnedProcess } | undefined {
    const bytes = this.#sandbox.enter(this.#source!.steps(options), run);
    if (this.#orders.offer(bytes, 0) < bytes.length) {
      for (const fifo of Object.values(this.streams)) fifo.openWriteEnd();
      this.input?.openReadEnd();
      return undefined;
    }
    this.#isEntered = true;
    forgetCompanion(this.#child.pid);
    return { launch: this.#sandbox.launch, child: this.#child };
  }

  /** Ends the sandbox unless a run has entered it, and removes what that run does not need. */
  [Symbol.dispose](): void {
    if (!this.#isEntered) {
      send(this.#child.pid, 'SIGKILL');
      forgetCompanion(this.#child.pid);
      this.#sandbox.launch.close();
    }
    this.#orders[Symbol.dispose]();
    removeFolder(this.#folder);
  }

  /** Ends a sandbox that no run takes. */
  close(): void {
    this[Symbol.dispose]();
    this.streams.stdout.close();
    this.streams.stderr.close();
    this.input?.[Symbol.dispose]();
    this.#claim?.release();
  }
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

function claimUser(): ClaimedUser {
  const { uid, release } = claimRunUser();
  return { user: { uid, gid: uid }, release };
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
function makeFolders(workspace: RunWorkspace, folder: string): void {
  const { checkpoints, toolLogs, artifacts, answers, secrets, toolControl, dir } = workspace;
  const place = (path: string) => placeIn(folder, relative(dir, path));
  // Of a project that has been removed, no folder is made.
  if (existsSync(dirname(dir))) mkdirSync(dirname(folder), { recursive: true });
  mkdirSync(folder, { mode: 0o700 });
  for (const path of [checkpoints, toolLogs, artifacts, answers]) mkdirSync(place(path), { recursive: true });
  mkdirSync(place(secrets), { mode: 0o700 });
  for (const path of [toolControl, answers]) chmodSync(place(path), 0o755);
}
