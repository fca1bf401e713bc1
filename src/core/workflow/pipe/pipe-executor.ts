import type { RunWriter } from '../../ports/run-store.ts';
import type { ChildHosts } from '../../run/child-supervisors.ts';
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
import type { Pipe } from './pipe.ts';
import { PipeAttempt } from './pipe-attempt.ts';
import type { PipePlan } from './plan-pipe.ts';

/** Executes a pipe's run: each stage is a child run. */
export class PipeExecutor implements RunExecutor {
  readonly #parts: Omit<Pipe, 'history'>;

  constructor(services: RunnerServices, plan: PipePlan, writer: RunWriter, hosts: ChildHosts) {
    this.#parts = { services, plan, writer, hosts };
  }

  async attempt(options: AttemptOptions): Promise<AttemptOutcome> {
    const { services, plan, writer, hosts } = this.#parts;
    const { record } = writer;
    try {
      const history = await TaskHistory.read(services.store, record.run_id, []);
      return await new PipeAttempt({ ...this.#parts, history }, options).run();
    } catch (error) {
      // Whatever failed, end all stages: a stage must not outlive its pipe.
      await endChildren(services, record.run_id, 'the pipe failed').catch(() => undefined);
      return notStarted(failureOf(error instanceof StoreFailed ? error.error : error, plan.workspace.dir));
    } finally {
      hosts.close();
      await options.questions.end().catch(() => undefined);
    }
  }

  async conclude(): Promise<void> {}
}
