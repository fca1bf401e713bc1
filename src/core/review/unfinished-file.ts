import { changesBetween, removeUnfinished } from '../../util/change-tree.ts';
import { errorCode } from '../../util/error-code.ts';
import { inSlices } from '../../util/tree-listing.ts';
import { storageError } from '../store-files/storage-error.ts';
import { type KeptRun, openPlace } from './kept-run.ts';
import { statesOf } from './undecided-changes.ts';

/** Removes the file that a settlement was writing beside its place when it was killed. */
export async function removeUnfinishedFile(
  run: { check(): void; whyNot(path: string): string | undefined },
  kept: KeptRun,
): Promise<void> {
  const { beside } = kept;
  if (beside === undefined) return;
  for (const place of kept.places) {
    if (place.state !== 'pending' || run.whyNot(place.path) !== undefined) continue;
    const changes = changesBetween(...(await statesOf(kept, place, run.check)));
    try {
      const at = openPlace(place);
      if (at === undefined) continue;
      using _ = at.folder;
      await inSlices(removeUnfinished(changes, at, beside), run.check);
    } catch (error) {
      if (errorCode(error) !== 'ENOTDIR')
        throw storageError(error, `remove the unfinished file ${beside}`, place.path);
    }
  }
}
