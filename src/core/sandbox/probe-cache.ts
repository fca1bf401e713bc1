import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { release } from 'node:os';
import { join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { ACOR_VERSION } from '../../util/version.ts';
import type { SandboxBackend, SandboxProbe } from './sandbox.ts';
import { trustedProgram } from './trusted-program.ts';

/** Settings of the kernel that take namespaces away, or give them. */
const SETTINGS = [
  '/proc/sys/kernel/random/boot_id',
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
  '/proc/sys/user/max_user_namespaces',
];

const inThisProcess = new Map<string, SandboxProbe>();

/**
 * What trying out a backend has shown, kept for as long as nothing it depends on has changed: it takes some milliseconds, which
 * every run would pay. Only what works is kept; a sandbox that fails later fails its run.
 */
export class ProbeCache {
  readonly #path: string | null;
  readonly #folder: string | null;

  constructor(folder: string | null) {
    this.#folder = folder;
    this.#path = folder === null ? null : join(folder, 'sandbox.json');
  }

  async probe(backend: SandboxBackend): Promise<SandboxProbe> {
    const key = keyOf(backend);
    const known = inThisProcess.get(key) ?? this.#read()[key];
    const probe = known ?? (await backend.probe());
    if (!probe.available) return probe;
    inThisProcess.set(key, probe);
    if (known === undefined) this.#write(key, probe);
    return probe;
  }

  /** A backend that worked has failed: the next run probes again. */
  forget(backend: SandboxBackend): void {
    inThisProcess.delete(keyOf(backend));
    if (this.#path !== null) rmSync(this.#path, { force: true });
  }

  #read(): Record<string, SandboxProbe> {
    try {
      return this.#path === null ? {} : JSON.parse(readOwn(this.#path));
    } catch {
      return {};
    }
  }

  #write(key: string, probe: SandboxProbe): void {
    if (this.#path === null) return;
    try {
      mkdirSync(this.#folder!, { recursive: true });
      writeAtomic(this.#path, JSON.stringify({ [key]: probe }), { mode: 0o600 });
    } catch {
      // Without a cache every run tries it out.
    }
  }
}

function keyOf({ name, identity: own }: SandboxBackend): string {
  const identity = (program: string) => {
    const found = trustedProgram(program);
    return typeof found === 'string' ? found : found.identity;
  };
  const who = [process.getuid?.(), process.getgid?.()];
  const settings = SETTINGS.map(readSetting);
  if (own !== undefined)
    return JSON.stringify([name, ACOR_VERSION, release(), who, readSetting(SETTINGS[0]!), own]);
  return JSON.stringify([name, ACOR_VERSION, release(), who, settings, identity('bwrap'), identity('perl')]);
}

/** A user who can write this file could make ACOR choose a weaker sandbox. */
function readOwn(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const { uid, mode } = fstatSync(fd);
    if (uid !== process.getuid?.() || mode & 0o022) return '{}';
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function readSetting(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
