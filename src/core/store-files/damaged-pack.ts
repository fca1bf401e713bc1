import { AcorError } from '../../protocol/acor-error.ts';
import { VERIFY } from '../../protocol/next-steps.ts';

/** E_STORAGE for a pack, or for one run in it, that was damaged or changed. Everything else in the store stays readable. */
export function damagedPack(path: string, why: string, runId?: string): AcorError {
  const what = runId === undefined ? `the pack ${path}` : `run ${runId} in the pack ${path}`;
  return new AcorError('E_STORAGE', `${what} is damaged: ${why}`, {
    hint: 'Restore the file from a backup. ACOR deletes nothing of it, and all other runs stay readable.',
    ...(runId !== undefined && { details: { run: runId, pack: path } }),
    next: [VERIFY],
  });
}
