import { AcorError } from '../../../protocol/acor-error.ts';
import { evaluate, expressionsIn, type Template } from '../expression/expression.ts';
import type { Step } from '../model.ts';
import { type Engine, emit, recordedFailure } from './engine.ts';
import { isFinished, runStep } from './run-step.ts';
import type { StepEnd, StepResults } from './step-results.ts';
import { taskIdOf } from './task-id.ts';

/** The first failure that ends the workflow. */
export type Fatal = NonNullable<StepEnd['fatal']>;

/**
 * Runs each step as soon as the steps that it needs have ended. After a fatal failure or a cancel, no more steps start;
 * running steps are followed to their end. A `finally` step also starts after another one has failed. Returns the first
 * fatal failure. Time and memory are linear in the number of steps.
 */
export async function runSteps(
  engine: Engine,
  steps: readonly Step[],
  results: StepResults,
): Promise<Fatal | undefined> {
  const missing = new Map(steps.map(({ name, needs }) => [name, new Set(needs).size]));
  const dependents = new Map<string, Step[]>();
  for (const step of steps) {
    for (const need of new Set(step.needs)) {
      const list = dependents.get(need);
      if (list === undefined) dependents.set(need, [step]);
      else list.push(step);
    }
  }
  const isLast = steps === engine.plan.workflow.finally;
  const progress = new Progress(engine, isLast ? 0 : steps.length);
  let fatal: Fatal | undefined;
  let broken: { error: unknown } | undefined;
  let going = 0;
  let allOver!: () => void;
  const over = new Promise<void>((resolve) => {
    allOver = resolve;
  });
  const isOver = () => (fatal !== undefined && !isLast) || broken !== undefined || engine.stop.signal.aborted;
  const begin = async (step: Step): Promise<void> => {
    if (isOver()) return;
    going++;
    try {
      const end = await endOfStep(engine, results, step, { isLast });
      results.add(step.name, end);
      await progress.ended(step);
      if (end.failed.length > 0) engine.isOk = false;
      fatal ??= end.fatal;
      for (const next of dependents.get(step.name) ?? []) {
        const left = missing.get(next.name)! - 1;
        missing.set(next.name, left);
        if (left === 0) void begin(next);
      }
    } catch (error) {
      broken ??= { error };
      engine.stop.abort('the store of the workflow failed');
    }
    if (--going === 0) allOver();
  };
  for (const step of steps) if (step.needs.length === 0) void begin(step);
  if (going > 0) await over;
  if (broken !== undefined) throw broken.error;
  return fatal;
}

/** Reports how many steps have ended: at each per cent, so that a workflow of any length has at most 100 such events. */
class Progress {
  readonly #engine: Engine;
  readonly #steps: number;
  #ended = 0;
  #pct = 0;

  /** The `finally` steps are no part of the way to the result: of them it reports nothing, as of 0 steps. */
  constructor(engine: Engine, steps: number) {
    this.#engine = engine;
    this.#steps = steps;
  }

  async ended({ name }: Step): Promise<void> {
    if (this.#steps === 0) return;
    const pct = Math.floor((++this.#ended / this.#steps) * 100);
    if (pct === this.#pct) return;
    this.#pct = pct;
    await emit(this.#engine, { type: 'progress', pct, msg: `step ${this.#ended}/${this.#steps}: ${name}` });
  }
}

/**
 * Skips a step whose condition is false. A step that needs a skipped step is skipped too, unless its own condition does
 * not read that step. What a `finally` step needs is only its place in the order.
 */
async function endOfStep(
  engine: Engine,
  results: StepResults,
  step: Step,
  { isLast }: { isLast: boolean },
): Promise<StepEnd> {
  const skipped = isLast ? [] : step.needs.filter((name) => results.of(name)?.state === 'skipped');
  if (skipped.length > 0 && (step.when === undefined || reads(step.when, skipped)))
    return skip(engine, step, `'${skipped[0]}' was skipped`);
  try {
    if (step.when !== undefined && !isFinished(engine, step) && !(await isTrue(step.when, step, results)))
      return await skip(engine, step, 'its condition does not hold');
  } catch (error) {
    const refusal = recordedFailure(error);
    const { code, message } = refusal;
    const taskId = taskIdOf(step.name);
    await emit(engine, { type: 'task_done', task_id: taskId, status: 'failed', code, msg: message });
    return { ...SKIPPED, state: 'failed', code, failed: [taskId], fatal: { taskId, code, message, refusal } };
  }
  return runStep(engine, results, step);
}

/** The end of a step that did not run. */
export const SKIPPED: StepEnd = {
  state: 'skipped',
  code: null,
  taskIds: [],
  isList: false,
  isDecision: false,
  failed: [],
  fatal: undefined,
  isUnknown: false,
};

async function skip(engine: Engine, { name }: Step, why: string): Promise<StepEnd> {
  const taskId = taskIdOf(name);
  // An earlier attempt may have recorded the skip.
  if (engine.history.of(taskId).done?.status !== 'skipped')
    await emit(engine, { type: 'task_done', task_id: taskId, status: 'skipped', msg: why });
  return SKIPPED;
}

async function isTrue(when: Template, { name }: Step, results: StepResults): Promise<boolean> {
  const scopeOf = await results.scopeFor(expressionsIn(when));
  const value = evaluate(when, scopeOf());
  if (typeof value === 'boolean') return value;
  throw new AcorError(
    'E_WORKFLOW_INVALID',
    `when of '${name}' must be true or false, got ${JSON.stringify(value)}`,
    {
      hint: "Write a comparison: ${steps.a.answer == 'yes'}",
    },
  );
}

function reads(when: Template, steps: readonly string[]): boolean {
  return expressionsIn(when).some(({ references }) =>
    references.some(([root, step = '']) => root === 'steps' && steps.includes(step)),
  );
}
