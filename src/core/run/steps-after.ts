import { errorInfo } from '../../protocol/error-codes.ts';
import { type NextStep, readLogs, resumeRun, resumeWorkflow } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunStore } from '../ports/run-store.ts';

/** The facts about an ended run that decide its next steps. */
interface Ended extends Pick<RunRecord, 'run_id' | 'kind' | 'state' | 'code'> {
  retryable: boolean;
  /** Another process ended the run, because its supervisor had died. */
  late?: boolean;
  /** Whether such a run may be resumed without knowing what its tool had done. */
  idempotent?: boolean;
}

/** The next steps after a run has ended. */
export function stepsAfter({
  run_id,
  kind,
  state,
  code,
  retryable,
  idempotent = true,
  late = false,
}: Ended): NextStep[] {
  if (state === 'completed') return [];
  const isFailedWorkflow = state === 'failed' && kind === 'workflow';
  const resume = retryable
    ? [resumeRun(run_id)]
    : late
      ? [resumeLost({ run_id, idempotent })]
      : isFailedWorkflow
        ? [resumeWorkflow(run_id)]
        : [];
  return [...resume, readLogs(run_id), ...stepsOfCode(code)];
}

/** Of a tool that is not idempotent it is unknown what it had done (contract §3): only `--force` is accepted. */
function resumeLost({ run_id, idempotent }: Pick<RunRecord, 'run_id' | 'idempotent'>): NextStep {
  return resumeRun(run_id, idempotent ? {} : { force: true });
}

/** The next steps from a log, whose `runner_end` has them as commands. Unknown commands are dropped: a tool may have changed its log. */
export function recordedSteps(
  { commandOf }: Pick<RunStore, 'commandOf'>,
  { run_id, idempotent, lost }: Pick<RunRecord, 'run_id' | 'idempotent'> & { lost?: true },
  end: Readonly<Record<string, unknown>> | undefined,
): NextStep[] {
  const { next: commands, code } = end ?? {};
  // The log of a lost run has no end yet.
  if (lost && end === undefined) return [resumeLost({ run_id, idempotent }), readLogs(run_id)];
  if (!Array.isArray(commands)) return [];
  const table = stepsOfCode(typeof code === 'string' ? code : null);
  const possible = [
    resumeRun(run_id),
    resumeRun(run_id, { force: true }),
    resumeWorkflow(run_id),
    readLogs(run_id),
    ...table,
  ];
  return possible.filter((step) => commands.includes(commandOf(step)));
}

function stepsOfCode(code: string | null): readonly NextStep[] {
  return code === null ? [] : (errorInfo(code)?.next ?? []);
}
