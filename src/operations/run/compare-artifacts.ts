import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import type { Answer, StreamEnd } from '../../compose/operation.ts';
import { listArtifacts } from '../../protocol/next-steps.ts';
import { countOf } from '../../util/count-of.ts';

const side = z
  .object({ path: z.string(), size: z.int().describe('In bytes.'), sha256: z.string() })
  .nullable();

/** How the artifacts of two runs compare; null means that only the other run made it. */
const artifactComparison = z.object({
  same: z.array(z.string()),
  differing: z.array(
    z.object({
      path: z.string().describe('Relative to the folder of the run, or else absolute.'),
      recorded: side,
      now: side,
    }),
  ),
});

type ArtifactComparison = z.output<typeof artifactComparison>;

/** An artifact as the log records it. */
interface Artifact {
  path: string;
  size: number;
  sha256: string;
}

/**
 * Compares the artifacts of two runs by name: the path within the run's folder, or the absolute path. `targets` maps each output that a
 * run keeps in its folder to the absolute path of its target.
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
  // The project may have been moved, or opened through a link, so only the run id marks where the run's folder begins.
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

/** The answer of `acor replay --execute`: the new run, the recorded run, and how their artifacts compare. */
export const replayed = z.object({
  run_id: z.string(),
  replays: z.string(),
  state: z.enum(['completed', 'failed', 'cancelled']),
  artifacts: artifactComparison,
  same: z.boolean().describe('Whether both runs made the same artifacts.'),
});

export type Replayed = z.output<typeof replayed>;

/** The end of a replay: exit code 1 when the new run failed or an artifact differs. */
export function comparisonEnd(answer: Answer<unknown>, data: Replayed): StreamEnd<Replayed> {
  const notes = linesOf(data).map((line) => `acor: ${line}`);
  if (answer.kind === 'failure') return { answer: { ...answer, data }, notes };
  const next = data.same ? [] : [data.replays, data.run_id].map(listArtifacts);
  if (data.same) return { answer: { kind: 'data', data, next }, notes };
  const count = data.artifacts.differing.length;
  const message = `${count} artifact${count === 1 ? '' : 's'} of ${data.run_id} differ${count === 1 ? 's' : ''} from the recorded run`;
  const error = new AppError('E_CONFLICT', message, {
    next,
    hint: 'Compare the artifacts of both runs: an input, the tool or the machine has changed since, or the tool does not make the same twice.',
  });
  return { answer: { kind: 'failure', error, data }, notes };
}

/** The comparison in words, for stderr: the last event on stdout is `runner_end`. */
function linesOf({ run_id, replays, artifacts }: Replayed): string[] {
  const { same, differing } = artifacts;
  const count = same.length + differing.length;
  const head =
    count === 0
      ? `run ${run_id} made no artifacts, and neither did run ${replays}`
      : differing.length === 0
        ? `run ${run_id} made the same ${countOf(count, 'artifact')} as run ${replays}`
        : `${differing.length} of ${countOf(count, 'artifact')} differ between run ${replays} and run ${run_id}`;
  return [head, ...differing.map(differenceOf)];
}

function differenceOf({ path, recorded, now }: ArtifactComparison['differing'][number]): string {
  const words = (artifact: typeof recorded) =>
    artifact === null ? 'nothing' : `${artifact.size} bytes, sha256 ${artifact.sha256.slice(0, 12)}`;
  return `${path}: recorded ${words(recorded)}; now ${words(now)}`;
}
