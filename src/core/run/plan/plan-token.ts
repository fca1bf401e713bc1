import { dirname, join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { Manifest } from '../../../protocol/manifest.ts';
import { type NextStep, previewTool } from '../../../protocol/next-steps.ts';
import type { RunRecord } from '../../../protocol/run-record.ts';
import { BASE_FOLDERS } from '../../../util/base-folders.ts';
import { isInside } from '../../../util/real-path.ts';
import { newSha256 } from '../../../util/sha256.ts';
import type { LoadedConfig } from '../../config/load.ts';
import { wordsAgain } from '../../registry/tool-schema.ts';
import type { ToolPlan } from './tool-plan.ts';

/** Of the granted files and folders; reading more would take seconds. */
const BOUND = { bytes: 500_000_000, files: 50_000 };

/** A token, and the paths that are too large to be read as a whole: for the rest of their files, size and time count. */
export interface PlanToken {
  token: string;
  comparedBySize: string[];
}

/**
 * A digest of what a dry run showed: everything that would be executed, the resolved arguments, the outputs, the content of granted files
 * and folders, and the isolation (contract §9). A change of any of these changes the token. It is not a signature: it proves that the run matches the plan that was shown.
 */
export async function planToken(plan: ToolPlan, config: LoadedConfig): Promise<PlanToken> {
  // Loaded late: most runs have no token.
  const [{ executedFiles }, { ContentDigests }] = await Promise.all([
    import('../../guard/executed-files.ts'),
    import('../../../util/content-digest.ts'),
  ]);
  const { tool, runId } = plan;
  const executed = executedFiles(tool, {
    config,
    runtime: plan.command.runtime,
    path: plan.callerEnv['PATH'] ?? '',
  });
  // Every run changes these, and no tool gets a grant for them.
  const own = [dirname(plan.workspace.dir), join(config.root, '.acor')];
  const digests = new ContentDigests(BOUND, (path) => own.includes(path));
  const shown = {
    tool: tool.name,
    executed: executed.digest,
    program: plan.command.argv,
    args: plan.args,
    cwd: plan.cwd,
    grants: plan.grants.map((grant) => [
      grant,
      isOfBase(grant) ? null : (digests.of(grant.path)?.sha256 ?? null),
    ]),
    staged: plan.staged.map(({ input, target }) => [input, target, digests.of(target)?.sha256 ?? null]),
    permissions: tool.manifest.permissions,
    isolation: plan.isolation,
  };
  // The run's folder is named after its id, which differs each time.
  const text = JSON.stringify(shown).replaceAll(runId, '<run>');
  return {
    token: `plan-${newSha256().update(text).digest('hex').slice(0, 32)}`,
    comparedBySize: [...executed.comparedBySize, ...digests.comparedBySize],
  };
}

/** Every tool may read the base system, which has more files than can be read for a plan. */
function isOfBase({ path, access }: ToolPlan['grants'][number]): boolean {
  return access === 'read' && BASE_FOLDERS.some((base) => isInside(path, base));
}

/** Whether a dry run of a tool returns a token: a tool that only reads needs none. */
export function isWorthAPlan({ effects }: Manifest): boolean {
  return effects !== 'reads';
}

/**
 * Refuses a run with a stale plan token, or without a token when the project requires one (E_POLICY_DENIED). Returns the digest with which
 * `checkRepeat` compares later attempts; undefined for a run without a plan.
 */
export async function checkPlanToken(
  plan: ToolPlan,
  given: string | undefined,
  config: LoadedConfig,
): Promise<string | undefined> {
  const { name } = plan.tool;
  if (given === undefined) {
    if (!isDemanded(plan, config)) return undefined;
    throw needsPlan(plan, config, {
      hint: 'Run it with --dry-run: the output has the plan, and the command with its token.',
      ...previewOf(plan),
    });
  }
  if (given === (await planToken(plan, config)).token) return repeatDigest(plan, config);
  throw new AcorError(
    'E_POLICY_DENIED',
    `the plan ${given} is stale: '${name}', what it executes, its arguments, the files that they name, or its isolation have changed`,
    {
      hint: 'Run it with --dry-run again, check the plan, and pass its token.',
      ...previewOf(plan),
    },
  );
}

/** The step that shows the plan. The operation adds the options of the call. */
function previewOf({ kind, tool, givenArgs }: ToolPlan): { next?: NextStep[] } {
  const isTool = kind === 'tool' && givenArgs !== null;
  return isTool ? { next: [previewTool(tool.name, wordsAgain(tool, givenArgs))] } : {};
}

/**
 * Refuses the next attempt of a run that would execute something else than the plan of its first one, or that needs a plan and had none
 * (E_POLICY_DENIED). The content of granted files does not count: an earlier attempt may have changed it.
 */
export async function checkRepeat(plan: ToolPlan, record: RunRecord, config: LoadedConfig): Promise<void> {
  const { kind, run_id, tool, given_args, plan_digest } = record;
  const remedy = {
    hint: 'Start it as a new run: with --dry-run first, then with the token of this plan.',
    ...(kind === 'tool' && { next: [previewTool(tool, wordsAgain(plan.tool, given_args ?? []))] }),
  };
  if (plan_digest === undefined) {
    if (isDemanded(plan, config)) throw needsPlan(plan, config, remedy);
    return;
  }
  if (plan_digest === (await repeatDigest(plan, config))) return;
  throw new AcorError(
    'E_POLICY_DENIED',
    `the plan of run ${run_id} is stale: '${tool}', what it executes, its permissions or its isolation have changed`,
    remedy,
  );
}

function isDemanded({ tool: { manifest } }: ToolPlan, { config }: LoadedConfig): boolean {
  const required = config.security.require_plan;
  return required === 'destroys'
    ? manifest.effects === 'destroys'
    : required === 'writes' && isWorthAPlan(manifest);
}

function needsPlan(
  { tool }: ToolPlan,
  { config }: LoadedConfig,
  remedy: { hint: string; next?: NextStep[] },
): AcorError {
  const message = `'${tool.name}' needs the token of a plan (security.require_plan: ${config.security.require_plan})`;
  return new AcorError('E_POLICY_DENIED', message, remedy);
}

/** Of what an attempt executes, and with which rights. The arguments and the folder are those of the record. */
async function repeatDigest(
  { tool, command, isolation, callerEnv }: ToolPlan,
  config: LoadedConfig,
): Promise<string> {
  const { executedFiles } = await import('../../guard/executed-files.ts');
  const { digest } = executedFiles(tool, {
    config,
    runtime: command.runtime,
    path: callerEnv['PATH'] ?? '',
  });
  const executed = [digest, tool.manifest.permissions, isolation];
  return newSha256().update(JSON.stringify(executed)).digest('hex');
}
