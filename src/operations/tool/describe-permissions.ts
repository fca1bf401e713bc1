import type { OperationContext } from '../../compose/operation.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import type { AcorApp, Project } from '../acor-app.ts';
import { policyStatusOf } from './policy-status.ts';
import { policyStatusWords } from './policy-status-text.ts';
import { toolWords } from './tool-words.ts';

/** What a tool may do: as in its manifest, in plain words, and its status by the policy and the approvals. */
export async function describePermissions(
  project: Project,
  tool: ToolEntry,
  from: Pick<OperationContext<AcorApp>, 'app' | 'cwd' | 'env'>,
) {
  const { permissions, resources, env, secrets } = tool.manifest;
  const { approval, ...policy } = await policyStatusOf(project, tool, {
    cwd: from.cwd,
    env: from.env,
    caller: from.app.caller,
  });
  const words = [
    ...(await toolWords(project, tool, from)),
    ...policyStatusWords({ ...policy, approval }, tool.name),
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
