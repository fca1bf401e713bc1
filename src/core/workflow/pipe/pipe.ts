import type { RunLauncher } from '../../ports/run-launcher.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { RunnerServices } from '../../run/services.ts';
import type { TaskHistory } from '../engine/task-history.ts';
import type { PipePlan } from './plan-pipe.ts';

/** What the parts of a pipe share during an attempt. */
export interface Pipe {
  readonly services: RunnerServices;
  readonly plan: PipePlan;
  readonly writer: RunWriter;
  readonly launcher: RunLauncher;
  readonly history: TaskHistory;
}
