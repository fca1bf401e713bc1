import { chmodSync, lchownSync, linkSync, renameSync, unlinkSync } from 'node:fs';
import { errorCode } from '../../../util/error-code.ts';
import { copyOutput, type OutputPlace } from './output-place.ts';

type Move = (from: OutputPlace, to: OutputPlace) => void;

/** Moves an output by `move`, also to another file system. `name` gives the name of a copy beside the target. */
export function place(from: OutputPlace, to: OutputPlace, move: Move, name: () => string): void {
  try {
    move(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    // On another file system: copy beside the target first, so that the target itself appears atomically.
    using beside = to.beside(name());
    try {
      copyOutput(from, beside);
      move(beside, to);
    } catch (inner) {
      beside.remove();
      throw inner;
    }
    from.remove();
  }
}

/** Replaces a file, which keeps its mode and owner. */
export function moveOver(from: OutputPlace, to: OutputPlace): void {
  const stats = from.stats();
  if (!stats?.isFile()) throw new Error('the tool replaced the file by something else');
  const old = to.stats();
  if (old !== undefined) {
    if (process.geteuid?.() === 0) lchownSync(from.path, old.uid, old.gid);
    if (stats.mode !== old.mode) from.folder.hold(from.name, (path) => chmodSync(path, old.mode & 0o7777));
  }
  renameSync(from.path, to.path);
}

/** `link` fails when the target exists; `rename` would replace a file. A folder cannot be linked, and `rename` replaces only an empty one. */
export function moveWithoutOverwriting(from: OutputPlace, to: OutputPlace): void {
  if (from.stats()?.isDirectory()) {
    if (to.stats() !== undefined) throw Object.assign(new Error('taken'), { code: 'EEXIST' });
    renameSync(from.path, to.path);
    return;
  }
  linkSync(from.path, to.path);
  unlinkSync(from.path);
}
