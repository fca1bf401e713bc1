import { RunGuard } from '../../core/guard/run-guard.ts';
import { permissionWords } from '../../core/policy/permission-words.ts';
import type { ToolEntry } from '../../core/registry/registry.ts';
import type { Project } from '../acor-app.ts';

/** What a tool may do in this project, in plain sentences, after the policy lowered its limits. */
export async function toolWords(
  { config, workspaces }: Project,
  tool: ToolEntry,
  { env, cwd }: { env: Readonly<Record<string, string | undefined>>; cwd: string },
): Promise<string[]> {
  const guard = await RunGuard.open(tool, { config, runsDir: workspaces.root, env, cwd });
  const { manifest } = await guard.withinCeilings();
  const runtime = tool.command?.[0] ?? (tool.language === 'executable' ? 'itself' : tool.language);
  return permissionWords(manifest, runtime, config.config.environment);
}
