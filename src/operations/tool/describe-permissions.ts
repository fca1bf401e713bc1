import type { OperationContext } from '../../compose/operation.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import type { AcorApp, Project } from '../acor-app.ts';
import { standingOf } from './policy-status.ts';
import { standingWords } from './policy-status-text.ts';
import { toolWords } from './tool-words.ts';

/** What a tool may do: as the manifest says it, in plain words, and how it stands with the policy and with approvals. */
export async function describePermissions(
  project: Project,
  tool: ToolEntry,
  from: Pick<OperationContext<AcorApp>, 'app' | 'cwd' | 'env'>,
) {
  const { permissions, resources, env, secrets } = tool.manifest;
  const { approval, ...policy } = await standingOf(project, tool, {
    cwd: from.cwd,
    env: from.env,
    caller: from.app.caller,
  });
  const words = [
    ...(await toolWords(project, tool, from)),
    ...standingWords({ ...policy, approval }, tool.name),
  ];
  return {
    name: tool.name,
    level: permissions.level,
    words: words.map(safeLine),
    permissions,
    resources,
    env,
    secrets,
    policy,
    approval,
  };
}
