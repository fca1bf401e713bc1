import { rmSync } from 'node:fs';
import { writeAtomic } from '../../../util/atomic-write.ts';
import { newSpanId } from '../../../util/ids.ts';
import { readOwn } from '../../../util/regular-file.ts';
import { foreignRecord, isOwnRecord, signedRecord } from '../../config/own-records.ts';
import type { StagedOutput } from '../../registry/arguments.ts';
import type { ReplacedFile } from '../../registry/path-grants.ts';
import type { RunWorkspace } from '../workspace.ts';
import { OutputPlace } from './output-place.ts';

/** What stands beside a target while outputs are put in place: the content that is replaced, and a copy from another file system. */
interface Beside {
  replaced: string;
  copied: string;
}

/** An output that is being put in place. `size` and `mtimeMs` are those of the file that the tool wrote, `replaces` has those of the old content. */
export interface UnfinishedOutput {
  target: string;
  staged: string;
  replaces: ReplacedFile | null;
  beside: Beside;
  size: number;
  mtimeMs: number;
}

/** A name that is free in any folder. */
export function nameBeside(): string {
  return `.acor-${newSpanId()}`;
}

/**
 * The outputs of a run while they are put in place, and the files beside their targets that exist only meanwhile. They are on the disk before
 * the first change, so that recovery takes back what a killed supervisor has placed, removes what it has left, and nothing else.
 */
export class UnfinishedOutputs implements Disposable {
  readonly #workspace: RunWorkspace;
  readonly #outputs: readonly StagedOutput[];
  readonly #beside: ReadonlyMap<string, Beside>;
  #isRecorded = false;

  constructor(workspace: RunWorkspace, outputs: readonly StagedOutput[]) {
    this.#workspace = workspace;
    this.#outputs = outputs;
    this.#beside = new Map(
      outputs.map(({ target }) => [target, { replaced: nameBeside(), copied: nameBeside() }]),
    );
    // One alone is in place or is not.
    if (outputs.length > 1) this.#record();
  }

  nameBeside(target: string, which: keyof Beside): string {
    if (!this.#isRecorded) this.#record();
    return this.#beside.get(target)![which];
  }

  #record(): void {
    const path = this.#workspace.unfinishedOutputs;
    const outputs = this.#outputs.map((output) => this.#recordOf(output));
    const text = signedRecord(path, { outputs }, { lasts: false });
    writeAtomic(path, text, { durable: true, mode: 0o600 });
    this.#isRecorded = true;
  }

  #recordOf({ target, staged, replaces }: StagedOutput): UnfinishedOutput {
    using place = OutputPlace.staged(this.#workspace, staged);
    const { size, mtimeMs } = place.stats()!;
    const beside = this.#beside.get(target)!;
    return { target, staged, replaces: replaces ?? null, beside, size, mtimeMs };
  }

  [Symbol.dispose](): void {
    if (this.#isRecorded) rmSync(this.#workspace.unfinishedOutputs, { force: true });
  }
}

/** Reads the record of a supervisor that was killed. Throws E_INTEGRITY for one that ACOR has not written: it could name any file. */
export function readUnfinishedOutputs({ unfinishedOutputs: path }: RunWorkspace): UnfinishedOutput[] {
  const text = readOwn(path).toString();
  if (!isOwnRecord(path, text)) throw foreignRecord(path, 'no file is changed by it');
  return (JSON.parse(text) as { outputs: UnfinishedOutput[] }).outputs;
}
