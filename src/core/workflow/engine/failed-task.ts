import { errorInfo } from '../../../protocol/error-codes.ts';
import { after } from '../../run/attempt/guards/guard.ts';
import { backoffMs } from '../../run/retry.ts';
import type { Engine } from './engine.ts';
import type { EngineTask, TaskTry } from './task.ts';
import { actionIdOf } from './task-id.ts';

const MAX_BACKOFF_S = 300;
/** When nobody answers, it is tried again so often and no more. */
const MOST_RETRIES_BY_DEFAULT = 3;

const OPTIONS = [
  { id: 'retry', label: 'Try it again' },
  { id: 'continue', label: 'Leave it failed, and go on as if it had not' },
  { id: 'fail', label: 'End the workflow' },
];

/** Whether the step's rule lets a failed try be repeated. */
export async function mayTryAgain(
  engine: Engine,
  { id, retry }: EngineTask,
  tried: TaskTry,
): Promise<boolean> {
  const { tries, triesBefore } = engine.history.of(id);
  if (tried.status !== 'failed' || tried.code === null || tries - triesBefore > retry.max) return false;
  // Where doing it twice may do harm, only the code itself is leave enough.
  if (retry.on.includes(tried.code)) return true;
  if (tried.isUnknown) return false;
  const info = errorInfo(tried.code, await engine.services.registry.errorCodes());
  if (info !== undefined && retry.on.includes(info.class)) return true;
  return retry.on.includes('retryable') && (tried.retryable || info?.retryable === true);
}

/** Waits before the next try; false when the workflow ended meanwhile. */
export async function pause({ history, stop }: Engine, { id, retry }: EngineTask): Promise<boolean> {
  const { tries, triesBefore } = history.of(id);
  const plan = { maxAttempts: retry.max + 1, backoffS: retry.backoffS, maxBackoffS: MAX_BACKOFF_S };
  await new Promise<void>((resolve) => {
    const stopTimer = after(backoffMs(Math.max(1, tries - triesBefore), plan), done);
    function done() {
      stopTimer();
      stop.signal.removeEventListener('abort', done);
      resolve();
    }
    stop.signal.addEventListener('abort', done, { once: true });
  });
  return !stop.signal.aborted;
}

/** `on_error: ask`: puts the failure to whoever answers; without an answer, what the error table recommends is done. */
export async function askWhatNow(
  engine: Engine,
  { id }: EngineTask,
  { code, message, told }: TaskTry,
): Promise<'retry' | 'continue' | 'fail'> {
  const { tries, triesBefore } = engine.history.of(id);
  const info = errorInfo(code ?? 'E_UNKNOWN', await engine.services.registry.errorCodes());
  const mayRetry = info?.retryable === true && tries - triesBefore <= MOST_RETRIES_BY_DEFAULT;
  const { child_run_id = null } = told;
  const decided = await engine.decisions.ask(
    {
      action_id: actionIdOf(id, 'failed', tries),
      action: 'step_failed',
      msg: `'${id}' failed: ${message ?? code}`,
      context: { task_id: id, code, message, child_run_id, recommended: info?.action ?? null },
      options: OPTIONS,
      default: mayRetry ? 'retry' : 'fail',
    },
    engine.stop.signal,
  );
  const answer = typeof decided === 'object' && 'answer' in decided ? decided.answer : 'fail';
  return answer === 'retry' || answer === 'continue' ? answer : 'fail';
}
