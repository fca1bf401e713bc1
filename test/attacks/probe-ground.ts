import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { architecture } from '../../src/core/sandbox/profile/profile.ts';
import type { SandboxBackend } from '../../src/core/sandbox/sandbox.ts';
import { numberOf } from '../../src/core/sandbox/seccomp/system-calls.ts';
import { until } from '../support/project.ts';
import { RIG_UID, SandboxRig } from '../support/sandbox-rig.ts';

/** The outcome of one way to try an attack; `word` is the error that prevented it. */
export interface Probe {
  attack: number;
  probe: string;
  harm: boolean;
  word: string;
}

const CALLS = [
  ...[
    'mount',
    'umount2',
    'chroot',
    'open_tree',
    'mount_setattr',
    'pivot_root',
    'move_mount',
    'fsopen',
    'fsmount',
  ],
  ...[
    'ptrace',
    'process_vm_readv',
    'syslog',
    'ioctl',
    'unshare',
    'clone',
    'clone3',
    'setns',
    'io_uring_setup',
  ],
  ...[
    'io_uring_enter',
    'keyctl',
    'add_key',
    'perf_event_open',
    'userfaultfd',
    'bpf',
    'finit_module',
    'kexec_load',
  ],
];

/** A uid that no account has, outside the sandbox and in it, so that only the sandbox can keep the tool from it. */
const TOOL_USER = String(RIG_UID);

/** The machine around a sandbox that is easy to attack: open folders, a secret, a process with a secret, and servers. */
export class ProbeGround {
  readonly rig: SandboxRig;
  readonly open: string;
  readonly isRoot = process.getuid?.() === 0;
  readonly canary: ChildProcess;
  /** A file that belongs to the tool's own user, so that only the sandbox can protect it. */
  readonly #owned: string;
  readonly #servers: Server[] = [];
  readonly #udp: Socket;
  readonly #at: Record<string, unknown>;

  static async make(): Promise<ProbeGround> {
    const rig = await SandboxRig.make();
    const udp = createSocket('udp4');
    udp.on('message', (_, from) => udp.send('answer', from.port, from.address));
    udp.bind(0, '127.0.0.1');
    await once(udp, 'listening');
    const ground = new ProbeGround(rig, udp);
    await ground.#listen();
    await until(() => readFileSync(`/proc/${ground.canary.pid}/cmdline`, 'utf8').includes('canary'));
    return ground;
  }

  private constructor(rig: SandboxRig, udp: Socket) {
    this.rig = rig;
    this.#udp = udp;
    const outside = join(rig.root, 'outside');
    this.open = join(outside, 'open');
    const other = join(rig.project, '.runs', 'r-other');
    for (const folder of [this.open, join(other, 'work'), join(other, 'secrets')])
      mkdirSync(folder, { recursive: true });
    for (const folder of [this.open, join(other, 'work'), rig.tool]) chmodSync(folder, 0o777);
    mkdirSync(join(rig.project, '.runs', 'cache'));
    for (const [path, text] of [
      [join(other, 'secrets', 'TOKEN'), 'of another run\n'],
      [join(rig.project, 'private'), 'of the project\n'],
      [join(rig.tool, 'tool.yaml'), 'name: rig\n'],
      [join(rig.tool, 'helper.sh'), ':\n'],
      [join(rig.project, '.acor', 'policy.yaml'), 'version: 1\n'],
      [join(rig.project, '.runs', 'cache', 'discovery.json'), '{}\n'],
    ] as const) {
      writeFileSync(path, text);
      // Accessible for everybody: only the sandbox is in the way.
      chmodSync(path, 0o666);
    }
    copyFileSync(join(import.meta.dirname, 'payloads', 'probes.py'), join(rig.tool, 'probes.py'));
    this.#owned = join(outside, 'owned');
    writeFileSync(this.#owned, 'owned\n');
    if (this.isRoot) chownSync(this.#owned, Number(TOOL_USER), Number(TOOL_USER));
    const sleeper = ['-c', 'exec -a canary sleep 600'];
    const env = { PATH: '/usr/bin:/bin', AMBIENT: 'of the runner' };
    const as = ['--reuid', TOOL_USER, '--regid', TOOL_USER, '--clear-groups', 'bash', ...sleeper];
    const options = { env, cwd: outside, stdio: 'ignore' } as const;
    this.canary = this.isRoot ? spawn('setpriv', as, options) : spawn('bash', sleeper, options);
    const known = architecture();
    this.#at = {
      calls: known && Object.fromEntries(CALLS.map((name) => [name, numberOf(name, known)])),
      isRoot: this.isRoot,
      secret: rig.secret,
      open: this.open,
      owned: this.#owned,
      writable: rig.writable,
      other,
      project: rig.project,
      tool: rig.tool,
      token: join(rig.run, 'secrets', 'TOKEN'),
      canary: this.canary.pid,
      runner: process.pid,
      udp: udp.address().port,
      unix: join(rig.readable, 'socket'),
      abstract: `acor-attack-${process.pid}`,
      address:
        Object.values(networkInterfaces())
          .flatMap((all) => all ?? [])
          .find(({ internal, family }) => !internal && family === 'IPv4')?.address ?? null,
    };
  }

  /** Tries every probe in one sandbox. */
  async probe(backend: SandboxBackend): Promise<Probe[]> {
    this.rig.clean();
    const at = JSON.stringify({ ...this.#at, isConfined: backend.tier < 3 });
    const { stdout, stderr, rc } = await this.rig.bash(
      backend,
      `python3 ${this.rig.tool}/probes.py '${at}'`,
      {
        request: { commands: ['python3'] },
      },
    );
    if (rc !== 0) throw new Error(`the probes did not come to their end (${rc}): ${stdout}${stderr}`);
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Probe);
  }

  remove(): void {
    this.canary.kill('SIGKILL');
    for (const server of this.#servers) server.close();
    this.#udp.close();
    this.rig.remove();
  }

  async #listen(): Promise<void> {
    const { unix, abstract } = this.#at as { unix: string; abstract: string };
    for (const where of [{ port: 0, host: '0.0.0.0' }, { path: unix }, { path: `\0${abstract}` }]) {
      const server = createServer((socket) => socket.on('error', () => {}).end('hello'));
      server.listen(where);
      await once(server, 'listening');
      this.#servers.push(server);
      if ('port' in where) this.#at['port'] = (server.address() as { port: number }).port;
    }
    chmodSync(unix, 0o777);
  }
}
