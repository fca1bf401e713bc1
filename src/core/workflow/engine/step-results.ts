import { basename } from 'node:path';
import { stagedBefore } from '../../run/attempt/outputs.ts';
import { summaryOf } from '../../run/run-summary.ts';
import { filedAnswer } from '../../store-files/answer-inbox.ts';
import type { Scope, StepScope } from '../expression/expression.ts';
import type { Engine } from './engine.ts';
import { actionIdOf } from './task-id.ts';

/** How a step ended, without its results. `runStep` makes it; the scheduler and the expressions of later steps read it. */
export interface StepEnd {
  state: StepScope['state'];
  code: string | null;
  /** Its tasks, in their order; a step with one task has one of its own name. */
  taskIds: readonly string[];
  /** It has items or tasks, so its result is a list. */
  isList: boolean;
  isDecision: boolean;
  /** The tasks that failed. */
  failed: readonly string[];
  /** The first failure that ends the workflow. */
  fatal: { taskId: string; code: string; message: string } | undefined;
}

/**
 * What expressions may read, looked up when they do: what a step gave lies in the log of its run and nowhere else, so ten thousand items
 * cost no memory.
 */
export class StepResults {
  readonly #engine: Engine;
  readonly #ends = new Map<string, StepEnd>();
  readonly #steps: Record<string, StepScope> = {};

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  of(step: string): StepEnd | undefined {
    return this.#ends.get(step);
  }

  all(): Iterable<[string, StepEnd]> {
    return this.#ends;
  }

  add(step: string, end: StepEnd): void {
    this.#ends.set(step, end);
    lazily(this.#steps, step, () => stepScope(this.#engine, end));
  }

  scope(item?: { item: unknown; index: number }): Scope {
    const { plan, writer, isOk } = this.#engine;
    const workflow = { run_id: writer.record.run_id, ok: isOk };
    return { inputs: plan.inputs, steps: this.#steps, workflow, ...item };
  }
}

function stepScope(engine: Engine, end: StepEnd): StepScope {
  const { state, code, taskIds, isList, isDecision, failed } = end;
  const [only] = taskIds;
  const scope = {
    state,
    ok: state === 'completed',
    code,
    run_id: isList || only === undefined ? null : engine.history.of(only).childRunId,
    ...(isList && { count: taskIds.length, failed: failed.length }),
  } as StepScope;
  // What a step that was skipped would have given is not there, which an expression can ask for with has().
  if (state === 'skipped') return scope;
  if (isDecision) {
    lazily(scope, 'answer', () =>
      isList ? taskIds.map((id) => answerOf(engine, id)) : answerOf(engine, only!),
    );
    return scope;
  }
  lazily(scope, 'data', () => (isList ? taskIds.map((id) => dataOf(engine, id)) : dataOf(engine, only!)));
  lazily(scope, 'artifacts', () => Object.assign({}, ...taskIds.map((id) => artifactsOf(engine, id))));
  return scope;
}

function answerOf({ history, writer }: Engine, taskId: string): unknown {
  const answer = filedAnswer(writer.layout, actionIdOf(taskId, undefined, history.of(taskId).tries));
  return answer?.value ?? null;
}

function dataOf({ history, services }: Engine, taskId: string): unknown {
  const { childRunId, done } = history.of(taskId);
  if (childRunId === null || done?.status !== 'ok') return null;
  return summaryOf(services.store, childRunId).result?.data ?? null;
}

/** By the input that named the place, where there is one, else by the file's name. */
function artifactsOf({ history, services: { store } }: Engine, taskId: string): Record<string, string> {
  const { childRunId } = history.of(taskId);
  if (childRunId === null) return {};
  const record = store.read(childRunId);
  const { artifacts } = summaryOf(store, childRunId, record);
  const named: Record<string, string> = {};
  const inputs = stagedBefore(record).map((staged) => staged.split('/', 2) as [string, string]);
  for (const { path } of artifacts) {
    const name = basename(path);
    named[name] = path;
    for (const [input, staged] of inputs) if (staged === name) named[input] = path;
  }
  return named;
}

function lazily<T extends object>(target: T, key: string, read: () => unknown): void {
  Object.defineProperty(target, key, { enumerable: true, configurable: true, get: read });
}
