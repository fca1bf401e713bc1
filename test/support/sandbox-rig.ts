import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { InputPipe } from '../../src/core/process/input-pipe.ts';
import { ProcessTree } from '../../src/core/process/kill-tree.ts';
import { loadRuntime } from '../../src/core/process/load-runtime.ts';
import type { Runtime } from '../../src/core/process/runtime.ts';
import { Standbys } from '../../src/core/run/attempt/standbys.ts';
import type { EgressNote } from '../../src/core/sandbox/egress/connection-log.ts';
import {
  canGiveUsers,
  claimRunUser,
  FIRST_RUN_UID,
  ROOT,
} from '../../src/core/sandbox/identity/run-users.ts';
import type {
  AheadSource,
  LaunchOptions,
  RunUser,
  SandboxBackend,
  SandboxLaunch,
  SandboxRequest,
  SecretFiles,
} from '../../src/core/sandbox/sandbox.ts';
import { heldValue } from '../../src/core/sandbox/scratch-file.ts';

/** A user without an account. */
export const RIG_UID = canGiveUsers() ? claimRunUser().uid : FIRST_RUN_UID;
const RIG_USER: RunUser = { uid: RIG_UID, gid: RIG_UID };

export interface RigOptions {
  env?: Record<string, string>;
  request?: Partial<SandboxRequest>;
  groups?: readonly number[];
  /** Between the plan and the start. */
  beforeLaunch?: () => void;
  /** Handles the connections of a tool whose network is `listed`. */
  onEgress?: (note: EgressNote) => void;
  /** By name; passed as descriptors. */
  secrets?: Readonly<Record<string, string>>;
  /** Behaves as a supervisor that takes no descriptor from the sandbox. */
  isDeaf?: boolean;
}

/** When a sandbox starts that can start before its tool is known: with it, before it, or before it as a fork of a launcher that stays. */
export type SandboxStart = 'now' | 'ahead' | 'fork';

/** A run's folders with what a tool may and may not reach, and a shell in the sandbox of one backend. */
export class SandboxRig {
  readonly root = mkdtempSync(join(tmpdir(), 'acor-sandbox-'));
  readonly runId = `r-rig${process.pid}`;
  readonly project = join(this.root, 'project');
  readonly run = join(this.project, '.runs', this.runId);
  readonly work = join(this.run, 'work');
  readonly tool = join(this.project, 'tools', 'rig');
  readonly readable = join(this.project, 'readable');
  readonly writable = join(this.project, 'writable');
  readonly secret = this.#write('outside/secret', 'the secret\n');
  readonly events = this.#write(`project/.runs/${this.runId}/events.jsonl`, 'first\n');
  readonly #writableFolders = [this.work, join(this.run, 'artifacts'), join(this.run, 'logs', 'tool')];
  #runtime!: Runtime;
  #way: SandboxStart = 'now';
  #standbys!: Standbys;
  #count = 0;

  static async make(way: SandboxStart = 'now', { idleMs }: { idleMs?: number } = {}): Promise<SandboxRig> {
    const rig = new SandboxRig();
    rig.#runtime = await loadRuntime();
    rig.#way = way;
    rig.#standbys = new Standbys(idleMs);
    return rig;
  }

  private constructor() {
    chmodSync(this.root, 0o755);
    this.#write('project/readable/file', 'granted\n');
    this.#write('project/.runs/r-other/events.jsonl', 'of another run\n');
    this.#write('project/.acor/config.yaml', 'version: 1\n');
    this.#write(`project/.runs/${this.runId}/secrets/TOKEN`, 'token\n');
    this.#write('project/tools/rig/helper.sh', 'echo helped\n');
    for (const folder of [...this.#writableFolders, this.writable, join(this.run, 'control', 'tool')])
      mkdirSync(folder, { recursive: true });
  }

  /** As the runner does: the tool owns what it may write. */
  #takeOwnership(to: RunUser): void {
    const secrets = join(this.run, 'secrets');
    const files = readdirSync(secrets).map((name) => join(secrets, name));
    for (const path of [...this.#writableFolders, this.writable, secrets, ...files])
      chownSync(path, to.uid, to.gid);
  }

  /** Runs a script in bash, as a tool of level minimal with one readable and one writable grant. */
  async bash(backend: SandboxBackend, script: string, options: RigOptions = {}) {
    const started = await this.start(backend, script, options);
    const ended = await started.ended;
    return { ...ended, ...ended.exit, stdout: started.stdout(), stderr: started.stderr() };
  }

  /** Starts it without waiting for its end. */
  async start(
    backend: SandboxBackend,
    script: string,
    { env = {}, request = {}, groups = [], beforeLaunch, onEgress, secrets, isDeaf }: RigOptions = {},
  ) {
    const probe = await backend.probe();
    const confinement = await backend.confine({ ...this.#request(script), ...request }, probe);
    if (canGiveUsers()) this.#takeOwnership(confinement.changesUser ? RIG_USER : ROOT);
    beforeLaunch?.();
    const [out, err] = ['out', 'err'].map((name) => join(this.root, `${name}-${this.#count++}`)) as [
      string,
      string,
    ];
    const [stdout, stderr] = [openSync(out, 'a', 0o666), openSync(err, 'a', 0o666)];
    const launchOptions: LaunchOptions = {
      env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', RUN_ID: this.runId, ...confinement.env, ...env },
      ...(onEgress && { onEgress }),
      ...(secrets && { secrets: this.#handed(secrets) }),
      stdout,
      stderr,
      user: confinement.changesUser ? RIG_USER : null,
      scratch: join(this.run, 'control'),
      groups,
    };
    const { ahead } = confinement;
    const isAhead = this.#way !== 'now' && ahead && !secrets && (groups.length === 0 || ahead.joinsGroups);
    try {
      const { launch, child } = isAhead
        ? await this.#startAhead(ahead, { ...launchOptions, stdout, stderr })
        : await this.#startNow(confinement.launch(launchOptions), isDeaf);
      const tree = new ProcessTree(this.#runtime, {
        rootPid: child.pid,
        run: { runId: this.runId, folder: this.run },
        adopts: false,
        sandboxProcessDepth: launch.sandboxProcessDepth,
        ...(launch.hasReaper && { hasReaper: true }),
      });
      const ended: Promise<ReturnType<SandboxLaunch['settle']>> = child.exited.then((exit) => {
        try {
          return launch.settle(exit);
        } finally {
          launch.close();
        }
      });
      return {
        rootPid: child.pid,
        sandboxProcessDepth: launch.sandboxProcessDepth,
        ...(launch.hasReaper && { hasReaper: true as const }),
        errors: err,
        tree,
        ended,
        stdout: () => readFileSync(out, 'utf8'),
        stderr: () => readFileSync(err, 'utf8'),
      };
    } finally {
      closeSync(stdout);
      closeSync(stderr);
    }
  }

  async #startNow(launch: SandboxLaunch, isDeaf = false) {
    if (isDeaf) delete launch.spawn.hear;
    const child = await this.#runtime.spawn(launch.spawn);
    launch.release();
    return { launch, child };
  }

  async #startAhead(ahead: AheadSource, options: LaunchOptions & { stdout: number; stderr: number }) {
    const { user, stdout, stderr, scratch } = options;
    using orders = new InputPipe(this.#runtime, scratch);
    const place = { folder: scratch, user, stdin: undefined, stdout, stderr, orders: orders.target };
    const { spawn, forkServer, release, enter, launch } = ahead.prepare(place);
    const child = await (this.#way === 'fork' && forkServer
      ? this.#standbys.fork(this.#runtime, forkServer, scratch, spawn)
      : this.#runtime.spawn(spawn));
    release();
    orders.releaseReadEnd();
    const bytes = enter(ahead.start(options), this.run);
    if (orders.offer(bytes, 0) < bytes.length) throw new Error('the orders are too long');
    return { launch, child };
  }

  /** Empties the workspace. */
  clean(): void {
    for (const name of readdirSync(this.work))
      rmSync(join(this.work, name), { recursive: true, force: true });
  }

  remove(): void {
    this.#standbys.close();
    rmSync(this.root, { recursive: true, force: true });
  }

  #handed(secrets: Readonly<Record<string, string>>): SecretFiles {
    const files = Object.entries(secrets).map(([name, value]) => ({
      name,
      open: () => heldValue(this.#runtime, join(this.run, 'control'), Buffer.from(value)),
    }));
    return { folder: join(this.run, 'secrets'), files };
  }

  #request(script: string): SandboxRequest {
    return {
      runId: this.runId,
      argv: ['/bin/bash', '-c', script],
      level: 'minimal',
      runtime: '/bin/bash',
      language: 'bash',
      toolDir: this.tool,
      folders: {
        writable: this.#writableFolders,
        readable: [join(this.run, 'control', 'tool'), join(this.run, 'secrets')],
        work: this.work,
      },
      libraries: [],
      grants: [
        { path: this.readable, access: 'read' },
        { path: this.writable, access: 'write' },
      ],
      hidden: [join(this.project, '.runs'), join(this.project, '.acor')],
      commands: [],
      path: process.env['PATH'] ?? '/usr/bin:/bin',
      network: 'none',
      limits: {},
    };
  }

  #write(path: string, text: string): string {
    const target = join(this.root, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text, { mode: 0o644 });
    return target;
  }
}
