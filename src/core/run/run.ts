import type { AcorError } from '../../protocol/acor-error.ts';
import type { Config } from '../../protocol/config-file.ts';
import type { RunCost } from '../../protocol/run-cost.ts';
import { RunSpending } from '../cost/run-spending.ts';
import type { CancelOptions, ControlListener } from '../ports/control-channel.ts';
import type { RunStore, RunWriter } from '../ports/run-store.ts';
import { Questions } from './answers/questions.ts';
import { after } from './attempt/guards/guard.ts';
import { cancelledFor, failureOf, type Outcome, overBudget, stopped } from './outcome.ts';
import { type RunPlan, recordedArgs } from './plan/run-plan.ts';
import { isRepeatable } from './repeatable.ts';
import { backoffMs, nextStep } from './retry.ts';
import { type AttemptOptions, type AttemptOutcome, notStarted, type RunExecutor } from './run-executor.ts';
import { RunSlot } from './run-slot.ts';
import type { RunSummary } from './run-summary.ts';
import type { RunnerServices, RunWatch } from './services.ts';
import { stepsForKept, summarise } from './summarise-run.ts';
import { prepareWorkspace, type RunHost, removeCancelFile, tidyWorkspace } from './workspace.ts';
import { enterState, UNKNOWN_USAGE, writeEnding } from './write-ending.ts';

/** The last moment that RFC 3339 can represent: a deadline may be later. */
const LAST_DEADLINE_MS = Date.UTC(9999, 11, 31);

/** A run that this process supervises. */
export class Run {
  readonly isKnown = false;
  readonly runId: string;
  /** Settles when the end of the run is fsynced, and no process of the run is alive. */
  readonly ended: Promise<RunSummary>;
  readonly #recorded = Promise.withResolvers<void>();
  /** Resolves when the end is in the store, where others see it, or when nothing more will be written there. */
  readonly recorded: Promise<void> = this.#recorded.promise;
  readonly #store: RunStore;
  readonly #host: RunHost;
  readonly #plan: RunPlan;
  readonly #writer: RunWriter;
  readonly #executor: RunExecutor;
  readonly #begun: Promise<void> | undefined;
  readonly #firstAttempt: number;
  /** The number of the latest attempt. */
  #attempt: number;
  /** How many events the log held before this supervisor. */
  readonly #since: number;
  readonly #budget: Config['budget'];
  readonly #slot: RunSlot;
  readonly #watch: RunWatch | undefined;
  /** Why its messages are not sent. */
  readonly #unsent: AcorError | undefined;
  /** When the run left the queue: waiting there does not count. */
  #begunMs = performance.now();
  readonly #cancelled = Promise.withResolvers<string>();
  /** The first request to cancel. */
  #cancelRequest: { by: string | undefined } | undefined;
  readonly #forceCancel = Promise.withResolvers<void>();
  readonly #questions: Questions;
  readonly #control: ControlListener;
  readonly #spending: RunSpending;
  #childrenUsd: number | undefined;
  #isOver = false;

  private constructor(
    services: RunnerServices,
    plan: RunPlan,
    writer: RunWriter,
    executor: RunExecutor,
    begun: Promise<void> | undefined,
  ) {
    this.#plan = plan;
    this.#writer = writer;
    this.#executor = executor;
    this.#begun = begun;
    this.#firstAttempt = this.#attempt = writer.record.attempt;
    // The change back to `queued` belongs to this supervisor's events.
    this.#since = plan.again === null ? 0 : writer.log.events - 1;
    plan.secrets?.guard(writer);
    this.runId = plan.runId;
    this.#store = services.store;
    this.#host = services;
    this.#budget = services.config.config.budget;
    this.#questions = new Questions(writer, plan);
    this.#spending = new RunSpending({
      limit: plan.cost.limit,
      warnAt: plan.cost.warnAt,
      // A retry starts over, but what was spent is spent.
      before: writer.record.cost ?? null,
      loadPricer: async () => {
        const { Pricer } = await import('../cost/pricer.ts');
        return new Pricer(services.config.config, { kind: plan.kind, perRunUsd: plan.cost.perRunUsd });
      },
      warn: (msg, extra) => this.#warn('E_BUDGET', msg, extra),
    });
    this.#watch = services.plugins?.watch(writer);
    this.#unsent = services.outbox?.watch(writer);
    this.#slot = new RunSlot(services, plan, writer, this.#cancelled.promise, () => executor.endBegun?.());
    this.#control = services.store.control.listen(this.runId, writer.epoch, {
      onCancel: (reason, by) => this.#takeCancel(reason, by),
      onForceCancel: () => this.#forceCancel.resolve(),
      onAnswer: (posted) => this.#questions.take(posted),
    });
    this.ended = this.#supervise();
  }

  /** Starts to supervise a planned run. `begun` is what the executor has begun. */
  static begin(
    services: RunnerServices,
    plan: RunPlan,
    writer: RunWriter,
    executor: RunExecutor,
    begun?: Promise<void>,
  ): Run {
    return new Run(services, plan, writer, executor, begun);
  }

  /** Whether it has asked anything so far. */
  get hasAsked(): boolean {
    return this.#writer.record.has_questions === true;
  }

  /** Cancels the run: with grace periods, or at once with `force`. */
  async cancel(reason: string, { force, by }: CancelOptions = {}): Promise<void> {
    this.#takeCancel(reason, by);
    if (force) this.#forceCancel.resolve();
  }

  #takeCancel(reason: string, by: string | undefined): void {
    this.#cancelRequest ??= { by };
    this.#cancelled.resolve(reason);
  }

  /**
   * The stored events as bytes of whole lines, from the first one of this supervisor to the end. A batch is valid until the next one is
   * asked for.
   */
  follow(signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    // When a tool has truncated its log, the end of the run never shows there.
    const isAbandoned = () => this.#isOver;
    const changes = (changed: () => void) => this.#writer.log.observe({ stored: changed });
    return this.#store.follow(this.runId, {
      since: this.#since,
      wait: true,
      isAbandoned,
      ended: this.ended,
      changes,
      reusesBuffers: true,
      ...(signal && { signal }),
    });
  }

  async #supervise(): Promise<RunSummary> {
    let completed = false;
    try {
      const last = await this.#runToOutcome();
      // A warning that cannot be recorded must not prevent the end of the run.
      await this.#executor.conclude(last).catch(() => undefined);
      const { outcome, exit } = last;
      if (outcome.state === 'completed') await this.#questions.reportUnused().catch(() => undefined);
      const durationS = Math.round(performance.now() - this.#begunMs) / 1000;
      const summarised = summarise(this.#plan, this.#plan.workspace, last, {
        attempt: this.#attempt,
        durationS,
        warnings: this.#writer.log.warnings,
        keptSteps: await stepsForKept(this.#host, { run_id: this.runId, kind: this.#plan.kind }),
        repeatable: outcome.state !== 'completed' && (await isRepeatable(this.#writer.record, this.#store)),
        stopsAtLimit: this.#budget.on_cost_limit === 'stop',
      });
      const summary = this.#plan.secrets?.conclude(this.#plan.workspace, summarised) ?? summarised;
      await this.#watch?.beforeEnd();
      // The end is the last event: from here on no answer is taken.
      this.#control.close();
      await this.#questions.close();
      const reported = {
        ...summary,
        usage: exit?.usage ?? UNKNOWN_USAGE,
        cost: await this.#cost(),
        cancelled_by: this.#cancelRequest?.by,
      };
      summary.events = await writeEnding(this.#writer, outcome, reported, {
        settle: () => this.#executor.settle?.(outcome.state),
      });
      this.#recorded.resolve();
      completed = outcome.state === 'completed';
      await this.#watch?.afterEnd();
      return summary;
    } finally {
      this.#isOver = true;
      this.#control.close();
      await this.#tidy(completed);
      await this.#writer.close();
      await this.#slot.end({ completed });
      this.#recorded.resolve();
    }
  }

  /**
   * Removes files that an ended run does not need. Failures are ignored: the run has ended. A supervisor that was replaced removes
   * nothing: the requests and the streams belong to the next attempt.
   */
  async #tidy(completed: boolean): Promise<void> {
    const { leases } = this.#store;
    if (!(await leases.isHeld(this.runId, this.#writer.epoch).catch(() => false))) return;
    await this.#store.control.reset(this.runId, this.#writer.epoch).catch(() => {});
    if (completed && this.#plan.answers.length > 0) {
      const { keepGivenAnswers } = await import('./answers/given-answers.ts');
      keepGivenAnswers(this.#plan);
    }
    tidyWorkspace(this.#plan.workspace);
  }

  /** Whatever throws, the run gets an outcome, and so an ending. */
  async #runToOutcome(): Promise<AttemptOutcome> {
    try {
      await this.#recordStart();
      await this.#begun;
      const last = await this.#runInSlot();
      return { ...last, outcome: await this.#withCeiling(last.outcome) };
    } catch (error) {
      return notStarted(failureOf(error, this.#plan.workspace.dir));
    }
  }

  async #withCeiling(outcome: Outcome): Promise<Outcome> {
    if (outcome.state !== 'failed' || !outcome.byRunner) return outcome;
    const { hintAtCeiling } = await import('./hint-at-ceiling.ts');
    return {
      ...outcome,
      hint: hintAtCeiling(outcome, this.#plan.limits, this.#budget),
    };
  }

  async #recordStart(): Promise<void> {
    const { kind, name, title, limits, isolation, approval, cwd, version, digest, givenArgs, writes, reads } =
      this.#plan;
    this.#writer.log.append({
      type: 'runner_start',
      tool: name,
      ...(title !== undefined && { title }),
      kind,
      args: recordedArgs(this.#plan),
      given_args: givenArgs,
      ...(writes !== null && { writes }),
      ...(reads !== undefined && { reads }),
      cwd,
      tool_version: version,
      tool_digest: digest,
      attempt: this.#firstAttempt,
      timeout_s: limits.timeoutS,
      trace_id: this.#plan.traceId,
      span_id: this.#plan.spanId,
      ...(this.#plan.parentSpanId !== null && { parent_span_id: this.#plan.parentSpanId }),
      ...(!this.#plan.isSampled && { sampled: false }),
      ...(this.#plan.traceState !== null && { trace_state: this.#plan.traceState }),
      isolation,
      ...(approval !== null && { approval }),
    });
    for (const { what, asked, allowed, by = "the project's budget" } of this.#plan.lowered) {
      this.#warn(undefined, `${by} allows ${what} ${allowed}, not ${asked}`, {
        asked,
        allowed,
      });
    }
    if (this.#unsent !== undefined) {
      const { code, message, hint } = this.#unsent;
      this.#warn(code, `the run sends no messages: ${message}. ${hint ?? ''}`.trimEnd());
    }
    this.#watch?.begun();
    await this.#writer.log.flush();
  }

  /** Waits for a queue slot of the project, and runs the attempts. */
  async #runInSlot(): Promise<AttemptOutcome> {
    if (!(await this.#slot.take())) return notStarted(await this.#cancellation());
    this.#begunMs = performance.now();
    // A tool may get the folders of a sandbox that waits for it.
    if (this.#plan.kind !== 'tool') prepareWorkspace(this.#plan.workspace);
    enterState(this.#writer, 'running');
    await this.#writer.update({ state: 'running', started_at: new Date().toISOString() });
    await this.#writer.log.flush();
    return this.#runAttempts();
  }

  async #runAttempts(): Promise<AttemptOutcome> {
    await this.#spending.prepare();
    const over = this.#spending.over();
    // A task may ask first.
    if (over !== undefined && this.#plan.kind !== 'task') return notStarted(overBudget(over));
    for (let number = this.#firstAttempt; ; number++) {
      const ended = await this.#runAttempt(number);
      this.#childrenUsd = ended.childrenUsd;
      try {
        const final = await this.#outcomeAfter(ended, number);
        if (final !== undefined) return { ...ended, outcome: final };
      } catch (error) {
        return { ...ended, outcome: failureOf(error, this.#plan.workspace.dir) };
      }
    }
  }

  /** Waits for the next attempt, and returns undefined; or returns the outcome of the run when no attempt follows. */
  async #outcomeAfter(ended: AttemptOutcome, number: number): Promise<Outcome | undefined> {
    const { outcome, wasStopped } = ended;
    const { idempotent, retry } = this.#plan;
    const count = number - this.#firstAttempt + 1;
    const step = nextStep(outcome, count, retry, { idempotent, wasStopped });
    if (step === 'unknown') return unknownOutcome(outcome);
    if (step === 'end') return outcome;
    const waitMs = backoffMs(count, retry);
    if (waitMs >= this.#leftMs()) return outcome;
    await this.#reportRetry(outcome, number, waitMs);
    return (await this.#mayTryAgain(outcome, waitMs)) ? undefined : this.#cancellation();
  }

  /** Time left until the deadline of the whole run. */
  #leftMs(): number {
    const { timeoutS, waitingStopsDeadline } = this.#plan.limits;
    const waitedMs = waitingStopsDeadline ? this.#questions.waitedMs : 0;
    return timeoutS * 1000 + waitedMs - (performance.now() - this.#begunMs);
  }

  #runAttempt(number: number): Promise<AttemptOutcome> {
    this.#attempt = number;
    if (number > 1 || this.#plan.again !== null) removeCancelFile(this.#plan.workspace);
    return this.#executor.attempt(this.#optionsOf(number));
  }

  #optionsOf(number: number): AttemptOptions {
    return {
      number,
      leftMs: () => this.#leftMs(),
      deadline: () => new Date(Math.min(Date.now() + this.#leftMs(), LAST_DEADLINE_MS)),
      isResumed: number > this.#firstAttempt || this.#plan.again === 'resume',
      cancelled: this.#cancelled.promise,
      forceCancel: this.#forceCancel.promise,
      questions: this.#questions,
      control: this.#control,
      spending: this.#spending,
    };
  }

  /** What the run cost. A price that cannot be looked up must not prevent the end of the run. */
  async #cost(): Promise<RunCost | null> {
    const own = await this.#spending.cost(this.#plan.cost.perRunUsd !== null).catch(() => null);
    const children_usd = this.#childrenUsd;
    if (children_usd === undefined) return own;
    return { ...(own ?? { usd: null, source: null }), children_usd };
  }

  #warn(code: string | undefined, msg: string, extra: Record<string, unknown> = {}): void {
    this.#writer.log.append({ type: 'runner_warning', ...(code !== undefined && { code }), msg, ...extra });
  }

  async #reportRetry(outcome: Outcome, number: number, waitMs: number): Promise<void> {
    // The attempts before a resume or a retry of the run do not count for its limit.
    const last = this.#firstAttempt - 1 + this.#plan.retry.maxAttempts;
    this.#warn(
      outcome.code ?? undefined,
      `attempt ${number} of ${last} failed: ${outcome.message}; trying again`,
      {
        attempt: number,
        retry_in_s: Math.round(waitMs) / 1000,
      },
    );
    await this.#writer.update({ attempt: number + 1 });
    await this.#writer.log.flush();
  }

  /** Waits before the next attempt; false when the run is cancelled meanwhile. After a rate limit error the run queues again. */
  async #mayTryAgain(outcome: Outcome, waitMs: number): Promise<boolean> {
    let stopTimer = () => {};
    const timeUp = new Promise<true>((resolve) => {
      stopTimer = after(waitMs, () => resolve(true));
    });
    const mayRetry = await Promise.race([timeUp, this.#cancelled.promise.then(() => false)]);
    stopTimer();
    if (!mayRetry || outcome.code !== 'E_RATE_LIMIT') return mayRetry;
    return this.#slot.requeueThrottled();
  }

  async #cancellation(): Promise<Outcome> {
    return cancelledFor(await this.#cancelled.promise);
  }
}

function unknownOutcome(outcome: Outcome): Outcome {
  return stopped(
    'E_OUTCOME_UNKNOWN',
    `${outcome.message}; not retried, because the effects of the stopped tool are unknown (${outcome.code})`,
  );
}
