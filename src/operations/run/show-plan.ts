import * as z from 'zod';
import type { OperationResult } from '../../compose/operation.ts';
import { wordsAgain } from '../../core/registry/tool-schema.ts';
import { recordedArgs } from '../../core/run/plan/run-plan.ts';
import type { ToolPlan } from '../../core/run/plan/tool-plan.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import type { RunnerServices } from '../../core/run/services.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import { WRITE_MODES } from '../../protocol/write-modes.ts';
import { sameFlags } from './same-flags.ts';

/** The answer of `acor run --dry-run`: what would run. */
export const shownPlan = z.lazy(() =>
  z.object({
    tool: z.string(),
    version: z.string(),
    argv: z.array(z.string()),
    args: z
      .array(z.string())
      .describe('The arguments as the record of the run shows them: secrets are masked.'),
    given_args: z
      .array(z.string())
      .nullable()
      .describe('The arguments as they were given; null when one of them is a secret.'),
    cwd: z.string(),
    env: z.array(z.string()),
    grants: z.array(
      z.object({
        path: z.string(),
        access: z.enum(['read', 'write']),
        input: z.string(),
        mode: z.enum(WRITE_MODES).optional().describe('How it is written; in place when absent.'),
      }),
    ),
    staged: z.array(
      z.object({
        input: z.string(),
        target: z.string(),
        mode: z.enum(WRITE_MODES).optional().describe('`review`: it is put in place when it is applied.'),
      }),
    ),
    limits: z.record(z.string(), z.unknown()),
    retry: z.record(z.string(), z.unknown()),
    isolation: z.record(z.string(), z.unknown()),
    asks: z
      .array(
        z.object({
          action: z.enum(['allow_path', 'allow_command']),
          name: z.string(),
          access: z.enum(['read', 'write']).optional(),
        }),
      )
      .describe('What the run would ask a person for before the tool starts (`security.on_denied: ask`).'),
    secrets: z.array(z.string()).describe('The names of the stored secrets that the tool would get.'),
    lowered: z.array(
      z.object({ what: z.string(), asked: z.number(), allowed: z.number(), by: z.string().optional() }),
    ),
    token: z
      .string()
      .nullable()
      .describe('Pass it to --plan to run exactly this; null for a tool that only reads.'),
    compared_by_size: z
      .array(z.string())
      .describe(
        'Paths too large to be read as a whole: the token covers the rest of their files by size and time.',
      ),
  }),
);

export type ShownPlan = z.output<typeof shownPlan>;

/**
 * Plans a run as it would start now. Replaces the run id, which is new for each run, by `<run>`. `options` are those of the call, which the
 * step that runs the plan has, too.
 */
export async function showPlan(
  services: RunnerServices,
  request: RunRequest,
  options: Readonly<Record<string, unknown>> = {},
): Promise<OperationResult<ShownPlan>> {
  const { planRun } = await import('../../core/run/plan/plan.ts');
  const { environmentOf } = await import('../../core/run/plan/environment.ts');
  const plan = await planRun(services, request);
  const hideRunId = (text: string) => text.replaceAll(plan.runId, '<run>');
  const env = environmentOf(plan, plan.workspace, { number: 1, deadline: new Date(), isResumed: false });
  const { isWorthAPlan, planToken } = await import('../../core/run/plan/plan-token.ts');
  const { token, comparedBySize } = isWorthAPlan(plan.tool.manifest)
    ? await planToken(plan, services.config)
    : { token: null, comparedBySize: [] };
  const { limits, retry } = plan;
  const programWords = plan.sandboxed.argv.slice(0, plan.sandboxed.argv.length - plan.args.length);
  const data = {
    tool: plan.tool.name,
    version: plan.tool.manifest.version,
    argv: [...programWords, ...plan.shownArgs].map(hideRunId),
    args: recordedArgs(plan).map(hideRunId),
    given_args: plan.givenArgs,
    cwd: hideRunId(plan.sandboxed.cwd),
    env: Object.keys(env).sort(),
    grants: plan.grants.map(({ from: _, ...grant }) => grant),
    staged: plan.staged.map(({ input: name, target, isReviewed }) => ({
      input: name,
      target,
      ...(isReviewed && { mode: 'review' as const }),
    })),
    limits: {
      timeout_s: limits.timeoutS,
      heartbeat_grace_s: limits.heartbeatGraceS,
      stall_s: limits.stallS,
      max_output_size: limits.maxOutputBytes,
      cancel_grace_s: limits.cancelGraceS,
      waiting_stops_deadline: limits.waitingStopsDeadline,
      resources: plan.resources,
    },
    retry: {
      max_attempts: retry.maxAttempts,
      backoff_s: retry.backoffS,
      max_backoff_s: retry.maxBackoffS,
    },
    isolation: { ...plan.sandboxed.isolation },
    asks: plan.missing.map((each) =>
      each.kind === 'path'
        ? { action: 'allow_path' as const, name: each.name, access: each.access }
        : { action: 'allow_command' as const, name: each.name },
    ),
    secrets: plan.secrets?.delivered.map(({ name }) => name) ?? [],
    lowered: plan.lowered,
    token,
    compared_by_size: comparedBySize,
  };
  return { kind: 'data', data, next: stepFor(plan, options, token) };
}

/** The step that runs what was shown; none when an argument is a secret, which data must not repeat. */
function stepFor(
  plan: ToolPlan,
  options: Readonly<Record<string, unknown>>,
  token: string | null,
): NextStep[] {
  if (plan.givenArgs === null) return [];
  const input = {
    plan: token ?? undefined,
    ...sameFlags(options),
    tool: plan.tool.name,
    args: wordsAgain(plan.tool, plan.givenArgs),
  };
  return [{ operation: 'run.start', input, why: 'Run exactly what was shown.' }];
}
