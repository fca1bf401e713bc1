import type { RunRecord } from '../../../protocol/run-record.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { RunExecutor } from '../run-executor.ts';
import type { RunPlan } from './run-plan.ts';

/** A run that may begin: what is decided of it, and what it will do. */
export interface PreparedRun {
  plan: RunPlan;
  /** What it does, once there is somebody to write it. */
  createExecutor(writer: RunWriter): RunExecutor;
  /** For the next attempt of a run: what else is told of its beginning, and what changes in its record. */
  again?: { told: Record<string, unknown>; change: Partial<RunRecord> };
}
