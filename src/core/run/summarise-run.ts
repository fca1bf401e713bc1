import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { errorInfo } from '../../protocol/error-codes.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import { type FinalState, isOrchestration } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import { KEPT } from '../store-files/layout.ts';
import { pathNow } from '../store-files/path-now.ts';
import type { Denied } from './hint-of-denied.ts';
import type { RunPlan } from './plan/run-plan.ts';
import { summariseLog } from './read-log.ts';
import { hasResult } from './retry.ts';
import type { AttemptOutcome } from './run-executor.ts';
import type { RunSummary } from './run-summary.ts';
import { recordedSteps, stepsAfter } from './steps-after.ts';
import type { RunHost, RunWorkspace } from './workspace.ts';

/** The summary of a run that this process supervised. The caller sets `events` once the end is written. */
export function summarise(
  { runId, name, kind, idempotent }: RunPlan,
  layout: RunWorkspace,
  { outcome, exit, survivors, result, artifacts }: AttemptOutcome,
  facts: {
    attempt: number;
    durationS: number;
    warnings: readonly string[];
    repeatable: boolean;
    stopsAtLimit: boolean;
    keptSteps: NextStep[];
  },
): RunSummary {
  const failed = outcome.state !== 'completed';
  return {
    run_id: runId,
    tool: name,
    state: outcome.state,
    code: outcome.code,
    message: outcome.message,
    hint: outcome.hint,
    retryable: outcome.retryable,
    rc: exit?.rc ?? null,
    signal: exit?.signal ?? null,
    attempt: facts.attempt,
    duration_s: facts.durationS,
    events: 0,
    artifacts: failed ? [] : artifacts,
    survivors,
    result,
    warnings: [...facts.warnings],
    next: [
      ...facts.keptSteps,
      ...stepsAfter({
        run_id: runId,
        kind,
        ...outcome,
        signal: exit?.signal ?? null,
        rc: exit?.rc ?? null,
        has_result: hasResult(outcome.state, result),
        idempotent,
        repeatable: facts.repeatable,
        stopsAtLimit: facts.stopsAtLimit,
        hasCheckpoints: failed && hasFiles(layout.checkpoints),
      }),
    ],
    dir: layout.dir,
  };
}

/** The summary of a run that another process supervised, from its log. `record` is the result of `readRun`. */
export async function summaryOf(
  { store, workspaces }: RunHost,
  runId: string,
  record: RunRecord & { lost?: true },
): Promise<RunSummary> {
  const { dir } = workspaces.of(runId);
  const { end, ending, failure, denial } = await summariseLog(store, runId);
  // The log of a lost run has no end yet.
  const lost = record.lost && end === undefined ? await outcomeOfLost(record) : undefined;
  const report = failure ?? (ending?.type === 'error' ? ending : undefined);
  const code = (end?.code ?? record.code) as string | null;
  return {
    run_id: runId,
    tool: record.tool,
    state: (end?.state ?? record.state) as FinalState,
    code,
    message: record.message ?? textOrNull(report?.msg),
    hint:
      lost?.hint ??
      textOrNull(end?.hint) ??
      (denial === undefined
        ? (textOrNull(report?.hint) ?? (code === null ? null : (errorInfo(code)?.hint ?? null)))
        : (await import('./hint-of-denied.ts')).hintOfDenied(
            textOrNull(report?.hint),
            code,
            denial as unknown as Denied,
          )),
    retryable: lost?.retryable ?? (end?.retryable ?? report?.retryable) === true,
    rc: (end?.rc ?? record.rc) as number | null,
    signal: (end?.signal ?? record.signal) as string | null,
    attempt: record.attempt,
    duration_s: (end?.duration_s ?? record.duration_s ?? 0) as number,
    events: (end?.events ?? record.events ?? 0) as number,
    artifacts: artifactsIn(end, workspaces.root, runId),
    survivors: (end?.survivors ?? []) as RunSummary['survivors'],
    result: ending?.type === 'result' ? { ...ending } : null,
    warnings: (end?.warnings ?? []) as string[],
    next: [
      ...(await stepsForKept({ store, workspaces }, record)),
      ...(await recordedSteps(store, record, end)),
    ],
    dir,
  };
}

/** The artifacts that the end of a run lists, by where they are now. */
export function artifactsIn(
  end: Readonly<Record<string, unknown>> | undefined,
  root: string,
  runId: string,
): MeasuredArtifact[] {
  const recorded = (end?.artifacts ?? []) as MeasuredArtifact[];
  return recorded.map((each) => ({ ...each, path: pathNow(root, runId, each.path) }));
}

/** What can be done with the changes that a run and the runs below it keep. Loads nothing for other runs. */
export async function stepsForKept(
  host: RunHost,
  run: Pick<RunRecord, 'run_id' | 'kind'>,
): Promise<NextStep[]> {
  const { dir } = host.workspaces.of(run.run_id);
  if (!isOrchestration(run.kind) && !existsSync(join(dir, KEPT))) return [];
  const { stepsForKeptBelow, undecidedBelow } = await import('./kept-below.ts');
  const { keptSteps } = await import('../review/undecided.ts');
  return [...keptSteps(run.run_id, dir), ...stepsForKeptBelow(host, await undecidedBelow(host, run))];
}

async function outcomeOfLost(record: RunRecord) {
  const { lostOutcome } = await import('./lost-outcome.ts');
  return lostOutcome(record);
}

function hasFiles(folder: string): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch {
    return false;
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
