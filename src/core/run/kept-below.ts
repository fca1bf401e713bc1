import type { NextStep } from '../../protocol/next-steps.ts';
import { isOrchestration, kindOfName } from '../../protocol/run.ts';
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
  const found: KeptBelow[] = [];
  for (const [runId, mayHaveSteps] of await startedBy(host, run_id)) {
    const places = undecidedPlaces(host.workspaces.of(runId).dir);
    if (places.length > 0) found.push({ runId, places });
    // A workflow may have ten thousand steps: the records of most are not read.
    const record = mayHaveSteps ? await host.store.read(runId).catch(() => undefined) : undefined;
    if (record !== undefined) found.push(...(await undecidedBelow(host, record)));
  }
  return found;
}

/** The runs that a workflow or a pipe has started, and whether each may be one of these, too. */
async function startedBy({ store }: RunHost, runId: string): Promise<Map<string, boolean>> {
  const commands = new Map<unknown, string>();
  const started = new Map<string, boolean>();
  for await (const { type, task_id, child_run_id, payload } of readEvents(store, runId, { wait: false })) {
    if (type === 'task_submitted') commands.set(task_id, commandIn(payload));
    if (type !== 'task_started' || typeof child_run_id !== 'string') continue;
    const command = commands.get(task_id) ?? '';
    started.set(child_run_id, kindOfName(command) !== 'tool' || command.includes(' | '));
  }
  return started;
}

function commandIn(payload: unknown): string {
  return String((payload as { command?: unknown } | undefined)?.command ?? '');
}

/** What can be done with the changes that the runs of the steps keep. */
export function stepsForKeptBelow(host: RunHost, below: readonly KeptBelow[]): NextStep[] {
  return below.slice(0, MOST_NAMED).flatMap(({ runId }) => keptSteps(runId, host.workspaces.of(runId).dir));
}
