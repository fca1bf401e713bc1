import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeAtomic } from '../../util/atomic-write.ts';
import { isSameSignature, type Signature, signatureOf } from '../../util/file-signature.ts';
import { readPrivate, refuseLinks } from '../../util/regular-file.ts';
import { WatchedFiles } from './watched-files.ts';

/** Raise this number when the format or the meaning of the cache changes. */
const CACHE_VERSION = 6;

/**
 * A value derived from files, with the signatures of these files. Without signatures it is valid only for the current
 * round.
 */
interface Unit {
  signatures: readonly (readonly [path: string, signature: Signature])[] | null;
  value: unknown;
}

interface CacheFile {
  version: number;
  /** Everything else that the values depend on. */
  key: string;
  read_at_ms: number;
  /** Lists, because an object with ten thousand different keys takes twice as long to parse. */
  units: [id: string, signatures: Unit['signatures'], value: unknown][];
}

/**
 * Caches the results of discovery between starts in `<runs_dir>/cache/discovery.json` (contract §6). A cached unit is
 * valid while every file that it was derived from has the same signature. A round is one pass over all units. It says what tools may do, so
 * only a file of this user that no other one may write is read: users of one group can share a store, and each has a file there.
 */
export class DiscoveryCache {
  readonly #file: string;
  readonly #key: string;
  readonly #ttlMs: number;
  #units = new Map<string, Unit>();
  #used = new Set<string>();
  #readAtMs = 0;
  #isLoaded = false;
  #changed = false;
  #revision = 0;
  /** Each path is checked once per round. */
  #seen = new Map<string, Signature>();

  constructor(file: string, key: string, ttlS: number) {
    this.#file = fileOfUser(file);
    this.#key = key;
    this.#ttlMs = ttlS * 1000;
  }

  /** Increases when a round read a unit again or dropped one. Two equal numbers mean that nothing changed. */
  get revision(): number {
    return this.#revision;
  }

  /** The files and folders that the values depend on; undefined when one has changed too recently for a signature. */
  get paths(): string[] | undefined {
    this.#load();
    const units = [...this.#units.values()];
    if (units.some(({ signatures }) => signatures === null)) return undefined;
    return units.flatMap(({ signatures }) => (signatures ?? []).map(([path]) => path));
  }

  /**
   * Runs one round. `work` gets its values through `unit`; units that it does not request are dropped. Without any
   * units nothing is written, so a folder that is not a project stays untouched.
   */
  async round<T extends object>(work: () => Promise<T>): Promise<T> {
    this.#seen = new Map();
    this.#used = new Set();
    this.#load();
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

  /** The value of a unit: from the cache while it is valid, else computed. A turn of the event loop for each of ten thousand kept ones would take 20 ms. */
  unit<T>(id: string, make: (files: WatchedFiles) => T | Promise<T>): T | Promise<T> {
    this.#used.add(id);
    const kept = this.#units.get(id);
    return kept !== undefined && this.#holds(kept) ? (kept.value as T) : this.#make(id, make);
  }

  async #make<T>(id: string, make: (files: WatchedFiles) => T | Promise<T>): Promise<T> {
    const files = new WatchedFiles();
    const value = await make(files);
    const signatures = files.signatures();
    this.#units.set(id, { signatures: signatures && Object.entries(signatures), value });
    this.#noteChange();
    return value;
  }

  #noteChange(): void {
    this.#changed = true;
    this.#revision++;
  }

  #holds({ signatures }: Unit): boolean {
    if (signatures === null) return false;
    return signatures.every(([path, signature]) => isSameSignature(signature, this.#signatureOf(path)));
  }

  #signatureOf(path: string): Signature {
    let signature = this.#seen.get(path);
    if (signature === undefined) {
      signature = signatureOf(path);
      this.#seen.set(path, signature);
    }
    return signature;
  }

  /** On first use: a command that asks for no tool does not read what ten thousand tools have left. */
  #load(): void {
    if (this.#isLoaded || this.#ttlMs <= 0) return;
    this.#isLoaded = true;
    try {
      this.#refuseLink();
      const kept = JSON.parse(readPrivate(this.#file)) as CacheFile;
      if (kept.version !== CACHE_VERSION || kept.key !== this.#key) return;
      if (!kept.units.every(([, signatures]) => signatures?.every(Array.isArray))) return;
      this.#units = new Map(kept.units.map(([id, signatures, value]) => [id, { signatures, value }]));
      this.#readAtMs = kept.read_at_ms;
    } catch {
      // Without a valid cache, discovery reads everything.
      this.#units = new Map();
    }
  }

  /** A cache that cannot be written is not an error: the next start reads everything again. */
  #save(): void {
    if (!this.#changed || this.#ttlMs <= 0) return;
    this.#changed = false;
    const units = [...this.#units].filter(([, { signatures }]) => signatures !== null);
    const kept: CacheFile = {
      version: CACHE_VERSION,
      key: this.#key,
      read_at_ms: this.#readAtMs,
      units: units.map(([id, { signatures, value }]) => [id, signatures, value]),
    };
    try {
      const folder = dirname(this.#file);
      this.#refuseLink();
      mkdirSync(folder, { recursive: true });
      ignoreInGit(dirname(folder));
      writeAtomic(this.#file, JSON.stringify(kept));
    } catch {}
  }

  /** A cloned project can have a link in place of the folder: it is a cache, so discovery does without. */
  #refuseLink(): void {
    const folder = dirname(this.#file);
    refuseLinks(dirname(folder), basename(folder));
  }
}

/** Another file where this one belongs to another user: each would replace that of the other. */
function fileOfUser(file: string): string {
  const user = process.getuid?.();
  try {
    return user === undefined || lstatSync(file).uid === user
      ? file
      : file.replace(/\.json$/, `-${user}.json`);
  } catch {
    // The file does not exist, or its folder is closed to this user.
    return file;
  }
}

function ignoreInGit(runsDir: string): void {
  try {
    const path = join(runsDir, '.gitignore');
    if (!existsSync(path)) writeAtomic(path, '*\n');
  } catch {}
}
