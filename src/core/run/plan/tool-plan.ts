import type { RunRequest } from '../run-request.ts';
import type { CheckedTool } from './check-tool.ts';
import type { ToolConfinement } from './confine-tool.ts';
import type { PlannedLimits } from './limits.ts';
import type { ResolvedCall } from './resolve-call.ts';
import type { RunPlan } from './run-plan.ts';

/** Everything that is decided before a tool's run starts. `acor run --dry-run` shows it. */
export interface ToolPlan extends RunPlan, Omit<CheckedTool, 'denied'>, ResolvedCall, PlannedLimits {
  sandboxed: ToolConfinement;
  callerEnv: RunRequest['env'];
  baseAllowlist: readonly string[];
  libraryDir: string;
  /** The standard input that the caller of `acor exec` gives. */
  input?: Uint8Array;
  /** Whether another run reads the records of this one while it runs. */
  isRead: boolean;
}
