import { errorInfo } from '../../protocol/error-codes.ts';
import type { NextStep } from '../../protocol/next-step.ts';
import { readLogs, resumeRun, resumeWorkflow } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunStore } from '../ports/run-store.ts';

/** How a run ended, as far as it decides what leads on. */
interface Ended extends Pick<RunRecord, 'run_id' | 'kind' | 'state' | 'code'> {
  retryable: boolean;
  /** Another process ended the run, because its supervisor had died. */
  late?: boolean;
}

/** What leads on after a run has ended. */
export function stepsAfter({ run_id, kind, state, code, retryable, late = false }: Ended): NextStep[] {
  if (state === 'completed') return [];
  const isFailedWorkflow = state === 'failed' && kind === 'workflow';
  const onwards = retryable || late ? [resumeRun(run_id)] : isFailedWorkflow ? [resumeWorkflow(run_id)] : [];
  return [...onwards, readLogs(run_id), ...stepsOfCode(code)];
}

/** The same for a reader of the log, whose `runner_end` holds the steps as commands. Anything else that is there is not offered. */
export function recordedSteps(
  { commandOf }: Pick<RunStore, 'commandOf'>,
  { run_id, lost }: Pick<RunRecord, 'run_id'> & { lost?: true },
  end: Readonly<Record<string, unknown>> | undefined,
): NextStep[] {
  const { next: commands, code } = end ?? {};
  // The log of a lost run has no end yet.
  if (lost && end === undefined) return [resumeRun(run_id), readLogs(run_id)];
  if (!Array.isArray(commands)) return [];
  const table = stepsOfCode(typeof code === 'string' ? code : null);
  const possible = [resumeRun(run_id), resumeWorkflow(run_id), readLogs(run_id), ...table];
  return possible.filter((step) => commands.includes(commandOf(step)));
}

function stepsOfCode(code: string | null): readonly NextStep[] {
  return code === null ? [] : (errorInfo(code)?.next ?? []);
}
