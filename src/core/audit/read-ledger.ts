import type { Ledger } from '../store-files/ledger.ts';
import { beginOf, hashAtEndOf, linesOf, linesOfOpen, type SealedFile } from '../store-files/ledger-files.ts';
import { LedgerChain } from './ledger-chain.ts';

/** The end of a run is entered right after its `runner_end`: later on a busy machine, earlier only by the resolution of the clock. */
const BEFORE_MS = 1_000;
const AFTER_MS = 60_000;

/** Reads and checks a ledger, line by line. With `timesMs`, only the open segment and the files to which lines were added at those times. */
export function readLedger(ledger: Ledger, timesMs?: readonly number[]): LedgerChain {
  return ledger.read((sealed, open) => {
    const chain = new LedgerChain();
    const wanted = timesMs === undefined ? new Set(sealed) : filesOf(timesMs, sealed);
    sealed.forEach((file, index) => {
      if (!wanted.has(file)) return;
      continueAfter(sealed[index - 1]);
      if (file.isCompacted) chain.readCompacted(file);
      else chain.readSegment(file.path, linesOf(file.path));
    });
    continueAfter(sealed.at(-1));
    chain.readSegment(ledger.path, open === undefined ? [] : linesOfOpen(open));
    if (timesMs === undefined) chain.checkSummaries();
    return chain;

    function continueAfter(before: SealedFile | undefined): void {
      if (before !== undefined && !wanted.has(before)) chain.continueFrom(hashAtEndOf(before));
    }
  });
}

/** Files begin later and later unless the clock was set back; then a file may be missed. */
function filesOf(timesMs: readonly number[], sealed: readonly SealedFile[]): Set<SealedFile> {
  const wanted = new Set<SealedFile>();
  for (const timeMs of timesMs) {
    let [low, high] = [0, sealed.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (beginOf(sealed[middle]!) <= timeMs - BEFORE_MS) low = middle + 1;
      else high = middle;
    }
    const later = sealed.slice(low);
    const end = later.findIndex((file) => beginOf(file) > timeMs + AFTER_MS);
    for (const file of sealed.slice(Math.max(0, low - 1), end === -1 ? undefined : low + end))
      wanted.add(file);
  }
  return wanted;
}
