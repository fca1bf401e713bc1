import { delimiter } from 'node:path';
import { PROTOCOL_VERSION } from '../../protocol/v1/wire.ts';
import type { RunLayout } from '../storage/layout.ts';
import type { RunPlan } from './plan.ts';

/** Names that would let a caller's environment run code inside the tool's runtime, or change this one's. */
const NEVER_PASSED = /^(BUN_|NODE_OPTIONS$|LD_PRELOAD$|LD_AUDIT$|DYLD_INSERT_LIBRARIES$)/;

/** The whole environment of a tool (contract §2): what is listed, and nothing of the caller's beyond it. */
export function environmentOf(
  plan: RunPlan,
  layout: RunLayout,
  attempt: { number: number; deadline: Date; isResumed: boolean },
): Record<string, string> {
  const env: Record<string, string> = { ...passedOn(plan) };
  for (const [name, value] of Object.entries({ ...plan.tool.manifest.env.set, ...plan.command.env })) {
    env[name] = name === 'PYTHONPATH' && env[name] ? `${value}${delimiter}${env[name]}` : value;
  }
  return {
    ...env,
    RUN_ID: plan.runId,
    TRACE_ID: plan.traceId,
    SPAN_ID: plan.spanId,
    TRACEPARENT: `00-${plan.traceId}-${plan.spanId}-01`,
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
    ...plan.sandboxed.env,
  };
}

/** The names of the caller's variables that a plan passes on, with their values. */
function passedOn({ tool, callerEnv, baseAllowlist }: RunPlan): Record<string, string> {
  const names = new Set([...baseAllowlist, ...tool.manifest.env.require, ...tool.manifest.env.allow]);
  const passed: Record<string, string> = {};
  for (const name of names) {
    const value = callerEnv[name];
    if (value !== undefined && !NEVER_PASSED.test(name)) passed[name] = value;
  }
  return passed;
}
