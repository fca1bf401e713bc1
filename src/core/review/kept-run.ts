import { existsSync, mkdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import * as z from 'zod';
import { AcorError } from '../../protocol/acor-error.ts';
import { VERIFY } from '../../protocol/next-steps.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { withFileLock } from '../../util/file-lock.ts';
import { OpenFolder } from '../../util/open-folder.ts';
import { readOwn } from '../../util/regular-file.ts';
import { openAbove, type TreeEntry, type TreeListing, type TreePlace } from '../../util/tree-listing.ts';
import { removePath } from '../../util/walk-tree.ts';
import { foreignRecord, isOwnRecord, signedRecord } from '../config/own-records.ts';
import { KEPT } from '../store-files/layout.ts';
import { storageError } from '../store-files/storage-error.ts';
import { keptId, treeOf } from './kept-paths.ts';
import { indexOf, type KeptMode, type KeptState } from './undecided.ts';

/** A file or folder that a run writes, with the copy that ACOR keeps of it. */
export interface KeptPlace {
  id: string;
  /** Real and absolute. */
  path: string;
  mode: KeptMode;
  /** The copy, as a path in the run's folder. */
  tree: string;
  state: KeptState;
}

/** What was done with the changes of a run after its end. */
export interface KeptEffect {
  ts: string;
  effect: 'applied' | 'discarded' | 'undone';
  by: string;
  /** Absolute paths; at most `MAX_PATHS`. */
  paths: string[];
  count: number;
}

const effect = z.object({
  ts: z.string(),
  effect: z.enum(['applied', 'discarded', 'undone']),
  by: z.string(),
  paths: z.array(z.string()),
  count: z.int(),
});

const index = z.object({
  version: z.literal(1),
  places: z.array(
    z.object({
      id: z.string().regex(/^[0-9a-f]{16}$/),
      path: z.string(),
      mode: z.enum(['review', 'snapshot']),
      tree: z.string().refine((path) => !path.startsWith('/') && !path.split('/').includes('..')),
      state: z.enum(['open', 'pending', 'too_large', 'unchanged', 'applied', 'discarded', 'undone']),
    }),
  ),
  effects: z.array(effect),
  beside: z
    .string()
    .regex(/^\.acor-[0-9a-f]{16}$/)
    .optional(),
});

/** The kept places of one run, as they are stored. */
export class KeptRun {
  readonly dir: string;
  readonly places: KeptPlace[];
  readonly effects: KeptEffect[];
  /** The name of the files that a settlement writes beside their places, from its begin to its end: after a kill one may be left. */
  beside: string | undefined;
  /** Whether this user's ACOR has written it. */
  readonly #isOwn: boolean;

  private constructor(dir: string, { places, effects, beside }: z.output<typeof index>, isOwn: boolean) {
    this.dir = dir;
    this.places = places;
    this.effects = effects;
    this.beside = beside;
    this.#isOwn = isOwn;
  }

  /** Reads what is kept of a run. A run that keeps nothing has no places. */
  static read(dir: string): KeptRun {
    const path = indexOf(dir);
    if (!existsSync(path)) return new KeptRun(dir, { version: 1, places: [], effects: [] }, true);
    try {
      const text = readOwn(path).toString('utf8');
      return new KeptRun(dir, index.parse(JSON.parse(text)), isOwnRecord(path, text));
    } catch (error) {
      throw new AcorError('E_STORAGE', `${path} cannot be read: ${errorMessage(error)}`, {
        hint: 'Something else has changed or damaged it: the changes of this run can only be removed with the run.',
        next: [VERIFY],
      });
    }
  }

  /** Throws E_INTEGRITY for an index that came with the project: its paths could be anywhere. */
  checkOwn(): void {
    if (!this.#isOwn) throw foreignRecord(indexOf(this.dir), 'ACOR changes no file by it');
  }

  store(): void {
    this.checkOwn();
    const { places, effects, beside } = this;
    this.#write(indexOf(this.dir), { version: 1, places, effects, beside }, { durable: true });
  }

  #write(path: string, record: object, { durable }: { durable: boolean }): void {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const text = signedRecord(path, record, { lasts: true });
      writeAtomic(path, text, { durable, mode: 0o600 });
    } catch (error) {
      throw storageError(error, 'write down the changes of the run', path);
    }
  }

  /** The place of a path, which is added if it is not there. */
  placeOf(path: string, mode: KeptMode, tree = treeOf(path)): KeptPlace {
    const known = this.places.find((each) => each.path === path && each.mode === mode);
    if (known !== undefined) return known;
    const place: KeptPlace = { id: keptId(path), path, mode, tree, state: 'open' };
    this.places.push(place);
    return place;
  }

  listing({ id }: KeptPlace, which: 'before' | 'after'): TreeListing | undefined {
    this.checkOwn();
    const path = this.#listingPath(id, which);
    if (!existsSync(path)) return undefined;
    const text = readOwn(path).toString('utf8');
    // Its keys are paths that ACOR opens, and its hashes say which content goes there.
    if (!isOwnRecord(path, text)) throw foreignRecord(path, 'ACOR changes no file by it');
    return new Map((JSON.parse(text) as { entries: [string, TreeEntry][] }).entries);
  }

  keepListing({ id }: KeptPlace, which: 'before' | 'after', listing: TreeListing): void {
    this.#write(this.#listingPath(id, which), { entries: [...listing] }, { durable: false });
  }

  dropListing({ id }: KeptPlace, which: 'before' | 'after'): void {
    removePath(this.#listingPath(id, which));
  }

  #listingPath(id: string, which: 'before' | 'after'): string {
    return join(this.dir, KEPT, id, `${which}.json`);
  }

  /** The copy of a place. Its folder must be closed. */
  openTree({ tree }: KeptPlace): TreePlace {
    using folder = OpenFolder.trusted(dirname(this.dir));
    return openAbove({ folder, name: basename(this.dir) }, tree);
  }

  /** Stores, then removes the copies and the listings of places that are settled: a kill in between leaves nothing that still needs them. */
  storeWithout(places: readonly KeptPlace[]): void {
    this.store();
    for (const { id } of places) removePath(join(this.dir, KEPT, id));
  }
}

/** Opens the folder of a place, without following links; undefined when it does not exist. It must be closed. */
export function openPlace({ path }: Pick<KeptPlace, 'path'>): TreePlace | undefined {
  try {
    return { folder: OpenFolder.real(dirname(path)), name: basename(path) };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The same, and makes the folders that are missing. */
export function makePlace({ path }: Pick<KeptPlace, 'path'>): TreePlace {
  return { folder: OpenFolder.real(dirname(path), { makes: true }), name: basename(path) };
}

/**
 * Does `work` while no other process changes what is kept of a run. Throws E_INTEGRITY for an index that this user's
 * ACOR has not written.
 */
export async function withKept<T>(dir: string, work: (kept: KeptRun) => Promise<T>): Promise<T> {
  const lock = join(dir, `${KEPT}.lock`);
  let isLocked = false;
  try {
    return await withFileLock(lock, () => {
      isLocked = true;
      const kept = KeptRun.read(dir);
      kept.checkOwn();
      return work(kept);
    });
  } catch (error) {
    throw isLocked ? error : storageError(error, 'lock the changes of the run', lock);
  }
}
