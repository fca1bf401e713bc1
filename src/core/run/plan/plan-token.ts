import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { Config } from '../../../protocol/config-file.ts';
import type { Manifest } from '../../../protocol/manifest.ts';
import type { ToolPlan } from './tool-plan.ts';

/** When a run must name the plan that its caller was shown: never, for tools that destroy, or for all but those that only read. */
export type RequirePlan = Config['security']['require_plan'];

/**
 * Stands for what a dry run has shown: the program, its resolved arguments, the grants with what lies there now, the outputs.
 * Whatever of it changes makes another token. It is no signature: it proves that what runs is what was shown.
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
  // The run's own folder has another name each time.
  const text = JSON.stringify(shown).replaceAll(runId, '<run>');
  return `plan-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

/** Whether a dry run of a tool gives a token: what only reads needs none. */
export function isWorthAPlan({ effects }: Manifest): boolean {
  return effects !== 'reads';
}

/** Refuses a run that names a stale plan, or none where the project demands one (E_POLICY_DENIED). */
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
      `'${name}' is only run after its plan was looked at (security.require_plan: ${required})`,
      {
        hint: 'Run it with --dry-run; the answer shows what would happen, and the command that then does it.',
      },
    );
  }
  if (given === planToken(plan)) return;
  throw new AcorError(
    'E_POLICY_DENIED',
    `the plan ${given} is stale: '${name}', its arguments, or what they name is no longer what was shown`,
    {
      hint: 'Run it with --dry-run again, look at the plan, and give its token.',
    },
  );
}

/** The digest of a file; null for what is none. */
function digestOf(path: string | null): string | null {
  return path === null ? null : createHash('sha256').update(readFileSync(path)).digest('hex');
}

/** What lies at a path: of a file also its size and when it was written last. */
function stateOf(path: string): unknown {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  return stat.isFile() ? [stat.size, stat.mtimeMs] : 'folder';
}
