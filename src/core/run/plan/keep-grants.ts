import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { PermissionLevel } from '../../../protocol/manifest-permissions.ts';
import { strictestMode, type WriteMode } from '../../../protocol/write-modes.ts';
import { isInside } from '../../../util/real-path.ts';
import type { Grant, StagedOutput } from '../../registry/arguments.ts';
import { treeOf } from '../../review/kept-paths.ts';

/**
 * Decides how the places that a run may write are kept: the strictest of what the manifest, the configuration and the caller ask for. A
 * folder is kept as strictly as anything granted in it, and then covers that, because nothing can be mounted below a folder that a tool may
 * write. The copy of a layer is in the run's folder `dir`.
 */
export function keepGrants(
  grants: readonly Grant[],
  { least, level, dir }: { least: readonly WriteMode[]; level: PermissionLevel; dir: string },
): Grant[] {
  const written = grants.filter(({ access }) => access === 'write');
  const kept = grants.flatMap((grant): Grant[] => {
    if (grant.access !== 'write') return [grant];
    const inside = written.filter(({ path }) => isInside(path, grant.path));
    const mode = strictestMode(...least, ...inside.map((each) => each.mode ?? 'in_place'));
    if (mode === 'in_place') return [grant];
    const isCovered = written.some(({ path }) => path !== grant.path && isInside(grant.path, path));
    if (isCovered) return [];
    return [{ ...grant, mode, ...(mode === 'review' && { from: join(dir, treeOf(grant.path)) }) }];
  });
  if (level === 'privileged' && kept.some(({ mode }) => mode === 'review')) throw writesEverywhere();
  return kept;
}

/** With `review` outputs stay in the workspace as well, until they are applied. With `snapshot` the files that they replace are kept. */
export function keepOutputs(staged: readonly StagedOutput[], least: readonly WriteMode[]): StagedOutput[] {
  const isReviewed = least.includes('review');
  const isKept = least.includes('snapshot');
  return staged.map((output) => {
    if (output.stays) return output;
    if (isReviewed) return { ...output, stays: true, isReviewed };
    return isKept && output.replaces !== undefined ? { ...output, keepsReplaced: true } : output;
  });
}

function writesEverywhere(): AcorError {
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    'a privileged tool may write everywhere, which no layer can hold',
    {
      hint: 'Let it keep a snapshot instead of a layer: the mode snapshot. Or give it a lower level that names the folders that it writes.',
    },
  );
}
