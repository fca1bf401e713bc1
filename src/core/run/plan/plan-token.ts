import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { Config } from '../../../protocol/config-file.ts';
import type { Manifest } from '../../../protocol/manifest.ts';
import type { ToolPlan } from './tool-plan.ts';

/** Which runs must pass a plan token: none, those of tools that destroy, or those of all tools that do more than read. */
export type RequirePlan = Config['security']['require_plan'];

/**
 * A digest of what a dry run showed: the program, the resolved arguments, the outputs, and the grants with the present state of their
 * paths. A change of any of these changes the token. It is not a signature: it proves that the run matches the plan that was shown.
 */
export function planToken(plan: ToolPlan): string {
  const { tool, runId } = plan;
  const shown = {
    tool: tool.name,
    manifest: digestOf(tool.manifestPath),
    entry: digestOf(tool.entry),
    program: [plan.command.argv, stateOf(plan.command.argv[0]!)],
    args: plan.args,
    cwd: plan.cwd,
    grants: plan.grants.map((grant) => [grant, stateOf(grant.path)]),
    staged: plan.staged.map(({ input, target }) => [input, target]),
    permissions: tool.manifest.permissions,
  };
  // The run's folder is named after its id, which differs each time.
  const text = JSON.stringify(shown).replaceAll(runId, '<run>');
  return `plan-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

/** Whether a dry run of a tool returns a token: a tool that only reads needs none. */
export function isWorthAPlan({ effects }: Manifest): boolean {
  return effects !== 'reads';
}

/** Refuses a run with a stale plan token, or without a token when the project requires one (E_POLICY_DENIED). */
export function checkPlanToken(plan: ToolPlan, given: string | undefined, required: RequirePlan): void {
  const { name, manifest } = plan.tool;
  if (given === undefined) {
    const isDemanded =
      required === 'destroys'
        ? manifest.effects === 'destroys'
        : required === 'writes' && isWorthAPlan(manifest);
    if (!isDemanded) return;
    throw new AcorError(
      'E_POLICY_DENIED',
      `'${name}' needs the token of a plan (security.require_plan: ${required})`,
      {
        hint: 'Run it with --dry-run: the output has the plan, and the command with its token.',
      },
    );
  }
  if (given === planToken(plan)) return;
  throw new AcorError(
    'E_POLICY_DENIED',
    `the plan ${given} is stale: '${name}', its arguments, or the files that they name have changed`,
    {
      hint: 'Run it with --dry-run again, check the plan, and pass its token.',
    },
  );
}

/** The digest of a file; null when the tool has no such file. */
function digestOf(path: string | null): string | null {
  return path === null ? null : createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** The state of a path: size and modification time of a file, `folder`, or null when nothing exists there. */
function stateOf(path: string): unknown {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isFile() ? [stat.size, stat.mtimeMs] : 'folder';
}
