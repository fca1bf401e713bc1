import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { writeAtomic } from '../../../util/atomic-write.ts';
import { errorCode } from '../../../util/error-code.ts';
import { newSpanId } from '../../../util/ids.ts';
import { OpenFolder } from '../../../util/open-folder.ts';
import { readOwn } from '../../../util/regular-file.ts';
import { removeTree } from '../../../util/walk-tree.ts';
import { foreignRecord, isOwnRecord, signedRecord } from '../../config/own-records.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { RunWorkspace } from '../workspace.ts';

/** What stands beside a target while outputs are put in place: the content that is replaced, and a copy from another file system. */
type Beside = 'replaced' | 'copied';

/** A name that is free in any folder. */
export function nameBeside(): string {
  return `.acor-${newSpanId()}`;
}

/**
 * The files beside the targets of a run that exist only while its outputs are put in place. Their names are on the disk before the first of
 * them, so that recovery removes what a killed supervisor has left, and nothing else.
 */
export class UnfinishedOutputs implements Disposable {
  readonly #path: string;
  readonly #names: ReadonlyMap<string, Record<Beside, string>>;
  #isRecorded = false;

  constructor({ unfinishedOutputs }: RunWorkspace, targets: readonly string[]) {
    this.#path = unfinishedOutputs;
    this.#names = new Map(
      targets.map((target) => [target, { replaced: nameBeside(), copied: nameBeside() }]),
    );
  }

  nameBeside(target: string, which: Beside): string {
    if (!this.#isRecorded) this.#record();
    return this.#names.get(target)![which];
  }

  #record(): void {
    const paths = [...this.#names].flatMap(([target, names]) =>
      Object.values(names).map((name) => join(dirname(target), name)),
    );
    const text = signedRecord(this.#path, { paths }, { lasts: false });
    writeAtomic(this.#path, text, { durable: true, mode: 0o600 });
    this.#isRecorded = true;
  }

  [Symbol.dispose](): void {
    if (this.#isRecorded) rmSync(this.#path, { force: true });
  }
}

/** Removes what a supervisor that was killed has left. Throws E_INTEGRITY for a record that ACOR has not written: it could name any file. */
export function removeUnfinishedOutputs({ unfinishedOutputs: path }: RunWorkspace): void {
  const text = readOwn(path).toString();
  if (!isOwnRecord(path, text)) throw foreignRecord(path, 'no file is removed by it');
  const { paths } = JSON.parse(text) as { paths: string[] };
  for (const each of paths) removeBeside(each);
  rmSync(path);
}

function removeBeside(path: string): void {
  try {
    using folder = OpenFolder.real(dirname(path));
    removeTree(folder, basename(path));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return;
    throw storageError(error, 'remove an unfinished output', path);
  }
}
