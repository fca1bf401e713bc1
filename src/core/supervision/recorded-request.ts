import { AcorError } from '../../protocol/acor-error.ts';
import { showRun } from '../../protocol/next-steps.ts';
import { holdsRedaction } from '../../protocol/redaction-mark.ts';
import { withoutKind } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { PreparedAnswer } from '../ports/run-launcher.ts';
import type { RunStore } from '../ports/run-store.ts';
import { questionsOf } from '../run/answers/open-questions.ts';
import { recordedCall } from '../run/recorded-call.ts';
import type { RunRequest } from '../run/run-request.ts';
import type { RunnerServices } from '../run/services.ts';

/**
 * A request that repeats a recorded run as a new run, with the same arguments, working directory, time limit and
 * answers, which `by` gives again. Its outputs stay in its own folder. Throws E_USAGE for a run with a secret argument, which ACOR does not
 * store.
 */
export async function recordedRequest(
  services: RunnerServices,
  record: RunRecord,
  { env, by }: Pick<RunRequest, 'env'> & { by: string },
): Promise<RunRequest> {
  const { given_args } = record;
  if (record.kind === 'workflow') {
    const { tool, args } = recordedCall(services, record, given_args ?? []);
    throw new AcorError(
      'E_USAGE',
      `run ${record.run_id} is a workflow: replay one of its steps, which are runs, instead`,
      {
        hint: 'Start the workflow again.',
        next: [
          {
            operation: 'workflow.run',
            input: { workflow: withoutKind(tool), args },
            why: 'Start the workflow again from its beginning.',
          },
          showRun(record.run_id),
        ],
      },
    );
  }
  if (given_args === null) {
    throw new AcorError(
      'E_USAGE',
      `run ${record.run_id} had a secret argument, which ACOR does not store, so it cannot be replayed`,
      { hint: `Start '${record.tool}' again with its arguments.` },
    );
  }
  return {
    ...recordedCall(services, record, given_args),
    env,
    timeoutS: record.timeout_s,
    ...(record.writes && { writes: record.writes }),
    replays: { runId: record.run_id, outputs: record.staged },
    answers: await recordedAnswers(services.store, record.run_id, by),
    ...(record.reads && { reads: record.reads }),
  };
}

/**
 * Answers by question id; also by action, for ids that differ between runs, if every question of the action got the
 * same answer. Answers that contained a secret are not stored.
 */
async function recordedAnswers(store: RunStore, runId: string, by: string): Promise<PreparedAnswer[]> {
  const byId: PreparedAnswer[] = [];
  const byAction = new Map<string, PreparedAnswer | 'various'>();
  for (const { asked, answered } of await questionsOf(store, runId)) {
    if (answered === undefined) continue;
    const action = String(asked.action);
    if (holdsRedaction(answered.answer)) {
      byAction.set(action, 'various');
      continue;
    }
    const given = {
      answer: answered.answer,
      by,
      source: 'beforehand' as const,
      reason: `as it was answered in run ${runId}`,
    };
    const other = byAction.get(action);
    const isSame =
      other === undefined ||
      (other !== 'various' && JSON.stringify(other.answer) === JSON.stringify(given.answer));
    byId.push({ action: String(asked.action_id), ...given });
    byAction.set(action, isSame ? { action, ...given } : 'various');
  }
  return [...byId, ...[...byAction.values()].filter((each) => each !== 'various')];
}
