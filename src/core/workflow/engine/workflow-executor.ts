import { MORE, questionForMore } from '../../cost/ask-for-more.ts';
import type { OverBudget } from '../../cost/run-spending.ts';
import type { RunLauncher } from '../../ports/run-launcher.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import { EndingRace } from '../../run/attempt/ending.ts';
import { guardDeadline } from '../../run/attempt/guards/clocks.ts';
import { endChildren } from '../../run/end-children.ts';
import { completed, failureOf, type Outcome, stopped, timedOut } from '../../run/outcome.ts';
import {
  type AttemptOptions,
  type AttemptOutcome,
  notStarted,
  type RunExecutor,
} from '../../run/run-executor.ts';
import type { RunnerServices } from '../../run/services.ts';
import { isResumedBy, remediesAmong } from '../../run/steps-after.ts';
import { storageError } from '../../store-files/storage-error.ts';
import { evaluate, expressionsIn } from '../expression/expression.ts';
import type { Step } from '../model.ts';
import { type AskForMore, ChildCosts } from './child-costs.ts';
import { Decisions } from './decisions.ts';
import { AT_DEADLINE, type Engine, emit, recordedFailure, Slots, StoreFailed } from './engine.ts';
import type { WorkflowPlan } from './plan-workflow.ts';
import { type Fatal, runSteps, SKIPPED } from './schedule.ts';
import { StepResults } from './step-results.ts';
import { TaskHistory } from './task-history.ts';
import { actionIdOf } from './task-id.ts';

/** The outcome's message names at most this many failed tasks. */
const MOST_NAMED = 100;

/** Executes a workflow's run: each step is a child run. */
export class WorkflowExecutor implements RunExecutor {
  readonly #services: RunnerServices;
  readonly #plan: WorkflowPlan;
  readonly #writer: RunWriter;
  readonly #launcher: RunLauncher;

  constructor(services: RunnerServices, plan: WorkflowPlan, writer: RunWriter, launcher: RunLauncher) {
    this.#services = services;
    this.#plan = plan;
    this.#writer = writer;
    this.#launcher = launcher;
  }

  async attempt(options: AttemptOptions): Promise<AttemptOutcome> {
    const { record } = this.#writer;
    try {
      return await this.#goThrough(options);
    } catch (error) {
      // Whatever failed, end all children: a child must not outlive its workflow.
      await endChildren(this.#services, record.run_id, 'the workflow failed').catch(() => undefined);
      return notStarted(
        failureOf(error instanceof StoreFailed ? error.error : error, this.#plan.workspace.dir),
      );
    } finally {
      this.#launcher.close();
      await options.questions.end().catch(() => undefined);
    }
  }

  async conclude(): Promise<void> {}

  async #goThrough(options: AttemptOptions): Promise<AttemptOutcome> {
    const { workflow, limits } = this.#plan;
    const race = new EndingRace();
    const forceCancel = new AbortController();
    const deadline = guardDeadline(race, {
      leftMs: options.leftMs,
      isClockStopped: () => limits.waitingStopsDeadline && options.questions.isClockStopped,
      timeoutS: limits.timeoutS,
      isOutputClosed: () => false,
      question: () => options.questions.awaited,
    });
    const history = await TaskHistory.read(
      this.#services.store,
      this.#plan.runId,
      workflow.finally.map(({ name }) => name),
    );
    const engine: Engine = {
      services: this.#services,
      plan: this.#plan,
      writer: this.#writer,
      launcher: this.#launcher,
      history,
      slots: new Slots(workflow.maxConcurrency),
      decisions: new Decisions(options.questions, this.#writer, this.#plan.workspace, {
        goingOn: () => deadline.look(),
        failed: (error) =>
          race.end({
            kind: 'store-failed',
            error: storageError(error, 'keep an answer', this.#plan.workspace.answers),
          }),
      }),
      costs: await this.#childCosts(history, (over) => askForMore(engine, over, options.number)),
      isOk: true,
      stop: new AbortController(),
      forceCancel: forceCancel.signal,
    };
    void options.forceCancel.then(() => forceCancel.abort());
    void options.cancelled.then((reason) => race.end({ kind: 'cancelled', reason }));
    void race.first.then((ending) => {
      engine.isOk = false;
      engine.stop.abort(ending.kind === 'cancelled' ? ending.reason : AT_DEADLINE);
    });
    try {
      const results = new StepResults(engine);
      const fatal = await runSteps(engine, workflow.steps, results);
      if (fatal !== undefined) engine.isOk = false;
      deadline.stop();
      const lastFatal = await this.#runLast(engine, results, options);
      const judged = await this.#judge(engine, results, race, fatal ?? lastFatal);
      return engine.costs.usd > 0 ? { ...judged, childrenUsd: engine.costs.usd } : judged;
    } finally {
      deadline.stop();
    }
  }

  /** The costs of the children, with those of earlier attempts. */
  async #childCosts(history: TaskHistory, ask: AskForMore): Promise<ChildCosts> {
    const { budget } = this.#services.config.config;
    const costs = new ChildCosts({
      limit: this.#plan.cost.limit,
      perChildUsd: budget.max_cost_usd,
      warnAt: budget.cost_warn_at,
      warn: (msg, extra) =>
        this.#writer.log.append({ type: 'runner_warning', code: 'E_BUDGET', msg, ...extra }),
      askForMore: budget.on_cost_limit === 'ask' ? ask : null,
    });
    for (const runId of history.childRunIds) {
      // A removed run costs nothing any more.
      const record = await this.#services.store.read(runId).catch(() => undefined);
      if (record !== undefined) costs.add(record);
    }
    return costs;
  }

  /** The `finally` steps run whatever happened before. Only a forced cancel ends them. */
  async #runLast(
    engine: Engine,
    results: StepResults,
    { forceCancel }: AttemptOptions,
  ): Promise<Fatal | undefined> {
    const stop = new AbortController();
    engine.stop = stop;
    void forceCancel.then(() => stop.abort('the workflow was cancelled by force'));
    // Lets an already requested forced cancel take effect first.
    await Promise.resolve();
    // They may read every step, also one that this run did not reach.
    for (const { name } of this.#plan.workflow.steps)
      if (results.of(name) === undefined) results.add(name, SKIPPED);
    return runSteps(engine, this.#plan.workflow.finally, results);
  }

  async #judge(
    engine: Engine,
    results: StepResults,
    race: EndingRace,
    fatal: Fatal | undefined,
  ): Promise<AttemptOutcome> {
    const ending = race.winner;
    if (ending !== undefined || fatal !== undefined) {
      // Children of an earlier attempt that this attempt did not reach.
      const hasStrays = engine.history.open().length > 0;
      if (hasStrays) await endChildren(this.#services, this.#writer.record.run_id, 'its workflow has ended');
    }
    if (ending?.kind === 'store-failed') throw ending.error;
    if (ending?.kind === 'cancelled') return notStarted(cancelled(ending.reason));
    if (ending !== undefined) {
      const question = ending.kind === 'deadline' ? ending.question : undefined;
      return notStarted(timedOut('the workflow', { timeoutS: this.#plan.limits.timeoutS, question }));
    }
    const ends = [...results.all()].map(([, end]) => end);
    const failed = ends.flatMap((end) => end.failed);
    const isUnknown = ends.some((end) => end.isUnknown);
    if (fatal !== undefined)
      return notStarted(await this.#reportFailure(engine, fatal, { failed, isUnknown }));
    try {
      return await this.#complete(engine, results, failed);
    } catch (error) {
      const { code, message, hint, next = [] } = recordedFailure(error);
      const ended = stopped(code, message);
      return notStarted({ ...ended, hint: hint ?? ended.hint, remedies: remediesAmong(next) });
    }
  }

  async #reportFailure(
    engine: Engine,
    { taskId, code, message, refusal, ...of }: Fatal,
    { failed, isUnknown }: { failed: readonly string[]; isUnknown: boolean },
  ): Promise<Outcome> {
    const others =
      failed.length > 1
        ? ` (and ${failed.length - 1} more: ${failed
            .filter((id) => id !== taskId)
            .slice(0, 5)
            .join(', ')})`
        : '';
    const msg = `'${taskId}' failed: ${message}${others}`;
    const remedies = remediesAmong(refusal?.next ?? []);
    const isGone = isResumedBy(remedies, this.#plan.runId);
    const hint = hintAfter(code, refusal, { isGone, isUnknown });
    // A resume tries the step again.
    const retryable = of.retryable === true && !isUnknown;
    const reported = { code, msg, hint, retryable, failed: this.#named(engine, failed) };
    await emit(engine, { type: 'error', ...reported });
    const failedRun = isGone ? {} : await this.#failedRun(engine, taskId);
    const ended = { state: 'failed', code, message: msg, hint, retryable, byRunner: false } as const;
    return { ...ended, ...failedRun, remedies, ...(isUnknown && !isGone && { needsForce: true }) };
  }

  /** The run of a task; none where it was removed, as its logs are. */
  async #failedRun({ services, history }: Engine, taskId: string): Promise<Pick<Outcome, 'failedRun'>> {
    const { childRunId } = history.of(taskId);
    const record = childRunId && (await services.store.read(childRunId).catch(() => undefined));
    return record ? { failedRun: record.run_id } : {};
  }

  async #complete(engine: Engine, results: StepResults, failed: readonly string[]): Promise<AttemptOutcome> {
    const data = await this.#data(results);
    const ends = [...results.all()].map(([, { state }]) => state);
    const steps = {
      completed: ends.filter((state) => state === 'completed').length,
      failed: ends.filter((state) => state === 'failed').length,
      skipped: ends.filter((state) => state === 'skipped').length,
    };
    const result = {
      type: 'result',
      status: failed.length === 0 ? 'ok' : 'partial',
      data,
      steps,
      ...(failed.length > 0 && { failed: this.#named(engine, failed), failed_count: failed.length }),
    };
    await emit(engine, result);
    return { ...notStarted(completed()), result };
  }

  /** The outputs that the workflow declares; without any, what its last steps have answered. */
  async #data(results: StepResults): Promise<Record<string, unknown>> {
    const { outputs, steps } = this.#plan.workflow;
    const named = Object.entries(outputs);
    if (named.length === 0) return results.answersOf(lastOf(steps));
    const scopeOf = await results.scopeFor(Object.values(outputs).flatMap(expressionsIn));
    const scope = scopeOf();
    return Object.fromEntries(named.map(([name, output]) => [name, evaluate(output, scope)]));
  }

  #named({ history }: Engine, failed: readonly string[]): Record<string, unknown>[] {
    return failed.slice(0, MOST_NAMED).map((taskId) => {
      const { childRunId, done } = history.of(taskId);
      return {
        task_id: taskId,
        run_id: childRunId,
        code: done?.code ?? null,
        message: done?.message ?? null,
      };
    });
  }
}

/** The question has another id in each attempt: the answer of an earlier attempt must not decide on further costs. */
async function askForMore({ decisions, stop }: Engine, over: OverBudget, attempt: number): Promise<boolean> {
  const question = questionForMore('workflow', over);
  const action_id = actionIdOf(question.action_id, undefined, attempt);
  const decided = await decisions.ask({ ...question, action_id }, stop.signal);
  return typeof decided === 'object' && 'answer' in decided && decided.answer === MORE;
}

function hintAfter(
  code: string,
  refusal: Fatal['refusal'],
  { isGone, isUnknown }: { isGone: boolean; isUnknown: boolean },
): string {
  if (isUnknown && !isGone)
    return 'Find out what the step did before it was stopped. If a repeat is harmless, resume the workflow with --force.';
  if (refusal?.hint === undefined)
    return code === 'E_BUDGET'
      ? 'Raise the limit of the budget that the message names, then resume the workflow.'
      : 'Fix what failed, then resume the workflow.';
  return isGone ? refusal.hint : `${refusal.hint} Then resume the workflow.`;
}

function cancelled(reason: string): Outcome {
  return { state: 'cancelled', code: null, message: reason, hint: null, retryable: false, byRunner: false };
}

/** The names of the steps that no other step needs. */
function lastOf(steps: readonly Step[]): string[] {
  const needed = new Set(steps.flatMap(({ needs }) => needs));
  return steps.map(({ name }) => name).filter((name) => !needed.has(name));
}
