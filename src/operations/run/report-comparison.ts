import * as z from 'zod';
import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { listArtifacts } from '../../protocol/next-steps.ts';
import type { AcorApp } from '../acor-app.ts';
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

/** Tells how a run that was executed again compares: exit code 1 when it failed or an artifact differs. */
export function reportComparison(
  result: OperationResult<unknown>,
  data: Replayed,
  ctx: OperationContext<AcorApp>,
): OperationResult<Replayed> {
  const worse = data.same ? 0 : 1;
  switch (result.kind) {
    case 'streamed':
      for (const line of linesOf(data)) ctx.note(`acor: ${line}`);
      return { kind: 'streamed', exit: result.exit || worse };
    case 'failure':
      return { kind: 'failure', error: result.error, data, ...(result.exit && { exit: result.exit }) };
    case 'data': {
      const next = data.same ? [] : [data.replays, data.run_id].map(listArtifacts);
      return { kind: 'data', data, exit: result.exit || worse, next };
    }
  }
}

/** The comparison in words: a stream ends with `runner_end`, so that it is told beside it. */
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
