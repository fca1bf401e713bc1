import type { RunRecord } from '../../protocol/run-record.ts';
import { type Outcome, stopped } from './outcome.ts';
import { lostMessage } from './read-run.ts';

const UNKNOWN_EFFECTS =
  'Find out from its log what the tool did. Resume it with --force only if repeating it does no harm.';

/** How a run ends whose supervisor has died, also as readers report it before recovery: of a tool that is not idempotent it is unknown what it did. */
export function lostOutcome(record: RunRecord): Outcome {
  const outcome = stopped('E_RUNNER_LOST', lostMessage(record));
  return record.idempotent ? outcome : { ...outcome, hint: UNKNOWN_EFFECTS, retryable: false };
}
