import { summariseLog } from '../../core/run/read-log.ts';
import { artifactsIn } from '../../core/run/summarise-run.ts';
import type { MeasuredArtifact } from '../../core/store-files/artifacts.ts';
import { isOrchestration } from '../../protocol/run.ts';
import type { AcorApp } from '../acor-app.ts';

/** An artifact, and the run that made it. */
export type FoundArtifact = MeasuredArtifact & { madeBy: string };

export type ListedArtifact = MeasuredArtifact & { run_id?: string };

/** Deeper workflows of workflows are not followed. */
const MAX_DEPTH = 8;

/** The artifacts of a run, and those of the steps of a workflow or a pipe, in the order of the steps' starts. */
export async function artifactsOf(app: AcorApp, runId: string, depth = 0): Promise<FoundArtifact[]> {
  const { store, index: openIndex } = await app.project();
  const { kind } = await store.read(runId);
  const { end } = await summariseLog(store, runId);
  const own = artifactsIn(end, store.root, runId).map((each) => ({ ...each, madeBy: runId }));
  if (!isOrchestration(kind) || depth === MAX_DEPTH) return own;
  const { runs } = await (await openIndex()).query({ parent: runId, order: 'oldest' });
  const ofSteps: FoundArtifact[] = [];
  for (const { run_id } of runs) ofSteps.push(...(await artifactsOf(app, run_id, depth + 1)));
  return [...own, ...ofSteps];
}

/** The artifacts of a run as answers list them: those of a step name its run. */
export async function listedArtifacts(app: AcorApp, runId: string): Promise<ListedArtifact[]> {
  return (await artifactsOf(app, runId)).map(({ madeBy, ...artifact }) => ({
    ...artifact,
    ...(madeBy !== runId && { run_id: madeBy }),
  }));
}
