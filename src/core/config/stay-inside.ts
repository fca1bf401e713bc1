import { realpathSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { isInside, realPathOf } from '../../util/real-path.ts';

/**
 * Throws E_PERMISSION for a configuration file that a link leads out of its project, whether it exists yet or not: ACOR
 * would change another file than the one that it names.
 */
export function refuseLeadingOut(file: string, project: string): void {
  const { path } = realPathOf(file, '/');
  if (isInside(path, realpathSync(project))) return;
  throw new AcorError('E_PERMISSION', `${file} leads by a link to ${path}, outside of the project`, {
    hint: 'Replace the link by a file or folder, or change the file that it leads to.',
  });
}
