import { chmodSync, closeSync, fchmodSync, fsyncSync, futimesSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder, writeFully } from '../../util/atomic-write.ts';
import { newSha256 } from '../../util/sha256.ts';
import { damagedPack, type PackedFileEntry } from './pack-table.ts';
import { type FoundRun, PackedFile } from './packed-file.ts';
import { chunksOf } from './readable-file.ts';

/** Writes the files and folders of a packed run to a new folder, and fsyncs them. */
export function restoreFolder(found: FoundRun, dir: string): void {
  const { folders, files } = found.run;
  for (const { path } of [...folders, ...files])
    if (path.split('/').some((part) => part === '' || part === '.' || part === '..'))
      throw damagedPack(found.table.path, `${path} is not a path in the folder of the run`, found.run.run_id);
  mkdirSync(dir, { mode: 0o700 });
  for (const { path } of folders) mkdirSync(join(dir, path), { mode: 0o700 });
  for (const file of files) restoreFile(found, file, join(dir, file.path));
  for (const { path, mode } of folders) {
    chmodSync(join(dir, path), mode);
    syncFolder(join(dir, path));
  }
  syncFolder(dir);
}

function restoreFile(found: FoundRun, file: PackedFileEntry, path: string): void {
  const damaged = (why: string) => damagedPack(found.table.path, `${file.path} ${why}`, found.run.run_id);
  using content = PackedFile.open(found, file);
  if (content === undefined) throw damaged('was replaced while it was read');
  const fd = openSync(path, 'wx', 0o600);
  try {
    const hash = newSha256();
    for (const chunk of chunksOf(content)) {
      hash.update(chunk);
      writeFully(fd, chunk);
    }
    if (hash.digest('hex') !== file.sha256) throw damaged('does not have its SHA-256');
    fchmodSync(fd, file.mode);
    futimesSync(fd, file.mtime_ms / 1000, file.mtime_ms / 1000);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
