import { realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { Grant, StagedOutput } from '../../registry/arguments.ts';
import { ArtifactMeter, filesUnder, type MeasuredArtifact } from '../../store-files/artifacts.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { RunSecrets } from '../secrets/run-secrets.ts';
import type { RunWorkspace } from '../workspace.ts';
import type { FileMeter } from './adapter.ts';
import type { LastMessage } from './intake.ts';
import { finalPath, stagedPath, writtenAt } from './outputs.ts';

/**
 * Measures all artifacts of a run: the files that the result names, those that the adapter found (`measured`), those in ARTIFACTS_DIR,
 * and the staged outputs, listed by their target paths. Throws when the tool's claim is false: a wrong hash, a missing file, or a path
 * outside the allowed folders.
 */
export async function collectArtifacts(
  meter: FileMeter,
  layout: RunWorkspace,
  result: LastMessage | undefined,
  {
    outputs,
    grants,
    secrets,
  }: { outputs: readonly StagedOutput[]; grants: readonly Grant[]; secrets: RunSecrets | null },
  measured: readonly MeasuredArtifact[] = [],
): Promise<MeasuredArtifact[]> {
  const found = new Map(measured.map((artifact) => [artifact.path, artifact]));
  const add = async (path: string, claimed?: string) => {
    const known = found.get(path) ?? (await meter.measure(path));
    if (claimed !== undefined && claimed !== known.sha256) throw wrongHash(path, claimed, known.sha256);
    found.set(known.path, known);
  };
  for (const { path, sha256 } of declaredBy(result)) {
    const reported = writtenAt(stagedPath(resolve(layout.work, path), outputs), grants);
    await add(secrets?.fileOf(reported) ?? reported, sha256);
  }
  for (const name of filesUnder(layout.artifacts)) await add(join(layout.artifacts, name));
  for (const output of outputs) await add(output.staged);
  return [...found.values()].map((artifact) => ({ ...artifact, path: finalPath(artifact.path, outputs) }));
}

/** Measures files where artifacts of the run may be; `check` is asked on the way and may throw. */
export function meterOf(plan: ToolPlan, check: () => void): FileMeter {
  return new ArtifactMeter(artifactRoots(plan, plan.workspace), check);
}

/** The folders that may contain a run's artifacts. */
function artifactRoots(plan: ToolPlan, layout: RunWorkspace): string[] {
  // Only the store's folder is resolved: the tool may have replaced anything below it by a symbolic link.
  const run = join(realpathSync(dirname(layout.dir)), plan.runId);
  const own = [layout.work, layout.artifacts].map((path) => join(run, relative(layout.dir, path)));
  const granted = plan.grants
    .filter(({ access }) => access === 'write')
    .map(({ path, from }) => from ?? path);
  return [...own, ...granted];
}

function declaredBy(result: LastMessage | undefined): { path: string; sha256?: string }[] {
  if (!Array.isArray(result?.artifacts)) return [];
  return result.artifacts.filter(
    (item): item is { path: string; sha256?: string } => typeof item?.path === 'string',
  );
}

function wrongHash(path: string, claimed: string, found: string): AcorError {
  return new AcorError('E_PROTOCOL', `the artifact ${path} does not have the sha256 that the tool reported`, {
    hint: 'Compute the hash in the tool after its last write to the file.',
    details: { path, claimed, found },
  });
}
