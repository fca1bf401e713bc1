import type { OperationContext } from '../../compose/operation.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import { RunGuard } from '../../core/guard/run-guard.ts';
import { permissionWords } from '../../core/policy/permission-words.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import { approve } from '../../protocol/next-steps.ts';
import type { AcorApp, Project } from '../acor-app.ts';
import { policyStatusOf } from './policy-status.ts';
import { policyStatusWords } from './policy-status-text.ts';

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
    ...policyStatusWords({ ...policy, approval }, from.app.commandOf(approve(tool.name))),
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

/** What a tool may do in this project, in plain sentences, after the policy lowered its limits. */
export async function toolWords(
  { config, workspaces }: Project,
  tool: ToolEntry,
  { env, cwd }: { env: Readonly<Record<string, string | undefined>>; cwd: string },
): Promise<string[]> {
  const guard = await RunGuard.open(tool, { config, runsDir: workspaces.root, env, cwd });
  const { manifest } = await guard.withinCeilings();
  const runtime = tool.command?.[0] ?? (tool.language === 'executable' ? 'itself' : tool.language);
  const { utilitiesOf } = await import('../../core/sandbox/profile/programs.ts');
  const utilities = utilitiesOf({
    runtime: tool.language === 'executable' ? (tool.entry ?? '') : '',
    path: env['PATH'] ?? '',
    language: tool.language,
    commands: manifest.permissions.commands,
  });
  return permissionWords(manifest, runtime, config.config.environment, utilities);
}
