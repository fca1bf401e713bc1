import type { RunWriter } from '../../ports/run-store.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { AttemptOptions } from '../run-executor.ts';
import type { RunnerServices } from '../services.ts';
import type { AdapterKind, FileMeter } from './adapter.ts';
import type { EndingRace } from './ending.ts';
import type { Intake } from './intake.ts';
import type { PermissionQuestions } from './permission-questions.ts';
import type { StandbyRun } from './standby-run.ts';

/** What the steps of one attempt share. */
export interface AttemptContext {
  readonly services: RunnerServices;
  readonly plan: ToolPlan;
  readonly writer: RunWriter;
  readonly options: AttemptOptions;
  readonly adapter: AdapterKind;
  readonly race: EndingRace;
  readonly intake: Intake;
  readonly meter: FileMeter;
  /** Set when the run asks for hosts that its tool may not reach. */
  readonly permissionQuestions: PermissionQuestions | undefined;
  /** The sandbox that was started before the run, if one was. */
  readonly standby: StandbyRun | undefined;
  /** The size of what the runner has copied into the folders that the tool writes. */
  readonly copiedBytes: number;
}
