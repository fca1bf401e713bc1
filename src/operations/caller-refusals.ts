import { violationsOfCaller } from '../core/guard/caller-may.ts';
import type { Violation } from '../core/policy/decision.ts';
import type { Principal } from '../core/ports/principal.ts';
import type { RunStore } from '../core/ports/run-store.ts';
import { AcorError } from '../protocol/acor-error.ts';
import type { CallerAction } from '../protocol/policy-file.ts';
import { recordedCaller, scheduleOfCaller } from '../protocol/run.ts';
import type { RunRecord } from '../protocol/run-record.ts';

interface Place {
  root: string;
  env: Readonly<Record<string, string | undefined>>;
  store: RunStore | undefined;
}

/**
 * What the policy has against these actions; empty where it allows them. An answer to a run that the caller has started is an `answer_own` too.
 * Throws E_CONFIG_INVALID for an invalid policy.
 */
export async function callerRefusals(
  caller: Principal,
  actions: readonly CallerAction[],
  run: unknown,
  { root, env, store }: Place,
): Promise<Violation[]> {
  const isOwn =
    actions.includes('answer') &&
    typeof run === 'string' &&
    store !== undefined &&
    (await isOwnRun(caller, run, { root, env, store }));
  return violationsOfCaller(isOwn ? [...actions, 'answer_own'] : actions, caller, { root, env });
}

/** The error of a call that the policy refuses. */
export function refusedCaller(operation: string, violations: readonly Violation[]): AcorError {
  return new AcorError('E_POLICY_DENIED', violations.map(({ rule }) => rule).join('; '), {
    hint: violations.map(({ fix }) => fix).join(' '),
    details: { operation, violations },
  });
}

/** Whether an error says that the caller may not do this, and not that the policy is invalid for a moment. */
export function isRefusal(error: unknown): error is AcorError {
  return error instanceof AcorError && (error.code === 'E_PERMISSION' || error.code === 'E_POLICY_DENIED');
}

/**
 * Whether the caller has started an attempt of the run, or of the run that it is a part of, or has added the schedule that did. The local user is not recorded
 * by name.
 */
async function isOwnRun(
  caller: Principal,
  runId: string,
  { root, env, store }: Place & { store: RunStore },
): Promise<boolean> {
  const own = recordedCaller(caller);
  // Records of earlier builds have the name alone.
  const names: readonly (string | null)[] = own === null ? [null] : [own, caller.name];
  const isRestarted = ({ restarted_by = [] }: RunRecord) => restarted_by.some((by) => names.includes(by));
  try {
    let record = await store.read(runId);
    let hasRestarted = isRestarted(record);
    while (record.parent !== null) {
      record = await store.read(record.parent.run_id);
      hasRestarted ||= isRestarted(record);
    }
    if (hasRestarted || names.includes(record.caller)) return true;
    const schedule = scheduleOfCaller(record.caller);
    if (schedule === undefined) return false;
    const { ScheduleFiles } = await import('../core/schedule/schedule-files.ts');
    const by = new ScheduleFiles(root, env).find(schedule)?.by;
    // Of a schedule that was removed nothing says who added it.
    return by === undefined || recordedCaller(by) === own;
  } catch (error) {
    // The operation reports a run that does not exist.
    if (error instanceof AcorError && error.code === 'E_RUN_NOT_FOUND') return false;
    throw error;
  }
}
