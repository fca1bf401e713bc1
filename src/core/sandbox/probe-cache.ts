import { existsSync, mkdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { onceASecond } from '../../util/once-a-second.ts';
import { bootId } from '../../util/process-table.ts';
import { readPrivate } from '../../util/regular-file.ts';
import { newSha256 } from '../../util/sha256.ts';
import { kernelRelease } from '../../util/system.ts';
import { ACOR_VERSION } from '../../util/version.ts';
import type { SandboxBackend, SandboxProbe } from './sandbox.ts';
import { assembleFilter, digestOf } from './seccomp/assemble-filter.ts';
import type { SeccompRules } from './seccomp/filter.ts';
import { trustedProgram } from './trusted-program.ts';

/** Kernel settings that enable or disable namespaces. */
const SETTINGS = [
  '/proc/sys/kernel/unprivileged_userns_clone',
  '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
  '/proc/sys/user/max_user_namespaces',
];

/** A process in a container can have the home and the boot of others, but not their mounts. */
const OWN_MOUNTS = '/proc/self/ns/mnt';
/** Has the capabilities of this process, and whether its system calls are filtered. */
const OWN_STATUS = '/proc/self/status';

const settingsNow = onceASecond(() => [bootId() ?? '', ownRights(), ...SETTINGS.map(readSetting)]);

/** Probe results by what they depend on, and seccomp filters, in hexadecimal, by their digest. */
interface CacheFile {
  probes: Readonly<Record<string, SandboxProbe>>;
  filters: Readonly<Record<string, string>>;
}

/** So many results stay of each kind: ACOR may be used in turn with other settings, in containers, and in other versions. */
const MOST_ENTRIES = 8;

const probesOfThisProcess = new Map<string, SandboxProbe>();
const filtersOfThisProcess = new Map<string, Uint8Array>();

/**
 * Caches results that would cost every run milliseconds, in ACOR's folder among the user's caches: the probe of a backend,
 * until something it depends on changes, and the seccomp filters. No project is among what they depend on. Only a working
 * backend is cached; a sandbox that fails later fails its run.
 */
export class ProbeCache {
  readonly #path: string | null;
  readonly #folder: string | null;
  #kept: CacheFile | undefined;

  constructor(folder: string | null) {
    this.#folder = folder;
    this.#path = folder === null ? null : join(folder, 'sandbox.json');
  }

  async probe(backend: SandboxBackend): Promise<SandboxProbe> {
    const key = keyOf(backend);
    const known = probesOfThisProcess.get(key) ?? this.#read().probes[key];
    const probe = known ?? (await backend.probe());
    if (!probe.available) return probe;
    probesOfThisProcess.set(key, probe);
    if (known === undefined) {
      const kept = this.#read();
      this.#write({ ...kept, probes: withNewest(kept.probes, key, probe) });
    }
    return probe;
  }

  /** The seccomp filter for these rules; assembled again unless the cached one has the expected digest. */
  async filterOf(rules: SeccompRules): Promise<Uint8Array> {
    const digest = digestOf(rules);
    const known =
      filtersOfThisProcess.get(digest) ?? Buffer.from(String(this.#read().filters[digest]), 'hex');
    if (sha256(known) === digest) return known;
    const filter = await assembleFilter(rules);
    if (sha256(filter) !== digest) return filter;
    filtersOfThisProcess.set(digest, filter);
    const kept = this.#read();
    this.#write({ ...kept, filters: withNewest(kept.filters, digest, Buffer.from(filter).toString('hex')) });
    return filter;
  }

  /** A cached backend has failed, so the next run probes again. */
  forget(backend: SandboxBackend): void {
    probesOfThisProcess.delete(keyOf(backend));
    this.#kept = undefined;
    if (this.#path !== null) rmSync(this.#path, { force: true });
  }

  #read(): CacheFile {
    this.#kept ??= this.#path === null ? EMPTY : readCache(this.#path);
    return this.#kept;
  }

  #write(cache: CacheFile): void {
    this.#kept = cache;
    if (this.#path === null) return;
    try {
      mkdirSync(this.#folder!, { recursive: true, mode: 0o700 });
      writeAtomic(this.#path, JSON.stringify(cache), { mode: 0o600 });
    } catch {
      // Without a cache, every run probes.
    }
  }
}

function keyOf({ name, identity: own }: SandboxBackend): string {
  const identity = (program: string) => {
    const found = trustedProgram(program);
    return typeof found === 'string' ? found : found.identity;
  };
  const who = [process.getuid?.(), process.getgid?.()];
  const settings = settingsNow();
  const programs =
    own === undefined ? [settings, identity('bwrap'), identity('perl')] : [settings.slice(0, 2), own];
  return JSON.stringify([name, ACOR_VERSION, kernelRelease(), who, ...programs]);
}

/** The entries with one more, which is the newest; the oldest ones go. */
function withNewest<T>(entries: Readonly<Record<string, T>>, key: string, value: T): Record<string, T> {
  const others = Object.entries(entries).filter(([each]) => each !== key);
  return Object.fromEntries([...others.slice(1 - MOST_ENTRIES), [key, value]]);
}

const EMPTY: CacheFile = { probes: {}, filters: {} };

/** A damaged cache counts as empty, and so does one that another user can write: it could make ACOR choose a weaker sandbox. */
function readCache(path: string): CacheFile {
  try {
    const { probes, filters } = JSON.parse(readPrivate(path));
    return { probes: { ...probes }, filters: { ...filters } };
  } catch {
    return EMPTY;
  }
}

function sha256(bytes: Uint8Array): string {
  return newSha256().update(bytes).digest('hex');
}

/** What of this process, besides its user, decides which sandboxes it can make. */
function ownRights(): string {
  try {
    const status = readFileSync(OWN_STATUS, 'utf8');
    const rights = status.slice(status.indexOf('CapInh:'), status.indexOf('Speculation'));
    return `${readlinkSync(OWN_MOUNTS)}\n${rights}`;
  } catch {
    return '';
  }
}

function readSetting(path: string): string {
  try {
    // Most systems lack some, and making an error takes longer than to look.
    return existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
  } catch {
    return '';
  }
}
