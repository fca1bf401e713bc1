import { lstatSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removePath } from '../../util/walk-tree.ts';
import type { Blob, BlobStore } from '../ports/blob-store.ts';
import { measureArtifact } from '../store-files/artifacts.ts';

/** A checkpoint file: its name in CHECKPOINT_DIR, and its content by digest. */
export interface CheckpointFile extends Blob {
  name: string;
}

/** Keeps the content of the files in a folder of checkpoints. Undefined when this machine has no such folder. */
export async function keepFiles(
  blobs: BlobStore,
  runId: string,
  folder: string,
): Promise<CheckpointFile[] | undefined> {
  // The tool may have replaced the folder by a link.
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  const files: CheckpointFile[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    // Locks and drafts of the SDK begin with a dot.
    if (!entry.isFile() || entry.name.startsWith('.')) continue;
    const file = measureArtifact(join(folder, entry.name), [realpathSync(folder)]);
    await blobs.keep(runId, file);
    files.push({ name: entry.name, path: file.path, size: file.size, sha256: file.sha256 });
  }
  return files;
}

/** Replaces a folder of checkpoints by these files. */
export async function restoreFiles(
  blobs: BlobStore,
  runId: string,
  folder: string,
  files: readonly CheckpointFile[],
): Promise<void> {
  removePath(folder);
  mkdirSync(folder, { recursive: true });
  for (const file of files) {
    const content = await blobs.read(runId, file, { from: 0, bytes: file.size });
    writeFileSync(join(folder, file.name), content, { flag: 'wx' });
  }
}
