import { join } from 'node:path';
import { whyDenied } from '../../../protocol/names.ts';
import { PROTOCOL_VERSION } from '../../../protocol/v1/wire.ts';
import { traceVariables } from '../../../util/ids.ts';
import { callFolders, mayCallTools, type RunWorkspace } from '../workspace.ts';
import type { ToolPlan } from './tool-plan.ts';

/** Below the 128 KiB of Linux for one variable, and a part of that with characters of up to four bytes. */
const MAX_INPUTS_BYTES = 120_000;
const PARTS_OF_INPUTS = /.{1,30000}/gsu;

/** The complete environment of a tool (contract §2). Of the caller's variables, only the listed ones are passed on. */
export function environmentOf(
  plan: ToolPlan,
  layout: RunWorkspace,
  attempt: { number: number; deadline: Date; isResumed: boolean },
): Record<string, string> {
  return {
    ...fixedEnvironmentOf(plan),
    RUN_ID: plan.runId,
    TRACE_ID: plan.traceId,
    SPAN_ID: plan.spanId,
    ...trace(plan),
    WORKSPACE: layout.work,
    DEADLINE_TS: attempt.deadline.toISOString(),
    CANCEL_FILE: layout.cancelFile,
    AI_PROTOCOL_VERSION: String(PROTOCOL_VERSION),
    LOG_DIR: layout.toolLogs,
    ARTIFACTS_DIR: layout.artifacts,
    CHECKPOINT_DIR: layout.checkpoints,
    ANSWERS_DIR: layout.answers,
    SECRETS_DIR: layout.secrets,
    ACOR_ATTEMPT: String(attempt.number),
    ACOR_RESUME: attempt.isResumed ? '1' : '0',
    ACOR_LIB: plan.libraryDir,
    ...(mayCallTools(plan.tool.manifest) && { PATH: callPath(plan, layout) }),
    ...secretVariables(plan, layout),
    ...inputsOf(plan),
    ...(plan.tool.manifest.stdin === 'records' && { ACOR_STDIN: 'records' }),
    ...plan.sandboxed.env,
    ...(plan.limits.waitingStopsDeadline && { ACOR_WAITING_STOPS_DEADLINE: '1' }),
  };
}

/** The part of it that is the same for each run of a tool. */
export function fixedEnvironmentOf(plan: ToolPlan): Record<string, string> {
  return { ...passedOn(plan), ...plan.tool.manifest.env.set, ...plan.command.env };
}

/** Without an empty variable, which a tool could take for a value. */
function trace(plan: ToolPlan): Record<string, string> {
  const { TRACEPARENT, TRACESTATE } = traceVariables(plan);
  return TRACESTATE === '' ? { TRACEPARENT } : { TRACEPARENT, TRACESTATE };
}

/** The PATH of a tool that may start others. */
function callPath({ callerEnv }: ToolPlan, layout: RunWorkspace): string {
  return `${callFolders(layout).programs}:${callerEnv['PATH'] ?? '/usr/bin:/bin'}`;
}

/** Secrets for programs that read them from a variable, or from a file that a variable names. */
function secretVariables({ tool, secrets }: ToolPlan, layout: RunWorkspace): Record<string, string> {
  const variables = tool.manifest.secret_variables ?? [];
  if (variables.length === 0) return {};
  return Object.fromEntries(
    variables.map(({ name, as, variable }) => {
      const bytes = secrets?.delivered.find((secret) => secret.name === name)?.bytes;
      const value = Buffer.from(bytes ?? [])
        .toString('utf8')
        .replace(/\r?\n$/, '');
      return [variable, as === 'file' ? join(layout.secrets, name) : value];
    }),
  );
}

/** The inputs for `args()` of the SDKs, in several variables where they are long: the kernel refuses a program with a longer one. */
function inputsOf({ inputs }: ToolPlan): Record<string, string> {
  if (inputs === null) return {};
  const json = JSON.stringify(inputs);
  if (Buffer.byteLength(json) <= MAX_INPUTS_BYTES) return { ACOR_INPUTS: json };
  const parts = json.match(PARTS_OF_INPUTS) ?? [];
  return Object.fromEntries(parts.map((part, index) => [`ACOR_INPUTS_${index + 1}`, part]));
}

/** The caller's variables that a plan passes on. */
function passedOn({ tool, callerEnv, baseAllowlist }: ToolPlan): Record<string, string> {
  const names = new Set([...baseAllowlist, ...tool.manifest.env.require, ...tool.manifest.env.allow]);
  const passed: Record<string, string> = {};
  for (const name of names) {
    const value = callerEnv[name];
    if (value !== undefined && whyDenied(name) === undefined) passed[name] = value;
  }
  return passed;
}
