import type { QueueSlot } from '../ports/run-queue.ts';
import type { RunWriter } from '../ports/run-store.ts';
import type { RunPlan } from './plan/run-plan.ts';
import type { RunnerServices } from './services.ts';

/** A run's turn among the runs of its project: it works only while it has a place in the queue (contract §3). */
export class RunSlot {
  readonly #services: RunnerServices;
  readonly #plan: RunPlan;
  readonly #writer: RunWriter;
  readonly #cancelled = new AbortController();
  #place: QueueSlot | undefined;

  constructor(services: RunnerServices, plan: RunPlan, writer: RunWriter, cancelled: Promise<unknown>) {
    this.#services = services;
    this.#plan = plan;
    this.#writer = writer;
    void cancelled.then(() => this.#cancelled.abort());
  }

  /** Waits for a place; false when the run was cancelled meanwhile. Throws E_STORAGE. */
  async take(): Promise<boolean> {
    const { runId, name, budget, needsSlot, rate, group } = this.#plan;
    this.#place = await this.#services.queue.enter(
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
          this.#writer.log.flush();
        },
      },
    );
    return this.#place !== undefined;
  }

  /** The service behind the tool has had enough of it: fewer runs of the tool work at once, and this one queues up anew. */
  async requeueThrottled(): Promise<boolean> {
    await this.#place?.slowDown();
    return this.take();
  }

  /** Gives the place to the next one. A store that fails here has told its story already. */
  async end(ending: { completed: boolean }): Promise<void> {
    await this.#place?.leave(ending).catch(() => {});
  }
}
