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
 * Records outputs before the first of them is put in place, with the names of the files beside their targets that exist until the run has its
 * final state: what a killed supervisor has placed is taken back, what it has left is removed, and nothing else.
 */
export function recordUnfinishedOutputs(
  workspace: RunWorkspace,
  outputs: readonly StagedOutput[],
): UnfinishedOutput[] {
  const path = workspace.unfinishedOutputs;
  const unfinished = outputs.map((output) => unfinishedOutput(output, workspace));
  const text = signedRecord(path, { outputs: unfinished }, { lasts: false });
  writeAtomic(path, text, { durable: true, mode: 0o600 });
  return unfinished;
}

function unfinishedOutput(
  { target, staged, replaces }: StagedOutput,
  workspace: RunWorkspace,
): UnfinishedOutput {
  using place = OutputPlace.staged(workspace, staged);
  const { size, mtimeMs } = place.stats()!;
  const beside = { replaced: nameBeside(), copied: nameBeside() };
  return { target, staged, replaces: replaces ?? null, beside, size, mtimeMs };
}

/** Reads the record of a supervisor that was killed. Throws E_INTEGRITY for one that ACOR has not written: it could name any file. */
export function readUnfinishedOutputs({ unfinishedOutputs: path }: RunWorkspace): UnfinishedOutput[] {
  const text = readOwn(path).toString();
  if (!isOwnRecord(path, text)) throw foreignRecord(path, 'no file is changed by it');
  return (JSON.parse(text) as { outputs: UnfinishedOutput[] }).outputs;
}
