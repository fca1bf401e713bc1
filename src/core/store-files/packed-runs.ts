import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode } from '../../util/error-code.ts';
import type { IdRange } from '../ports/run-index.ts';
import { identityOf, PackTable } from './pack-table.ts';
import type { FoundRun } from './packed-file.ts';
import { storageError } from './storage-error.ts';

/** `00000012_r-…_r-….pack`: its number, and the first and the last id that it was made with. */
const NAME = /^(\d{8})_(r-[0-9a-z-]+)_(r-[0-9a-z-]+)\.pack$/;
/** Packs mostly cover ranges of ids that do not overlap, so that work on all runs in order reads each table once. */
const CACHED_TABLES = 8;

interface PackName {
  path: string;
  number: number;
  first: string;
  last: string;
}

/** A pack with its table, or with the reason why that cannot be read. */
export interface ReadPack {
  path: string;
  table?: PackTable;
  damage?: AcorError;
}

type Known = ReadPack & { identity: string };

/** The runs in the packs of a store, `.runs/packs/`. A store without packs costs one look for that folder. */
export class PackedRuns {
  readonly folder: string;
  readonly #tables = new Map<string, Known>();
  /** As they were listed last. */
  #names: PackName[] = [];

  constructor(root: string) {
    this.folder = join(root, 'packs');
  }

  get exist(): boolean {
    return existsSync(this.folder);
  }

  /** Opens only packs whose range includes the id. Throws E_INTEGRITY when the run may be in a damaged pack. */
  find(runId: string): FoundRun | undefined {
    const known = this.#findIn(this.#names, runId);
    if (known.found !== undefined) return known.found;
    this.#names = this.#list();
    const { found, damage } = this.#findIn(this.#names, runId);
    if (found === undefined && damage !== undefined) throw damage;
    return found;
  }

  /** The file names of the packs. */
  names(): string[] {
    return this.#list().map(({ path }) => basename(path));
  }

  /** The ids of all runs in packs that can be read. */
  ids(): string[] {
    return Array.from(this.tables(), ({ table }) => table?.ids() ?? []).flat();
  }

  /** All packs, or those that may contain one of some runs, the newest first. */
  *tables(runIds?: readonly string[]): Generator<ReadPack> {
    this.#names = this.#list();
    for (const { path, first, last } of this.#names) {
      if (runIds?.every((runId) => runId < first || runId > last)) continue;
      const pack = this.#tableOf(path);
      if (pack !== undefined) yield pack;
    }
  }

  /** A name for a new pack. */
  newName(firstId: string, lastId: string): string {
    const number = Math.max(0, ...this.#list().map((each) => each.number)) + 1;
    return `${String(number).padStart(8, '0')}_${firstId}_${lastId}.pack`;
  }

  #findIn(names: readonly PackName[], runId: string): { found?: FoundRun; damage?: AcorError } {
    let damage: AcorError | undefined;
    for (const { path, first, last } of names) {
      if (runId < first || runId > last) continue;
      const known = this.#tableOf(path);
      if (known === undefined) continue;
      const { table } = known;
      damage ??= known.damage;
      const run = table?.find(runId);
      if (table !== undefined && run !== undefined) return { found: { table, run } };
    }
    return damage === undefined ? {} : { damage };
  }

  /** Undefined when the pack does not exist any more. */
  #tableOf(path: string): Known | undefined {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    const identity = identityOf(stat);
    const cached = this.#tables.get(path);
    this.#tables.delete(path);
    const known = cached?.identity === identity ? cached : readTable(path, identity);
    if (known === undefined) return undefined;
    this.#tables.set(path, known);
    for (const oldest of this.#tables.keys()) {
      if (this.#tables.size <= CACHED_TABLES) break;
      this.#tables.delete(oldest);
    }
    return known;
  }

  /** The newest pack first: should a run be in two, the newer one counts. */
  #list(): PackName[] {
    let names: string[];
    try {
      names = readdirSync(this.folder);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw storageError(error, 'list the packs', this.folder);
    }
    const packs = names.flatMap((name) => {
      const ids = idsOfName(name);
      return ids === undefined
        ? []
        : [{ path: join(this.folder, name), number: Number.parseInt(name, 10), ...ids }];
    });
    return packs.sort((a, b) => b.number - a.number);
  }
}

/** The first and the last id that a pack of this name was made with; undefined for another name. */
export function idsOfName(name: string): IdRange | undefined {
  const [, , first, last] = NAME.exec(name) ?? [];
  return first === undefined || last === undefined ? undefined : { first, last };
}

function readTable(path: string, identity: string): Known | undefined {
  try {
    const table = PackTable.read(path);
    return table && { path, identity: table.identity, table };
  } catch (error) {
    if (error instanceof AcorError) return { path, identity, damage: error };
    throw error;
  }
}
