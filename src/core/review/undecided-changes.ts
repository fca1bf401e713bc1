import { isUtf8 } from 'node:buffer';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { changesBetween, unfitnessOf } from '../../util/change-tree.ts';
import { inSlices, type TreeEntry, type TreeListing, TreeTooLarge } from '../../util/tree-listing.ts';
import { storageError } from '../store-files/storage-error.ts';
import { leftIn } from './keep-writes.ts';
import type { KeptPlace, KeptRun } from './kept-run.ts';
import type { PlacedChange } from './placed-change.ts';
import { isUndecided } from './undecided.ts';

/** What a run changed in the places that ACOR keeps, as the tool left them, and was not decided on yet. */
export async function undecidedChanges(
  kept: KeptRun,
  check: () => void,
  isWanted: (place: KeptPlace) => boolean = () => true,
): Promise<PlacedChange[]> {
  const changes: PlacedChange[] = [];
  for (const place of kept.places) {
    if (!isUndecided(place.state) || !isWanted(place)) continue;
    const [before, after] = await statesOf(kept, place, check);
    for (const change of changesBetween(before, after))
      changes.push({ ...change, place, path: pathOf(place, change.key), unfit: unfitnessOf(change) });
  }
  return changes;
}

/** The place before the run, and as its tool left it. Without the latter its supervisor has died: then the present state counts. */
export async function statesOf(
  kept: KeptRun,
  place: KeptPlace,
  check: () => void,
): Promise<[before: TreeListing, after: TreeListing]> {
  const before = kept.listing(place, 'before') ?? new Map<string, TreeEntry>();
  try {
    return [before, kept.listing(place, 'after') ?? (await inSlices(leftIn(kept, place), check))];
  } catch (error) {
    if (error instanceof TreeTooLarge)
      throw new AcorError(
        'E_STORAGE',
        `the tool has left too much in ${place.path} to be compared: ${error.message}`,
        {
          hint: 'Discard the changes of the run, and let the tool write less.',
        },
      );
    throw storageError(error, `read the changes of ${place.path}`, kept.dir);
  }
}

/** For people: in a path that is no UTF-8 each byte that is not ASCII is shown as `\\xff`. */
export function pathOf({ path }: KeptPlace, key: string): string {
  if (key === '') return path;
  const bytes = Buffer.from(key, 'latin1');
  if (isUtf8(bytes)) return join(path, bytes.toString('utf8'));
  return join(
    path,
    key.replace(/[\x80-\xff]/g, (char) => `\\x${char.charCodeAt(0).toString(16)}`),
  );
}
