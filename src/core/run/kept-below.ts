import type { NextStep } from '../../protocol/next-steps.ts';
import { isOrchestration } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { keptSteps, type UndecidedPlace, undecidedPlaces } from '../review/undecided.ts';
import { readEvents } from './read-log.ts';
import type { RunHost } from './workspace.ts';

/** The next steps of a workflow name the changes of at most this many runs. */
const MOST_NAMED = 5;

/** A run below a workflow or a pipe that keeps changes, and the places of these. */
interface KeptBelow {
  runId: string;
  places: UndecidedPlace[];
}

/** The runs of the steps of a workflow or a pipe whose changes are undecided, also those of workflows in it. */
export async function undecidedBelow(
  host: RunHost,
  { run_id, kind }: Pick<RunRecord, 'run_id' | 'kind'>,
): Promise<KeptBelow[]> {
  if (!isOrchestration(kind)) return [];
  const started = new Set<string>();
  for await (const { type, child_run_id } of readEvents(host.store, run_id, { wait: false }))
    if (type === 'task_started' && typeof child_run_id === 'string') started.add(child_run_id);
  const found: KeptBelow[] = [];
  for (const runId of started) {
    const record = await host.store.read(runId).catch(() => undefined);
    // The run was removed.
    if (record === undefined) continue;
    const places = undecidedPlaces(host.workspaces.of(runId).dir);
    if (places.length > 0) found.push({ runId, places });
    found.push(...(await undecidedBelow(host, record)));
  }
  return found;
}

/** What can be done with the changes that the runs of the steps keep. */
export async function stepsForKeptBelow(
  host: RunHost,
  run: Pick<RunRecord, 'run_id' | 'kind'>,
): Promise<NextStep[]> {
  const below = (await undecidedBelow(host, run)).slice(0, MOST_NAMED);
  return below.flatMap(({ runId }) => keptSteps(runId, host.workspaces.of(runId).dir));
}
