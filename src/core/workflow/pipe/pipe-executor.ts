import type { RunLauncher } from '../../ports/run-launcher.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import { endChildren } from '../../run/end-children.ts';
import { failureOf } from '../../run/outcome.ts';
import {
  type AttemptOptions,
  type AttemptOutcome,
  notStarted,
  type RunExecutor,
} from '../../run/run-executor.ts';
import type { RunnerServices } from '../../run/services.ts';
import { StoreFailed } from '../engine/engine.ts';
import { TaskHistory } from '../engine/task-history.ts';
import { PipeAttempt } from './pipe-attempt.ts';
import type { Pipe, PipePlan } from './plan-pipe.ts';

/** Executes a pipe's run: each stage is a child run. */
export class PipeExecutor implements RunExecutor {
  readonly #parts: Omit<Pipe, 'history'>;

  constructor(services: RunnerServices, plan: PipePlan, writer: RunWriter, launcher: RunLauncher) {
    this.#parts = { services, plan, writer, launcher };
  }

  async attempt(options: AttemptOptions): Promise<AttemptOutcome> {
    const { services, plan, writer, launcher } = this.#parts;
    const { record } = writer;
    try {
      const history = await TaskHistory.read(services.store, record.run_id, []);
      return await new PipeAttempt({ ...this.#parts, history }, options).run();
    } catch (error) {
      // Whatever failed, end all stages: a stage must not outlive its pipe.
      await endChildren(services, record.run_id, 'the pipe failed').catch(() => undefined);
      return notStarted(failureOf(error instanceof StoreFailed ? error.error : error, plan.workspace.dir));
    } finally {
      launcher.close();
      await options.questions.end().catch(() => undefined);
    }
  }

  async conclude(): Promise<void> {}
}
