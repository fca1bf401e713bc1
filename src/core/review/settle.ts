import { AcorError } from '../../protocol/acor-error.ts';
import { diffRun, discardRun } from '../../protocol/next-steps.ts';
import {
  changesBetween,
  comparedWith,
  makeChanges,
  selectChanges,
  type TreeChange,
  type TreeConflict,
  type Unfit,
  unfitnessOf,
} from '../../util/change-tree.ts';
import { countOf } from '../../util/count-of.ts';
import { errorCode } from '../../util/error-code.ts';
import { newSpanId } from '../../util/ids.ts';
import { isInside } from '../../util/real-path.ts';
import { inSlices, listTree, type TreeEntry, type TreeListing } from '../../util/tree-listing.ts';
import { storageError } from '../store-files/storage-error.ts';
import { executedLater, type WayToExecute } from './executed-later.ts';
import { LEFT_BOUND } from './keep-writes.ts';
import { type KeptPlace, type KeptRun, makePlace, openPlace, withKept } from './kept-run.ts';
import { MAX_PATHS, recordEffect } from './record-effect.ts';
import { isUndecided, type KeptMode } from './undecided.ts';
import { pathOf, statesOf } from './undecided-changes.ts';
import { removeUnfinishedFile } from './unfinished-file.ts';

const MAX_SHOWN_CONFLICTS = 100;

/** The run whose changes are settled, and who settles them. */
export interface SettledRun {
  runId: string;
  dir: string;
  /** The folder of all runs. */
  root: string;
  by: string;
  check(): void;
  /** Why a place may not be written now; undefined when it may. */
  whyNot(path: string): string | undefined;
}

/** What was done, or would be. */
export interface Settled {
  paths: string[];
  /** The changes that were left out, because they would put something unfit in place. */
  refused: { path: string; why: Unfit }[];
  /** Those of the changes that may be executed later. */
  executed: { path: string; way: WayToExecute }[];
  /** Paths of the caller at which there is no change. */
  unmatched: string[];
  /** How many changes are still undecided. */
  left: number;
}

/** Puts changes of a layer in place: all, or those at and below the given paths. */
export function applyKept(run: SettledRun, paths: readonly string[], dryRun: boolean): Promise<Settled> {
  return settle(run, 'applied', paths, dryRun);
}

/** Restores what a run changed in place from its snapshot. */
export function undoKept(run: SettledRun, paths: readonly string[], dryRun: boolean): Promise<Settled> {
  return settle(run, 'undone', paths, dryRun);
}

/** Drops the changes of a layer, or a snapshot: all, or those at and below the given paths. */
export function discardKept(run: SettledRun, dryRun: boolean): Promise<{ places: string[] }> {
  return withKept(run.dir, async (kept) => {
    const places = kept.places.filter(({ state }) => isUndecided(state));
    if (places.length === 0) throw nothingLeft(run.runId, 'discard');
    const paths = places.map(({ path }) => path);
    if (dryRun) return { places: paths };
    await removeUnfinishedFile(run, kept);
    await recordEffect(run, kept, 'discarded', paths);
    for (const place of places) place.state = 'discarded';
    kept.storeWithout(places);
    return { places: paths };
  });
}

const MODE_OF: Record<'applied' | 'undone', KeptMode> = { applied: 'review', undone: 'snapshot' };

function settle(
  run: SettledRun,
  effect: 'applied' | 'undone',
  paths: readonly string[],
  dryRun: boolean,
): Promise<Settled> {
  return withKept(run.dir, async (kept) => {
    const places = kept.places.filter(({ mode, state }) => mode === MODE_OF[effect] && isUndecided(state));
    if (places.length === 0) throw nothingLeft(run.runId, effect === 'applied' ? 'apply' : 'undo');
    const order = new Settlement(run, kept, effect);
    for (const path of paths)
      if (!places.some((place) => isInside(path, place.path) || isInside(place.path, path)))
        throw notAmong(run.runId, path);
    for (const { path } of places) refuseUngranted(run, path);
    if (!dryRun) await removeUnfinishedFile(run, kept);
    for (const place of places) await order.prepare(place, paths);
    order.refuseConflicts();
    if (!dryRun) await order.make();
    return order.result();
  });
}

interface PreparedPlace {
  place: KeptPlace;
  before: Map<string, TreeEntry>;
  after: Map<string, TreeEntry>;
  now: TreeListing;
  /** In the direction in which they are made. */
  open: TreeChange[];
  selected: TreeChange[];
}

/** One settlement of all places of a run: compared as a whole before the first change is made. */
class Settlement {
  readonly #run: SettledRun;
  readonly #kept: KeptRun;
  readonly #effect: 'applied' | 'undone';
  /** Whether it was begun before, as the list of the run says. */
  readonly #continues: boolean;
  readonly #prepared: PreparedPlace[] = [];
  readonly #conflicts: { path: string; problem: TreeConflict['problem'] }[] = [];
  readonly #refused: Settled['refused'] = [];
  readonly #executed: Settled['executed'] = [];
  readonly #made: string[] = [];
  /** The same by their keys: names that are no UTF-8 can have the same path. */
  readonly #madeKeys = new Map<KeptPlace, Set<string>>();
  readonly #unmatched = new Set<string>();

  constructor(run: SettledRun, kept: KeptRun, effect: 'applied' | 'undone') {
    this.#run = run;
    this.#kept = kept;
    this.#effect = effect;
    this.#continues = kept.effects.some((each) => each.effect === effect);
  }

  async prepare(place: KeptPlace, paths: readonly string[]): Promise<void> {
    const isNamed = paths.some((path) => keyOf(place, path) !== undefined);
    if (paths.length > 0 && !isNamed) return;
    const [before, after] = await statesOf(this.#kept, place, this.#run.check);
    const changes =
      this.#effect === 'applied' ? changesBetween(before, after) : changesBetween(after, before);
    const keys = paths.length === 0 ? [''] : paths.flatMap((path) => this.#keysOf(place, path, changes));
    const selected = selectChanges(changes, keys).filter((change) => {
      const why = this.#effect === 'applied' ? unfitnessOf(change) : notInSnapshot(change);
      if (why !== undefined) this.#refused.push({ path: pathOf(place, change.key), why });
      return why === undefined;
    });
    const now = await this.#presentState(place, this.#effect === 'applied' ? before : after);
    const { open, conflicts } = comparedWith(selected, now, { continues: this.#continues });
    for (const { key, problem } of conflicts) this.#conflicts.push({ path: pathOf(place, key), problem });
    if (this.#effect === 'applied') this.#findExecuted(place, open);
    this.#prepared.push({ place, before: new Map(before), after: new Map(after), now, open, selected });
  }

  /** What a path names: an entry or folder of the place, or entries whose names are no UTF-8 and are shown like this. */
  #keysOf(place: KeptPlace, path: string, changes: readonly TreeChange[]): string[] {
    const literal = keyOf(place, path);
    if (literal === undefined) return [];
    if (literal === '' || changes.some(({ key }) => key === literal || key.startsWith(`${literal}/`)))
      return [literal];
    const shown = changes.filter(({ key }) => pathOf(place, key) === path).map(({ key }) => key);
    if (shown.length === 0) this.#unmatched.add(path);
    return shown;
  }

  /** Looks before the first change is made: then both states can still be read. */
  #findExecuted(place: KeptPlace, changes: readonly TreeChange[]): void {
    for (const change of changes) {
      const path = pathOf(place, change.key);
      const way = executedLater(this.#kept, { ...change, place, path, unfit: undefined });
      if (way !== undefined) this.#executed.push({ path, way });
    }
  }

  async #presentState(place: KeptPlace, known: TreeListing): Promise<TreeListing> {
    try {
      const at = openPlace(place);
      if (at === undefined) return new Map();
      using _ = at.folder;
      return await inSlices(listTree(at, LEFT_BOUND, { known }), this.#run.check);
    } catch (error) {
      if (errorCode(error) === 'ENOTDIR') return new Map();
      throw storageError(error, `read ${place.path}`, place.path);
    }
  }

  refuseConflicts(): void {
    if (this.#conflicts.length === 0) return;
    const shown = this.#conflicts.slice(0, MAX_SHOWN_CONFLICTS);
    const [first] = shown;
    const verb = this.#effect === 'applied' ? 'applied' : 'undone';
    throw new AcorError(
      'E_CONFLICT',
      `nothing was ${verb}: ${countOf(this.#conflicts.length, 'entry', 'entries')} changed since, the first is ${first!.path} (${first!.problem})`,
      {
        hint: 'Decide by hand about these entries, or name the paths of the others.',
        details: { conflicts: shown, count: this.#conflicts.length },
        next: [diffRun(this.#run.runId), discardRun(this.#run.runId)],
      },
    );
  }

  async make(): Promise<void> {
    // The intention is entered first: no effect is without a line in the ledger.
    const paths = this.#prepared.flatMap(({ place, open }) => open.map(({ key }) => pathOf(place, key)));
    try {
      this.#kept.beside = `.acor-${newSpanId()}`;
      await recordEffect(this.#run, this.#kept, this.#effect, paths);
      for (const prepared of this.#prepared) await this.#makeAndKeep(prepared);
    } catch (error) {
      throw this.#interrupted(error);
    }
  }

  async #makeAndKeep(prepared: PreparedPlace): Promise<void> {
    const { path } = prepared.place;
    let failed: AcorError | undefined;
    try {
      await this.#makeIn(prepared);
    } catch (error) {
      failed = storageError(error, `change ${path}`, path);
    }
    if (failed === undefined && prepared === this.#prepared.at(-1)) this.#kept.beside = undefined;
    try {
      this.#keepState(prepared);
    } catch (error) {
      // What could not be changed comes first: it is compared again in any case.
      throw failed ?? error;
    }
    if (failed !== undefined) throw failed;
  }

  async #makeIn({ place, open, now }: PreparedPlace): Promise<void> {
    const from = this.#kept.openTree(place);
    using _from = from.folder;
    const to = makePlace(place);
    using _to = to.folder;
    const made = this.#made;
    const beside = this.#kept.beside!;
    const keys = new Set<string>();
    this.#madeKeys.set(place, keys);
    await inSlices(
      (function* () {
        for (const key of makeChanges(open, { from, to, now, beside })) {
          if (key !== undefined) {
            made.push(pathOf(place, key));
            keys.add(key);
          }
          yield undefined;
        }
      })(),
      this.#run.check,
    );
  }

  /** From now on the changes that were made are no changes any more. */
  #keepState({ place, before, after, selected, open }: PreparedPlace): void {
    const made = this.#madeKeys.get(place);
    const [target, source] = this.#effect === 'applied' ? [before, after] : [after, before];
    const pending = new Set(open.map(({ key }) => key));
    for (const { key } of selected) {
      if (pending.has(key) && made?.has(key) !== true) continue;
      const entry = source.get(key);
      if (entry === undefined) target.delete(key);
      else target.set(key, entry);
    }
    if (changesBetween(before, after).length === 0) {
      place.state = this.#effect;
      this.#kept.storeWithout([place]);
      return;
    }
    place.state = 'pending';
    this.#kept.keepListing(place, 'before', before);
    this.#kept.keepListing(place, 'after', after);
    this.#kept.store();
  }

  #interrupted(error: unknown): AcorError {
    const failed = storageError(error, 'write down the changes of the run', this.#kept.dir);
    return new AcorError(
      failed.code,
      `${failed.message}; ${countOf(this.#made.length, 'change')} made before that`,
      {
        hint: `${failed.hint ?? ''} Then do it again: what is in place already is left as it is.`.trim(),
        details: { made: this.#made.slice(0, MAX_PATHS) },
        next: [diffRun(this.#run.runId)],
        cause: error,
      },
    );
  }

  result(): Settled {
    let left = 0;
    for (const { before, after } of this.#prepared) left += changesBetween(before, after).length;
    const planned = this.#prepared.flatMap(({ place, open }) => open.map(({ key }) => pathOf(place, key)));
    return {
      paths: this.#made.length > 0 ? this.#made : planned,
      refused: this.#refused,
      executed: this.#executed,
      unmatched: [...this.#unmatched],
      left,
    };
  }
}

/** A pipe, device or socket that the run has removed: a snapshot lists them and has none. */
function notInSnapshot({ after }: TreeChange): Unfit | undefined {
  return after?.kind === 'special' ? 'special' : undefined;
}

/** The path in a tree that an absolute path names; the whole tree when that is inside the path. */
function keyOf(place: KeptPlace, path: string): string | undefined {
  if (isInside(place.path, path)) return '';
  if (!isInside(path, place.path)) return undefined;
  return Buffer.from(path.slice(place.path.length + 1)).toString('latin1');
}

function refuseUngranted({ runId, whyNot }: SettledRun, path: string): void {
  const why = whyNot(path);
  if (why === undefined) return;
  throw new AcorError('E_PERMISSION', `run ${runId} may not write ${path} any more: ${why}`, {
    hint: 'Work in the folder of the run, or grant the place again: security.grant_roots, or permissions.filesystem.write of tool.yaml.',
    details: { path },
    next: [diffRun(runId), discardRun(runId)],
  });
}

function nothingLeft(runId: string, what: string): AcorError {
  return new AcorError('E_USAGE', `run ${runId} has nothing to ${what}`, {
    hint: 'Only a run with a layer or a snapshot has, until its changes are applied, discarded or undone.',
    next: [diffRun(runId)],
  });
}

function notAmong(runId: string, path: string): AcorError {
  return new AcorError('E_INPUT_NOT_FOUND', `${path} is in no place that run ${runId} keeps`, {
    hint: 'Name paths of the changes.',
    next: [diffRun(runId)],
  });
}
