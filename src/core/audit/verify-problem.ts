/** One difference from what was recorded. Offsets are bytes; `to` is exclusive. */
export interface VerifyProblem {
  run_id: string;
  where: 'record' | 'events' | 'artifact' | 'ledger';
  path: string;
  problem: string;
  line?: number;
  from?: number;
  to?: number;
}

/** A place in a file, and what is wrong there. */
export type PlaceProblem = Omit<VerifyProblem, 'run_id' | 'path' | 'where'>;

/** What is wrong with an ended run whose end the ledger does not have. */
export const END_MISSING = 'the run has ended, but its end is not in the ledger: the line was removed';
