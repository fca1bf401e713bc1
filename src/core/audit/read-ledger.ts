import { readOwn } from '../../util/regular-file.ts';
import type { Ledger } from '../store-files/ledger.ts';
import { hashAtEndOf, linesOf, linesOfOpen, type SealedFile } from '../store-files/ledger-files.ts';
import { LedgerChain } from './ledger-chain.ts';
import { filesAt, readOpen } from './ledger-ends.ts';

/** Which sealed files to read: those with lines from these times, or those that contain a run id. */
export type LedgerPart = { timesMs?: readonly number[]; runId?: string };

/** Reads and checks a ledger, line by line: all of it, or the files of a part; the open segment also where no sealed file is of the part. */
export function readLedger(ledger: Ledger, part?: LedgerPart): LedgerChain {
  return ledger.read((sealed, open) => {
    const chain = new LedgerChain();
    const wanted = part === undefined ? new Set(sealed) : filesOf(part, sealed);
    sealed.forEach((file, index) => {
      if (!wanted.has(file)) return;
      continueAfter(sealed[index - 1]);
      if (file.isCompacted) chain.readCompacted(file);
      else chain.readSegment(file.path, linesOf(file.path));
    });
    if (
      open !== undefined &&
      wanted.size > 0 &&
      part?.runId !== undefined &&
      !names(readOpen(open), part.runId)
    )
      return chain;
    continueAfter(sealed.at(-1));
    chain.readSegment(ledger.path, open === undefined ? [] : linesOfOpen(open));
    if (part === undefined) chain.checkSummaries();
    return chain;

    function continueAfter(before: SealedFile | undefined): void {
      if (before !== undefined && !wanted.has(before)) chain.continueFrom(hashAtEndOf(before));
    }
  });
}

function filesOf({ timesMs, runId }: LedgerPart, sealed: readonly SealedFile[]): Set<SealedFile> {
  const files = timesMs === undefined ? sealed : [...filesAt(timesMs, sealed)];
  return new Set(runId === undefined ? files : files.filter(({ path }) => names(readOwn(path), runId)));
}

function names(bytes: Buffer, runId: string): boolean {
  return bytes.includes(`"${runId}"`);
}
