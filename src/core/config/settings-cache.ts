import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { newSha256 } from '../../util/sha256.ts';
import { ACOR_VERSION } from '../../util/version.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** One setting: the path of its key, its value, and its place. */
export interface Setting {
  path: string[];
  value: unknown;
  where: string;
  /** The value as the file has it, for one that holds values of variables which tools do not get. */
  written?: unknown;
  /** The deprecated key that was used, and its replacement. A removed one has no effect. */
  deprecated?: { key: string; fix: string; isRemoved?: true };
}

/** A second change within one tick of the file system's clock (at most 10 ms) does not change the timestamps. */
const CLOCK_TICK_MS = 20;

/**
 * Caches the settings of configuration and policy files in the user's cache folder, so that an ordinary start loads
 * neither a YAML parser nor a schema. The folder must be the user's own: a cache inside a project could not be trusted.
 */
export class SettingsCache<T = Setting[]> {
  readonly #path: string | undefined;
  readonly #signature: string | undefined;

  constructor(file: string, env: Env, kind: 'config' | 'policy' = 'config') {
    const folder = env['XDG_CACHE_HOME'] || (env['HOME'] && join(env['HOME'], '.cache'));
    this.#signature = signatureOf(file);
    if (!folder?.startsWith('/')) return;
    this.#path = join(folder, 'acor', kind, `${newSha256().update(file).digest('hex')}.json`);
  }

  /** The cached settings, if the file's signature is unchanged. */
  read(): T | undefined {
    if (this.#path === undefined || this.#signature === undefined) return undefined;
    try {
      const { version, signature, settings } = JSON.parse(readFileSync(this.#path, 'utf8'));
      return version === ACOR_VERSION && signature === this.#signature ? settings : undefined;
    } catch {
      return undefined;
    }
  }

  /** Caches settings that depend only on the file. A cache that cannot be written is not an error. */
  write(settings: T): void {
    if (this.#path === undefined || this.#signature === undefined) return;
    try {
      mkdirSync(join(this.#path, '..'), { recursive: true, mode: 0o700 });
      writeAtomic(
        this.#path,
        JSON.stringify({ version: ACOR_VERSION, signature: this.#signature, settings }),
        { mode: 0o600 },
      );
    } catch {
      // The next start reads the file again.
    }
  }
}

/** Changes with every change of a file. Undefined when it has changed this very moment, or cannot be reached. */
export function signatureOf(file: string): string | undefined {
  const stats = statsOf(file);
  if (stats === undefined || Number(stats.ctimeMs) > Date.now() - CLOCK_TICK_MS) return undefined;
  return `${stats.ctimeNs} ${stats.size} ${stats.dev} ${stats.ino}`;
}

function statsOf(file: string) {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    // A dangling link: reading the file reports it.
    return undefined;
  }
}
