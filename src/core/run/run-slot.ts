import type { QueueSlot } from '../ports/run-queue.ts';
import type { RunWriter } from '../ports/run-store.ts';
import type { RunPlan } from './plan/run-plan.ts';
import type { RunnerServices } from './services.ts';

/** The queue slot of a run: it executes only while it holds one (contract §3). */
export class RunSlot {
  readonly #services: RunnerServices;
  readonly #plan: RunPlan;
  readonly #writer: RunWriter;
  readonly #cancelled = new AbortController();
  #slot: QueueSlot | undefined;

  constructor(services: RunnerServices, plan: RunPlan, writer: RunWriter, cancelled: Promise<unknown>) {
    this.#services = services;
    this.#plan = plan;
    this.#writer = writer;
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
        onWait: ({ why, working }) => {
          this.#writer.log.append({
            type: 'runner_log',
            level: 'info',
            msg: `waits for its turn: ${why}`,
            working,
          });
          return this.#writer.log.flush();
        },
      },
    );
    return this.#slot !== undefined;
  }

  /** The service behind the tool throttles it: fewer runs of the tool execute at once, and this one queues again. */
  async requeueThrottled(): Promise<boolean> {
    await this.#slot?.slowDown();
    return this.take();
  }

  /** Releases the slot. A store that fails here has failed before, and that is recorded. */
  async end(ending: { completed: boolean }): Promise<void> {
    await this.#slot?.leave(ending).catch(() => {});
  }
}
