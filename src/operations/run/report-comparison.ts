import * as z from 'zod';
import type { Answer, StreamEnd } from '../../compose/operation.ts';
import { listArtifacts } from '../../protocol/next-steps.ts';
import { type ArtifactComparison, artifactComparison } from './compare-artifacts.ts';

/** What `acor replay --execute` answers: the new run, the recorded one, and how their artifacts compare. */
export const replayed = z.object({
  run_id: z.string(),
  replays: z.string(),
  state: z.enum(['completed', 'failed', 'cancelled']),
  artifacts: artifactComparison,
  same: z.boolean().describe('Whether both runs made the same artifacts.'),
});

export type Replayed = z.output<typeof replayed>;

/** How a run that was executed again compares: exit code 1 when it failed or an artifact differs. */
export function comparisonEnd(answer: Answer<unknown>, data: Replayed): StreamEnd<Replayed> {
  const notes = linesOf(data).map((line) => `acor: ${line}`);
  if (answer.kind === 'failure') return { answer: { ...answer, data }, notes };
  const next = data.same ? [] : [data.replays, data.run_id].map(listArtifacts);
  return { answer: { kind: 'data', data, exit: answer.exit || (data.same ? 0 : 1), next }, notes };
}

/** The comparison in words, for a reader of the events: the last of them is `runner_end`. */
function linesOf({ run_id, replays, artifacts }: Replayed): string[] {
  const { same, differing } = artifacts;
  const count = same.length + differing.length;
  const head =
    differing.length === 0
      ? `run ${run_id} made the same ${count} artifact(s) as run ${replays}`
      : `${differing.length} of ${count} artifact(s) differ between run ${replays} and run ${run_id}`;
  return [head, ...differing.map(differenceOf)];
}

function differenceOf({ path, recorded, now }: ArtifactComparison['differing'][number]): string {
  const words = (artifact: typeof recorded) =>
    artifact === null ? 'nothing' : `${artifact.size} bytes, sha256 ${artifact.sha256.slice(0, 12)}`;
  return `${path}: recorded ${words(recorded)}; now ${words(now)}`;
}
