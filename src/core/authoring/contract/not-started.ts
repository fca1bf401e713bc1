import { AcorError } from '../../../protocol/acor-error.ts';
import type { CalledProgram } from '../adopt/help-place.ts';

/** What a shell, a loader or a runtime writes when a file of the program is not there. */
const MISSING_PART =
  /^.*(?:Cannot find (?:module|package)|ModuleNotFoundError|error while loading shared libraries).*$/m;

type Ended = Pick<CalledProgram, 'stdout' | 'stderr' | 'rc'>;

/** Why no call reached the program; undefined when one did. */
export function startFailure(calls: readonly Ended[]): string | undefined {
  const reasons = calls.map(reasonOf);
  return reasons.includes(undefined) ? undefined : reasons[0];
}

function reasonOf({ stdout, stderr, rc }: Ended): string | undefined {
  if (rc === null || rc === 0 || stdout.trim() !== '') return undefined;
  const [missing] = MISSING_PART.exec(stderr) ?? [];
  if (missing !== undefined) return missing.trim();
  if (rc !== 126 && rc !== 127) return undefined;
  const [said] = stderr.trim().split('\n');
  return said === '' ? `it exits with ${rc}` : said;
}

/** Says nothing of the program: only that ACOR could not run it. */
export function notStarted(program: string, why: string): AcorError {
  return new AcorError('E_SPAWN_FAILED', `'${program}' cannot be audited, it did not start: ${why}`, {
    hint: 'Check that the file may be executed, and that all it needs is in its package. As root, ACOR runs it as another user, who must be able to enter its folder.',
  });
}
