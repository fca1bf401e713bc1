import { relative, sep } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { LIST_RUNS } from '../../../protocol/next-steps.ts';
import { isRunId } from '../../../protocol/run.ts';
import { isInside, realPathOf } from '../../../util/real-path.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { Grant } from '../../registry/arguments.ts';
import { recordedArtifacts } from '../read-log.ts';

/**
 * Rejects path arguments in ACOR's own folders (contract §5). Only an artifact of a run may be passed on: its events, logs, control files and
 * everything else in its workspace stay closed to other tools. Throws E_PERMISSION.
 */
export async function checkOwnPaths(
  store: RunStore,
  grants: readonly Grant[],
  { own, runsDir }: { own: readonly string[]; runsDir: string },
): Promise<void> {
  const runs = realPathOf(runsDir, sep).path;
  for (const { path, input } of grants) {
    const folder = own.find((each) => isInside(path, realPathOf(each, sep).path));
    if (folder === undefined) continue;
    if (isInside(path, runs) && (await isArtifact(store, path, relative(runs, path)))) continue;
    throw new AcorError(
      'E_PERMISSION',
      `'${input}' is ${path}, in ${folder}, where ACOR keeps its own files`,
      {
        hint: 'Of these folders a tool can only get the artifacts of a run. Give it an artifact, or a copy of the file.',
        next: [LIST_RUNS],
      },
    );
  }
}

async function isArtifact(store: RunStore, path: string, inside: string): Promise<boolean> {
  const [runId] = inside.split(sep);
  if (runId === undefined || !isRunId(runId)) return false;
  try {
    const artifacts = await recordedArtifacts(store, runId);
    return artifacts.some((artifact) => isInside(path, realPathOf(artifact.path, sep).path));
  } catch {
    // The run cannot be read, so nothing says that this is an artifact.
    return false;
  }
}
