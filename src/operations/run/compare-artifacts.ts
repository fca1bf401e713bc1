import * as z from 'zod';

const side = z
  .object({ path: z.string(), size: z.int().describe('In bytes.'), sha256: z.string() })
  .nullable();

/** How the artifacts of two runs compare; null stands for one that only the other run made. */
export const artifactComparison = z.object({
  same: z.array(z.string()),
  differing: z.array(
    z.object({
      path: z.string().describe('Relative to the folder of the run, or else absolute.'),
      recorded: side,
      now: side,
    }),
  ),
});

export type ArtifactComparison = z.output<typeof artifactComparison>;

/** What is known of an artifact without opening it. */
interface Artifact {
  path: string;
  size: number;
  sha256: string;
}

/**
 * Holds the artifacts of a run against those of an earlier one, by name: the path within the run's folder, or the absolute
 * one. `targets` are the outputs that a run keeps in its folder, and the absolute paths for which they are meant.
 */
export function compareArtifacts(
  recorded: { runId: string; artifacts: readonly Artifact[] },
  now: { runId: string; artifacts: readonly Artifact[] },
  targets: ReadonlyMap<string, string>,
): ArtifactComparison {
  const before = byName(recorded, targets);
  const after = byName(now, targets);
  const comparison: ArtifactComparison = { same: [], differing: [] };
  for (const name of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [was, is] = [before.get(name), after.get(name)];
    if (was !== undefined && was.sha256 === is?.sha256) comparison.same.push(name);
    else comparison.differing.push({ path: name, recorded: sideOf(was), now: sideOf(is) });
  }
  return comparison;
}

function byName(
  run: { runId: string; artifacts: readonly Artifact[] },
  targets: ReadonlyMap<string, string>,
): Map<string, Artifact> {
  return new Map(run.artifacts.map((artifact) => [nameOf(artifact.path, run.runId, targets), artifact]));
}

function nameOf(path: string, runId: string, targets: ReadonlyMap<string, string>): string {
  // The project may have been moved, or reached through a link: only the id says where the run's folder begins.
  const mark = `/${runId}/`;
  const at = path.indexOf(mark);
  if (at === -1) return path;
  const inside = path.slice(at + mark.length);
  for (const [place, target] of targets) {
    if (inside === place) return target;
    if (inside.startsWith(`${place}/`)) return target + inside.slice(place.length);
  }
  return inside;
}

function sideOf(artifact: Artifact | undefined): z.output<typeof side> {
  return artifact === undefined
    ? null
    : { path: artifact.path, size: artifact.size, sha256: artifact.sha256 };
}
