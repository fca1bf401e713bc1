import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inheritedFrom } from '../../src/core/host/caller.ts';
import { TERMS } from '../../src/core/host/host-folder.ts';
import { identify, isRunning, type ProcessIdentity } from '../../src/util/process-table.ts';
import { ACOR, TestProject, until } from './project.ts';

/** Why this machine can have no host; false where it can. */
export const NO_HOST: string | false =
  process.platform !== 'linux' || !ACOR.endsWith('dist/acor') || inheritedFrom('self') === undefined
    ? 'needs Linux, the compiled program, and a caller without no_new_privs and without a limit of processor time'
    : false;

export interface HostShown {
  pid: number;
  state: 'idle' | 'busy';
  project: string;
  is_ours: boolean;
}

/** A project whose calls are run by processes of a host, which end with it. */
export class HostProject extends TestProject {
  constructor(options: ConstructorParameters<typeof TestProject>[0] = {}) {
    super(options);
    mkdirSync(this.path('runtime'), { mode: 0o700 });
  }

  /** A call from here may use the host, and starts one. */
  get auto(): Record<string, string> {
    return { ACOR_HOST: 'auto', XDG_RUNTIME_DIR: this.path('runtime') };
  }

  /** A call from here runs by itself. */
  get off(): Record<string, string> {
    return { ...this.auto, ACOR_HOST: 'off' };
  }

  async processes(): Promise<HostShown[]> {
    return (await this.envelope(['host'], { env: this.auto })).data.processes;
  }

  /** Calls until a process waits, and returns it. Each call that finds none starts one. */
  async warmUp(): Promise<HostShown> {
    for (;;) {
      await this.acor(['list'], { env: this.auto });
      await until(() => this.sockets().length > 0);
      await until(() => this.sockets().some((name) => name.endsWith('.idle')) || this.sockets().length === 0);
      const found = (await this.processes()).find(({ state, is_ours }) => state === 'idle' && is_ours);
      if (found !== undefined) return found;
    }
  }

  /** The names of the sockets, and of the mark of a process that starts. */
  sockets(): string[] {
    const hosts = this.path('runtime', 'acor', 'host');
    if (!existsSync(hosts)) return [];
    const names = readdirSync(hosts).flatMap((key) => readdirSync(join(hosts, key)));
    return names.filter((name) => name !== TERMS);
  }

  folder(): string {
    const hosts = this.path('runtime', 'acor', 'host');
    const [key, ...others] = readdirSync(hosts);
    assert.ok(key !== undefined && others.length === 0);
    return join(hosts, key);
  }

  /** Ends all processes of the host, and waits until they have. */
  async stop(): Promise<void> {
    for (;;) {
      // One that is starting listens soon.
      await until(() => !this.sockets().includes('starting'));
      const { data } = await this.envelope(['host', 'stop'], { env: this.auto });
      const identities: ProcessIdentity[] = data.processes.map(({ pid }: HostShown) => identify(pid));
      await until(() => !identities.some(isRunning));
      if (this.sockets().length === 0) return;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    this[Symbol.dispose]();
  }
}
