import { rmSync } from 'node:fs';
import { writeAtomic } from '../../../util/atomic-write.ts';
import { readOwn } from '../../../util/regular-file.ts';
import { isOwnRecord, signedRecord } from '../../config/own-records.ts';
import type { PreparedAnswer } from '../../ports/run-launcher.ts';
import type { RunPlan } from '../plan/run-plan.ts';
import type { RunWorkspace } from '../workspace.ts';

type Keeping = Pick<RunPlan, 'workspace' | 'secrets' | 'callsWithSecrets'>;

/**
 * Keeps the answers that the caller of a run gave in advance, until the run has completed: those that the tool has not asked for yet are
 * in no log, and a resumed attempt needs them (contract §3). An answer that contains a secret is not kept, and none of a workflow whose tools
 * get secrets, which only their own runs know. Without answers, removes those of an earlier attempt.
 */
export function keepGivenAnswers(
  { workspace: { givenAnswers: path }, secrets, callsWithSecrets }: Keeping,
  given: readonly PreparedAnswer[] = [],
): void {
  const holdsSecret = ({ answer }: PreparedAnswer) =>
    callsWithSecrets ||
    (secrets?.redaction.spansIn(Buffer.from(JSON.stringify(answer) ?? '')).length ?? 0) > 0;
  const answers = given.filter((each) => !holdsSecret(each));
  if (answers.length === 0) {
    rmSync(path, { force: true });
    return;
  }
  try {
    writeAtomic(path, signedRecord(path, { answers }, { lasts: false }), { mode: 0o600 });
  } catch {
    // A full disk: the run works without; only a resumed attempt will ask.
  }
}

/** The answers that an earlier attempt was given. None when ACOR did not write the file here: a store may come with a cloned project. */
export function keptAnswers({ givenAnswers: path }: RunWorkspace): PreparedAnswer[] {
  try {
    const text = readOwn(path).toString();
    return isOwnRecord(path, text) ? (JSON.parse(text) as { answers: PreparedAnswer[] }).answers : [];
  } catch {
    return [];
  }
}
