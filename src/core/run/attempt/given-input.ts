import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode } from '../../../util/error-code.ts';
import { removeIfPossible } from '../../../util/files.ts';
import { readOwn } from '../../../util/regular-file.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { RunWorkspace } from '../workspace.ts';

/** A file that no link may stand for. */
const NEW = { mode: 0o600, flag: 'wx' };

/**
 * The standard input that a caller gave to its program (`acor exec --read -`). The run keeps it, so that further attempts read the same.
 * The tool gets a copy, because it may open its standard input again by name, and for writing.
 */
export class GivenInput implements Disposable {
  readonly #copy: string;
  #fd = -1;

  /** `bytes` is undefined for an attempt by another caller: resume, retry. */
  constructor(workspace: RunWorkspace, bytes: Uint8Array | undefined) {
    const kept = fileOf(workspace);
    this.#copy = join(workspace.streams, 'stdin');
    try {
      if (bytes !== undefined && !existsSync(kept)) writeFileSync(kept, bytes, NEW);
      rmSync(this.#copy, { force: true });
      writeFileSync(this.#copy, bytes ?? readOwn(kept), NEW);
      this.#fd = openSync(this.#copy, 'r');
    } catch (error) {
      if (errorCode(error) === 'ENOENT') throw isGone();
      throw storageError(error, 'keep the standard input of the run', kept);
    }
  }

  get target(): number {
    return this.#fd;
  }

  releaseReadEnd(): void {
    closeSync(this.#fd);
    this.#fd = -1;
  }

  /** A program that reads its caller's input gets its answers only as files. */
  write(_answer: string): void {}

  /** The input ends with the file. */
  end(): void {}

  [Symbol.dispose](): void {
    if (this.#fd !== -1) this.releaseReadEnd();
    removeIfPossible(this.#copy);
  }
}

/** The standard input of a recorded run. */
export function givenInputOf(workspace: RunWorkspace): Uint8Array {
  try {
    return readOwn(fileOf(workspace));
  } catch {
    throw isGone();
  }
}

function fileOf({ dir }: RunWorkspace): string {
  return join(dir, 'input');
}

function isGone(): AcorError {
  return new AcorError('E_INPUT_NOT_FOUND', 'the standard input of the run was not kept on this machine', {
    hint: 'Start the program as a new run, with its input.',
  });
}
