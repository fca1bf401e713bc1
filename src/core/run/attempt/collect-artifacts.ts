import { readdirSync, realpathSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { StagedOutput } from '../../registry/arguments.ts';
import { type MeasuredArtifact, measureArtifact } from '../../store-files/artifacts.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { RunWorkspace } from '../workspace.ts';
import type { LastMessage } from './intake.ts';

/**
 * Measures everything that a run made: what the result names, what the adapter has found (`measured`), what lies in ARTIFACTS_DIR,
 * and the staged outputs, under the paths at which they will stand. Throws when the tool's word does not hold: a wrong hash, a missing file, a path out of bounds.
 */
export function collectArtifacts(
  plan: ToolPlan,
  layout: RunWorkspace,
  result: LastMessage | undefined,
  outputs: readonly StagedOutput[],
  measured: readonly MeasuredArtifact[] = [],
): MeasuredArtifact[] {
  const roots = artifactRoots(plan, layout);
  const found = new Map(measured.map((artifact) => [artifact.path, artifact]));
  const add = (path: string, claimed?: string) => {
    const known = found.get(path) ?? measureArtifact(path, roots);
    if (claimed !== undefined && claimed !== known.sha256) throw wrongHash(path, claimed, known.sha256);
    found.set(path, known);
  };
  for (const { path, sha256 } of declaredBy(result)) add(resolve(layout.work, path), sha256);
  for (const path of filesIn(layout.artifacts)) add(path);
  for (const output of outputs) add(output.staged);
  return [...found.values()].map((artifact) => ({ ...artifact, path: finalPath(artifact.path, outputs) }));
}

/** Where what a run made may lie. */
export function artifactRoots(plan: ToolPlan, layout: RunWorkspace): string[] {
  // Only the store's own folder is followed: the tool may have put a link in the place of anything below it.
  const run = join(realpathSync(dirname(layout.dir)), plan.runId);
  const own = [layout.work, layout.artifacts].map((path) => join(run, relative(layout.dir, path)));
  const granted = plan.grants.filter(({ access }) => access === 'write').map(({ path }) => path);
  return [...own, ...granted];
}

function declaredBy(result: LastMessage | undefined): { path: string; sha256?: string }[] {
  if (!Array.isArray(result?.artifacts)) return [];
  return result.artifacts.filter(
    (item): item is { path: string; sha256?: string } => typeof item?.path === 'string',
  );
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** What lies in a staged output will stand under that output's target. */
function finalPath(path: string, outputs: readonly StagedOutput[]): string {
  for (const { staged, target, stays } of outputs) {
    if (stays) continue;
    const inside = relative(staged, path);
    if (inside === '') return target;
    if (!inside.startsWith('..') && !isAbsolute(inside)) return join(target, inside);
  }
  return path;
}

function wrongHash(path: string, claimed: string, found: string): AcorError {
  return new AcorError('E_PROTOCOL', `the artifact ${path} does not have the sha256 that the tool gives`, {
    hint: 'Have the tool hash the file after its last write.',
    details: { path, claimed, found },
  });
}
