import { AcorError } from '../../../protocol/acor-error.ts';
import { isFinal } from '../../../protocol/run.ts';
import { rounded } from '../../cost/run-spending.ts';
import { type Ending, EndingRace } from '../../run/attempt/ending.ts';
import { guardDeadline } from '../../run/attempt/guards/clocks.ts';
import { type AttemptOptions, type AttemptOutcome, notStarted } from '../../run/run-executor.ts';
import type { RunSummary } from '../../run/run-summary.ts';
import { storageError } from '../../store-files/storage-error.ts';
import { Decisions } from '../engine/decisions.ts';
import { emit, StoreFailed } from '../engine/engine.ts';
import { followChild } from '../engine/follow-child.ts';
import { pipeOutcome, type StageFailure } from './pipe-outcome.ts';
import type { Pipe, PlannedStage } from './plan-pipe.ts';
import { beginStage, takeUpStages } from './stage-runs.ts';

/** Cancel reason for a stage whose reader has completed. */
const DOWNSTREAM_ENDED = 'downstream ended';

/** More records are not in the result of a pipe. */
const MAX_RECORDS = 1000;

/** The run of a stage. */
interface Running {
  stage: PlannedStage;
  runId: string;
  /** Set when the run has ended. */
  summary: RunSummary | undefined;
  /** The tool after it has completed, so this run may be ended. */
  isNotNeeded: boolean;
}

/**
 * One attempt of a pipe: starts its stages in order, follows them all, and ends all when one fails. The first failure
 * is the outcome of the pipe.
 */
export class PipeAttempt {
  readonly #pipe: Pipe;
  readonly #race = new EndingRace();
  readonly #decisions: Decisions;
  readonly #stopGuard: () => void;
  readonly #runs: Running[] = [];
  #failure: StageFailure | undefined;
  #childrenUsd = 0;
  /** Why all stages must end. */
  #stopReason: string | undefined;

  constructor(pipe: Pipe, options: AttemptOptions) {
    this.#pipe = pipe;
    const deadline = guardDeadline(this.#race, {
      leftMs: options.leftMs,
      isClockStopped: () => pipe.plan.limits.waitingStopsDeadline && options.questions.isClockStopped,
      timeoutS: pipe.plan.limits.timeoutS,
      isOutputClosed: () => false,
      question: () => options.questions.awaited,
    });
    this.#stopGuard = deadline.stop;
    this.#decisions = new Decisions(options.questions, pipe.writer, pipe.plan.workspace, {
      goingOn: () => deadline.look(),
      failed: (error) => this.#storeFailed(error),
    });
    void options.cancelled.then((reason) => this.#race.end({ kind: 'cancelled', reason }));
    void options.forceCancel.then(() => this.#stopAll(this.#stopReason ?? 'cancelled', { force: true }));
    void this.#race.first.then((ending) => this.#stopAll(reasonOf(ending)));
  }

  /** Runs the attempt to its end. When it returns, no stage is running. It never throws. */
  async run(): Promise<AttemptOutcome> {
    const followed: Promise<void>[] = [];
    try {
      const { kept, done } = await takeUpStages(this.#pipe);
      for (const [index, stage] of this.#pipe.plan.stages.entries()) {
        if (this.#stopReason !== undefined) break;
        const runId = kept[index] ?? (await beginStage(this.#pipe, index, this.#runs.at(-1)?.runId));
        const run: Running = { stage, runId, summary: undefined, isNotNeeded: index < done };
        this.#runs.push(run);
        followed.push(this.#follow(run).catch((error) => this.#storeFailed(error)));
      }
    } catch (error) {
      this.#couldNotBegin(error);
    }
    await Promise.all(followed);
    this.#stopGuard();
    return this.#conclude();
  }

  async #follow(run: Running): Promise<void> {
    const { stage, runId } = run;
    if (this.#stopReason !== undefined) this.#cancel(run, this.#stopReason);
    const teller = { ...this.#pipe, decisions: this.#decisions };
    const { record, summary } = await followChild(teller, stage.taskId, runId, {
      isWorkflow: false,
      recorded: this.#pipe.launcher.recorded(runId),
    });
    const { state, code, message, rc, events } = summary;
    run.summary = summary;
    this.#childrenUsd = rounded(this.#childrenUsd + (record.cost_usd ?? 0));
    if (this.#pipe.history.of(stage.taskId).done === undefined)
      await emit(this.#pipe, {
        type: 'task_done',
        task_id: stage.taskId,
        child_run_id: runId,
        status: state === 'completed' ? 'ok' : state,
        ...(code !== null && { code }),
        ...(message !== null && { msg: message }),
        child_rc: rc,
        events_count: events,
      });
    if (state === 'completed') this.#releaseThoseBefore(run);
    else if (!run.isNotNeeded) this.#failed({ stage, summary }, state);
  }

  /**
   * Ends the earlier stages: no stage reads their further records, as with SIGPIPE. Stages that have ended are not
   * affected.
   */
  #releaseThoseBefore(run: Running): void {
    for (const before of this.#runs.slice(0, this.#runs.indexOf(run))) {
      before.isNotNeeded = true;
      this.#cancel(before, DOWNSTREAM_ENDED);
    }
  }

  #failed(failure: StageFailure, how: string): void {
    if (this.#stopReason !== undefined) return;
    this.#failure = failure;
    this.#stopAll(`stage ${failure.stage.taskId} of the pipe: ${how}`);
  }

  #couldNotBegin(error: unknown): void {
    if (error instanceof StoreFailed || !(error instanceof AcorError)) this.#storeFailed(error);
    else {
      const stage = this.#pipe.plan.stages[this.#runs.length]!;
      this.#failed({ stage, error }, 'could not begin');
    }
  }

  #storeFailed(error: unknown): void {
    const failure = error instanceof StoreFailed ? error.error : error;
    this.#race.end({
      kind: 'store-failed',
      error: storageError(failure, 'write the run of the pipe', this.#pipe.plan.workspace.dir),
    });
  }

  /** In order, so that no stage asks for records of a run that is already gone. */
  #stopAll(reason: string, options: { force?: boolean } = {}): void {
    this.#stopReason ??= reason;
    for (const run of this.#runs) this.#cancel(run, reason, options);
  }

  #cancel(run: Running, reason: string, options: { force?: boolean } = {}): void {
    this.#requestCancel(run, reason, options).catch((error) => this.#storeFailed(error));
  }

  async #requestCancel(
    { runId, summary }: Running,
    reason: string,
    options: { force?: boolean },
  ): Promise<void> {
    const { store } = this.#pipe.services;
    if (summary !== undefined || isFinal((await store.read(runId)).state)) return;
    await store.control.requestCancel(runId, reason, options);
  }

  async #conclude(): Promise<AttemptOutcome> {
    const { writer } = this.#pipe;
    const outcome = pipeOutcome(this.#failure, this.#race.winner);
    const last = this.#runs.at(-1)?.summary?.result ?? null;
    const records = outcome.state === 'completed' ? await this.#lastRecords() : [];
    let result: Record<string, unknown> | null = null;
    if (outcome.state === 'completed') {
      const stages = this.#runs.map(({ stage, runId }) => ({ task_id: stage.taskId, run_id: runId }));
      result = writer.log.append({
        type: 'result',
        status: 'ok',
        stages,
        ...(last?.data !== undefined && { data: last.data }),
        ...(records.length > 0 && { records }),
      });
    }
    return {
      ...notStarted(outcome),
      result,
      ...(this.#childrenUsd > 0 && { cost: { childrenUsd: this.#childrenUsd } }),
    };
  }

  /** The last records of the last stage: nothing reads them, so they are the answer of the pipe. The log of its run has all. */
  async #lastRecords(): Promise<unknown[]> {
    const { store } = this.#pipe.services;
    const records: unknown[] = [];
    for await (const { record } of store.tail(this.#runs.at(-1)!.runId, ['log'])) {
      if (typeof record === 'object' && record !== null) records.unshift(record);
      if (records.length === MAX_RECORDS) break;
    }
    return records;
  }
}

function reasonOf(ending: Ending): string {
  return ending.kind === 'cancelled' ? ending.reason : ending.kind;
}
