import type { RunWriter } from '../../src/core/ports/run-store.ts';
import type { Outcome } from '../../src/core/run/outcome.ts';
import { UNKNOWN_USAGE, writeEnding } from '../../src/core/run/write-ending.ts';

/** Ends a run after a second, with nothing besides its outcome. */
export function endRun(writer: RunWriter, outcome: Outcome): Promise<number> {
  return writeEnding(writer, outcome, {
    rc: null,
    signal: null,
    duration_s: 1,
    usage: UNKNOWN_USAGE,
    attempt: 1,
    artifacts: [],
    survivors: [],
    next: [],
    cost: null,
  });
}
