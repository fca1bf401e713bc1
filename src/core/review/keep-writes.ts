import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { changesBetween } from '../../util/change-tree.ts';
import { copyTree } from '../../util/copy-tree.ts';
import { countOf } from '../../util/count-of.ts';
import {
  inSlices,
  listTree,
  type TreeEntry,
  type TreeListing,
  TreeTooLarge,
} from '../../util/tree-listing.ts';
import { removePath } from '../../util/walk-tree.ts';
import { KEPT } from '../store-files/layout.ts';
import { storageError } from '../store-files/storage-error.ts';
import { type KeptPlace, type KeptRun, openPlace, withKept } from './kept-run.ts';
import type { KeptMode } from './undecided.ts';

/** Of each place, before the tool writes. */
export const COPY_BOUND = { entries: 50_000, bytes: 1_000_000_000 };
/** Of what the tool has left. */
export const LEFT_BOUND = { entries: 200_000, bytes: 4_000_000_000 };

/** A place that a run is to keep. `tree` is set for an output that the tool writes elsewhere anyway. */
export interface WantedPlace {
  path: string;
  mode: KeptMode;
  tree?: string;
}

/** How many changes a run has left in a place. */
export interface KeptSummary {
  path: string;
  mode: KeptMode;
  added: number;
  modified: number;
  deleted: number;
}

/**
 * Copies the places that a run is to keep, before its tool starts. A copy of an earlier attempt stays as it is: the tool finds its changes,
 * and undo leads to the state before the first attempt. Returns the size of the layers.
 */
export async function keepWrites(
  dir: string,
  wanted: readonly WantedPlace[],
  check: () => void,
): Promise<number> {
  return withKept(dir, async (kept) => {
    let bytes = 0;
    for (const { path, mode, tree } of wanted) {
      const place = kept.placeOf(path, mode, tree);
      let before = kept.listing(place, 'before');
      if (before === undefined) {
        kept.store();
        before = await copyOf(kept, place, tree === undefined, check);
        kept.keepListing(place, 'before', before);
      } else kept.dropListing(place, 'after');
      place.state = 'open';
      kept.store();
      if (mode === 'review' && tree === undefined) for (const { size } of before.values()) bytes += size ?? 0;
    }
    return bytes;
  });
}

async function copyOf(
  kept: KeptRun,
  place: KeptPlace,
  copies: boolean,
  check: () => void,
): Promise<TreeListing> {
  try {
    const from = openPlace(place);
    if (from === undefined) return new Map();
    using _above = from.folder;
    if (!copies) return await inSlices(listTree(from, COPY_BOUND), check);
    // An earlier attempt may have ended within the copy.
    removePath(join(kept.dir, place.tree));
    mkdirSync(dirname(join(kept.dir, place.tree)), { recursive: true, mode: 0o700 });
    const to = kept.openTree(place);
    using _ = to.folder;
    const listing = await inSlices(copyTree(from, to, COPY_BOUND), check);
    if (place.mode === 'snapshot') return listing;
    // A layer has none of the pipes, devices and sockets: the tool has not removed them.
    return new Map([...listing].filter(([, { kind }]) => kind !== 'special'));
  } catch (error) {
    if (error instanceof TreeTooLarge) throw tooLarge(place, error);
    throw storageError(error, `copy ${place.path}`, kept.dir);
  }
}

function tooLarge({ path, mode }: KeptPlace, { message }: TreeTooLarge): AcorError {
  const what = mode === 'review' ? 'a layer' : 'a snapshot';
  return new AcorError('E_PERMISSION', `${path} is too large for ${what}: ${message}`, {
    hint: 'Grant a smaller folder for writing. Or let the run write in place: its manifest, the configuration (security.writes) and the caller must not ask for more.',
  });
}

/**
 * Compares the places of an ended run with what they were, and says how they differ. `outputs` are the places of `tree` that the tool has
 * written; others are not kept.
 */
export async function compareKept(
  dir: string,
  outputs: readonly string[],
): Promise<{ summaries: KeptSummary[]; tooLarge: string[] }> {
  return withKept(dir, async (kept) => {
    const summaries: KeptSummary[] = [];
    const tooLarge: string[] = [];
    const unchanged: KeptPlace[] = [];
    for (const place of [...kept.places]) {
      if (place.state !== 'open') continue;
      const isOutput = !place.tree.startsWith(`${KEPT}/`);
      const isMissing = isOutput && !outputs.includes(place.path);
      try {
        const after = isMissing ? undefined : await inSlices(leftIn(kept, place));
        const summary = after && summaryOf(place, kept.listing(place, 'before') ?? new Map(), after);
        if (summary === undefined) {
          place.state = 'unchanged';
          unchanged.push(place);
        } else {
          kept.keepListing(place, 'after', after!);
          place.state = 'pending';
          summaries.push(summary);
        }
      } catch (error) {
        if (!(error instanceof TreeTooLarge)) throw error;
        place.state = 'too_large';
        tooLarge.push(`${place.path}: ${error.message}`);
      }
    }
    kept.storeWithout(unchanged);
    return { summaries, tooLarge };
  });
}

/** What the tool has left: in its layer, or in the place itself. */
export function* leftIn(kept: KeptRun, place: KeptPlace) {
  const isLayer = place.mode === 'review';
  const at = isLayer ? kept.openTree(place) : openPlace(place);
  if (at === undefined) return new Map<string, TreeEntry>();
  using _ = at.folder;
  const known = isLayer ? undefined : kept.listing(place, 'before');
  return yield* listTree(at, LEFT_BOUND, { opens: isLayer, ...(known && { known }) });
}

function summaryOf(
  { path, mode }: KeptPlace,
  before: TreeListing,
  after: TreeListing,
): KeptSummary | undefined {
  const changes = changesBetween(before, after);
  if (changes.length === 0) return undefined;
  const count = (...kinds: string[]) => changes.filter(({ kind }) => kinds.includes(kind)).length;
  return {
    path,
    mode,
    added: count('added'),
    modified: count('modified', 'mode'),
    deleted: count('deleted'),
  };
}

/** A summary in words. */
export function keptWords({ path, mode, added, modified, deleted }: KeptSummary): string {
  const counts = `${countOf(added, 'entry', 'entries')} added, ${modified} modified, ${deleted} deleted`;
  return mode === 'review'
    ? `the changes of ${path} are in a layer, and not in place: ${counts}`
    : `${path} was changed in place, and a snapshot can restore it: ${counts}`;
}
