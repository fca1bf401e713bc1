import type { QueueSlot } from '../ports/run-queue.ts';
import type { RunWriter } from '../ports/run-store.ts';
import type { RunPlan } from './plan/run-plan.ts';
import type { RunnerServices } from './services.ts';

/** The queue slot of a run: the run executes only while it has one (contract §3). */
export class RunSlot {
  readonly #services: RunnerServices;
  readonly #plan: RunPlan;
  readonly #writer: RunWriter;
  readonly #cancelled = new AbortController();
  readonly #onWait: () => Promise<void> | undefined;
  #slot: QueueSlot | undefined;

  /** `onWait` is called when the run must wait. */
  constructor(
    services: RunnerServices,
    plan: RunPlan,
    writer: RunWriter,
    cancelled: Promise<unknown>,
    onWait: () => Promise<void> | undefined,
  ) {
    this.#services = services;
    this.#plan = plan;
    this.#writer = writer;
    this.#onWait = onWait;
    void cancelled.then(() => this.#cancelled.abort());
  }

  /** Waits for a slot; false when the run is cancelled meanwhile. Throws E_STORAGE. */
  async take(): Promise<boolean> {
    const { runId, name, budget, needsSlot, rate, group } = this.#plan;
    this.#slot = await this.#services.queue.enter(
      { run_id: runId, tool: name, needsSlot },
      { maxRuns: budget.maxRuns, rate, group },
      {
        signal: this.#cancelled.signal,
        onWait: async ({ why, working }) => {
          await this.#onWait();
          this.#writer.log.append({
            type: 'runner_log',
            level: 'info',
            msg: `waits for a queue slot: ${why}`,
            working,
          });
          return this.#writer.log.flush();
        },
      },
    );
    return this.#slot !== undefined;
  }

  /** After a rate limit error of the tool: lowers the number of concurrent runs of the tool, and queues this run again. */
  async requeueThrottled(): Promise<boolean> {
    await this.#slot?.slowDown();
    return this.take();
  }

  /** Releases the slot. A storage failure is ignored: the run has ended. */
  async end(ending: { completed: boolean }): Promise<void> {
    await this.#slot?.leave(ending).catch(() => {});
  }
}
