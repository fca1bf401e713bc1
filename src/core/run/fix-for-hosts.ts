import { installCommand } from '../sandbox/trusted-program.ts';
import type { ToolPlan } from './plan/tool-plan.ts';

/** The fix for a denied host, after what a sandbox needs that cannot open single hosts. */
export function fixForHosts(
  fix: string,
  { sandboxed: { opensHosts, isolation } }: Pick<ToolPlan, 'sandboxed'>,
): string {
  if (opensHosts) return fix;
  const first = `install bubblewrap (${installCommand('bubblewrap')}), because the sandbox '${isolation.backend}' cannot allow single hosts`;
  return `${first}; then ${fix.replace(/^In /, 'in ')}`;
}
