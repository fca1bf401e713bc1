import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NextStep } from '../../protocol/next-steps.ts';
import { isOrchestration, isRunId, kindOfName } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { readOwn } from '../../util/regular-file.ts';
import { keptSteps, type UndecidedPlace, undecidedPlaces } from '../review/undecided.ts';
import { STARTED } from '../store-files/layout.ts';
import { readEvents } from './read-log.ts';
import type { RunHost } from './workspace.ts';

/** The next steps of a run name the changes of at most this many runs. */
const MOST_NAMED = 5;

/** A run below another one that keeps changes, and the places of these. */
interface KeptBelow {
  runId: string;
  places: UndecidedPlace[];
}

/** The runs of the steps of a workflow or a pipe, or those that a tool has started, whose changes are undecided, at any depth. */
export async function undecidedBelow(
  host: RunHost,
  { run_id, kind }: Pick<RunRecord, 'run_id' | 'kind'>,
): Promise<KeptBelow[]> {
  const found: KeptBelow[] = [];
  const started = isOrchestration(kind) ? await stepsOf(host, run_id) : callsOf(host, run_id);
  for (const [runId, mayHaveSteps] of started) {
    const { dir } = host.workspaces.of(runId);
    const places = undecidedPlaces(dir);
    if (places.length > 0) found.push({ runId, places });
    // A workflow may have ten thousand steps: the records of most are not read.
    const hasMore = mayHaveSteps || existsSync(join(dir, STARTED));
    const record = hasMore ? await host.store.read(runId).catch(() => undefined) : undefined;
    if (record !== undefined) found.push(...(await undecidedBelow(host, record)));
  }
  return found;
}

/** The runs that a workflow or a pipe has started, and whether each may be one of these, too. */
async function stepsOf({ store }: RunHost, runId: string): Promise<Map<string, boolean>> {
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

/** The runs that a tool has started, each once. They are tools. */
function callsOf({ workspaces }: RunHost, runId: string): Map<string, false> {
  const path = join(workspaces.of(runId).dir, STARTED);
  if (!existsSync(path)) return new Map();
  const lines = readOwn(path).toString('latin1').split('\n');
  return new Map(lines.filter(isRunId).map((id) => [id, false]));
}

function commandIn(payload: unknown): string {
  return String((payload as { command?: unknown } | undefined)?.command ?? '');
}

/** What can be done with the changes that the runs below keep. */
export function stepsForKeptBelow(host: RunHost, below: readonly KeptBelow[]): NextStep[] {
  return below.slice(0, MOST_NAMED).flatMap(({ runId }) => keptSteps(runId, host.workspaces.of(runId).dir));
}
