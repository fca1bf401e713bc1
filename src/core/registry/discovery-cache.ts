import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { signatureOf, WatchedFiles } from './watched-files.ts';

/** To be raised when what the cache holds changes its shape or its meaning. */
const CACHE_VERSION = 2;

/** Something concluded from files, and what these looked like; without signatures it does not outlive its round. */
interface Unit {
  signatures: Record<string, string> | null;
  value: unknown;
}

interface CacheFile {
  version: number;
  /** What else the conclusions hang on. */
  key: string;
  read_at_ms: number;
  units: Record<string, Unit>;
}

/**
 * What discovery found, kept between starts in `<runs_dir>/cache/discovery.json` (contract §6). A unit is used again
 * only while every file that it was concluded from looks the same. A round is one pass over all of them.
 */
export class DiscoveryCache {
  readonly #file: string;
  readonly #key: string;
  readonly #ttlMs: number;
  #units = new Map<string, Unit>();
  #used = new Set<string>();
  #readAtMs = 0;
  #changed = false;
  #revision = 0;
  /** Within a round each path is looked at once. */
  #seen = new Map<string, string>();

  constructor(file: string, key: string, ttlS: number) {
    this.#file = file;
    this.#key = key;
    this.#ttlMs = ttlS * 1000;
    this.#load();
  }

  /** Rises whenever a round has read something again or forgotten something: between equal numbers nothing has changed. */
  get revision(): number {
    return this.#revision;
  }

  /**
   * One pass: `work` gets its values by `unit`; what it did not ask for is forgotten. Without anything found, nothing
   * is written, so that a folder that is no project stays as it is.
   */
  async round<T extends object>(work: () => Promise<T>): Promise<T> {
    this.#seen = new Map();
    this.#used = new Set();
    if (Date.now() - this.#readAtMs > this.#ttlMs || this.#readAtMs > Date.now()) {
      this.#units = new Map();
      this.#readAtMs = Date.now();
    }
    const result = await work();
    for (const id of this.#units.keys()) {
      if (!this.#used.has(id)) {
        this.#units.delete(id);
        this.#noteChange();
      }
    }
    if (Object.keys(result).length > 0) this.#save();
    return result;
  }

  /** The value of a unit: the kept one while it holds, else a new one. */
  async unit<T>(id: string, make: (files: WatchedFiles) => T | Promise<T>): Promise<T> {
    this.#used.add(id);
    const kept = this.#units.get(id);
    if (kept !== undefined && this.#holds(kept)) return kept.value as T;
    const files = new WatchedFiles();
    const value = await make(files);
    this.#units.set(id, { signatures: files.signatures(), value });
    this.#noteChange();
    return value;
  }

  #noteChange(): void {
    this.#changed = true;
    this.#revision++;
  }

  #holds({ signatures }: Unit): boolean {
    if (signatures === null) return false;
    for (const path in signatures) {
      if (this.#signatureOf(path) !== signatures[path]) return false;
    }
    return true;
  }

  #signatureOf(path: string): string {
    let signature = this.#seen.get(path);
    if (signature === undefined) {
      signature = signatureOf(path);
      this.#seen.set(path, signature);
    }
    return signature;
  }

  #load(): void {
    if (this.#ttlMs <= 0) return;
    try {
      const kept = JSON.parse(readFileSync(this.#file, 'utf8')) as CacheFile;
      if (kept.version !== CACHE_VERSION || kept.key !== this.#key) return;
      this.#units = new Map(Object.entries(kept.units));
      this.#readAtMs = kept.read_at_ms;
    } catch {
      // No cache, or a damaged one: everything is read afresh.
      this.#units = new Map();
    }
  }

  /** A cache that cannot be written is no error: the next start reads everything again. */
  #save(): void {
    if (!this.#changed || this.#ttlMs <= 0) return;
    this.#changed = false;
    const units = [...this.#units].filter(([, unit]) => unit.signatures !== null);
    const kept: CacheFile = {
      version: CACHE_VERSION,
      key: this.#key,
      read_at_ms: this.#readAtMs,
      units: Object.fromEntries(units),
    };
    try {
      const folder = dirname(this.#file);
      mkdirSync(folder, { recursive: true });
      ignoreInGit(dirname(folder));
      writeAtomic(this.#file, JSON.stringify(kept));
    } catch {}
  }
}

function ignoreInGit(runsDir: string): void {
  try {
    const path = join(runsDir, '.gitignore');
    if (!existsSync(path)) writeAtomic(path, '*\n');
  } catch {}
}
