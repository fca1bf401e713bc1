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
export async function artifactsOf(app: AcorApp, runId: string): Promise<FoundArtifact[]> {
  const { store } = await app.project();
  const found: FoundArtifact[] = [];
  for (const madeBy of [runId, ...(await stepsBelow(app, runId))]) {
    const { end } = await summariseLog(store, madeBy);
    found.push(...artifactsIn(end, store.root, madeBy).map((each) => ({ ...each, madeBy })));
  }
  return found;
}

/** The runs of the steps of a workflow or a pipe, and of the workflows in it, each after the run that started it. None for a tool. */
export async function stepsBelow(app: AcorApp, runId: string, depth = 0): Promise<string[]> {
  const { store, index: openIndex } = await app.project();
  if (depth === MAX_DEPTH || !isOrchestration((await store.read(runId)).kind)) return [];
  const { runs } = await (await openIndex()).query({ parent: runId, order: 'oldest' });
  const below: string[] = [];
  for (const { run_id } of runs) below.push(run_id, ...(await stepsBelow(app, run_id, depth + 1)));
  return below;
}

/** The artifacts of a run as answers list them: those of a step name its run. */
export async function listedArtifacts(app: AcorApp, runId: string): Promise<ListedArtifact[]> {
  return (await artifactsOf(app, runId)).map(({ madeBy, ...artifact }) => ({
    ...artifact,
    ...(madeBy !== runId && { run_id: madeBy }),
  }));
}
