import type { ToolPlan } from '../../plan/tool-plan.ts';
import { liesInProtected, protectedChanges, protectedState } from './protected-state.ts';

const MAX_TOLD = 100;

/** Tells what a run has changed of that which others run or obey. */
export type ReportProtected = (warn: (msg: string, extra: Record<string, unknown>) => void) => void;

/**
 * Remembers the protected names in the folders that a run may write, and tells at its end which are not as they were. A grant or
 * an output that is such a name itself was meant.
 */
export function watchProtected({ grants, staged, tool }: ToolPlan): ReportProtected {
  const written = grants
    .filter(({ access, path }) => access === 'write' && path !== tool.home)
    .map(({ path }) => path);
  const roots = written.filter((path) => !liesInProtected(path));
  const meant = [...written.filter(liesInProtected), ...staged.map(({ target }) => target)];
  const before = protectedState(roots);
  return (warn) => {
    const after = protectedState(roots);
    const changes = protectedChanges(before, after).filter(
      ({ path }) => !meant.some((each) => path === each || path.startsWith(`${each}/`)),
    );
    if (changes.length > 0) {
      const shown = changes.slice(0, MAX_TOLD);
      const more = changes.length - shown.length;
      warn(
        `the tool changed what other programs run or obey: ${shown.map(({ path, change }) => `${path} (${change})`).join(', ')}${more > 0 ? `, and ${more} more` : ''}`,
        {
          changed: shown,
          hint: 'Look at each of them before anything uses it; git diff shows those that Git keeps.',
        },
      );
    }
    if (before.isCut || after.isCut) {
      warn('the folders that the tool may write hold too many entries to compare all that others run', {
        folders: roots,
      });
    }
  };
}
