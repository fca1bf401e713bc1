import { AcorError } from '../../protocol/acor-error.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunStore } from '../ports/run-store.ts';

type Reader = Pick<RunStore, 'read'>;

/** Whether another attempt of a run is accepted: not without its arguments, and not of a stage alone. */
export async function isRepeatable(
  record: Pick<RunRecord, 'given_args' | 'parent'>,
  store: Reader,
): Promise<boolean> {
  return record.given_args !== null && !(await isStage(record, store));
}

/** Whether a run is a stage of a pipe. False also when the pipe was removed: its former stage is then an ordinary run. */
export async function isStage({ parent }: Pick<RunRecord, 'parent'>, store: Reader): Promise<boolean> {
  if (parent === null) return false;
  try {
    return (await store.read(parent.run_id)).kind === 'pipe';
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    // Nothing says that a parent that is missing or damaged was no pipe.
    return error.code !== 'E_RUN_NOT_FOUND';
  }
}
