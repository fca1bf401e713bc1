import { isUtf8 } from 'node:buffer';
import { closeSync, readFileSync } from 'node:fs';
import { openAbove, type TreeEntry, type TreePlace } from '../../util/tree-listing.ts';
import { unifiedDiff } from '../../util/unified-diff.ts';
import { sha256 } from '../store-files/ledger-line.ts';
import { type KeptRun, openPlace } from './kept-run.ts';
import type { PlacedChange } from './placed-change.ts';

const MAX_FILE_BYTES = 65_536;

/** The change of a text file as a unified diff; undefined for others, for long ones, and where one of the states is not there any more. */
export function patchOf(kept: KeptRun, change: PlacedChange): string | undefined {
  const [old, now] = textsOf(kept, change);
  return old === undefined || now === undefined ? undefined : unifiedDiff(change.path, old, now);
}

/** A text file before and after its change; '' for a file that does not exist. Undefined where `patchOf` returns no diff. */
export function textsOf(
  kept: KeptRun,
  { place, key, before, after }: PlacedChange,
): [before: string | undefined, after: string | undefined] {
  const isLayer = place.mode === 'review';
  return [
    textOf(() => (isLayer ? openPlace(place) : kept.openTree(place)), key, before),
    textOf(() => (isLayer ? kept.openTree(place) : openPlace(place)), key, after),
  ];
}

function textOf(
  open: () => TreePlace | undefined,
  key: string,
  entry: TreeEntry | undefined,
): string | undefined {
  if (entry === undefined) return '';
  if (entry.kind !== 'file' || entry.size! > MAX_FILE_BYTES) return undefined;
  try {
    const root = open();
    if (root === undefined) return undefined;
    using _root = root.folder;
    const { folder, name } = openAbove(root, key);
    using _ = folder;
    const fd = folder.openFile(name);
    try {
      const bytes = readFileSync(fd);
      const isText = isUtf8(bytes) && !bytes.includes(0);
      return isText && sha256(bytes) === entry.sha256 ? bytes.toString('utf8') : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}
