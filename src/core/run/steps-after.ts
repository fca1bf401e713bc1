import { errorInfo } from '../../protocol/error-codes.ts';
import {
  approve,
  findOutEffects,
  type NextStep,
  readLogs,
  resumeRun,
  resumeWorkflow,
  storeSecret,
} from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { splitCommand } from '../../util/shell-words.ts';
import type { RunStore } from '../ports/run-store.ts';
import { isRepeatable } from './repeatable.ts';
import { wasInterrupted, wasStoppedMidway } from './retry.ts';
import type { RunSummary } from './run-summary.ts';

const RUN_IDS = /\br-[0-9a-z-]+/g;

/** The facts about an ended run that decide its next steps. */
interface Ended
  extends Pick<
    RunRecord,
    'run_id' | 'kind' | 'state' | 'code' | 'signal' | 'rc' | 'has_result' | 'idempotent'
  > {
  retryable: boolean;
  /** Another process ended the run, because its supervisor had died. */
  late?: boolean;
  /** Whether the next attempt finds work that this one has kept. */
  hasCheckpoints?: boolean;
  /** As `isRepeatable` says. */
  repeatable: boolean;
  /** The next attempt may go on only with a higher limit of cost: `budget.on_cost_limit` is `stop`. */
  stopsAtLimit?: boolean;
  /** The child run that failed, of a workflow or a pipe. */
  failedRun?: string;
  remedies?: readonly NextStep[];
  needsForce?: true;
}

/** The next steps after a run has ended: only those that will be accepted. */
export function stepsAfter(ended: Ended): NextStep[] {
  if (ended.state === 'completed') return [];
  const { run_id, code, failedRun, remedies = [] } = ended;
  const resume = isResumedBy(remedies, run_id) ? [] : resumeAfter(ended);
  // What the tool did must be known before it is repeated.
  const first = forceFor(ended).force
    ? [findOutEffects(failedRun ?? run_id), ...resume]
    : [...resume, readLogs(failedRun ?? run_id)];
  return [...remedies, ...first, ...stepsOfCode(code)];
}

/** The child run that failed, of a workflow or a pipe: the next steps name its logs. */
export function failedChildOf({ run_id, next }: Pick<RunSummary, 'run_id' | 'next'>): string | undefined {
  const logs = next.find((step) => 'operation' in step && step.operation === 'run.logs');
  const run = logs !== undefined && 'input' in logs ? logs.input['run'] : run_id;
  return run === run_id ? undefined : String(run);
}

/** The step that continues an ended run; none where that would be refused, or would only fail again. */
function resumeAfter(ended: Ended): NextStep[] {
  const { run_id, kind, code, state, retryable, late, hasCheckpoints, repeatable, stopsAtLimit } = ended;
  if (!repeatable || (code === 'E_BUDGET' && stopsAtLimit)) return [];
  const continues =
    retryable ||
    late ||
    kind === 'workflow' ||
    code === 'E_OUTCOME_UNKNOWN' ||
    ((state === 'cancelled' || wasInterrupted(ended)) && hasCheckpoints);
  if (!continues) return [];
  const force = forceFor(ended);
  return [kind === 'workflow' ? resumeWorkflow(run_id, force) : resumeRun(run_id, force)];
}

/** Of a tool that is not idempotent and was stopped it is unknown what it had done (contract §3): only `--force` is accepted. */
function forceFor({ needsForce, ...ended }: Ended): { force?: true } {
  return needsForce || (!ended.idempotent && wasStoppedMidway(ended)) ? { force: true } : {};
}

/** The next steps of a run whose supervisor has died. */
export async function stepsAfterLoss(record: RunRecord, store: Pick<RunStore, 'read'>): Promise<NextStep[]> {
  const { lostOutcome } = await import('./lost-outcome.ts');
  const repeatable = await isRepeatable(record, store);
  return stepsAfter({ ...record, ...lostOutcome(record), signal: null, rc: null, late: true, repeatable });
}

/** The next steps from a log, whose `runner_end` has them as commands. Unknown commands are dropped: a tool may have changed its log. */
export async function recordedSteps(
  store: Pick<RunStore, 'commandOf' | 'read'>,
  record: RunRecord & { lost?: true },
  end: Readonly<Record<string, unknown>> | undefined,
): Promise<NextStep[]> {
  const { run_id, lost } = record;
  const { next: commands, code } = end ?? {};
  // The log of a lost run has no end yet.
  if (lost && end === undefined) return stepsAfterLoss(record, store);
  if (!Array.isArray(commands)) return [];
  const table = stepsOfCode(typeof code === 'string' ? code : null);
  const hasForce = commands.some((command) => String(command).endsWith(' --force'));
  const possible = [
    resumeRun(run_id),
    resumeRun(run_id, { force: true }),
    resumeWorkflow(run_id),
    resumeWorkflow(run_id, { force: true }),
    hasForce ? findOutEffects(run_id) : readLogs(run_id),
    ...table,
    ...(record.kind === 'tool' ? [] : commands.flatMap((command) => remediesNamed(String(command)))),
    ...commands.flatMap((command) => String(command).match(RUN_IDS) ?? []).map(readLogs),
  ];
  return commands.flatMap((command) => possible.find((step) => command === store.commandOf(step)) ?? []);
}

/** The approval, the secret or the step of a workflow that a command may name in its last word. */
function remediesNamed(command: string): NextStep[] {
  const name = splitCommand(command)?.at(-1) ?? '';
  const [run = ''] = command.match(RUN_IDS) ?? [];
  return [approve(name), storeSecret(name), resumeWorkflow(run, { from: name.replace(/^--from=/, '') })];
}

/** Which of the next steps provide an approval, a secret, or a result that is gone. */
export function remediesAmong(next: readonly NextStep[]): NextStep[] {
  return next.filter((step) => {
    if (!('operation' in step)) return false;
    const { operation, input } = step;
    return operation === 'workflow.resume'
      ? input['from'] !== undefined
      : ['tool.approve', 'secret.set'].includes(operation);
  });
}

/** Whether one of the remedies is to run a step of this workflow again: a plain resume would fail as before. */
export function isResumedBy(remedies: readonly NextStep[], runId: string): boolean {
  return remedies.some((step) => 'input' in step && step.input['run'] === runId);
}

function stepsOfCode(code: string | null): readonly NextStep[] {
  return code === null ? [] : (errorInfo(code)?.next ?? []);
}
