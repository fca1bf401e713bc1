import { liesInProtected } from '../../../sandbox/profile/protected-names.ts';
import type { ToolPlan } from '../../plan/tool-plan.ts';
import { protectedChanges, protectedState } from './protected-state.ts';

const MAX_SHOWN = 100;

/** Warns of the protected files that a run changed. */
export type ReportProtected = (warn: (msg: string, extra: Record<string, unknown>) => void) => void;

/**
 * Takes a snapshot of the protected files in the folders that a run may write, and reports at its end which of them changed. A protected
 * file that is itself a grant or an output may change.
 */
export function watchProtected({ grants, staged, tool }: ToolPlan): ReportProtected {
  const written = grants
    .filter(({ access, path, from }) => access === 'write' && from === undefined && path !== tool.home)
    .map(({ path }) => path);
  const roots = written.filter((path) => !liesInProtected(path));
  const allowed = [...written.filter(liesInProtected), ...staged.map(({ target }) => target)];
  const before = protectedState(roots);
  return (warn) => {
    const after = protectedState(roots);
    const changes = protectedChanges(before, after).filter(
      ({ path }) => !allowed.some((each) => path === each || path.startsWith(`${each}/`)),
    );
    if (changes.length > 0) {
      const shown = changes.slice(0, MAX_SHOWN);
      const more = changes.length - shown.length;
      warn(
        `the tool changed files that other programs execute or read as configuration: ${shown.map(({ path, change }) => `${path} (${change})`).join(', ')}${more > 0 ? `, and ${more} more` : ''}`,
        {
          changed: shown,
          hint: 'Review each of them before another program uses it; git diff shows the files that Git tracks.',
        },
      );
    }
    if (before.isCut || after.isCut) {
      warn('the folders that the tool may write have too many entries to check all protected files', {
        folders: roots,
      });
    }
  };
}
