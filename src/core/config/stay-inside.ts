import { AcorError } from '../../protocol/acor-error.ts';
import { isInside, realPathOf } from '../../util/real-path.ts';
import type { LoadedConfig } from './load.ts';

/**
 * Throws E_PERMISSION for a configuration file that a link leads out of its project, whether it exists yet or not: ACOR
 * would change another file than the one that it names. `trusted` are the places to which trusted links lead.
 */
export function refuseLeadingOut(file: string, project: string, trusted: readonly string[] = []): void {
  const { path } = realPathOf(file, '/');
  if ([realPathOf(project, '/').path, ...trusted].some((place) => isInside(path, place))) return;
  throw new AcorError('E_PERMISSION', `${file} leads by a link to ${path}, outside of the project`, {
    hint: 'Replace the link by a file or folder, or change the file that it leads to.',
  });
}

/** The same for any file that a command writes into a project. A path that does not begin in the project is what the caller has named. */
export function refuseWritingOut(
  file: string,
  { root, trust }: Pick<LoadedConfig, 'root'> & Partial<Pick<LoadedConfig, 'trust'>>,
): void {
  if (!isInside(file, root)) return;
  const trusted = trust?.isTrusted ? trust.widenings : [];
  refuseLeadingOut(
    file,
    root,
    trusted.flatMap(({ leads_to }) => leads_to ?? []),
  );
}
